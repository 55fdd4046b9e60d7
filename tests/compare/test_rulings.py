"""What the plays of two sides come to."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from jetproof.campaigns.compare_rulings import Kind, Observation, broken_of, ruled, wire_changes
from jetproof.campaigns.wire_differences import (
    Place,
    Signature,
    differences,
    mark_of,
    neutral,
    stable,
)
from jetproof.events import CaseFinished
from jetproof.model.verdict import Cell, Check, FrameRecord, Verdict


def play(
    verdict: Verdict,
    *broken: str,
    actual: object = "x",
    position: Mapping[str, str] | None = None,
) -> Observation:
    cell = Cell(
        case="s::c",
        suite="s",
        spec="adr-50",
        spec_revision=1,
        server="2.15.1",
        provider="path",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=(),
        position=position or {},
        reason="why",
    )
    parts = [(*each.partition(" in ")[::2],) for each in broken]
    checks = [Check("1", "reply", path, False, "y", actual, where) for path, where in parts]
    return Observation(cell, broken_of(CaseFinished(cell, checks)), Path())


PASS, FAIL = play(Verdict.PASS), play(Verdict.FAIL, "seq")
WARN, ERROR = play(Verdict.WARN, "seq"), play(Verdict.ERROR)
OTHER = play(Verdict.FAIL, "seq", "stream")
NOT_APPLICABLE = play(Verdict.NOT_APPLICABLE)


@pytest.mark.parametrize(
    ("base", "head", "kind"),
    [
        ([PASS, PASS], [PASS, PASS], None),
        ([PASS, PASS], [FAIL, FAIL], Kind.WORSE),
        ([PASS, PASS], [WARN, WARN], Kind.WORSE),
        ([FAIL, FAIL], [FAIL, FAIL], None),
        ([FAIL, FAIL], [OTHER, OTHER], Kind.WORSE),
        ([OTHER, OTHER], [FAIL, FAIL], Kind.BETTER),
        ([FAIL, FAIL], [PASS, PASS], Kind.BETTER),
        # Once is no proof, in either direction.
        ([PASS, PASS], [FAIL, PASS], Kind.ONCE),
        ([FAIL, PASS], [PASS, PASS], Kind.ONCE),
        ([PASS, PASS, PASS], [FAIL, PASS, FAIL], Kind.WORSE),
        # Base does it too, if only sometimes: head is not to blame.
        ([PASS, FAIL], [FAIL, FAIL], None),
        # What was not played again is reported as it was seen.
        ([PASS], [FAIL], Kind.WORSE),
        ([PASS, PASS], [ERROR, ERROR], Kind.WORSE),
        ([PASS], [ERROR], Kind.UNDECIDED),
        ([ERROR, ERROR], [PASS, PASS], Kind.UNDECIDED),
        ([ERROR, PASS, PASS], [PASS, PASS], None),
        ([NOT_APPLICABLE], [FAIL], None),
        ([NOT_APPLICABLE], [NOT_APPLICABLE], None),
    ],
)
def test_what_the_plays_of_two_sides_come_to(
    base: list[Observation], head: list[Observation], kind: Kind | None
) -> None:
    found = ruled("s::c", base, head)
    assert (found and found.kind) == kind
    if found is not None and kind is not Kind.UNDECIDED:
        assert found.confirmed == (min(len(base), len(head)) > 1)


def test_a_position_has_changed_if_each_side_keeps_to_its_own() -> None:
    a, b = (play(Verdict.POSITION, position={"who": who}) for who in "ab")
    found = ruled("s::c", [a, a], [b, b])
    assert found is not None
    assert (found.kind, found.positions) == (Kind.CHANGED, (("who", "a", "b"),))
    assert ruled("s::c", [a, b], [b, b]) is None


def test_which_turn_of_a_loop_breaks_a_check_can_be_chance() -> None:
    first, second = (play(Verdict.FAIL, f"seq in i={turn}") for turn in (1, 2))
    # Each side keeps to its own row of a table: that is a difference.
    found = ruled("s::c", [first, first], [second, second])
    assert found is not None
    assert found.kind is Kind.WORSE
    # It is another turn in every play: both sides break the check.
    assert ruled("s::c", [first, second], [second, second]) is None
    assert ruled("s::c", [second, second], [first, second]) is None


def test_failing_checks_of_a_silent_case_never_make_head_worse() -> None:
    broken = play(Verdict.POSITION, "seq")
    assert ruled("s::c", [PASS, PASS], [broken, broken]) is None


def test_wrong_in_another_way_is_changed_and_not_worse() -> None:
    one, other = (play(Verdict.FAIL, "seq", actual=actual) for actual in (1, 2))
    found = ruled("s::c", [one, one], [other, other])
    assert found is not None
    assert (found.kind, len(found.moved)) == (Kind.CHANGED, 1)


# -- the wire ---------------------------------------------------------------------------------------


def exchange(
    reply: bytes, *, status: int | None = None, inbox: str = "_INBOX.1"
) -> list[FrameRecord]:
    return [
        FrameRecord(1, ">", "main", "PUB", "$JS.API.STREAM.INFO.s", inbox, step="1"),
        FrameRecord(2, "<", "main", "MSG", inbox, status=status, payload=reply, step="1"),
    ]


def test_a_field_that_is_added_is_one_difference() -> None:
    a, b = exchange(b'{"state":{"messages":1}}'), exchange(b'{"state":{"messages":1,"lost":[7]}}')
    assert mark_of(a, of_client=False) != mark_of(b, of_client=False)
    found = differences(a, b, of_client=False)
    place = Place("1", "reply to STREAM.INFO", "state.lost[0]")
    assert found == {place: ("absent", "7")}
    assert place.signature == Signature("reply to STREAM.INFO", "state.lost[]")


def test_a_message_that_is_missing_is_one_difference() -> None:
    a = [
        *exchange(b"{}"),
        FrameRecord(3, "<", "main", "MSG", "_INBOX.1", payload=b"more", step="1"),
    ]
    found = differences(a, exchange(b"{}"), of_client=False)
    assert list(found.values()) == [("present", "absent")]


def test_the_own_version_and_who_leads_are_no_differences() -> None:
    a = neutral(exchange(b'{"ver":"2.14.5","cluster":{"leader":"n1"}}'), ["2.14.5"])
    b = neutral(exchange(b'{"ver":"2.14.6","cluster":{"leader":"n2"}}'), ["2.14.6"])
    assert differences(a, b, of_client=False) == {}


def test_what_the_harness_sends_is_no_difference_but_what_a_library_sends_is() -> None:
    a, b = (
        [FrameRecord(1, ">", "main", "PUB", "s.a", payload=payload, step="1")]
        for payload in (b"one", b"two")
    )
    assert differences(a, b, of_client=False) == {}
    assert list(differences(a, b, of_client=True).values()) == [("one", "two")]


def test_a_field_that_varies_on_one_side_is_not_stable() -> None:
    place, other = Place("1", "k", "f"), Place("1", "k", "g")
    across = [{place: ("1", "2"), other: ("1", "2")}, {place: ("1", "3"), other: ("1", "2")}]
    assert stable(across, [{place: ("2", "3")}]) == {other: ("1", "2")}
    assert stable([{place: ("1", "2")}, {}], []) == {}


def test_a_field_counts_if_most_cases_that_were_played_again_confirm_it() -> None:
    place = Place("1", "k", "f")
    first = {name: {place: ("1", "2")} for name in "abcd"}
    found, unsteady = wire_changes(first, {"a": {place: ("1", "2")}, "b": {place: ("1", "2")}})
    assert [(one.confirmed, one.cases) for one in found] == [(True, ("a", "b", "c", "d"))]
    assert unsteady == 0
    found, unsteady = wire_changes(first, {"a": {place: ("1", "2")}, "b": {}})
    assert (found, unsteady) == ([], 1)
    found, unsteady = wire_changes(first, {})
    assert [one.confirmed for one in found] == [False]
