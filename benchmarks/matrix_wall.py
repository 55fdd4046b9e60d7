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
from collections.abc import Sequence
from pathlib import Path

from jetproof.campaigns.matrix import default_jobs, fetch, plan_matrix
from jetproof.campaigns.request import Request, Settings
from jetproof.cli.matrix import BUDGET_SECONDS
from jetproof.events import Event, RunFinished
from jetproof.load.library import load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.sinks.files import RunFolder
from jetproof.targets.sweep import own_run


async def main(servers: list[str], patterns: tuple[str, ...], jobs: int, folder: Path) -> None:
    request = Request(patterns, tuple(servers))
    matrix = await plan_matrix(
        load_library(),
        request,
        Settings(jobs=jobs),
        provider="embedded",
        budget=BUDGET_SECONDS,
        notify=print,
    )
    for plan in matrix.plans:
        await fetch(plan.targets[0], print)
    pace = matrix.pace
    print(
        f"{len(matrix.plans)} releases, {sum(plan.cells for plan in matrix.plans)} cells; "
        f"{os.cpu_count()} cores, {pace.releases} releases of {pace.servers} servers at once; "
        f"time factor {matrix.options.time_factor}"
    )
    ends: list[RunFinished] = []
    with RunFolder.create(folder) as sink, own_run() as owner:

        def emit(event: Event) -> None:
            sink.handle(event)
            if isinstance(event, RunFinished):
                ends.append(event)

        await matrix.play(emit, owner)
    report(matrix.cells, ends[0].wall_ms / 1000)


def report(cells: Sequence[Cell], wall: float) -> None:
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
