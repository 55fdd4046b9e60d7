"""The catalogue of the JetStream model: a text without revisions, with examples that contradict it."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

import pytest

from jetproof.load.library import Library, load_library
from jetproof.model.case import Case
from jetproof.model.clause import Actor, Level, Spec, Status

ANCHOR = re.compile(r".+: (bullet|paragraph|code|row) \S+?(, (sentence|line) \d+)?")


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


@pytest.fixture(scope="module")
def spec(library: Library) -> Spec:
    return library.specs["model"]


@pytest.fixture(scope="module")
def cases(library: Library) -> list[Case]:
    return [case for case in library.cases if case.suite.startswith("model/")]


def test_ids_are_in_order(spec: Spec) -> None:
    ids = list(spec.clauses)
    assert ids == sorted(ids)
    assert all(re.fullmatch(r"JSM-\d{3}", name) for name in ids)


def test_the_text_has_one_revision_and_names_no_release(spec: Spec) -> None:
    assert spec.revisions == (1,)
    for clause in spec.clauses.values():
        assert (clause.revision_from, clause.revision_to) == (1, None), clause.id
        if clause.status is not Status.SILENT:  # what it does not speak of may be newer
            assert clause.applies_from is None, clause.id


def test_every_clause_keeps_the_place_and_the_fingerprint_of_its_sentence(spec: Spec) -> None:
    hashes = defaultdict(set)
    for clause in spec.clauses.values():
        assert ANCHOR.fullmatch(clause.anchor or ""), clause.id
        assert (clause.anchor or "").startswith(f"{clause.section}: "), clause.id
        assert re.fullmatch(r"[0-9a-f]{16}", clause.sentence_hash or ""), clause.id
        assert clause.text.endswith((".", ").")), clause.id
        hashes[clause.anchor].add(clause.sentence_hash)
    assert all(len(found) == 1 for found in hashes.values())


def test_every_status_occurs_and_most_clauses_are_musts(spec: Spec) -> None:
    statuses = Counter(clause.status for clause in spec.clauses.values())
    assert statuses[Status.NORMATIVE] > statuses[Status.SILENT] > statuses[Status.CONTESTED] > 0
    levels = Counter(clause.level for clause in spec.clauses.values())
    assert levels[Level.MUST] > levels[Level.MAY] > 0


def test_what_the_text_does_not_say_is_told_as_that(spec: Spec) -> None:
    for clause in spec.clauses.values():
        silent = clause.status is Status.SILENT
        assert clause.text.startswith("Not said: ") is silent, clause.id


def test_a_contested_clause_names_its_opponents(spec: Spec) -> None:
    for clause in spec.clauses.values():
        assert (clause.status is Status.CONTESTED) is bool(clause.contested_with), clause.id
        assert set(clause.contested_with) <= spec.clauses.keys() - {clause.id}, clause.id


def test_every_clause_for_servers_has_a_case_and_none_for_clients_has(
    spec: Spec, cases: list[Case]
) -> None:
    covered = {name for case in cases for name in case.clauses} & spec.clauses.keys()
    for_servers = {c.id for c in spec.clauses.values() if c.actor is not Actor.CLIENT}
    assert covered == for_servers


def test_a_case_asserts_or_records_and_does_not_mix(library: Library, cases: list[Case]) -> None:
    """Cases of the model may rest on promises and on other texts as well."""
    assert cases
    for case in cases:
        deciding = {clause.decides for clause in library.clauses_of(case)}
        assert len(deciding) == 1, case.id


def test_every_case_can_be_made_to_fail(library: Library, cases: list[Case]) -> None:
    broken = {clause for mutant in library.mutants for clause in mutant.breaks}
    assert not [case.id for case in cases if not broken & set(case.clauses)]
