"""Answers that are odd, late, doubled or out of order: none may be taken for another."""

from __future__ import annotations

import pytest

from jetproof.load.library import Library

from .conftest import Cases
from .confusing import (
    AdvisoryFirst,
    AfterTheEnd,
    Late,
    NewStatus,
    NoPlaceYet,
    OddHeaders,
    Twice,
)
from .playing import Played, bounded, play
from .server import Polite, serving

STREAM = """{stream: {subjects: ["$stream.>"]}}"""


def judged(
    library: Library, cases: Cases, fake: Polite, steps: str, given: str = "{}", **how: object
) -> Played:
    text = f"""
  - case: asks
    clauses: [DEMO-MUST-001]
    given: {given}
    steps:
{steps}
  - case: other
    clauses: [DEMO-MUST-001]
    given: {STREAM}
    steps:
      - request: {{subject: $stream.a}}
        reply: {{json: {{seq: 1}}}}
      - stream: {{messages: 1}}
"""

    async def scenario() -> Played:
        async with serving(fake):
            return await play(library, cases(text), fake.url, **how)

    played = bounded(scenario())
    assert played.verdicts["other"] == "pass", played.cells["other"].reason
    return played


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (b"NATS/1.0 299 Something New", "status 299 Something New"),
        (b"NATS/1.0 777", "status 777"),
        (b"NATS/1.0 2xx Half a Number", "status 2xx Half a Number"),
        (b"NATS/1.0 Not A Number", "status Not A Number"),
        (b"NATS/1.0 \xff", "status \\xff"),
    ],
)
def test_a_status_that_was_never_seen_is_told_and_is_no_empty_answer(
    library: Library, cases: Cases, line: bytes, said: str
) -> None:
    steps = """
      - request: {subject: new.a}
        reply: {empty: true, position: kind}
      - request: {subject: new.a}
        reply: {status: 503}
      - request: {subject: new.a}
        reply: {json: {seq: 1}}
      - request: {subject: new.a}
        replies: {until: {status: 204}, within: 100ms}
      - request: {subject: new.a, until_there: 5s}
        reply: {one_of: [{empty: true}, {error: any}, {status: 404}]}
"""
    played = judged(library, cases, NewStatus(line), steps)
    assert played.verdicts["asks"] == "fail"
    failed = played.failed("asks")
    number = 299 if b"299" in line else 777 if b"777" in line else said
    assert failed == [
        ("1", "reply.empty", said),
        ("2", "reply.status", number),
        ("3", "reply.json", said),
        ("4", "replies.until", said),
        ("5", "reply.one_of", said),
    ]
    assert played.cells["asks"].position == {"kind": said}


def test_a_status_that_was_never_seen_can_be_asked_for(library: Library, cases: Cases) -> None:
    steps = """
      - request: {subject: new.a}
        reply: {status: 299, description: Something New}
      - request: {subject: new.a}
        replies: {until: {status: {gte: 200, lt: 300}}, count: 1}
"""
    assert judged(library, cases, NewStatus(), steps).verdicts["asks"] == "pass"


def test_what_comes_on_a_subscription_that_has_ended_is_not_heard(
    library: Library, cases: Cases
) -> None:
    steps = """
      - subscribe: {subject: box.$id, to: box}
      - publish: {subject: box.$id, payload: before}
      - receive: {from: box}
        message: {payload: before}
      - unsubscribe: {from: box}
      - silence: {on: box, for: 100ms}
      - subscribe: {subject: box.$id, to: box}
      - publish: {subject: box.$id, payload: again}
      - receive: {from: box}
        message: {payload: again}
      - silence: {on: box, for: 100ms}
      - silence: {on: replies, for: 100ms}
"""
    played = judged(library, cases, AfterTheEnd(), steps, cases_at_once=1)
    assert played.verdicts["asks"] == "pass", played.cells["asks"].reason


@pytest.mark.parametrize("reply", ["", ", reply: $inbox.one"], ids=["fresh", "the same subject"])
def test_a_late_reply_is_not_the_answer_to_the_next_question(
    library: Library, cases: Cases, reply: str
) -> None:
    steps = f"""
      - label: first
        request: {{subject: $stream.late{reply}, within: 100ms}}
        reply: {{json: {{seq: 1}}}}
      - request: {{subject: wake.$id}}
        reply: {{status: 503}}
      - label: second
        request: {{subject: $stream.a{reply}, within: 2s}}
        reply: {{json: {{stream: $stream, seq: 1}}}}
      - stream: {{messages: 1}}
"""
    played = judged(library, cases, Late(), steps, STREAM, cases_at_once=1)
    assert played.failed("asks") == [("first", "reply", "no reply")]


def test_a_late_reply_breaks_a_silence(library: Library, cases: Cases) -> None:
    steps = """
      - request: {subject: $stream.late, within: 100ms, or_silence: true}
        reply: {json: {seq: 1}}
      - request: {subject: wake.$id}
        reply: {status: 503}
      - label: then
        silence: {on: replies, for: 100ms}
"""
    played = judged(library, cases, Late(), steps, STREAM, cases_at_once=1)
    assert played.failed("asks") == [("then", "silence", "pub-ack")]


def test_headers_are_known_by_their_exact_name_and_each_line_counts(
    library: Library, cases: Cases
) -> None:
    steps = """
      - label: exact
        request: {subject: headers.a}
        reply: {headers: {nats-sequence: 1, NATS-STREAM: S}, payload: x}
      - label: usual
        request: {subject: headers.a}
        reply: {headers: {Nats-Sequence: 1, Nats-Stream: {exists: true}}}
      - label: first
        request: {subject: headers.a}
        reply: {headers: {Nats-Subject: a}, capture: {subject: header.Nats-Subject}}
      - label: second
        request: {subject: headers.a}
        reply: {headers: {Nats-Subject: b}}
      - label: all
        request: {subject: headers.a}
        reply:
          headers: {Nats-Subject: {values: [a, b, ""]}}
          header_names: [nats-sequence, NATS-STREAM, Nats-Subject, Nats-Subject, Nats-Subject]
      - label: once
        request: {subject: headers.a}
        reply: {headers: {Nats-Subject: {values: [$subject]}}}
"""
    played = judged(library, cases, OddHeaders(), steps)
    assert played.failed("asks") == [
        ("usual", "reply.headers.Nats-Sequence", {"absent": True}),
        ("usual", "reply.headers.Nats-Stream", {"absent": True}),
        ("second", "reply.headers.Nats-Subject", "a"),
        ("once", "reply.headers.Nats-Subject", ["a", "b", ""]),
    ]


@pytest.mark.parametrize("reply", ["", ", reply: $inbox.one"], ids=["fresh", "the same subject"])
def test_a_second_answer_is_not_the_answer_to_the_next_question(
    library: Library, cases: Cases, reply: str
) -> None:
    steps = f"""
      - repeat: {{as: i, times: 3}}
        steps:
          - request: {{subject: $stream.a{reply}}}
            reply: {{json: {{seq: $i}}}}
      - stream: {{messages: 3}}
      - label: again
        request: {{subject: $stream.a}}
        reply: {{json: {{seq: 4}}}}
      - law: {{outcomes: {{of: again, saying: pub-ack, count: 1}}}}
"""
    played = judged(library, cases, Twice(), steps, STREAM)
    assert played.verdicts["asks"] == "pass", played.cells["asks"].reason


def test_a_second_answer_is_seen_where_a_case_looks_for_it(library: Library, cases: Cases) -> None:
    steps = """
      - request: {subject: $stream.a}
        reply: {json: {seq: 1}}
      - label: then
        silence: {on: replies, for: 200ms}
      - label: both
        request: {subject: $stream.a}
        replies: {count: {lt: 2}, within: 200ms}
"""
    played = judged(library, cases, Twice(), steps, STREAM)
    assert played.failed("asks") == [
        ("then", "silence", "pub-ack"),
        ("both", "replies.count", 2),
    ]


def test_an_advisory_may_come_before_the_answer_that_it_is_about(
    library: Library, cases: Cases
) -> None:
    steps = """
      - mark: asked
        request: {subject: $stream.gap}
        reply: {json: {seq: 1}, mark: answered}
      - advisory: {json: {stream: $stream, reason: incomplete}, not_before: {after: asked, by: 0ms}}
      - advisory: {none_for: 100ms}
      - request: {subject: $stream.gap}
        reply: {json: {seq: 2}}
      - label: early
        advisory: {none_for: 100ms}
"""
    played = judged(library, cases, AdvisoryFirst(), steps, STREAM)
    assert played.failed("asks") == [
        ("early", "advisory", "stream_batch_abandoned: incomplete"),
    ]


def test_a_stream_that_has_no_place_at_the_moment_is_asked_for_again(
    library: Library, cases: Cases
) -> None:
    steps = """
      - request: {subject: $stream.a}
        reply: {json: {seq: 1}}
"""
    fake = NoPlaceYet()
    played = judged(library, cases, fake, steps, STREAM)
    assert played.verdicts["asks"] == "pass", played.cells["asks"].reason
    assert fake.refused == 1
