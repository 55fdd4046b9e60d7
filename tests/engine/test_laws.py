"""Laws: each holds for what it should, and says where it is broken."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from jetproof.engine.judge import Seen
from jetproof.engine.laws import contiguous, outcomes, sequence_of, spaced
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
