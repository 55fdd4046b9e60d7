"""Heartbeats and the pace of going on, told the time by the test."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference_client.timers import Heartbeat, Pace


def test_silence_of_twice_the_heartbeat() -> None:
    timer = Heartbeat(1.0, now=0.0)
    assert not timer.run_out(1.9)
    assert timer.run_out(2.0)
    assert not timer.run_out(3.9)
    assert timer.run_out(4.0), "silence is told again and again"


def test_whatever_is_heard_starts_it_anew() -> None:
    timer = Heartbeat(1.0, now=0.0)
    timer.heard(1.5)
    assert not timer.run_out(3.4)
    assert timer.run_out(3.5)


def test_it_stands_still_without_a_connection() -> None:
    timer = Heartbeat(1.0, now=0.0)
    timer.pause(1.0)
    assert not timer.run_out(100.0)
    assert timer.next_look == float("inf")
    timer.resume(100.0)
    assert not timer.run_out(101.9)
    assert timer.run_out(102.0)


def test_going_on_is_immediate_first_and_slower_then() -> None:
    pace = Pace()
    assert pace.delay(0.0) == 0.0
    delays = [pace.delay(0.001) for _ in range(3)]
    assert delays == sorted(delays)
    assert delays[0] > 0.0
    pace.calm()
    assert pace.delay(0.002 + sum(delays)) == 0.0


@given(st.lists(st.floats(2.5, 100.0), max_size=20))
def test_statuses_far_apart_never_wait(gaps: list[float]) -> None:
    pace, now = Pace(), 0.0
    for gap in gaps:
        assert pace.delay(now) == 0.0
        now += gap
