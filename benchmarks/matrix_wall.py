"""How much of a matrix overlaps: its wall time against the sum of its case times.

    python benchmarks/matrix_wall.py [--servers TARGETS] [-j N] [--folder DIR] [PATTERN ...]

Plays the cases on every known release (or those named), embedded, as `jetproof matrix` does, with
its result files, and compares the time of the whole with the sum of what every single case took.
Every release is fetched before the clock starts. Asserts nothing; the target is a sixth or less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import resource
import tempfile
from collections import Counter
from pathlib import Path

from jetproof.cli.matrix import BUDGET_SECONDS
from jetproof.cli.matrix_playing import Matrix, Pace, Stops, fetch
from jetproof.cli.matrix_running import default_jobs, placed
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id
from jetproof.events import CaseFinished, Event
from jetproof.load.library import load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Selection, make_plan, select
from jetproof.sinks.files import RunFolder
from jetproof.targets.resolve import resolve
from jetproof.targets.sweep import own_run


async def main(servers: list[str], patterns: tuple[str, ...], jobs: int, folder: Path) -> None:
    library = load_library()
    targets = await resolve(placed(servers, "embedded"))
    for target in targets:
        await asyncio.to_thread(fetch, target, print)
    selected = select(library, Selection(patterns=patterns))
    plans = [make_plan(library, selected, [target], skip=frozenset()) for target in targets]
    pace, factor = Pace.of(jobs, BUDGET_SECONDS), time_factor()
    print(
        f"{len(targets)} releases, {sum(plan.cells for plan in plans)} cells; {os.cpu_count()} "
        f"cores, {pace.releases} releases of {pace.servers} servers at once; time factor {factor}"
    )
    cells: list[Cell] = []
    with RunFolder.create(folder) as sink, own_run() as owner:

        def emit(event: Event) -> None:
            sink.handle(event)
            if isinstance(event, CaseFinished):
                cells.append(event.cell)

        options = RunOptions(run=fresh_run_id(), time_factor=factor, owner=owner)
        ended = await Matrix(plans, library, emit, options, pace, Stops()).whole()
    report(cells, ended.wall_ms / 1000)


def report(cells: list[Cell], wall: float) -> None:
    played = [cell for cell in cells if cell.ms > 0]
    total = sum(cell.ms for cell in played) / 1000
    verdicts = Counter(cell.verdict.value for cell in cells)
    counts = ", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common())
    print(f"\n{len(played)} cells were played ({counts})")
    print(f"  sum of case times  {total:9.1f} s")
    print(f"  wall               {wall:9.1f} s")
    if total > 0:
        print(f"  wall / sum         {wall / total:9.3f}    (the target is {1 / 6:.3f} or less)")
    own = resource.getrusage(resource.RUSAGE_SELF)
    servers = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(f"  CPU, harness       {own.ru_utime + own.ru_stime:9.1f} s")
    print(f"  CPU, servers       {servers.ru_utime + servers.ru_stime:9.1f} s")
    for reason, count in Counter(
        cell.reason for cell in cells if cell.verdict is Verdict.ERROR
    ).most_common(5):
        print(f"  no verdict for {count}: {reason[:100]}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--servers", action="append", default=[], metavar="TARGETS")
    parser.add_argument("-j", "--jobs", type=int, default=default_jobs(), metavar="N")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="keep the result files here")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.folder or Path(scratch) / "run"
        asyncio.run(main(arguments.servers, tuple(arguments.patterns), arguments.jobs, place))
