"""How the cost of a report grows with the runs of its history.

    python benchmarks/report_history.py [--runs N] [--cases N]

Runs of 1,500 cells are added one by one, each followed by a report over all of them. What is derived
from one run alone is kept, so each report reads the frames and checks of the new run only. To compare,
the same report is made once more at the end as if nothing had been derived. One session for all of it,
warmed up by a report that does not count. Asserts nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

from report_data import Size, cost, write_run

from jetproof_reports.build import build
from jetproof_reports.session import open_session


def main(size: Size, runs: int) -> None:
    with tempfile.TemporaryDirectory() as scratch, open_session() as spark:
        place = Path(scratch)
        history, out = place / "history", place / "out"
        build([write_run(place / "warm-up", 99, size)], out, spark=spark)
        print(f"runs of {size.cells} cells, {size.cells * size.frames} frames\n")
        print("runs    CPU s   wall s   over the first")
        spent: list[float] = []
        for number in range(1, runs + 1):
            run = write_run(place / f"run{number}", number, size)
            with cost() as told:
                build([run], out, spark=spark, history=history)
            spent.append(told.cpu)
            ratio = told.cpu / spent[0]
            print(f"{number:4} {told.cpu:8.1f} {told.wall:8.1f} {ratio:12.2f}", flush=True)
        for derived in history.glob("run_id=*/derived-*"):
            shutil.rmtree(derived)
        with cost() as told:
            build([], out, spark=spark, history=history)
        print(
            f"{runs:4} {told.cpu:8.1f} {told.wall:8.1f} {told.cpu / spent[0]:12.2f}   nothing kept"
        )
        print(f"\nthe report over {runs} runs, kept / not kept, by CPU: {spent[-1] / told.cpu:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=8, metavar="N")
    parser.add_argument("--cases", type=int, default=50, metavar="N")
    arguments = parser.parse_args()
    main(Size(arguments.cases, 30, 7, 34), arguments.runs)
