"""Fast ingest as numbers: when to wait, and what an acknowledgement stands for."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference_client.flow import Flow


@given(every=st.integers(1, 20), outstanding=st.integers(1, 3))
def test_no_more_is_outstanding_than_allowed(every: int, outstanding: int) -> None:
    flow = Flow(outstanding)
    flow.sent = 1
    assert flow.must_wait, "the first answer is awaited"
    flow.acknowledged(0, every)
    while not flow.must_wait:
        flow.sent += 1
    assert flow.sent == every * outstanding
    flow.acknowledged(every, every)
    assert not flow.must_wait


def test_an_ack_makes_up_for_lost_ones() -> None:
    flow = Flow(2)
    flow.acknowledged(0, 10)
    flow.sent = 40
    flow.acknowledged(40, 10)
    assert flow.acked == 40
    flow.acknowledged(30, 10)
    assert flow.acked == 40, "a late one takes nothing back"


def test_a_lowered_flow_holds_at_once() -> None:
    flow = Flow(2)
    flow.acknowledged(0, 10)
    flow.sent = 12
    assert not flow.must_wait
    flow.acknowledged(10, 1)
    assert flow.must_wait
    flow.acknowledged(11, 1)
    assert not flow.must_wait


def test_a_gap_says_nothing_about_acks() -> None:
    flow = Flow(1)
    flow.acknowledged(0, 10)
    flow.sent = 10
    flow.gap(10)
    assert flow.must_wait
    assert flow.acked == 0
