"""The catalogue of error codes says what the error table says."""

from __future__ import annotations

import re

import pytest

from jetproof.load.library import Library, load_library
from jetproof.load.sentences import sentence_hash
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.error_table import ErrorEntry, ErrorTable


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


@pytest.fixture(scope="module")
def clauses(library: Library) -> dict[str, Clause]:
    return dict(library.specs["errors"].clauses)


def entry_of(clause: Clause, table: ErrorTable) -> ErrorEntry:
    number = re.match(r"ERR-(\d{3})", clause.id)
    assert number is not None
    entry = table.lookup(10000 + int(number[1]), "999.0.0")
    assert entry is not None, clause.id
    return entry


def test_ids_are_the_numbers_in_order(clauses: dict[str, Clause]) -> None:
    assert list(clauses) == sorted(clauses)
    assert all(re.fullmatch(r"ERR-\d{3}[a-z]?", name) for name in clauses)


def test_a_clause_names_the_number_and_the_code_of_the_table(
    library: Library, clauses: dict[str, Clause]
) -> None:
    assert clauses
    for clause in clauses.values():
        entry = entry_of(clause, library.errors)
        code = entry.code if clause.id != "ERR-195a" else entry.code - 1
        assert f"{code} ({entry.http})" in clause.text, clause.id
        assert clause.text.endswith("."), clause.id
        assert (clause.level, clause.actor) == (Level.MUST, Actor.SERVER), clause.id


def test_a_clause_applies_from_the_first_release_with_the_error(
    library: Library, clauses: dict[str, Clause]
) -> None:
    assert clauses
    for clause in clauses.values():
        since = entry_of(clause, library.errors).since
        if clause.id[-1].isdigit():
            assert clause.applies_from == since, clause.id
        else:  # a part of it that came with a later release
            assert clause.applies_from is not None, clause.id
            assert since is None or clause.applies_from >= since, clause.id


def test_a_clause_rests_on_the_description_of_the_error(
    library: Library, clauses: dict[str, Clause]
) -> None:
    assert clauses
    for clause in clauses.values():
        entry = entry_of(clause, library.errors)
        assert clause.anchor == f"error_code {entry.code}", clause.id
        assert clause.sentence_hash == sentence_hash(entry.description), clause.id


def test_what_is_no_failure_is_silent(clauses: dict[str, Clause]) -> None:
    silent = [clause.id for clause in clauses.values() if clause.status is not Status.NORMATIVE]
    assert silent == ["ERR-032", "ERR-043", "ERR-157a", "ERR-181", "ERR-182", "ERR-195a"]


def test_errors_of_atomic_batches_are_left_to_their_specification(
    library: Library, clauses: dict[str, Clause]
) -> None:
    named = {entry_of(clause, library.errors).code for clause in clauses.values()}
    others = {entry.code for entry in library.errors.entries if 10174 <= entry.code <= 10202}
    assert others - named == {10174, 10175, 10176, 10177, 10179, 10180, 10199, 10201}
