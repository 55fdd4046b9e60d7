"""What a client library reports as stored was acknowledged, and it sends what it was given."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from jetproof.engine.client_side import Made, Passed
from jetproof.engine.judge import Finding
from jetproof.engine.promises import calls, published, reads
from jetproof.targets.clients.process import Answer
from jetproof.wire.codec import HEAD
from jetproof.wire.frames import Frame, Msg, Pub
from jetproof.wire.headers import Headers

ACK = {"stream": "S", "seq": 1}
COMMITTED = {"stream": "S", "seq": 3, "batch": "b", "count": 3}


def made(op: str, ok: object = None, *, error: str = "", at: float = 9.0, **given: object) -> Made:
    answer = Answer("error", {"type": error}, at) if error else Answer("ok", ok or {}, at)
    return Made(op, given, 0.0, answer)


def passed(*frames: Frame) -> list[Passed]:
    return [Passed(frame, float(number)) for number, frame in enumerate(frames, 1)]


def said(document: object, to: str = "r") -> Msg:
    payload = b"" if document is None else json.dumps(document).encode()
    return Msg(to, "1", None, None, payload)


def member(number: int, payload: bytes, reply: str | None = None, **more: str) -> Pub:
    items = {"Nats-Batch-Id": "b", "Nats-Batch-Sequence": str(number)}
    items |= {f"Nats-Batch-{name}": value for name, value in more.items()}
    return Pub("S.a", reply, Headers(items.items()), payload)


def only(findings: object) -> Finding:
    (one,) = findings  # type: ignore[misc]
    assert isinstance(one, Finding)
    return one


PUBLISH = Pub("S.a", "r", None, b"m1")


@pytest.mark.parametrize(
    ("answer", "holds"),
    [
        (said(ACK), True),
        (said({**ACK, "seq": 2}), False),
        (said({"error": {"code": 503}, **ACK}), False),
        (said({"hello": "world"}), False),
        (said(ACK, to="another"), False),
    ],
)
def test_a_publish_is_acknowledged_to_its_reply_subject(answer: Msg, holds: bool) -> None:
    call = made("publish", {"ack": ACK}, subject="S.a", data="m1")
    finding = only(published.judged([call], passed(PUBLISH, answer)))
    assert (finding.path, finding.ok) == ("acknowledged.publish", holds)


def test_an_ack_that_comes_after_the_call_has_returned_proves_nothing() -> None:
    call = made("publish", {"ack": ACK}, subject="S.a", data="m1", at=1.5)
    assert not only(published.judged([call], passed(PUBLISH, said(ACK)))).ok


def test_one_ack_is_returned_once() -> None:
    twice = [made("publish", {"ack": ACK}, subject="S.a", data="m1")] * 2
    finding = only(published.judged(twice, passed(PUBLISH, said(ACK))))
    assert finding.actual == "call 2 returned seq 1"


@pytest.mark.parametrize(("answer", "holds"), [(COMMITTED, True), (ACK, False)])
def test_a_commit_is_acknowledged_as_a_batch(answer: Mapping[str, object], holds: bool) -> None:
    call = made("batch.commit", {"ack": dict(answer)}, of="b", subject="S.a", data="m3")
    frames = passed(member(3, b"m3", "r", Commit="1"), said(answer))
    assert only(published.judged([call], frames)).ok is holds


def test_no_more_is_acknowledged_than_the_server_said() -> None:
    call = made("ingest.add", {"batch_seq": 3, "ack_seq": 2}, of="f", subject="S.a")
    news = passed(said({"type": "news", "seq": 2}))
    finding = only(published.judged([call], news))
    assert finding.actual == "call 1 returned 2 where 0 was acknowledged"
    assert only(published.judged([call], passed(said({"type": "ack", "seq": 2, "msgs": 2})))).ok


ADDS = [made("batch.add", of="b", subject="S.a", data=f"m{number}") for number in (1, 2)]
COMMIT = made("batch.commit", {"ack": COMMITTED}, of="b", subject="S.a", data="m3")


@pytest.mark.parametrize(
    ("payloads", "holds"),
    [("m1 m2 m3", True), ("m1 m3", False), ("m2 m1 m3", False), ("m1 m2 m2 m3", False)],
)
def test_a_batch_is_sent_as_it_was_given(payloads: str, holds: bool) -> None:
    sent = [member(number, data.encode()) for number, data in enumerate(payloads.split(), 1)]
    finding = next(published.committed([*ADDS, COMMIT], passed(*sent)))
    assert (finding.path, finding.ok) == ("committed.b", holds)


@pytest.mark.parametrize(("count", "holds"), [(3, True), (2, False)])
def test_a_commit_is_of_all_messages(count: int, holds: bool) -> None:
    ack = {**COMMITTED, "count": count}
    commit = made("batch.commit", {"ack": ack}, of="b", subject="S.a", data="m3")
    sent = passed(*(member(number, f"m{number}".encode()) for number in (1, 2, 3)))
    _, counted = published.committed([*ADDS, commit], sent)
    assert (counted.path, counted.ok) == ("committed.b.count", holds)


@pytest.mark.parametrize(("gap", "judged"), [("fail", 2), ("ok", 1)])
def test_a_fast_batch_may_allow_gaps(gap: str, judged: int) -> None:
    opened = made("ingest.open", **{"as": "f", "gap": gap})
    ack = {"ack": {**COMMITTED, "count": 0}}
    commit = made("ingest.commit", ack, of="f", subject="S.a", data="m1")
    sent = passed(Pub("S.a", f"inbox.b.10.{gap}.1.2.$FI", None, b"m1"))
    assert len(list(published.committed([opened, commit], sent))) == judged


def test_a_message_that_was_refused_may_be_left_out() -> None:
    refused = made("batch.add", error="Refused", of="b", subject="S.a", data="m2")
    sent = passed(member(1, b"m1"), member(2, b"m3"))
    assert next(published.committed([ADDS[0], refused, COMMIT], sent)).ok


def test_a_batch_that_failed_is_not_judged() -> None:
    failed = made("batch.commit", error="Timeout", of="b", subject="S.a", data="m3")
    assert not list(published.committed([*ADDS, failed], passed(member(1, b"m1"))))


def test_expectations_are_sent() -> None:
    call = made("batch.add", of="b", subject="S.a", data="m2", expect_last_seq=5)
    finding = only(published.as_given([call], passed(member(2, b"m2"))))
    assert finding.actual == "call 1 without nats-expected-last-sequence: 5"
    carried = Pub("S.a", None, Headers([("Nats-Expected-Last-Sequence", "5")]), b"m2")
    assert only(published.as_given([call], passed(carried))).ok


def stored(seq: int, before: int, *, status: int | None = None, name: str = "") -> Msg:
    items = {"Nats-Sequence": str(seq), "Nats-Last-Sequence": str(before)}
    return Msg("r", "1", None, Headers(items.items(), status=status, description=name), b"m")


END = Msg(
    "r", "1", None, Headers([("Nats-Last-Sequence", "2")], status=204, description="EOB"), b""
)
ASKED = Pub("$JS.API.DIRECT.GET.S", "r", None, b"{}")


def read(*sequences: int) -> Made:
    return made("direct.batch", {"messages": [{"seq": seq} for seq in sequences]}, stream="S")


@pytest.mark.parametrize(
    ("came", "problem"),
    [
        ((stored(1, 0), stored(2, 1), END), None),
        ((stored(1, 0), stored(2, 1)), "no end after 2 messages"),
        ((stored(1, 0), END), "the end follows 2, and 1 came before it"),
        (
            (stored(1, 0), stored(2, 1), stored(2, 1), END),
            "sequence 2 follows 1, and 2 came before it",
        ),
        ((Msg("r", "1", None, Headers((), status=408, description="Bad"), b""),), "status 408 Bad"),
    ],
)
def test_a_read_without_an_error_is_whole(came: tuple[Msg, ...], problem: str | None) -> None:
    finding = only(reads.whole([read(1, 2)], passed(ASKED, *came)))
    assert (finding.ok, finding.actual) == (problem is None, problem)


def test_what_came_is_returned() -> None:
    finding = only(reads.whole([read(1)], passed(ASKED, stored(1, 0), stored(2, 1), END)))
    assert finding.actual == "returned 1 of 1, 2"


def test_a_message_is_handed_over_as_it_came() -> None:
    headers = Headers([("X", "one"), ("X", "two"), ("Nats-Sequence", "1")])
    came = passed(Msg("r", "1", None, headers, b"m1"))
    whole = {"seq": 1, "data": "m1", "headers": [["X", "one"], ["X", "two"]]}
    assert only(reads.unchanged(came, [whole])).ok
    less = {**whole, "headers": [["X", "two"]]}
    assert only(reads.unchanged(came, [less])).actual == "sequence 1 without x: one"
    other = {**whole, "data": "m2"}
    assert only(reads.unchanged(came, [other])).actual == "another payload of sequence 1"


def test_of_a_long_message_the_head_is_compared() -> None:
    payload = b"x" * (HEAD + 1)
    came = passed(Msg("r", "1", None, Headers([("Nats-Sequence", "1")]), payload[:HEAD]))
    assert only(reads.unchanged(came, [{"seq": 1, "data": payload.decode()}])).ok
    assert not only(reads.unchanged(came, [{"seq": 1, "data": "y" * (HEAD + 1)}])).ok


def test_a_panic_is_no_error() -> None:
    assert not list(calls.returned([made("fetch", error="InvalidOption")]))
    assert only(calls.returned([made("fetch", error="panic")])).path == "returned.fetch"
