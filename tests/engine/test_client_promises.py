"""What reached a client library reaches the application: the law that every client case is held to."""

from __future__ import annotations

import pytest

from jetproof.engine.ack_subjects import Delivered
from jetproof.engine.promises.handed import Handed, handed, in_order, without_gaps

CAME = tuple(Delivered("S", "c", 1, seq, seq) for seq in (1, 2, 3, 4))


def got(*sequences: int) -> list[Handed]:
    return [Handed(seq, 1, "c") for seq in sequences]


@pytest.mark.parametrize("sequences", [(1, 2, 3, 4), (2, 3), (1, 4)])
def test_order_holds_for_what_was_handed_over(sequences: tuple[int, ...]) -> None:
    assert in_order("k", CAME, got(*sequences)).ok


@pytest.mark.parametrize(
    ("sequences", "said"), [((2, 1), "number 2: 1"), ((1, 1), "number 2: 1"), ((9,), "number 1: 9")]
)
def test_order_is_broken(sequences: tuple[int, ...], said: str) -> None:
    finding = in_order("k", CAME, got(*sequences))
    assert not finding.ok
    assert (finding.path, finding.actual) == ("handed.k.order", said)


def test_a_second_delivery_may_be_handed_over_again() -> None:
    again = (*CAME, Delivered("S", "c", 2, 1, 5))
    assert in_order("k", again, [*got(1, 2), Handed(1, 2, "c")]).ok
    assert not in_order("k", again, got(1, 2, 1)).ok


def test_a_message_between_two_others_is_not_kept_back() -> None:
    finding = without_gaps("k", CAME, got(1, 4), got(1, 4))
    assert (finding.ok, finding.actual) == (False, "without 2, 3")
    assert without_gaps("k", CAME, got(1, 4), got(1, 4, 2, 3)).ok


def test_what_came_outside_of_a_consume_says_nothing() -> None:
    assert without_gaps("k", CAME, got(2, 3), got(2, 3)).ok
    other = (*CAME, Delivered("S", "other", 1, 2, 1))
    assert without_gaps("k", other, [Handed(1, 1, "d"), Handed(4, 1, "d")], []).ok


def test_a_message_that_does_not_tell_its_sequence() -> None:
    assert handed({"data": "m1"}) is None
    assert handed({"seq": 7}) == Handed(7, None, None)
