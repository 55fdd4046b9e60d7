"""What Jetproof itself costs: the CPU of its help, its memory in a run, the way to the first case.

    python benchmarks/footprint.py [--rounds N] [PATTERN ...]

The help is timed in processes of its own. The memory is the peak of the harness's process, without
its servers, while `jetproof run` plays the cases (all unless patterns name some); it is read
from /proc, so this part needs Linux. Asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.events import CaseStarted, Event, TargetStarted
from jetproof.load.library import load_library
from jetproof.plan import Selected, Selection, make_plan, select
from jetproof.targets.resolve import resolve

JETPROOF = [sys.executable, "-m", "jetproof"]


def help_seconds() -> float:
    """CPU seconds of `jetproof --help`, user and system."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*JETPROOF, "--help"], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def peak_mebibytes(patterns: list[str]) -> float:
    """The high-water mark of the harness's resident memory during a run."""
    with tempfile.TemporaryDirectory() as folder:
        command = [*JETPROOF, "run", "--out", f"{folder}/run", *patterns]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            status, peak = Path(f"/proc/{process.pid}/status"), 0
            while process.poll() is None:
                for line in status.read_text().splitlines():
                    if line.startswith("VmHWM:"):
                        peak = max(peak, int(line.split()[1]))
                time.sleep(0.02)
    return peak / 1024


async def first_case() -> tuple[float, float]:
    """Seconds until the server is ready, and until its first case is being played."""
    library = load_library()
    chosen = next(case for case in library.cases if case.given.topology == "single")
    [item] = select(library, Selection(patterns=(chosen.id,))).items
    targets = await resolve(["latest"])
    plan = make_plan(library, Selected((item,)), targets, skip=frozenset())
    times: dict[type[Event], float] = {}
    began = time.perf_counter()

    def emit(event: Event) -> None:
        times.setdefault(type(event), time.perf_counter() - began)

    await run(plan, library, emit, RunOptions(run=fresh_run_id(), time_factor=1.0))
    return times[TargetStarted], times[CaseStarted]


def main(rounds: int, patterns: list[str]) -> None:
    seconds = [help_seconds() for _ in range(rounds)]
    print(
        f"jetproof --help: {statistics.median(seconds):.2f} s of CPU "
        f"({min(seconds):.2f} to {max(seconds):.2f}; the target is below 0.5)"
    )
    ways = [asyncio.run(first_case()) for _ in range(rounds)]
    ready, case = (statistics.median(column) for column in zip(*ways, strict=True))
    print(
        f"embedded server: ready after {ready:.2f} s, first case after {case:.2f} s "
        "(the target is below 0.3)"
    )
    if sys.platform == "linux":
        peak = peak_mebibytes(patterns)
        print(f"jetproof run: {peak:.0f} MiB at the peak (the target is below 200)")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("patterns", nargs="*", metavar="PATTERN")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    main(arguments.rounds, arguments.patterns)
