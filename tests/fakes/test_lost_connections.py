"""Connections that are cut, refused or filled with garbage, and who has to suffer for it."""

from __future__ import annotations

import pytest

from jetproof.load.library import Library

from .conftest import Cases
from .playing import Played, bounded, play
from .server import Crashes, Cuts, CutsObserver, DeafHere, Garbage, Polite, Refuses, serving

OTHERS = "".join(
    f"""
  - case: other-{number}
    clauses: [DEMO-MUST-001]
    steps:
      - request: {{subject: $JS.API.INFO}}
        reply: {{json: {{memory: 0}}}}
"""
    for number in range(6)
)


def asks(subject: str, *, private: bool = False, more: str = "") -> str:
    given = "given: {connections: {main: {options: {name: mine}}}}" if private else "budget: 15s"
    return f"""
  - case: asks
    clauses: [DEMO-MUST-001]
    {given}
    steps:
      - request: {{subject: a.{subject}, within: 1s}}
        reply: {{empty: true}}
{more}
"""


def judged(library: Library, cases: Cases, text: str, fake: Polite, **how: object) -> Played:
    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(text), fake.url, **how)

    return bounded(scenario())


def others(played: Played) -> set[str]:
    return {verdict for name, verdict in played.verdicts.items() if name.startswith("other")}


def test_a_server_that_crashes_leaves_no_verdict_and_no_hang(
    library: Library, cases: Cases
) -> None:
    played = judged(library, cases, asks("crash") + OTHERS, Crashes(), cases_at_once=1)
    assert set(played.verdicts.values()) == {"error"}
    assert len(played.verdicts) == 7
    assert played.exit_code == 3


def test_a_shared_connection_that_is_cut_is_an_error_and_is_made_anew(
    library: Library, cases: Cases
) -> None:
    """Four connections are shared: with six more cases each of them is used again."""
    played = judged(library, cases, asks("cut") + OTHERS, Cuts(), cases_at_once=1)
    assert played.verdicts["asks"] == "error"
    assert played.cells["asks"].reason == (
        "the shared connection was lost: the server closed the connection"
    )
    assert others(played) == {"pass"}
    assert played.exit_code == 3


def test_a_shared_connection_that_is_cut_takes_along_whoever_uses_it(
    library: Library, cases: Cases
) -> None:
    waiting = "".join(
        f"""
  - case: waits-{number}
    clauses: [DEMO-MUST-001]
    steps:
      - subscribe: {{subject: box.$id, to: box}}
      - silence: {{on: box, for: 1s}}
"""
        for number in range(8)
    )
    late = asks("cut").replace("steps:", "steps:\n      - silence: {on: replies, for: 300ms}")
    played = judged(library, cases, waiting + late, Cuts())
    assert played.verdicts["asks"] == "error"
    told = [verdict for name, verdict in played.verdicts.items() if name != "asks"]
    assert (told.count("error"), told.count("pass")) == (2, 6)


def test_a_connection_of_the_cases_own_that_is_cut_is_the_servers_failure(
    library: Library, cases: Cases
) -> None:
    more = """
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: 0}}
"""
    text = asks("cut", private=True, more=more) + OTHERS
    played = judged(library, cases, text, Cuts(), time_factor=0.3)
    assert played.verdicts["asks"] == "fail"
    assert played.failed("asks") == [
        ("1", "reply", "no reply"),
        ("2", "connection", "the server closed the connection"),
    ]
    assert others(played) == {"pass"}


def test_a_stated_silence_on_a_connection_that_was_cut_does_not_hold(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: quiet
    clauses: [DEMO-MUST-001]
    given: {connections: {main: {options: {name: mine}}}}
    steps:
      - subscribe: {subject: box.$id, to: box}
      - publish: {subject: a.cut}
      - silence: {on: box, for: 200ms}
"""
    played = judged(library, cases, text, Cuts())
    assert played.failed("quiet") == [("3", "connection", "the server closed the connection")]


def test_garbage_on_a_shared_connection_is_an_error(library: Library, cases: Cases) -> None:
    played = judged(library, cases, asks("garbage") + OTHERS, Garbage(), cases_at_once=1)
    assert played.verdicts["asks"] == "error"
    assert "broke the protocol" in played.cells["asks"].reason
    assert "\x1b" not in played.cells["asks"].reason
    assert others(played) == {"pass"}


def test_garbage_on_a_connection_of_the_cases_own_is_the_servers_failure(
    library: Library, cases: Cases
) -> None:
    more = "      - publish: {subject: b}"
    text = asks("garbage", private=True, more=more) + OTHERS
    played = judged(library, cases, text, Garbage(), time_factor=0.3)
    assert [(step, path) for step, path, _ in played.failed("asks")] == [
        ("1", "reply"),
        ("2", "connection"),
    ]
    assert others(played) == {"pass"}


def test_errors_are_received_in_order_on_a_connection_of_the_cases_own(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: refused
    clauses: [DEMO-MUST-001]
    given: {connections: {b: {options: {name: mine}}}}
    steps:
      - publish: {subject: a.refuse, connection: b}
      - receive: {from: errors}
        message: {payload: Invalid Subject}
      - receive: {from: errors}
        message: {payload: {match: "^Permissions"}}
      - silence: {on: errors, for: 100ms}
      - request: {subject: $JS.API.INFO, connection: b}
        reply: {json: {memory: 0}}
"""
    fake = Refuses("Invalid Subject", "Permissions Violation for Publish", close=False)
    played = judged(library, cases, text, fake)
    assert played.failed("refused") == []
    notes = [frame.note for frame in played.finished["refused"].frames if frame.op == "-ERR"]
    assert notes == ["Invalid Subject", "Permissions Violation for Publish"]


def test_an_error_and_the_end_of_the_connection_can_be_the_right_answer(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: refused
    clauses: [DEMO-MUST-001]
    given: {connections: {b: {options: {name: mine}}}}
    steps:
      - publish: {subject: a.refuse, connection: b}
      - receive: {from: errors}
        message: {payload: "Maximum Payload \\udcff"}
"""
    text = text.replace("\\udcff", "Violation")
    played = judged(library, cases, text + OTHERS, Refuses("Maximum Payload Violation"))
    assert set(played.verdicts.values()) == {"pass"}


def test_an_error_text_that_is_no_utf8_is_received_all_the_same(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: refused
    clauses: [DEMO-MUST-001]
    given: {connections: {b: {options: {name: mine}}}}
    steps:
      - publish: {subject: a.refuse, connection: b}
      - receive: {from: errors, within: 1s}
        message: {payload: {match: "^no . good$", hex: 6e6f20ff20676f6f64}}
"""
    played = judged(library, cases, text, Refuses("no \udcff good"))
    assert played.failed("refused") == []


def test_an_answer_counts_once_however_many_connections_a_case_has(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: both
    clauses: [DEMO-MUST-001]
    given: {connections: {b: {options: {name: mine}}}}
    steps:
      - request: {subject: $JS.API.INFO}
        replies: {count: 1, within: 300ms}
      - request: {subject: $JS.API.INFO, connection: b}
        replies: {count: 1, within: 300ms}
      - request: {subject: $JS.API.INFO, connection: b, reply: $inbox.own}
        replies: {count: 1, within: 300ms}
      - silence: {on: replies, for: 100ms}
      - publish: {subject: $inbox.unasked}
      - label: unasked
        silence: {on: replies, for: 100ms}
"""
    played = judged(library, cases, text, Polite())
    assert played.failed("both") == [("unasked", "silence", "empty")]
    heard = [frame for frame in played.finished["both"].frames if frame.direction == "<"]
    assert [frame.connection for frame in heard] == ["main", "b", "b", "main"]


def test_an_error_on_a_shared_connection_is_evidence_for_all_and_blame_for_none(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: shares
    clauses: [DEMO-MUST-001]
    steps:
      - publish: {subject: a.refuse}
      - silence: {on: errors, for: 200ms}
"""
    played = judged(library, cases, text, Refuses("Slow Down", close=False))
    assert played.verdicts == {"shares": "pass"}
    [note] = [frame.note for frame in played.finished["shares"].frames if frame.op == "-ERR"]
    assert note == "Slow Down (on a connection shared by cases)"


def test_no_case_takes_a_missed_advisory_for_none(library: Library, cases: Cases) -> None:
    text = """
  - case: listens
    clauses: [DEMO-MUST-001]
    steps:
      - advisory: {of: any, none_for: 3s}
"""
    played = judged(library, cases, text + asks("cut"), CutsObserver())
    assert played.verdicts["listens"] == "error"
    assert played.cells["listens"].reason == (
        "the connection that hears advisories was lost: the server closed the connection"
    )


@pytest.mark.parametrize("together", [False, True])
def test_a_connection_that_hangs_alone_is_an_error_of_its_case(
    library: Library, cases: Cases, together: bool
) -> None:
    steps = """
      - publish: {subject: a.deaf, connection: second}
      - subscribe: {subject: box.$id, to: box}
      - request: {subject: box.$id, connection: second, within: 100ms}
        reply: {empty: true}
"""
    if together:
        inner = steps.replace("\n      ", "\n            ")
        steps = f"""
      - together:
          one: {inner}
          two:
            - subscribe: {{subject: other.$id, to: other}}
            - receive: {{from: other, within: 60s}}
              message: {{payload: x}}
"""
    text = f"""
  - case: deaf
    clauses: [DEMO-MUST-001]
    budget: 100s
    given: {{connections: {{second: {{}}}}}}
    steps: {steps}
"""
    played = judged(library, cases, text + OTHERS, DeafHere(), time_factor=0.2)
    assert played.verdicts["deaf"] == "error"
    assert played.cells["deaf"].reason == "the server answers no PING on the connection second"
    assert others(played) == {"pass"}


def test_what_a_run_made_on_somebody_elses_server_is_taken_away_and_nothing_else(
    library: Library, cases: Cases
) -> None:
    text = """
  - case: makes
    clauses: [DEMO-MUST-001]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $JS.API.STREAM.CREATE.more_$id, json: {name: more_$id}}
        reply: {json: {config.name: more_$id}}
"""
    fake = Polite()
    fake.streams["theirs"] = {"config": {}, "state": {}}
    fake.streams["JETPROOF_KEEPER"] = {"config": {}, "state": {}}
    played = judged(library, cases, text, fake)
    assert played.verdicts == {"makes": "pass"}
    assert set(fake.streams) == {"theirs", "JETPROOF_KEEPER"}
