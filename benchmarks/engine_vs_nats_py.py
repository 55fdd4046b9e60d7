"""Cases a second: the engine playing trivial cases over nats-py doing connect, request, close.

    python benchmarks/engine_vs_nats_py.py [--rounds N] [--cases N] [--profile]

Each case is one request whose reply is judged (error code and schema); every reply is validated
once more for the schemas' own cells; every frame, check and cell goes into the journals of a run
folder. nats-py makes the same request on a connection of its own, with as many at a time as the
engine plays. Both take turns on one embedded server within one run, so that a busy machine slows
both. Prints the rates and their ratio; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import statistics
import tempfile
import time
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


async def engine(plan: Plan, library: Library, folder: Path) -> float:
    """Seconds that the whole run takes, journals included."""
    run_id = fresh_run_id()
    with RunFolder.create(folder / run_id) as sink:
        began = time.perf_counter()
        ended = await run(plan, library, sink.handle, RunOptions(run=run_id, time_factor=1.0))
        seconds = time.perf_counter() - began
    assert set(ended.verdicts) == {Verdict.PASS}, ended.verdicts
    return seconds


async def witness(url: str, count: int) -> float:
    """Seconds that nats-py takes for as many connections with one request each."""
    places = asyncio.Semaphore(CASES_AT_ONCE)

    async def one() -> None:
        async with places:
            client = await nats.connect(url)
            reply = await client.request(SUBJECT, timeout=10)
            assert b"10059" in reply.data
            await client.close()

    began = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(count):
            group.create_task(one())
    return time.perf_counter() - began


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
            ratios = []
            for number in range(1, rounds + 1):
                ours = count / await engine(plan, library, folder)
                theirs = count / await witness(url, count)
                ratios.append(ours / theirs)
                print(
                    f"round {number}: engine {ours:.0f} cases/s, nats-py {theirs:.0f} requests/s, "
                    f"ratio {ours / theirs:.2f}"
                )
            print(f"ratio (median): {statistics.median(ratios):.2f}, the target is 0.7 or more")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--profile", action="store_true", help="profile one run of the engine")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.rounds, arguments.cases, arguments.profile))
