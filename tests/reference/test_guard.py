"""The rule of guarded reads, with the sentences of ADR-53 as its tests."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference.guard import Copy, Ruling, reached, rule
from jetproof.targets.reference.knobs import Conduct, Knobs

LEADER = Copy("n1", 5, 5, leads=True)
FOLLOWER = Copy("n2", 5, 5)
LAGGING = Copy("n3", 3, 3)
MIRROR = Copy("m1", 5, 5, mirror=True)
LAGGING_MIRROR = Copy("m2", 3, 3, leads=True, mirror=True)


def ruled(minimum: int, *copies: Copy, **knobs: bool) -> Ruling:
    return rule(minimum, copies, Conduct(Knobs(**knobs)))


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
    assert ruled(5, *asleep, FOLLOWER, reads_need_quorum=True) is Ruling.REFUSE


def test_mirrors_serve_otherwise_refuse_and_never_redirect() -> None:
    assert ruled(5, MIRROR) is Ruling.SERVE
    assert ruled(5, LAGGING_MIRROR) is Ruling.REFUSE
    assert ruled(5, MIRROR, LAGGING_MIRROR) is Ruling.REFUSE


def test_a_mirror_that_answers_for_its_origin_and_lags_lets_the_leader_answer() -> None:
    assert ruled(5, LEADER, LAGGING_MIRROR) is Ruling.REDIRECT


@pytest.mark.parametrize(
    ("knob", "minimum", "copies", "wrong"),
    [
        ("want_more_than_asked", 5, (LEADER,), Ruling.REFUSE),
        ("refuse_when_met", 5, (LEADER,), Ruling.REFUSE),
        ("leader_answers_behind", 6, (LEADER,), Ruling.SERVE),
        ("followers_answer", 5, (LEADER, LAGGING), Ruling.SERVE),
        ("followers_refuse", 5, (LEADER, LAGGING), Ruling.REFUSE),
        ("mirrors_answer_behind", 5, (LAGGING_MIRROR,), Ruling.SERVE),
        ("mirrors_redirect", 5, (LAGGING_MIRROR,), Ruling.REDIRECT),
        ("mirrors_refuse", 5, (MIRROR,), Ruling.REFUSE),
        ("compare_number_of_messages", 5, (Copy("n1", 5, 2, leads=True),), Ruling.REFUSE),
    ],
)
def test_a_knob_turns_the_rule_and_is_counted(
    knob: str, minimum: int, copies: tuple[Copy, ...], wrong: Ruling
) -> None:
    conduct = Conduct(Knobs(**{knob: True}))
    assert rule(minimum, copies, Conduct()) is not wrong
    assert rule(minimum, copies, conduct) is wrong
    assert conduct.fired[knob.replace("_", "-")] >= 1


def test_a_knob_that_makes_no_difference_is_not_counted() -> None:
    knobs = Knobs(followers_refuse=True, mirrors_refuse=True, want_more_than_asked=True)
    conduct = Conduct(knobs)
    assert rule(3, (LEADER, FOLLOWER), conduct) is Ruling.SERVE
    assert not conduct.fired


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
    conduct = Conduct()
    ruling = rule(minimum, copies, conduct)
    if ruling is Ruling.SERVE:
        assert all(reached(minimum, copy, conduct) for copy in copies)
    if ruling is Ruling.REDIRECT:
        assert any(
            copy.leads and not copy.mirror and copy.answers and copy.last_seq >= minimum
            for copy in copies
        )
    assert not conduct.fired
