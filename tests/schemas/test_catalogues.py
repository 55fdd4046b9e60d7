"""Facts about single catalogues. The rules that hold for all are checked by `jetproof validate`."""

from __future__ import annotations

import re

import pytest
import yaml

from jetproof.data import suites_dir
from jetproof.load.library import Library, load_library
from jetproof.model.clause import Clause, Level, Spec, Status

SINCE_2_11 = re.compile(r"\b(batch|multi_last|start_time|up_to_seq|several subjects)\b")
OLDER_THAN_2_11 = ("such a server", "does not know")
ABOUT_THE_TABLE = {"A50-ATOMIC-112", "A50-ATOMIC-113"}
"""They are about every row of the table of revisions, the first ones included."""


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


@pytest.fixture
def spec(request: pytest.FixtureRequest, library: Library) -> Spec:
    return library.specs[request.param]


def exempting(spec: Spec) -> dict[str, Clause]:
    """The clauses that do not bind every release; there must be some."""
    found = {name: it for name, it in spec.clauses.items() if it.applies_from is not None}
    assert found
    return found


def test_a_text_that_is_not_on_the_main_branch_is_named_by_its_commit() -> None:
    entries = yaml.safe_load((suites_dir() / "specs.yaml").read_text(encoding="utf-8"))["specs"]
    listed = {entry["id"]: entry for entry in entries}
    assert [name for name, entry in listed.items() if "note" in entry] == ["adr-53"]
    with_commit = [name for name, entry in listed.items() if "commit" in entry.get("source", {})]
    assert with_commit == ["adr-53"]
    assert "Feature flags" in listed["adr-53"]["note"]


@pytest.mark.parametrize("spec", ["adr-31"], indirect=True)
def test_adr_31_gives_a_release_for_batches_subjects_and_start_times_only(spec: Spec) -> None:
    exempt = exempting(spec)
    assert {str(clause.applies_from) for clause in exempt.values()} == {"2.11.0"}
    assert min(clause.revision_from or 0 for clause in exempt.values()) == 2
    assert not [
        clause.id
        for clause in spec.clauses.values()
        if clause.id not in exempt
        and (
            not any(words in clause.text for words in OLDER_THAN_2_11)
            if clause.revision_from == 2
            else SINCE_2_11.search(clause.text) and "outside a batch" not in clause.text
        )
    ]


@pytest.mark.parametrize("spec", ["adr-37"], indirect=True)
def test_the_draft_of_adr_37_is_the_default_law_and_has_no_number(spec: Spec) -> None:
    assert (spec.revision, spec.revisions) == (0, (0, 1, 2, 3))


@pytest.mark.parametrize("spec", ["adr-37"], indirect=True)
def test_only_priority_groups_of_adr_37_exempt_a_release(spec: Spec) -> None:
    """The text gives no server version; what needs a feature of 2.11 is not held against 2.10."""
    exempt = exempting(spec)
    assert {str(clause.applies_from) for clause in exempt.values()} == {"2.11.0"}
    about = re.compile(r"pin|priorit|overflow", re.IGNORECASE)
    assert [name for name, clause in exempt.items() if not about.search(clause.text)] == []


@pytest.mark.parametrize("spec", ["adr-37"], indirect=True)
def test_what_the_draft_of_adr_37_leaves_open_and_a_revision_decides_is_a_must(spec: Spec) -> None:
    replacing = [clause for clause in spec.clauses.values() if clause.replaces]
    old = {clause.id: spec.clauses[clause.replaces or ""] for clause in replacing}
    assert [clause.id for clause in replacing if old[clause.id].actor is not clause.actor] == []
    decided = [clause for clause in replacing if old[clause.id].status is Status.SILENT]
    assert len(decided) >= 5
    assert {(clause.level, clause.decides) for clause in decided} == {(Level.MUST, True)}


@pytest.mark.parametrize("spec", ["adr-50"], indirect=True)
def test_a_clause_of_adr_50_applies_from_the_release_of_its_revision(spec: Spec) -> None:
    release = {row.number: row.server for row in spec.history}
    assert list(release) == list(range(1, 11))
    others = [
        name
        for name, clause in exempting(spec).items()
        if str(clause.applies_from) != release[clause.revision_from or 0]
    ]
    assert set(others) <= ABOUT_THE_TABLE
    assert exempting(spec).keys() == spec.clauses.keys()


@pytest.mark.parametrize("spec", ["adr-53"], indirect=True)
def test_what_needs_the_field_of_adr_53_applies_from_2_12(spec: Spec) -> None:
    """And what the text says of JetStream as it always was applies everywhere."""
    exempt = exempting(spec)
    assert {str(clause.applies_from) for clause in exempt.values()} == {"2.12.0"}
    bound = {
        clause.id
        for clause in spec.clauses.values()
        if "min_last_seq" in clause.text and clause.actor.value == "server"
    }
    assert bound
    assert bound <= exempt.keys()


@pytest.mark.parametrize("spec", ["model"], indirect=True)
def test_the_model_has_one_revision_and_names_no_release(spec: Spec) -> None:
    assert spec.revisions == (1,)
    clauses = spec.clauses.values()
    assert {(clause.revision_from, clause.revision_to) for clause in clauses} == {(1, None)}
    # What the text does not speak of may be newer.
    assert {clause.status for clause in exempting(spec).values()} == {Status.SILENT}


@pytest.mark.parametrize("spec", ["model"], indirect=True)
def test_a_clause_of_the_model_says_where_it_stands_and_whether_the_text_is_silent(
    spec: Spec,
) -> None:
    silent = {clause.id for clause in spec.clauses.values() if clause.status is Status.SILENT}
    assert silent
    assert silent == {it.id for it in spec.clauses.values() if it.text.startswith("Not said: ")}
    elsewhere = [
        clause.id
        for clause in spec.clauses.values()
        if not (clause.anchor or "").startswith(f"{clause.section}: ")
    ]
    assert elsewhere == []


def test_a_case_of_the_model_asserts_or_records_and_does_not_mix(library: Library) -> None:
    """Cases of the model may rest on promises and on other texts as well."""
    kinds = {
        case.id: {clause.decides for clause in library.clauses_of(case)}
        for case in library.cases
        if case.suite.startswith("model/")
    }
    assert kinds
    assert [case for case, deciding in kinds.items() if len(deciding) != 1] == []


def test_every_case_can_be_made_to_fail(library: Library) -> None:
    """Except those that only record, and those of a release that no mutant is made of."""
    broken = {clause for mutant in library.mutants for clause in mutant.breaks}
    assert broken
    alone = [
        case.id
        for case in library.cases
        if not broken & set(case.clauses)
        and any(clause.decides for clause in library.clauses_of(case))
    ]
    assert [case for case in alone if not case.endswith("-in-the-initial-release")] == []
