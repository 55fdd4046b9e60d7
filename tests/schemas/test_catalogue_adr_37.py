"""The catalogue of ADR-37's clauses: a draft that is the law, and three revisions that differ."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest

from jetproof.load.library import Library, load_library
from jetproof.model.clause import Actor, Clause, Level, Spec, Status

DRAFT, NEWEST = 0, 3
ID = re.compile(r"A37-\d{3}")
ANCHOR = re.compile(r".+: (bullet|paragraph|code) \d+(, (sentence|line) \d+)?")


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


@pytest.fixture(scope="module")
def spec(library: Library) -> Spec:
    return library.specs["adr-37"]


def _last(clause: Clause) -> int:
    return NEWEST if clause.revision_to is None else clause.revision_to


def test_the_draft_is_the_default_law_and_has_no_number_of_its_own(spec: Spec) -> None:
    assert spec.revision == DRAFT
    assert spec.revisions == (0, 1, 2, 3)


def test_ids_are_in_order(spec: Spec) -> None:
    ids = list(spec.clauses)
    assert ids == sorted(ids)
    assert all(ID.fullmatch(name) for name in ids)


def test_every_clause_has_its_sentence_and_its_revisions(spec: Spec) -> None:
    for name, clause in spec.clauses.items():
        assert clause.sentence_hash is not None, name
        assert clause.anchor is not None, name
        assert ANCHOR.fullmatch(clause.anchor), name
        assert clause.revision_from in spec.revisions, name
        assert clause.text.endswith("."), name


def test_only_priority_groups_exempt_a_release(spec: Spec) -> None:
    """The text gives no server version; what needs a feature of 2.11 is not held against 2.10."""
    exempt = [clause for clause in spec.clauses.values() if clause.applies_from is not None]
    assert {str(clause.applies_from) for clause in exempt} == {"2.11.0"}
    for clause in exempt:
        assert re.search(r"pin|priorit|overflow", clause.text, re.IGNORECASE), clause.id


def test_most_clauses_bind_clients(spec: Spec) -> None:
    actors = Counter(clause.actor for clause in spec.clauses.values())
    assert actors[Actor.CLIENT] > actors[Actor.SERVER] > 0
    statuses = Counter(clause.status for clause in spec.clauses.values())
    assert min(statuses[status] for status in Status) > 0


def test_every_revision_has_clauses_that_another_one_has_not(spec: Spec) -> None:
    for revision in spec.revisions:
        own = [it for it in spec.clauses.values() if revision in (it.revision_from, _last(it))]
        assert own, revision


def test_a_replaced_clause_ends_where_the_new_one_begins(spec: Spec) -> None:
    replaced = [clause for clause in spec.clauses.values() if clause.replaces]
    assert replaced
    for clause in replaced:
        old = spec.clauses[str(clause.replaces)]
        assert old.revision_to is not None, clause.id
        assert old.revision_to + 1 == clause.revision_from, clause.id
        assert old.actor is clause.actor, clause.id


def test_contested_clauses_name_each_other(spec: Spec) -> None:
    for name, clause in spec.clauses.items():
        assert (clause.status is Status.CONTESTED) is bool(clause.contested_with), name
        for other in clause.contested_with:
            assert spec.clauses[other].contested_with, name


def test_one_anchor_has_one_hash(spec: Spec) -> None:
    hashes = defaultdict(set)
    for clause in spec.clauses.values():
        hashes[clause.revision_from, clause.anchor].add(clause.sentence_hash)
        for place in clause.reworded:
            hashes[place.revision, place.anchor].add(place.sentence_hash)
    assert all(len(found) == 1 for found in hashes.values())


def test_every_clause_of_servers_has_a_case(library: Library, spec: Spec) -> None:
    tested = {name for case in library.cases if case.spec == spec.id for name in case.clauses}
    servers = {name for name, it in spec.clauses.items() if it.actor is not Actor.CLIENT}
    assert servers == tested & spec.clauses.keys()


def test_cases_of_the_draft_and_of_later_revisions_are_told_apart(
    library: Library, spec: Spec
) -> None:
    cases = [case for case in library.cases if case.spec == spec.id]
    assert Counter(case.revision for case in cases).keys() == {DRAFT, 2, NEWEST}
    for case in cases:
        assert all(spec.clauses[name].holds_in(case.revision) for name in case.clauses), case.id


def test_what_the_draft_leaves_open_and_a_revision_decides_is_a_must_there(spec: Spec) -> None:
    decided = [
        (clause, spec.clauses[clause.replaces])
        for clause in spec.clauses.values()
        if clause.replaces and spec.clauses[clause.replaces].status is Status.SILENT
    ]
    assert len(decided) >= 5
    assert all(clause.level is Level.MUST and clause.decides for clause, _ in decided)
