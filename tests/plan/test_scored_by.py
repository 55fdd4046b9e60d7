"""An edition scores items; what is not scored has servers of its own, so that it can do no harm."""

from __future__ import annotations

from dataclasses import replace

from jetproof.load.library import load_library
from jetproof.model.edition import Edition
from jetproof.model.verdict import Cell, Verdict, exit_code
from jetproof.model.versions import Version
from jetproof.plan import Item, PlanTarget, Selected, make_plan, scored_by

TARGET = PlanTarget("2.15.1", Version.parse("2.15.1"), "embedded")


def test_scored_and_other_cases_never_share_a_server() -> None:
    library = load_library()
    cases = [case for case in library.cases if case.given.isolation == "shared"][:40]
    items = [Item(case, case.revision) for case in cases]
    edition = Edition("2026.11", {case.id: case.hash for case in cases[::2]})
    scored = scored_by(library, items, edition)
    assert [item.scored for item in scored] == [True, False] * 20
    assert {item.edition for item in scored} == {"2026.11"}
    plan = make_plan(library, Selected(scored), [TARGET], skip=frozenset())
    assert all(len({item.scored for item in group.items}) == 1 for group in plan.groups)
    assert len({item.scored for group in plan.groups for item in group.items}) == 2


def test_without_an_edition_everything_is_scored() -> None:
    library = load_library()
    items = [Item(case, case.revision) for case in library.cases[:3]]
    assert scored_by(library, items, None) == tuple(items)


def test_a_changed_case_is_not_scored_and_one_from_elsewhere_is() -> None:
    library = load_library()
    case = library.cases[0]
    edition = Edition("2026.11", {case.id: case.hash})
    changed = replace(case, hash="0" * 16)
    own = replace(case, id="adr-50/mine::own")
    items = [Item(one, one.revision) for one in (case, changed, own)]
    assert [item.scored for item in scored_by(library, items, edition)] == [True, False, True]


def test_a_cell_that_is_not_scored_decides_nothing() -> None:
    for verdict in Verdict:
        cell = Cell(
            case="a::b", suite="a", spec="a", spec_revision=1, server="2.15.1",
            provider="embedded", topology="single", configuration="default", verdict=verdict,
            clauses=(), never_right=True, scored=False,
        )  # fmt: skip
        assert exit_code([cell]) == 0
        assert exit_code([replace(cell, scored=True)]) == {
            Verdict.FAIL: 1, Verdict.STALE: 1, Verdict.UNSTABLE: 1, Verdict.ERROR: 3,
        }.get(verdict, 0)  # fmt: skip
