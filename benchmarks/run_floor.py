"""How close a run is to its floor, the slowest single case.

    python benchmarks/run_floor.py [--server TARGET] [PATTERN ...]

Plays the single-server cases on one release, as `jetproof run` does, and compares the time of the
whole run with 1.5 times its slowest case plus 3 s. Cases that need a cluster, or do something to
their server, are a lane of their own: their time is printed beside it. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.events import CaseFinished, Event, RunFinished
from jetproof.load.library import Library, load_library
from jetproof.model.case import Case
from jetproof.model.verdict import Cell
from jetproof.plan import PlanTarget, Selected, Selection, make_plan, select
from jetproof.sinks.files import RunFolder
from jetproof.targets.resolve import resolve


def is_single(case: Case) -> bool:
    return case.given.topology == "single" and not case.actions


async def played(
    library: Library, selected: Selected, targets: Sequence[PlanTarget], factor: float
) -> tuple[RunFinished, list[Cell]]:
    """One run with its journals; the cells that were played, the slowest first."""
    plan = make_plan(library, selected, targets, skip=frozenset())
    cells: list[Cell] = []
    with tempfile.TemporaryDirectory() as folder, RunFolder.create(Path(folder) / "run") as sink:

        def emit(event: Event) -> None:
            sink.handle(event)
            if isinstance(event, CaseFinished):
                cells.append(event.cell)

        options = RunOptions(run=fresh_run_id(), time_factor=factor)
        ended = await run(plan, library, emit, options)
    return ended, sorted(cells, key=lambda cell: -cell.ms)


async def main(server: str, patterns: tuple[str, ...]) -> None:
    library = load_library()
    targets = await resolve([server])
    selected = select(library, Selection(patterns=patterns))
    factor = time_factor()
    print(f"{targets[0].name}, time factor {factor}")
    for name, single in (("single-server", True), ("cluster and restart", False)):
        items = tuple(item for item in selected.items if is_single(item.case) is single)
        if not items:
            continue
        ended, cells = await played(library, Selected(items), targets, factor)
        wall, slowest = ended.wall_ms / 1000, cells[0].ms / 1000
        counts = ", ".join(f"{count} {verdict}" for verdict, count in ended.verdicts.items())
        print(f"\n{name}: {len(items)} cases ({counts})")
        print(f"  wall          {wall:6.2f} s")
        print(f"  slowest case  {slowest:6.2f} s  {cells[0].case}")
        if single:
            bound = 1.5 * slowest + 3
            print(f"  bound         {bound:6.2f} s  (1.5 x slowest + 3 s)")
            print(f"  ratio         {wall / bound:6.2f}    (the target is 1 or less)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--server", default="latest", metavar="TARGET")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.server, tuple(arguments.patterns)))
