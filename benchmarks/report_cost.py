"""What a report of one run costs, tuned and with Spark's own defaults, side by side.

    python benchmarks/report_cost.py [--cases N] [--servers N] [--rounds N]

The work is the same: a run of 3,000 cells (34 frames and 7 checks each) becomes every table, the page
and the summary. Each report is a process of its own, from the start of Java to the last file; the
two kinds take turns. The target: at most half the CPU of the defaults. Asserts nothing.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from report_data import Size, cost, write_run

KINDS = ("tuned", "default")


def one_report(run: Path, out: Path, kind: str) -> None:
    """In a process of its own: make a report, and print what it cost."""
    from jetproof_reports.build import build
    from jetproof_reports.session import open_session

    with cost() as told, open_session(tuned=kind == "tuned") as spark:
        build([run], out, spark=spark)
    print(json.dumps({"cpu": told.cpu, "wall": told.wall, "peak": told.peak_mb}))


def measured(run: Path, out: Path, kind: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--report", str(run), str(out), kind]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    told: dict[str, float] = json.loads(done.stdout)
    print(f"  {kind:8} {told['cpu']:7.1f} {told['wall']:8.1f} {told['peak']:8.0f}", flush=True)
    return told


def main(size: Size, rounds: int) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        run = write_run(place / "run", 1, size)
        print(f"a run of {size.cells} cells, {size.cells * size.frames} frames")
        # The first session leaves the archive of classes that later ones start from.
        measured(run, place / "first", "tuned")
        print("           CPU s   wall s   MB peak")
        told: dict[str, list[float]] = {kind: [] for kind in KINDS}
        for number in range(rounds):
            for kind in KINDS:
                told[kind].append(measured(run, place / f"{kind}{number}", kind)["cpu"])
    middle = {kind: statistics.median(values) for kind, values in told.items()}
    ratio = middle["tuned"] / middle["default"]
    print(f"\ntuned / default, by CPU: {ratio:.2f} (the target is 0.50 or less)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--cases", type=int, default=100, metavar="N")
    parser.add_argument("--servers", type=int, default=30, metavar="N")
    parser.add_argument("--rounds", type=int, default=3, metavar="N")
    parser.add_argument("--report", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.report:
        folder, target, which = arguments.report
        one_report(Path(folder), Path(target), which)
    else:
        main(Size(arguments.cases, arguments.servers, 7, 34), arguments.rounds)
