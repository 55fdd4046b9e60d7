"""Laws about reading: pages of direct gets, and the sequences that came."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from jetproof.engine.judge import Seen
from jetproof.engine.mailbox import Mailbox
from jetproof.engine.read_laws import pages, sequences
from jetproof.wire import Headers

Row = tuple[int | None, int, int]
"""Sequence (None for a marker), the one before it, and what is pending."""


@dataclass
class Recorded:
    boxes: dict[str, Mailbox] = field(default_factory=dict)


def reply(seq: int | None, last: int, pending: int, up_to: int = 9) -> Seen:
    fields = [("Nats-Last-Sequence", str(last)), ("Nats-Num-Pending", str(pending))]
    if seq is None:
        fields.append(("Nats-UpTo-Sequence", str(up_to)))
        return Seen("read", Headers(fields, status=204), b"")
    return Seen("read", Headers([("Nats-Sequence", str(seq)), *fields]), b"x")


def broken(law: object, *messages: Seen, **arguments: object) -> dict[str, object]:
    made = Mailbox()
    for message in messages:
        made.put(message)
    findings = law(Recorded({"read": made}), {"on": "read", **arguments})  # type: ignore[operator]
    return {finding.path: finding.actual for finding in findings if not finding.ok}


GOOD: list[Row] = [(2, 0, 3), (5, 2, 2), (None, 5, 2), (6, 0, 1), (9, 6, 0), (None, 9, 0)]


def changed(row: int, to: Row | None) -> list[Row]:
    return [*GOOD[:row], *([to] if to else []), *GOOD[row + 1 :]]


def test_pages_that_read_everything() -> None:
    assert broken(pages, *(reply(*row) for row in GOOD), most=2) == {}


@pytest.mark.parametrize(
    ("rows", "path"),
    [
        (changed(1, (5, 0, 2)), "last_sequence"),
        (changed(1, (5, 2, 3)), "num_pending"),
        (changed(2, (None, 2, 2)), "marker"),
        (changed(2, (None, 5, 1)), "marker"),
        (changed(3, (5, 0, 1)), "order"),
        (changed(5, None), "marker"),
        (changed(4, None), "num_pending"),
    ],
)
def test_pages_say_where_they_are_wrong(rows: list[Row], path: str) -> None:
    assert path in broken(pages, *(reply(*row) for row in rows))


def test_pages_have_one_point_in_time() -> None:
    read = [reply(1, 0, 1), reply(None, 1, 1, 2), reply(2, 0, 0), reply(None, 2, 0, 3)]
    assert broken(pages, *read) == {"up_to_sequence": "points ['2', '3']"}


def test_pages_are_no_larger_than_asked_for() -> None:
    assert broken(pages, *(reply(*row) for row in GOOD), most=1) == {"most": 2}


def test_sequences_of_direct_gets_and_deliveries() -> None:
    read = [reply(3, 0, 0), reply(None, 3, 0)]
    assert broken(sequences, *read, sequences="3") == {}
    assert broken(sequences, *read, sequences="3, 4") == {"messages": "3"}
    pulled = Seen("s", None, b"", reply="$JS.ACK.S.c.1.7.1.1700000000.0")
    assert broken(sequences, pulled, Seen("s", Headers(status=408), b""), sequences="7") == {}
    assert broken(sequences, sequences="") == {}
    assert broken(sequences, pulled, sequences="") == {"messages": "7"}
