"""The rule of guarded reads, with the sentences of ADR-53 as its tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference.guard import Copy, Guard, Ruling
from jetproof.targets.reference.knobs import parts_with

LEADER = Copy("n1", 5, 5, leads=True)
FOLLOWER = Copy("n2", 5, 5)
LAGGING = Copy("n3", 3, 3)
MIRROR = Copy("m1", 5, 5, mirror=True)
LAGGING_MIRROR = Copy("m2", 3, 3, leads=True, mirror=True)


def ruled(minimum: int, *copies: Copy, knob: str | None = None) -> Ruling:
    return parts_with({knob: True} if knob else {}).part(Guard)().rule(minimum, copies)


def test_data_only_if_the_last_sequence_is_at_least_min_last_seq() -> None:
    assert ruled(4, LEADER) is Ruling.SERVE
    assert ruled(5, LEADER) is Ruling.SERVE
    assert ruled(6, LEADER) is Ruling.REFUSE


def test_followers_serve_reads_if_they_can() -> None:
    assert ruled(5, LEADER, FOLLOWER) is Ruling.SERVE
    assert ruled(3, LEADER, FOLLOWER, LAGGING) is Ruling.SERVE


def test_followers_that_cannot_satisfy_it_redirect_to_the_leader() -> None:
    assert ruled(5, LEADER, FOLLOWER, LAGGING) is Ruling.REDIRECT


def test_a_leader_that_cannot_satisfy_it_refuses_for_all() -> None:
    assert ruled(6, LEADER, FOLLOWER, LAGGING) is Ruling.REFUSE


def test_without_a_leader_nobody_is_asked_in_a_followers_place() -> None:
    silent = Copy("n1", 5, 5, leads=True, answers=False)
    assert ruled(5, FOLLOWER, LAGGING) is Ruling.REFUSE
    assert ruled(5, silent, FOLLOWER, LAGGING) is Ruling.REFUSE


def test_reads_that_can_be_satisfied_need_no_quorum() -> None:
    asleep = [Copy(name, 5, 5, leads=name == "n1", answers=False) for name in ("n1", "n3")]
    assert ruled(5, *asleep, FOLLOWER) is Ruling.SERVE
    assert ruled(5, *asleep, FOLLOWER, knob="reads-need-quorum") is Ruling.REFUSE


def test_mirrors_serve_otherwise_refuse_and_never_redirect() -> None:
    assert ruled(5, MIRROR) is Ruling.SERVE
    assert ruled(5, LAGGING_MIRROR) is Ruling.REFUSE
    assert ruled(5, MIRROR, LAGGING_MIRROR) is Ruling.REFUSE


def test_a_mirror_that_answers_for_its_origin_and_lags_lets_the_leader_answer() -> None:
    assert ruled(5, LEADER, LAGGING_MIRROR) is Ruling.REDIRECT


@pytest.mark.parametrize(
    ("knob", "minimum", "copies", "wrong"),
    [
        ("want-more-than-asked", 5, (LEADER,), Ruling.REFUSE),
        ("refuse-when-met", 5, (LEADER,), Ruling.REFUSE),
        ("leader-answers-behind", 6, (LEADER,), Ruling.SERVE),
        ("followers-answer", 5, (LEADER, LAGGING), Ruling.SERVE),
        ("followers-refuse", 5, (LEADER, LAGGING), Ruling.REFUSE),
        ("mirrors-answer-behind", 5, (LAGGING_MIRROR,), Ruling.SERVE),
        ("mirrors-redirect", 5, (LAGGING_MIRROR,), Ruling.REDIRECT),
        ("mirrors-refuse", 5, (MIRROR,), Ruling.REFUSE),
        ("compare-number-of-messages", 5, (Copy("n1", 5, 2, leads=True),), Ruling.REFUSE),
    ],
)
def test_a_knob_turns_the_rule_and_is_counted(
    knob: str, minimum: int, copies: tuple[Copy, ...], wrong: Ruling
) -> None:
    parts = parts_with({knob: True})
    assert Guard().rule(minimum, copies) is not wrong
    assert parts.part(Guard)().rule(minimum, copies) is wrong
    assert parts.fired[knob] >= 1


def test_a_knob_that_makes_no_difference_is_not_counted() -> None:
    knobs = ("followers-refuse", "mirrors-refuse", "want-more-than-asked")
    parts = parts_with(dict.fromkeys(knobs, True))
    assert parts.part(Guard)().rule(3, (LEADER, FOLLOWER)) is Ruling.SERVE
    assert not parts.fired


_COPIES = st.lists(
    st.builds(
        Copy,
        st.sampled_from(["n1", "n2", "n3"]),
        st.integers(0, 9),
        st.integers(0, 9),
        leads=st.booleans(),
        mirror=st.booleans(),
        answers=st.booleans(),
    ),
    min_size=1,
    max_size=5,
)


@given(st.integers(1, 10), _COPIES)
def test_nothing_stale_is_ever_served(minimum: int, copies: list[Copy]) -> None:
    guard = Guard()
    ruling = guard.rule(minimum, copies)
    if ruling is Ruling.SERVE:
        assert all(guard.reached(minimum, copy) for copy in copies)
    if ruling is Ruling.REDIRECT:
        assert any(
            copy.leads and not copy.mirror and copy.answers and copy.last_seq >= minimum
            for copy in copies
        )
