"""Cases a second: the engine playing trivial cases over nats-py doing connect, request, close.

    python benchmarks/engine_vs_nats_py.py [--rounds N] [--cases N] [--profile]

Each case is one request whose reply is judged (error code and schema); every reply is validated
once more for the schemas' own cells; every frame, check and cell goes into the journals of a run
folder. nats-py makes the same request on a connection of its own, with as many at a time as the
engine plays. Both take turns on one embedded server within one run, so that a busy machine slows
both. Prints the rates and their ratio, and the ratio of the CPU time that each took, which a busy
machine hardly changes; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import nats

from jetproof.engine.run import CASES_AT_ONCE, RunOptions, fresh_run_id, run
from jetproof.load.library import Library, load_cases, load_library
from jetproof.model.verdict import Verdict
from jetproof.plan import Plan, Selection, make_plan, select
from jetproof.sinks.files import RunFolder
from jetproof.targets.resolve import resolve
from jetproof.targets.topology import start_target

SUBJECT = "$JS.API.STREAM.INFO.nothing"
HEAD = "suite: adr-50/benchmark\nabout: Trivial cases\ncases:\n"
CASE = """\
  - case: number-{number}
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {{subject: {subject}}}
        reply: {{error: 10059, schema: js-api-error}}
"""


async def planned(library: Library, folder: Path, count: int, url: str) -> Plan:
    path = folder / "trivial.yaml"
    cases = (CASE.format(number=number, subject=SUBJECT) for number in range(count))
    path.write_text(HEAD + "".join(cases), encoding="utf-8")
    selected = select(library, Selection(), load_cases([path], library))
    return make_plan(library, selected, await resolve([url]), skip=frozenset())


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds on the clock, and of this process's CPU."""

    wall: float
    cpu: float


@contextmanager
def timed(into: list[Took]) -> Iterator[None]:
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    into.append(Took(time.perf_counter() - wall, time.process_time() - cpu))


async def engine(plan: Plan, library: Library, folder: Path) -> Took:
    """What a whole run takes, journals included."""
    run_id = fresh_run_id()
    took: list[Took] = []
    with RunFolder.create(folder / run_id) as sink, timed(took):
        ended = await run(plan, library, sink.handle, RunOptions(run=run_id, time_factor=1.0))
    assert set(ended.verdicts) == {Verdict.PASS}, ended.verdicts
    return took[0]


async def witness(url: str, count: int) -> Took:
    """What nats-py takes for as many connections with one request each."""
    places = asyncio.Semaphore(CASES_AT_ONCE)

    async def one() -> None:
        async with places:
            client = await nats.connect(url)
            reply = await client.request(SUBJECT, timeout=10)
            assert b"10059" in reply.data
            await client.close()

    took: list[Took] = []
    with timed(took):
        async with asyncio.TaskGroup() as group:
            for _ in range(count):
                group.create_task(one())
    return took[0]


async def main(rounds: int, count: int, profile: bool) -> None:
    library = load_library()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        async with start_target("latest") as target:
            url = target.nodes["n1"].url
            plan = await planned(library, folder, count, url)
            await engine(plan, library, folder)
            await witness(url, min(count, 200))
            if profile:
                with cProfile.Profile() as profiler:
                    await engine(plan, library, folder)
                pstats.Stats(profiler).sort_stats("tottime").print_stats(35)
                return
            ratios, of_cpu = [], []
            for number in range(1, rounds + 1):
                ours = await engine(plan, library, folder)
                theirs = await witness(url, count)
                ratios.append(theirs.wall / ours.wall)
                of_cpu.append(theirs.cpu / ours.cpu)
                print(
                    f"round {number}: engine {count / ours.wall:.0f} cases/s, "
                    f"nats-py {count / theirs.wall:.0f} requests/s, ratio {ratios[-1]:.2f} "
                    f"(by CPU {of_cpu[-1]:.2f})"
                )
            print(
                f"ratio (median): {statistics.median(ratios):.2f}, "
                f"by CPU {statistics.median(of_cpu):.2f}; the target is 0.7 or more"
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--profile", action="store_true", help="profile one run of the engine")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rounds, arguments.cases, arguments.profile))
