"""Coverage: a clause is not judged by cells that pass without the feature that they are about."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from jetproof.engine.wire_schemas import WireSchemas
from jetproof.load.wire_schemas import read_schema_set
from jetproof.model.case import Case, FeatureUse, Given
from jetproof.model.feature import Feature
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.versions import Releases
from jetproof.results import Run
from jetproof.results.controls import ControlResult, Outcome, Vacuity, outcome_of
from jetproof.results.coverage import ClauseCoverage, State, coverage
from jetproof.results.rows import encode

GUARD = Feature("guard", "It waits", headers=("Guard",), servers=Releases.parse("<2.13.0"))
PLAIN = Feature("plain", "All know it", headers=("Plain",))
FEATURES = {"guard": GUARD, "plain": PLAIN}
CLAUSE = {
    "clause": "C-1", "spec": "demo", "section": "One", "level": "must", "actor": "server",
    "status": "normative", "text": "It waits.",
}  # fmt: skip


def case_of(*uses: FeatureUse, name: str = "one") -> Case:
    return Case(
        id=f"demo/one::{name}", suite="demo/one", name=name, spec="demo", revision=1, about="",
        clauses=("C-1",), given=Given(), steps=(), budget=1.0, file="one.yaml", line=1, hash="h",
        features=uses,
    )  # fmt: skip


def cell_of(
    verdict: Verdict = Verdict.PASS,
    server: str = "2.15.1",
    provider: str = "embedded",
    name: str = "one",
) -> Cell:
    target = server if provider == "embedded" else f"{provider}:{server}"
    return Cell(
        case=f"demo/one::{name}", suite="demo/one", spec="demo", spec_revision=1, server=server,
        provider=provider, topology="single", configuration="default", verdict=verdict,
        clauses=("C-1",), case_hash="h", target=target,
    )  # fmt: skip


def control_of(cell: Cell, feature: str, verdict: Verdict, **more: object) -> ControlResult:
    made = ControlResult(
        run="r", cell=cell.name, case=cell.case, spec_revision=1, target=cell.target,
        case_hash="h", feature=feature, declared=True, differs=True,
        outcome=outcome_of(verdict, differs=True), control=verdict, messages=1, reason="",
    )  # fmt: skip
    return msgspec.structs.replace(made, **more)


def shown(
    tmp_path: Path, cases: list[Case], cells: list[Cell], controls: list[ControlResult]
) -> ClauseCoverage:
    rows = b"".join(map(encode, controls))
    (tmp_path / "controls.jsonl").write_bytes(rows)
    runs = [Run(tmp_path, {"run": "r", "started_at": "2026"}, tuple(cells))]
    vacuity = Vacuity.of(FEATURES, cases, runs)
    found = coverage(
        [CLAUSE], {"C-1": [cases[0].id]}, runs, WireSchemas(read_schema_set()), vacuity
    )
    return found.clauses["C-1"]


def test_a_case_that_needs_its_feature_is_judged(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain")), cell_of()
    one = shown(tmp_path, [case], [cell], [control_of(cell, "plain", Verdict.FAIL)])
    assert one.state is State.JUDGED
    assert dict(one.verdicts) == {"pass": 1}


def test_a_case_that_passes_without_its_feature_is_vacuous(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain")), cell_of()
    one = shown(tmp_path, [case], [cell], [control_of(cell, "plain", Verdict.PASS)])
    assert one.state is State.VACUOUS
    assert dict(one.verdicts) == {"vacuous": 1}


def test_a_case_that_declares_no_difference_is_judged(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain", False, "it is the same")), cell_of()
    one = shown(tmp_path, [case], [cell], [control_of(cell, "plain", Verdict.PASS)])
    assert one.state is State.JUDGED


@pytest.mark.parametrize("differs", [True, False])
@pytest.mark.parametrize("verdict", [Verdict.PASS, Verdict.POSITION])
def test_a_release_that_does_not_know_the_feature_shows_nothing(
    tmp_path: Path, verdict: Verdict, differs: bool
) -> None:
    case = case_of(FeatureUse("guard", differs, "" if differs else "it is the same"))
    assert shown(tmp_path, [case], [cell_of(verdict)], []).state is State.VACUOUS
    known = shown(tmp_path, [case], [cell_of(verdict, "2.12.8")], [])
    assert known.state is not State.VACUOUS


@pytest.mark.parametrize("verdict", [Verdict.FAIL, Verdict.KNOWN, Verdict.WARN])
def test_a_failure_is_never_vacuous(tmp_path: Path, verdict: Verdict) -> None:
    case = case_of(FeatureUse("guard"))
    assert shown(tmp_path, [case], [cell_of(verdict)], []).state in (State.JUDGED, State.KNOWN)


def test_one_cell_that_shows_something_is_enough(tmp_path: Path) -> None:
    cases = [case_of(FeatureUse("guard")), case_of(name="two")]
    one = shown(tmp_path, cases, [cell_of(), cell_of(name="two")], [])
    assert one.state is State.JUDGED
    assert dict(one.verdicts) == {"vacuous": 1, "pass": 1}


def test_a_control_of_another_text_of_the_case_does_not_count(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain")), cell_of()
    old = control_of(cell, "plain", Verdict.PASS, case_hash="older")
    assert shown(tmp_path, [case], [cell], [old]).state is State.JUDGED


def test_a_control_that_could_not_be_made_makes_nothing_vacuous(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain")), cell_of()
    none = control_of(
        cell, "plain", Verdict.ERROR, outcome=Outcome.IMPOSSIBLE, control=None, reason="a text"
    )
    assert shown(tmp_path, [case], [cell], [none]).state is State.JUDGED


def test_the_reference_layer_knows_what_its_release_does_not(tmp_path: Path) -> None:
    case = case_of(FeatureUse("guard"))
    apart = cell_of(provider="reference")
    assert shown(tmp_path, [case], [apart], []).state is State.VACUOUS
    features = FEATURES | {"guard": replace(GUARD, reference=True)}
    assert Vacuity(features, {case.id: case}).why(apart) is None
    assert Vacuity(features, {case.id: case}).why(cell_of()) == "2.15.1 does not know guard"


def test_a_position_is_not_made_vacuous_by_its_control(tmp_path: Path) -> None:
    case, cell = case_of(FeatureUse("plain")), cell_of(Verdict.POSITION)
    one = shown(tmp_path, [case], [cell], [control_of(cell, "plain", Verdict.PASS)])
    assert one.state is State.POSITION


@pytest.mark.parametrize(
    ("control", "state"), [(Verdict.FAIL, State.JUDGED), (Verdict.PASS, State.VACUOUS)]
)
def test_cells_of_libraries_are_judged_by_their_controls_alone(
    tmp_path: Path, control: Verdict, state: State
) -> None:
    """Whether the server knows the feature says nothing about the library."""
    case, cell = case_of(FeatureUse("guard")), replace(cell_of(), client="go:demo@1.0")
    assert "go:demo@1.0" in cell.name
    one = shown(tmp_path, [case], [cell], [control_of(cell, "guard", control)])
    assert one.state is state
    assert shown(tmp_path, [case], [cell], []).state is State.JUDGED
