"""Laws: each holds for what it should, and says where it is broken."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from jetproof.engine.ack_subjects import sequence_of
from jetproof.engine.judge import Seen
from jetproof.engine.laws import accounted, contiguous, flow, outcomes, spaced, triggers
from jetproof.engine.mailbox import Mailbox
from jetproof.model.matcher import parse_matcher
from jetproof.wire import Headers


@dataclass
class Recorded:
    """What laws look at of a case."""

    boxes: dict[str, Mailbox] = field(default_factory=dict)
    replies: dict[str, Mailbox] = field(default_factory=dict)
    marks: dict[str, float] = field(default_factory=lambda: {"begin": 100.0})
    env: dict[str, object] = field(default_factory=dict)
    outcomes: list[tuple[str, str]] = field(default_factory=list)


def box(*messages: Seen) -> Mailbox:
    made = Mailbox()
    for message in messages:
        made.put(message)
    return made


def beat(at: float, status: int = 100) -> Seen:
    return Seen("s", Headers(status=status), b"", at=100 + at)


def delivery(sequence: int) -> Seen:
    return Seen("s", None, b"", reply=f"$JS.ACK.S.c.1.{sequence}.1.1700000000.0")


def broken(findings: list[object]) -> dict[str, object]:
    return {it.path: it.actual for it in findings if not it.ok}  # type: ignore[attr-defined]


def law(name: object, case: Recorded, **arguments: object) -> dict[str, object]:
    return broken(name(case, arguments))  # type: ignore[operator]


@pytest.mark.parametrize(
    ("times", "told"),
    [
        ((0.5, 1.0, 1.5), {}),
        ((0.5, 1.9, 1.95), {}),
        ((0.46, 0.96), {}),
        ((0.2,), {"by": "number 1 came after 0.200 s"}),
        ((0.5, 0.6), {"by": "number 2 came after 0.600 s"}),
        ((), {"count": 0}),
    ],
)
def test_spaced(times: tuple[float, ...], told: dict[str, object]) -> None:
    case = Recorded(replies={"r": box(*map(beat, times), beat(0.01, 408))})
    assert law(spaced, case, status=100, since="begin", by=0.5) == told


def test_spaced_looks_at_one_subscription_or_at_all() -> None:
    case = Recorded(boxes={"a": box(beat(1.0))}, replies={"r": box(beat(0.1))})
    assert law(spaced, case, status=100, since="begin", by=0.5, on="a") == {}
    told = law(spaced, case, status=100, since="begin", by=0.5, count=parse_matcher(1))
    assert told == {"count": 2, "by": "number 1 came after 0.100 s"}


@pytest.mark.parametrize(
    ("sequences", "told"),
    [
        ((1, 2, 3), {}),
        ((7, 8), {}),
        ((5,), {}),
        ((1, 3), {"sequence": "1 then 3"}),
        ((2, 1), {"sequence": "2 then 1"}),
        ((1, 1), {"sequence": "1 then 1"}),
        ((), {"count": 0}),
    ],
)
def test_contiguous(sequences: tuple[int, ...], told: dict[str, object]) -> None:
    case = Recorded(boxes={"a": box(*map(delivery, sequences))})
    assert law(contiguous, case, on="a") == told


def test_contiguous_counts_what_has_been_read_too() -> None:
    case = Recorded(boxes={"a": box(delivery(1), delivery(2))})
    case.boxes["a"].take()
    assert law(contiguous, case, on="a", count=parse_matcher(2)) == {}
    assert law(contiguous, case, on="a", count=parse_matcher({"gt": 2})) == {"count": 2}


def test_contiguous_is_broken_by_what_no_consumer_delivered() -> None:
    case = Recorded(boxes={"a": box(delivery(1), Seen("s", None, b""))})
    assert law(contiguous, case, on="a") == {"sequence": "1 then None"}


@pytest.mark.parametrize(
    ("reply", "sequence"),
    [
        ("$JS.ACK.S.c.1.42.7.1700000000.0", 42),
        ("$JS.ACK.domain.hash.S.c.1.42.7.1700000000.0", 42),
        ("$JS.ACK.domain.hash.S.c.1.42.7.1700000000.0.token", 42),
        ("$JS.ACK.S.c.1.x.7.1700000000.0", None),
        ("$JS.ACK.S.c", None),
        ("_INBOX.x", None),
        ("", None),
    ],
)
def test_the_sequence_in_an_ack_subject(reply: str, sequence: int | None) -> None:
    assert sequence_of(reply) == sequence


def test_outcomes() -> None:
    case = Recorded(outcomes=[("write", "pub-ack"), ("write", "empty"), ("read", "pub-ack")])
    one, two = parse_matcher(1), parse_matcher(2)
    assert law(outcomes, case, of="write", saying="pub-ack", count=one) == {}
    assert law(outcomes, case, of="write", saying="pub-ack", count=two) == {"count": 1}
    assert law(outcomes, case, of="write", saying="status 503", count=one) == {"count": 0}


def pulled(payload: bytes = b"12345", headers: Headers | None = None) -> Seen:
    """Twenty bytes without its headers."""
    return Seen("subject", headers, payload, reply="an.inbox")


def ended(messages: object, size: object, status: int = 408) -> Seen:
    pending = [("Nats-Pending-Messages", str(messages)), ("Nats-Pending-Bytes", str(size))]
    return Seen("r", Headers(pending, status=status), b"")


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ((pulled(), pulled(), ended(3, 60)), {}),
        ((ended(5, 100),), {}),
        ((pulled(), beat(0.5), pulled(), ended(1, 20), ended(2, 40)), {}),
        ((pulled(), ended(3, 80)), {"batch": "1 delivered, 3 pending"}),
        ((pulled(), ended(4, 81)), {"max_bytes": "20 delivered, 81 pending"}),
        (
            (pulled(), ended("x", "")),
            {"batch": "1 delivered, 0 pending", "max_bytes": "20 delivered, 0 pending"},
        ),
        ((pulled(), ended(-1, 80)), {"batch": "1 delivered, -1 pending"}),
        (
            (),
            {"batch": "0 delivered, 0 pending", "max_bytes": "0 delivered, 0 pending"},
        ),
    ],
)
def test_accounted(messages: tuple[Seen, ...], told: dict[str, object]) -> None:
    case = Recorded(boxes={"a": box(*messages)})
    assert law(accounted, case, on="a", batch=5, max_bytes=100) == told


def test_accounted_counts_headers_unless_they_are_free() -> None:
    block = Headers([("A", "b")])
    case = Recorded(boxes={"a": box(pulled(headers=block), ended(0, 1))})
    size = 21 + len(block.encode())
    assert law(accounted, case, on="a", max_bytes=size) == {}
    assert law(accounted, case, on="a", max_bytes=21, headers="free") == {}
    told = law(accounted, case, on="a", max_bytes=21)
    assert told == {"max_bytes": f"{size - 1} delivered, 1 pending"}
    assert law(accounted, case, on="a", batch=1) == {}


def ack(at: int, seq: int, msgs: int, asked: int = 4, op: int = 1) -> Seen:
    subject = f"prefix.more.id.{asked}.fail.{at}.{op}.$FI"
    return Seen(subject, None, b'{"type":"ack","seq":%d,"msgs":%d}' % (seq, msgs), at=float(at))


@pytest.mark.parametrize(
    ("acks", "told"),
    [
        ([ack(1, 0, 4, op=0), ack(4, 4, 4), ack(8, 8, 4)], {}),
        ([ack(1, 0, 1, op=0), ack(1, 1, 2, op=0), ack(3, 3, 4), ack(7, 7, 4)], {}),
        ([ack(1, 0, 4, op=0), ack(4, 4, 4), ack(5, 4, 4, op=4), ack(8, 8, 4)], {}),
        ([ack(1, 1, 4, op=0), ack(4, 4, 4), ack(8, 8, 4)], {}),
        ([ack(1, 1, 4, op=0), ack(5, 5, 4), ack(9, 9, 4)], {}),
        ([ack(1, 1, 4, op=0), ack(6, 6, 4)], {"points": "6 after 1 with 4"}),
        ([ack(1, 0, 4, op=0), ack(8, 8, 4)], {"points": "8 after 0 with 4"}),
        ([ack(1, 0, 4, op=0), ack(4, 4, 3), ack(6, 6, 3)], {"points": "6 after 4 with 3"}),
        ([ack(1, 0, 4, op=0), ack(4, 4, 4), ack(5, 4, 4)], {"points": "4 after 4 with 4"}),
        ([ack(1, 0, 8, op=0)], {"asked": "8 of 4"}),
        ([ack(1, 0, 0, op=0)], {"asked": "0 of 4"}),
        ([ack(1, 0, 4, op=0), ack(3, 4, 4)], {"sent": "4 at 3"}),
        ([], {"count": 0}),
    ],
)
def test_flow(acks: list[Seen], told: dict[str, object]) -> None:
    others = [
        Seen("prefix.id.4.fail.3.1.$FI", None, b'{"type":"gap","last_seq":3,"seq":5}'),
        Seen("prefix.id.4.fail.9.2.$FI", None, b'{"stream":"S","seq":9,"batch":"id","count":9}'),
        Seen("elsewhere", None, b'{"type":"ack","seq":99,"msgs":99}'),
        Seen("prefix.id.4.fail.3.1.$FI", None, b"garbage"),
    ]
    assert law(flow, Recorded(boxes={"a": box(*acks, *others)}), on="a") == told


def told_ack(seq: int | None, messages: int, *, last_seq: int | None = None) -> Seen:
    """A BatchFlowAck of revision 7, on the one reply subject of its batch."""
    said = {"last_seq": last_seq, "seq": seq, "messages": messages}
    document = json.dumps({name: value for name, value in said.items() if value is not None})
    return Seen("inbox", None, document.encode(), at=float(seq or 0))


@pytest.mark.parametrize(
    ("acks", "told"),
    [
        ([told_ack(1, 3), told_ack(3, 3), told_ack(6, 1), told_ack(7, 3)], {}),
        ([told_ack(None, 3), told_ack(3, 3)], {}),
        ([told_ack(1, 3), told_ack(3, 3), told_ack(5, 3, last_seq=3), told_ack(6, 3)], {}),
        ([told_ack(1, 3), told_ack(2, 3)], {"points": "2 after 1 with 3"}),
        ([told_ack(1, 3), told_ack(3, 2), told_ack(6, 3)], {"points": "6 after 3 with 2"}),
        ([told_ack(1, 4)], {"asked": "4 of 3"}),
        ([Seen("inbox", None, b'{"stream":"S","seq":3,"batch":"b","count":3}')], {"count": 0}),
    ],
)
def test_flow_of_revision_7(acks: list[Seen], told: dict[str, object]) -> None:
    assert law(flow, Recorded(boxes={"a": box(*acks)}), on="a", asked=3) == told


def test_flow_counts() -> None:
    case = Recorded(boxes={"a": box(ack(1, 0, 4, op=0))})
    assert law(flow, case, on="a", count=parse_matcher(2)) == {"count": 1}


@pytest.mark.parametrize(
    ("acks", "told"),
    [
        ([ack(1, 1, 4, op=0), ack(27, 27, 4), ack(28, 27, 4, op=4)], {}),
        ([ack(1, 1, 4, op=0), ack(27, 20, 4)], {"named": "20 at 27"}),
        ([ack(1, 0, 4, op=0)], {"named": "0 at 1"}),
        ([], {"count": 0}),
    ],
)
def test_triggers(acks: list[Seen], told: dict[str, object]) -> None:
    assert law(triggers, Recorded(boxes={"a": box(*acks)}), on="a") == told
    assert law(triggers, Recorded(boxes={"a": box(*acks)})) == told


def test_triggers_counts() -> None:
    case = Recorded(boxes={"a": box(ack(1, 1, 4, op=0))})
    assert law(triggers, case, on="a", count=parse_matcher(2)) == {"count": 1}
