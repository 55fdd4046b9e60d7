"""What is pending, as sentences of ADR-37 about numbers: no server, no clock."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.pulls import LARGE_BATCH, Limits, Pending, Pull
from jetproof.targets.reference_client.settings import Settings

Step = Callable[[Pending], None]

steps = st.lists(
    st.one_of(
        st.tuples(st.just("processed"), st.integers(1, 500)),
        st.tuples(st.just("ended"), st.integers(0, 30)),
        st.tuples(st.just("ended_unsaid"), st.just(0)),
        st.tuples(st.just("forget"), st.just(0)),
    ),
    max_size=60,
)


def refilled(pending: Pending) -> Pull | None:
    """Asks for what is due, which under the draft can take several requests; the first of them."""
    first = pull = pending.wanted()
    while pull is not None:
        pending.asked(pull)
        pull = pending.wanted()
    return first


def done(pending: Pending, step: str, value: int) -> None:
    match step:
        case "processed":
            pending.processed(value)
        case "ended" if pending.limits.by_bytes:
            pending.ended(LARGE_BATCH, value)
        case "ended":
            pending.ended(value, 0)
        case "ended_unsaid":
            pending.ended_unsaid()
        case _:
            pending.forget()


@given(most=st.integers(1, 1000), steps=steps, by_bytes=st.booleans(), draft=st.booleans())
def test_never_more_than_the_limit_is_pending(
    most: int, steps: list[tuple[str, int]], by_bytes: bool, draft: bool
) -> None:
    params = {"max_bytes" if by_bytes else "max_messages": most}
    settings = Settings(Conduct(adr37=0 if draft else 3)).consume(params)
    pending = Pending(settings.limits)
    first = refilled(pending)
    assert first is not None, "the first pull request is sent before any message"
    assert pending.amount == most
    for step, value in steps:
        before = pending.amount
        done(pending, step, value)
        assert 0 <= pending.amount <= before
        refilled(pending)
        assert pending.amount <= most
        assert pending.amount > settings.limits.low


@given(most=st.integers(1, 1000))
def test_a_refill_comes_at_half_and_fills_the_buffer(most: int) -> None:
    pending = Pending(Settings(Conduct()).consume({"max_messages": most}).limits)
    refilled(pending)
    for processed in range(1, most + 1):
        pending.processed(1)
        assert pending.messages == most - processed
        pull = pending.wanted()
        assert (pull is not None) == (most - processed <= most / 2)
        if pull is not None:
            assert pull.messages == processed
            return
    pytest.fail("no refill")


@given(most=st.integers(1, 1000))
def test_the_draft_asks_for_a_quarter_after_a_quarter(most: int) -> None:
    pending = Pending(Settings(Conduct(adr37=0)).consume({"max_messages": most}).limits)
    refilled(pending)
    quarter = -(-most // 4)
    for _ in range(quarter - 1):
        pending.processed(1)
        assert pending.wanted() is None
    pending.processed(1)
    pull = pending.wanted()
    assert pull is not None
    assert pull.messages == quarter


@given(
    pulls=st.lists(st.integers(1, 50), min_size=1, max_size=5),
    left=st.integers(0, 60),
)
def test_what_a_status_says_was_left_is_taken_off_the_sum(pulls: list[int], left: int) -> None:
    pending = Pending(Limits(1000, 0, 500))
    for messages in pulls:
        pending.asked(Pull(messages, 0))
    before = pending.messages
    pending.ended(left, 0)
    assert pending.messages == max(0, before - left)


def test_a_status_without_numbers_ends_the_oldest_pull() -> None:
    pending = Pending(Limits(10, 0, 5))
    pending.asked(Pull(10, 0))
    for _ in range(6):
        pending.processed(1)
    pending.asked(Pull(6, 0))
    pending.ended_unsaid()
    assert pending.messages == 6
    pending.ended_unsaid()
    pending.ended_unsaid()
    assert pending.messages == 0


def test_pulls_are_given_up_by_the_client_itself() -> None:
    pending = Pending(Limits(10, 0, 5))
    pending.asked(Pull(4, 0, until=10.0))
    pending.asked(Pull(6, 0, until=20.0))
    assert not pending.overdue(9.0)
    assert pending.overdue(10.0)
    assert pending.messages == 6
    assert pending.next_deadline() == 20.0


def test_bytes_used_up_end_a_pull() -> None:
    pending = Pending(Limits(0, 100, 50))
    refilled(pending)
    pending.processed(60)
    assert (pending.bytes, pending.messages) == (40, LARGE_BATCH - 1)
    pull = pending.wanted()
    assert pull is not None
    assert (pull.messages, pull.bytes) == (LARGE_BATCH, 60)
    pending.processed(40)
    assert pending.pulls == []


def test_a_threshold_of_its_own() -> None:
    settings = Settings(Conduct()).consume({"max_messages": 10, "threshold_messages": 3})
    assert settings.limits.low == 3
    full = Settings(Conduct()).consume({"max_messages": 10, "threshold_messages": 10})
    assert full.limits.low == 9
    with pytest.raises(ClientError):
        Settings(Conduct()).consume({"max_messages": 10, "threshold_bytes": 10})


@given(expires=st.integers(1000, 600_000))
def test_the_heartbeat_is_half_of_expires_within_bounds(expires: int) -> None:
    request = Settings(Conduct()).consume({"expires_ms": expires}).request
    assert request.heartbeat_ms == min(expires // 2, 30_000) >= 500
    assert request.own_timeout * 1000 > expires
