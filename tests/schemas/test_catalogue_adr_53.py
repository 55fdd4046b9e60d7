"""The catalogue of ADR-53's clauses hangs together, and every one for servers has a case."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from jetproof.data import suites_dir
from jetproof.load.library import Library, load_library
from jetproof.load.mistakes import Mistake
from jetproof.load.yaml_source import read_yaml
from jetproof.model.clause import Actor

NEEDED = {
    "id", "section", "level", "actor", "status", "revisions", "clause", "anchor", "hash",
}  # fmt: skip
OPTIONAL = {"applies_from", "contested_with", "note"}


@pytest.fixture(scope="module")
def clauses() -> dict[str, dict[str, Any]]:
    mistakes: list[Mistake] = []
    document = read_yaml(suites_dir() / "adr-53/clauses.yaml", "clauses.yaml", mistakes)
    assert not mistakes
    assert document is not None
    data: Any = document.data
    ids = [clause["id"] for clause in data["clauses"]]
    assert ids == [f"A53-{number:03}" for number in range(1, len(ids) + 1)]
    return {clause["id"]: clause for clause in data["clauses"]}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def test_every_clause_is_complete(clauses: Mapping[str, dict[str, Any]]) -> None:
    for name, clause in clauses.items():
        assert clause.keys() >= NEEDED, name
        assert clause.keys() <= NEEDED | OPTIONAL, name
        assert re.fullmatch(r"[0-9a-f]{16}", clause["hash"]), name
        assert clause["clause"].endswith("."), name
        assert (clause["status"] == "contested") is ("contested_with" in clause), name


def test_every_kind_of_clause_occurs(clauses: Mapping[str, dict[str, Any]]) -> None:
    kinds = Counter((clause["status"], clause["actor"]) for clause in clauses.values())
    assert kinds["silent", "server"]
    assert kinds["contested", "server"]
    assert kinds["normative", "client"]
    assert kinds["normative", "server"] > kinds["silent", "server"]


def test_what_needs_the_field_applies_from_2_12(clauses: Mapping[str, dict[str, Any]]) -> None:
    """And what the text says of JetStream as it always was applies everywhere."""
    assert {clause.get("applies_from") for clause in clauses.values()} == {None, "2.12.0"}
    for name, clause in clauses.items():
        if "min_last_seq" in clause["clause"] and clause["actor"] == "server":
            assert clause["applies_from"] == "2.12.0", name


def test_one_anchor_has_one_hash(clauses: Mapping[str, dict[str, Any]]) -> None:
    hashes: defaultdict[str, set[str]] = defaultdict(set)
    for clause in clauses.values():
        hashes[clause["anchor"]].add(clause["hash"])
    assert all(len(found) == 1 for found in hashes.values())


def test_every_clause_for_servers_has_a_case_and_those_for_clients_have_none(
    library: Library,
) -> None:
    tested = {clause for case in library.cases for clause in case.clauses}
    for clause in library.specs["adr-53"].clauses.values():
        assert (clause.id in tested) is (clause.actor is not Actor.CLIENT), clause.id
