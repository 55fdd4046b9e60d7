"""What the engine asks a server besides the steps of a case is recorded with the case."""

from __future__ import annotations

import asyncio
from collections import Counter

from jetproof.clock import VirtualLoop
from jetproof.events import CaseFinished
from jetproof.load.library import Library
from jetproof.model.verdict import QuestionEnd
from jetproof.wire import Pub

from .conftest import Cases
from .playing import Played, play
from .server import Client, Polite, serving

UNANSWERED = """
  - case: asks
    clauses: [DEMO-MUST-001]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {json: {seq: 1}}
      - request: {subject: $stream.quiet, within: 200ms}
        reply: {json: {seq: 2}}
"""
OWN = ("JETPROOF_KEEPER", "STREAM.NAMES", "STREAM.DELETE")
"""What the session asks once per group of cases, whichever cases those are."""


class Counting(Polite):
    """Counts PINGs, and does not answer what is published to `quiet`."""

    def __init__(self) -> None:
        super().__init__()
        self.pings = 0

    def pinged(self, client: Client) -> None:
        self.pings += 1
        super().pinged(client)

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.endswith(".quiet"):
            super().requested(client, frame)


class Leaving(Counting):
    """Closes every connection on the first PING after somebody asked `quiet`."""

    def pinged(self, client: Client) -> None:
        if any(frame.subject.endswith(".quiet") for frame in self.published):
            for one in self.clients:
                one.close()
            return
        super().pinged(client)


def played_on(library: Library, cases: Cases, fake: Polite) -> Played:
    async def playing() -> Played:
        async with serving(fake):
            return await play(library, cases(UNANSWERED), fake.url, confirm=0)

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(playing())


def test_silence_is_followed_by_recorded_questions(library: Library, cases: Cases) -> None:
    finished = played_on(library, cases, Counting()).finished["asks"]
    asked = [(one.connection, one.subject, one.end.value) for one in finished.questions]
    assert sorted(asked[:2]) == [
        ("harness", "PING", "answered"),
        ("main", "PING", "answered"),
    ]
    assert asked[2:] == [("harness", "$JS.API.INFO", "answered")]
    assert finished.questions[2].answer.startswith(b'{"type": "io.nats.jetstream.api.v1.account')
    assert {one.after for one in finished.questions} == {len(finished.frames)}
    assert all(one.ended_ms >= one.ms for one in finished.questions)


def test_the_server_saw_nothing_that_is_not_recorded(library: Library, cases: Cases) -> None:
    fake = Counting()
    finished = played_on(library, cases, fake).finished["asks"]
    seen = Counter(
        frame.subject for frame in fake.published if not any(word in frame.subject for word in OWN)
    )
    recorded = Counter(frame.subject for frame in finished.frames if frame.direction == ">")
    recorded += Counter(one.subject for one in finished.questions if one.subject != "PING")
    assert seen
    assert seen == recorded


def test_a_question_without_an_answer_says_how_it_ended(library: Library, cases: Cases) -> None:
    finished = played_on(library, cases, Leaving()).finished["asks"]
    assert finished.questions
    assert {one.end for one in finished.questions} <= {QuestionEnd.LOST, QuestionEnd.ABANDONED}
    assert finished.cell.verdict.value == "error"


def test_questions_keep_their_place_when_plays_are_shown_together(
    library: Library, cases: Cases
) -> None:
    """An unstable cell shows all plays in one transcript."""
    found: list[CaseFinished] = []
    fake = Flaky()

    async def playing() -> None:
        async with serving(fake):
            played = await play(library, cases(UNANSWERED), fake.url)
            found.append(played.finished["asks"])

    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        runner.run(playing())
    [finished] = found
    assert finished.cell.verdict.value == "unstable"
    heads = [at for at, frame in enumerate(finished.frames) if frame.op == "play"]
    assert len(heads) >= 2
    assert finished.questions
    # The first play asked, and its questions stand at its end.
    assert {one.after for one in finished.questions} == {heads[1]}


class Flaky(Counting):
    """Leaves the first message to `quiet` unanswered, and no other."""

    def requested(self, client: Client, frame: Pub) -> None:
        quiet = [one for one in self.published if one.subject.endswith(".quiet")]
        if len(quiet) > 1:
            Polite.requested(self, client, frame)
        else:
            super().requested(client, frame)
