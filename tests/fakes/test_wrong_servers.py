"""Servers that answer wrongly, late or not at all: whose fault it is decides fail or error."""

from __future__ import annotations

import pytest

from jetproof.engine import player
from jetproof.engine.play import Play
from jetproof.events import Notice
from jetproof.load.library import Library
from jetproof.model.case import Publish
from jetproof.targets.node import StartError
from jetproof.wire import Pub

from .conftest import Cases
from .playing import Played, bounded, play
from .server import Client, Mute, PingDeaf, Polite, Silent, Slow, Wrong, serving

PLAIN = """
  - case: plain
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: $JS.API.INFO, within: 500ms}
        reply: {json: {memory: 0}}
"""
STORED = """
  - case: stored
    clauses: [DEMO-MUST-001]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a, within: 500ms}
        reply: {schema: pub-ack, json: {stream: $stream, seq: 1}}
      - stream: {messages: 1}
"""


def judged(library: Library, cases: Cases, text: str, fake: Polite, **how: object) -> Played:
    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(text), fake.url, **how)

    return bounded(scenario())


def test_a_polite_server_passes(library: Library, cases: Cases) -> None:
    played = judged(library, cases, PLAIN + STORED, Polite())
    assert played.verdicts == {"plain": "pass", "stored": "pass"}
    assert played.exit_code == 0


def test_a_server_that_is_always_wrong_fails(library: Library, cases: Cases) -> None:
    played = judged(library, cases, PLAIN + STORED, Wrong())
    assert played.verdicts == {"plain": "fail", "stored": "fail"}
    assert played.failed("plain") == [("1", "reply.json.memory", {"absent": True})]
    assert played.failed("stored") == [("given", "given.stream", "pub-ack")]
    assert played.exit_code == 1


def test_a_server_that_takes_a_stream_but_not_its_settings_fails(
    library: Library, cases: Cases
) -> None:
    class Forgetful(Polite):
        def api(self, call: str, payload: bytes) -> dict[str, object]:
            told = super().api(call, payload)
            return {**told, "config": []} if call.startswith("STREAM.CREATE.") else told

    played = judged(library, cases, STORED, Forgetful())
    assert played.failed("stored") == [
        ("given", "given.stream.name", {"absent": True}),
        ("given", "given.stream.subjects", {"absent": True}),
    ]


def test_a_server_that_is_not_ready_is_no_verdict(library: Library, cases: Cases) -> None:
    busy = b'{"error":{"code":503,"err_code":10008,"description":"temporarily unavailable"}}'
    played = judged(
        library,
        cases,
        STORED,
        Wrong(busy, about=lambda frame: ".CREATE." in frame.subject),
        time_factor=0.1,
    )
    assert played.verdicts == {"stored": "error"}
    assert played.cells["stored"].reason == (
        "step given: the stream $stream could not be created: error 10008 (503)"
    )


def test_a_wrong_server_breaks_the_schema_too(library: Library, cases: Cases) -> None:
    text = """
  - case: ignorant
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: anything}
        reply: {payload: {contains: nobody}}
"""
    played = judged(library, cases, text, Wrong())
    assert played.verdicts == {"ignorant": "pass"}
    result = played.schemas["pub-ack"]
    assert (result.verdict, result.seen, result.broken) == ("fail", 1, 1)
    assert "seq" in result.reason
    assert result.first_broken is not None
    assert b"nobody" in result.first_broken.payload
    assert {one.case for one in result.violations} == {result.first_broken.case}
    assert played.exit_code == 1


def test_a_server_that_says_nothing_is_no_server(library: Library, cases: Cases) -> None:
    with pytest.raises(StartError, match="does not answer as a NATS server") as raised:
        judged(library, cases, PLAIN, Silent())
    assert raised.value.phase == "start"


class SilentLater(Polite):
    """Greets whoever comes first, and then nobody."""

    def greet(self, client: Client) -> None:
        if len(self.greeted) < self.welcome:
            super().greet(client)
        self.greeted.append(client)

    def __init__(self, welcome: int) -> None:
        super().__init__()
        self.welcome = welcome
        self.greeted: list[Client] = []


@pytest.mark.parametrize("welcome", [1, 2, 4])
def test_a_server_that_falls_silent_before_the_first_case_is_an_error(
    library: Library, cases: Cases, welcome: int
) -> None:
    played = judged(library, cases, PLAIN + STORED, SilentLater(welcome), time_factor=0.1)
    assert played.verdicts == {"plain": "error", "stored": "error"}
    [failure] = played.target_failures
    assert "no INFO" in failure.reason
    assert all(cell.reason == failure.reason for cell in played.cells.values())
    assert played.exit_code == 3


def test_an_answer_that_never_comes_is_a_failure_while_the_server_lives(
    library: Library, cases: Cases
) -> None:
    def stored(frame: Pub) -> bool:
        return frame.subject.startswith("stream_")

    played = judged(library, cases, PLAIN + STORED, Mute(stored))
    assert played.verdicts == {"plain": "pass", "stored": "fail"}
    assert played.failed("stored") == [("1", "reply", "no reply"), ("2", "stream.messages", 0)]


def test_an_answer_that_never_comes_is_an_error_once_the_server_hangs(
    library: Library, cases: Cases
) -> None:
    played = judged(library, cases, PLAIN + STORED, PingDeaf(), time_factor=0.2)
    assert played.verdicts == {"plain": "error", "stored": "error"}
    assert {cell.reason for cell in played.cells.values()} == {
        "the server does not answer any more: it answers no PING"
    }
    assert played.exit_code == 3


@pytest.mark.parametrize(
    "step",
    [
        "silence: {on: box, for: 200ms}",
        "silence: {on: replies, for: 200ms}",
        "advisory: {of: nothing, none_for: 200ms}",
        "{request: {subject: a}, reply: {silence: 200ms}}",
        "{receive: {from: box}, messages: {count: 0, within: 200ms}}",
        "{receive: {from: box}, messages: {count: {lte: 3}, within: 200ms}}",
        "{request: {subject: a}, replies: {count: {lt: 9}, within: 200ms}}",
    ],
)
def test_the_silence_of_a_server_that_hangs_proves_nothing(
    library: Library, cases: Cases, step: str
) -> None:
    text = f"""
  - case: quiet
    clauses: [DEMO-MUST-001]
    steps:
      - subscribe: {{subject: box.$id, to: box}}
      - publish: {{subject: nobody.listens}}
      - {step}
"""
    hung = judged(library, cases, text, PingDeaf(), time_factor=0.2)
    assert hung.verdicts == {"quiet": "error"}
    alive = judged(library, cases, text, Mute(), time_factor=0.2)
    assert alive.verdicts == {"quiet": "pass"}


def test_a_slow_server_is_waited_for(library: Library, cases: Cases) -> None:
    played = judged(library, cases, PLAIN + STORED, Slow(0.2))
    assert played.verdicts == {"plain": "pass", "stored": "pass"}


def test_an_answer_that_comes_too_late_is_no_answer(library: Library, cases: Cases) -> None:
    text = """
  - case: late
    clauses: [DEMO-MUST-001]
    steps:
      - request: {subject: $JS.API.INFO, within: 50ms}
        reply: {json: {memory: 0}}
      - silence: {on: replies, for: 800ms}
"""
    played = judged(library, cases, text, Slow(0.4))
    assert played.failed("late") == [
        ("1", "reply", "no reply"),
        ("2", "silence", "account_info_response"),
    ]


def test_a_bug_of_the_harness_is_told_as_one_and_other_cases_go_on(
    library: Library, cases: Cases, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(play: Play, step: Publish) -> None:
        raise KeyError("oops")

    monkeypatch.setitem(player.PLAYERS, Publish, broken)  # type: ignore[arg-type]
    text = """
  - case: unlucky
    clauses: [DEMO-MUST-001]
    steps:
      - publish: {subject: a}
"""
    played = judged(library, cases, text + PLAIN, Polite())
    assert played.verdicts == {"unlucky": "error", "plain": "pass"}
    assert played.cells["unlucky"].reason.startswith(
        "step 1: this is a bug in jetproof: KeyError: 'oops' (broken, line "
    )


PRIVATE = """
  - case: private
    clauses: [DEMO-MUST-001]
    given: {connections: {own: {}}}
    steps:
      - request: {subject: $JS.API.INFO, connection: own}
        reply: {json: {memory: 0}}
"""


class SilentAt(Polite):
    """Greets every connection but one."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__()
        self.number = number
        self.greeted = 0

    def greet(self, client: Client) -> None:
        self.greeted += 1
        if self.greeted != self.number:
            super().greet(client)


def test_a_connection_that_a_busy_server_does_not_open_is_tried_again(
    library: Library, cases: Cases
) -> None:
    polite = SilentAt()
    judged(library, cases, PRIVATE, polite)
    # The last connection is that of the case, those before it are the session's.
    for number in (polite.greeted, polite.greeted - 1):
        played = judged(library, cases, PRIVATE, SilentAt(number), time_factor=0.2)
        assert played.verdicts == {"private": "pass"}
        [said] = [event.text for event in played.events if isinstance(event, Notice)]
        assert "again: " in said
        assert "no INFO" in said


class DeafTo(Polite):
    """Answers every PING but one."""

    def __init__(self, number: int | None = None) -> None:
        super().__init__()
        self.number = number
        self.pings = 0
        self.before_cases = 0

    def pinged(self, client: Client) -> None:
        self.pings += 1
        if self.pings != self.number:
            super().pinged(client)

    def requested(self, client: Client, frame: Pub) -> None:
        self.before_cases = self.before_cases or self.pings
        super().requested(client, frame)


def test_a_session_that_a_busy_server_does_not_answer_is_begun_again(
    library: Library, cases: Cases
) -> None:
    polite = DeafTo()
    judged(library, cases, PLAIN, polite)
    played = judged(library, cases, PLAIN, DeafTo(polite.before_cases), time_factor=0.2)
    assert played.verdicts == {"plain": "pass"}
    assert any("is started again" in str(event) for event in played.events)
