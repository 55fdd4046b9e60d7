"""Cases under a clock of their own: minutes pass in a moment, and bounds mean what they say."""

from __future__ import annotations

import asyncio

from jetproof.clock import VirtualLoop, now
from jetproof.load.library import Library
from jetproof.wire import Pub

from .conftest import Cases
from .playing import Played, play
from .server import Client, Polite, serving

SLEEPS = """
  - case: quiet
    clauses: [DEMO-MUST-001]
    budget: 400s
    steps:
      - subscribe: {subject: box.$id, to: box}
      - silence: {on: box, for: 300s}
"""
WAITS = """
  - case: waits
    clauses: [DEMO-MUST-001]
    budget: 400s
    steps:
      - subscribe: {subject: box.$id, to: box}
      - mark: asked
        publish: {subject: echo.later, reply: box.$id}
      - receive: {from: box, within: 100s}
        message: {payload: later, not_before: {after: asked, by: 60s}}
"""


class Later(Polite):
    """Answers after a while."""

    def __init__(self, seconds: float) -> None:
        super().__init__()
        self.seconds = seconds

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject != "echo.later" or frame.reply is None:
            super().requested(client, frame)
            return
        answer = Pub(frame.reply, None, None, b"later")
        asyncio.get_running_loop().call_later(self.seconds, self.deliver, client, answer)


def in_no_time(library: Library, cases: Cases, text: str, fake: Polite) -> tuple[Played, float]:
    """Plays cases on a virtual clock; how much of its time passed."""

    async def playing() -> tuple[Played, float]:
        async with serving(fake):
            return await play(library, cases(text), fake.url), now()

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(playing())


def test_silence_of_minutes_takes_no_time(library: Library, cases: Cases) -> None:
    played, passed = in_no_time(library, cases, SLEEPS, Polite())
    assert played.verdicts == {"quiet": "pass"}
    assert passed >= 300


def test_bounds_are_those_of_the_clock(library: Library, cases: Cases) -> None:
    played, passed = in_no_time(library, cases, WAITS, Later(70))
    assert played.verdicts == {"waits": "pass"}
    assert 70 <= passed < 100


def test_an_answer_too_early_or_too_late_fails(library: Library, cases: Cases) -> None:
    """Also on a machine that is too busy for anything: its time does not pass."""
    early, _ = in_no_time(library, cases, WAITS, Later(59.9))
    assert [path for _, path, _ in early.failed("waits")] == ["message.not_before"]
    late, _ = in_no_time(library, cases, WAITS, Later(100.1))
    assert [path for _, path, _ in late.failed("waits")] == ["message"]
    assert late.cells["waits"].plays == ("fail", "fail")
