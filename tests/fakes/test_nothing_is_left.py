"""However a run ends, it leaves no task, no connection and no memory of its cases behind."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable

import pytest

from jetproof.engine.play import Play
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.events import CaseStarted, Event
from jetproof.load.library import Library
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.resolve import resolve

from .conftest import Cases
from .kinds import KINDS
from .playing import Played, bounded, play
from .server import Mute, Polite, serving

MIXED = """
  - case: asks
    clauses: [DEMO-MUST-001]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a, within: 200ms}
        reply: {json: {seq: 1}}
  - case: crash
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: a.crash, within: 200ms}
        reply: {status: 503}
      - publish: {subject: a.cut}
      - publish: {subject: a.garbage}
      - publish: {subject: a.refuse}
      - silence: {on: replies, for: 200ms}
  - case: private
    clauses: [DEMO-MUST-001]
    given: {connections: {b: {options: {name: b}}}}
    steps:
      - subscribe: {subject: box.$id, to: box, connection: b}
      - publish: {subject: box.$id, payload: x}
      - receive: {from: box, within: 200ms}
        message: {payload: x}
"""
ENDLESS = """
  - case: endless
    clauses: [DEMO-MUST-001]
    budget: 300s
    given: {connections: {b: {options: {name: b}}}}
    steps:
      - subscribe: {subject: box.$id, to: box, connection: b}
      - receive: {from: box, within: 200s}
        message: {payload: x}
"""


def leaves_nothing(fake: Polite, scenario: Callable[[], object]) -> None:
    """Runs the scenario on the fake, and looks what is there afterwards."""

    async def looked() -> None:
        me = asyncio.current_task()
        async with serving(fake):
            await scenario()  # type: ignore[misc]
            async with asyncio.timeout(5):
                while fake.clients:
                    await asyncio.sleep(0.01)
            left = {task for task in asyncio.all_tasks() if task is not me}
            assert not [task for task in left if "talk" not in repr(task)]

    bounded(looked())


@pytest.mark.parametrize("kind", sorted(KINDS.keys() - {"silent"}))
def test_a_run_that_ends_by_itself(library: Library, cases: Cases, kind: str) -> None:
    fake = KINDS[kind]()
    played = Played()

    async def scenario() -> None:
        await play(library, cases(MIXED), fake.url, into=played, time_factor=0.3)

    leaves_nothing(fake, scenario)
    assert len(played.verdicts) == 3


def test_a_case_that_exceeds_its_budget(library: Library, cases: Cases) -> None:
    text = ENDLESS.replace("300s", "300ms") + MIXED
    played = Played()
    fake = Polite()

    async def scenario() -> None:
        await play(library, cases(text), fake.url, into=played)

    leaves_nothing(fake, scenario)
    assert played.cells["endless"].verdict == "error"
    assert played.cells["endless"].reason == "step 2: it exceeded its budget of 0.3 s"
    assert (played.verdicts["asks"], played.verdicts["private"]) == ("pass", "pass")
    assert played.exit_code == 3


def test_a_budget_ends_steps_that_wait_for_nothing(library: Library, cases: Cases) -> None:
    """A million publishes are a busy loop: they must let the clock, and other cases, in."""
    text = """
  - case: busy
    clauses: [DEMO-MUST-001]
    budget: 600ms
    steps:
      - repeat: {as: i, times: 1000000}
        steps:
          - publish: {subject: a.$i}
"""
    played = Played()
    fake = Mute()

    async def scenario() -> None:
        await play(library, cases(text + MIXED), fake.url, into=played, time_factor=0.5)

    leaves_nothing(fake, scenario)
    assert played.verdicts["busy"] == "error"
    assert "exceeded its budget" in played.cells["busy"].reason
    assert played.cells["busy"].reason.startswith("step 1.1 [i=")


def test_a_run_that_is_stopped(library: Library, cases: Cases) -> None:
    fake, stop, played = Polite(), Stop(), Played()

    async def scenario() -> None:
        text = cases(ENDLESS + MIXED)
        playing = asyncio.create_task(play(library, text, fake.url, stop=stop, into=played))
        while len(played.verdicts) < 3:
            await asyncio.sleep(0.01)
        stop.now("enough")
        await playing

    leaves_nothing(fake, scenario)
    assert played.end.interrupted
    assert set(played.verdicts) == {"asks", "crash", "private"}


def test_a_run_that_is_cancelled(library: Library, cases: Cases) -> None:
    fake = Polite()

    async def scenario() -> None:
        playing = asyncio.create_task(play(library, cases(ENDLESS), fake.url))
        while not fake.heard("box."):
            await asyncio.sleep(0.01)
        playing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await playing

    leaves_nothing(fake, scenario)


def test_the_first_failure_stops_a_run_that_is_to_fail_fast(library: Library, cases: Cases) -> None:
    text = MIXED.replace("json: {seq: 1}", "json: {seq: 2}") + ENDLESS
    fake, played = Polite(), Played()

    async def scenario() -> None:
        await play(library, cases(text), fake.url, into=played, fail_fast=True)

    leaves_nothing(fake, scenario)
    assert played.verdicts["asks"] == "fail"
    assert "endless" not in played.verdicts
    assert played.end.interrupted


def test_finished_cases_are_forgotten(library: Library, cases: Cases) -> None:
    """Shared connections outlive cases: they must not keep their transcripts alive."""
    text = "".join(
        MIXED.replace("case: ", f"case: {letter}-").replace("cut", "x") for letter in "abcdefgh"
    )
    alive: list[int] = []

    def emit(event: Event) -> None:
        if isinstance(event, CaseStarted) and event.case.endswith("private"):
            gc.collect()
            alive.append(sum(isinstance(thing, Play) for thing in gc.get_objects()))

    async def scenario() -> None:
        async with serving(Polite()) as fake:
            selected = select(library, Selection(), cases(text))
            plan = make_plan(library, selected, await resolve([fake.url]), skip=frozenset())
            await run(plan, library, emit, RunOptions(fresh_run_id(), 0.3, cases_at_once=1))

    bounded(scenario())
    assert len(alive) == 8
    assert max(alive) <= 1
