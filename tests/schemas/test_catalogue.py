"""The catalogue of ADR-50's clauses hangs together."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from jetproof.data import suites_dir
from jetproof.load.library import load_library
from jetproof.load.mistakes import Mistake
from jetproof.load.yaml_source import read_yaml
from jetproof.model.versions import Version

FIELDS = {
    "id", "section", "level", "actor", "status", "revisions", "applies_from", "applies_to", "clause",
    "anchor", "hash", "reworded", "replaces", "contested_with", "note",
}  # fmt: skip
OPTIONAL = {"applies_to", "reworded", "replaces", "contested_with", "note"}


def _read(name: str) -> Mapping[str, Any]:
    mistakes: list[Mistake] = []
    document = read_yaml(suites_dir() / name, name, mistakes)
    assert not mistakes
    assert document is not None
    assert isinstance(document.data, dict)
    return document.data


@pytest.fixture(scope="module")
def catalogue() -> Mapping[str, Any]:
    return _read("adr-50/clauses.yaml")


@pytest.fixture(scope="module")
def clauses(catalogue: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {clause["id"]: clause for clause in catalogue["clauses"]}


def test_every_specification_has_a_catalogue_with_its_own_ids() -> None:
    for spec in _read("specs.yaml")["specs"]:
        catalogue = _read(spec["clauses"])
        assert catalogue["spec"] == spec["id"]
        assert all(clause["id"].startswith(spec["prefix"]) for clause in catalogue["clauses"])


def test_a_text_that_is_not_on_the_main_branch_is_named_by_its_commit() -> None:
    listed = {spec["id"]: spec for spec in _read("specs.yaml")["specs"]}
    assert [name for name, spec in listed.items() if "note" in spec] == ["adr-53"]
    assert [name for name, spec in listed.items() if "commit" in spec.get("source", {})] == [
        "adr-53"
    ]
    assert "Feature flags" in listed["adr-53"]["note"]


def test_ids_are_unique_and_in_order(catalogue: Mapping[str, Any]) -> None:
    ids = [clause["id"] for clause in catalogue["clauses"]]
    assert len(ids) == len(set(ids))
    parts = [re.fullmatch(r"A50-(ATOMIC|FAST\d*)-\d{3}", name) for name in ids]
    assert all(parts)
    for part in {part[1] for part in parts if part}:
        own = [name for name in ids if name.startswith(f"A50-{part}-")]
        assert own == sorted(own)


def test_every_clause_is_complete(clauses: Mapping[str, dict[str, Any]]) -> None:
    for name, clause in clauses.items():
        assert clause.keys() <= FIELDS, name
        assert clause.keys() >= FIELDS - OPTIONAL, name
        assert clause["level"] in {"must", "should", "may"}, name
        assert clause["actor"] in {"server", "client", "both"}, name
        assert clause["status"] in {"normative", "silent", "contested"}, name
        assert re.fullmatch(r"[0-9a-f]{16}", clause["hash"]), name
        assert clause["clause"].endswith("."), name


def test_every_status_occurs_and_the_clients_have_clauses(
    clauses: Mapping[str, dict[str, Any]],
) -> None:
    statuses = Counter(clause["status"] for clause in clauses.values())
    assert statuses["contested"]
    assert statuses["silent"]
    assert statuses["normative"] > statuses["silent"]
    assert any(clause["actor"] == "client" for clause in clauses.values())


def test_revisions_are_those_of_the_table(
    catalogue: Mapping[str, Any], clauses: Mapping[str, dict[str, Any]]
) -> None:
    known = [revision["revision"] for revision in catalogue["revisions"]]
    assert known == list(range(1, 11))
    assert catalogue["revision"] in known
    for name, clause in clauses.items():
        first, last = clause["revisions"]["from"], clause["revisions"].get("to", known[-1])
        assert {first, last} <= set(known), name
        assert first <= last, name


def test_a_clause_applies_from_the_release_of_its_revision(
    catalogue: Mapping[str, Any], clauses: Mapping[str, dict[str, Any]]
) -> None:
    release = {row["revision"]: row["server"] for row in catalogue["revisions"]}
    table_itself = {"A50-ATOMIC-112", "A50-ATOMIC-113"}  # about every row, the first ones included
    for name, clause in clauses.items():
        assert Version.parse(clause["applies_from"])
        if name not in table_itself:
            assert clause["applies_from"] == release[clause["revisions"]["from"]], name


def test_a_replaced_clause_ends_where_the_new_one_begins(
    clauses: Mapping[str, dict[str, Any]],
) -> None:
    replaced = [(clause, clause["replaces"]) for clause in clauses.values() if "replaces" in clause]
    assert replaced
    for clause, old in replaced:
        assert clauses[old]["revisions"]["to"] + 1 == clause["revisions"]["from"], clause["id"]


def test_a_contested_clause_names_its_opponents(clauses: Mapping[str, dict[str, Any]]) -> None:
    for name, clause in clauses.items():
        assert (clause["status"] == "contested") is ("contested_with" in clause), name
        assert set(clause.get("contested_with", ())) <= clauses.keys() - {name}, name


def test_one_anchor_has_one_hash(
    catalogue: Mapping[str, Any], clauses: Mapping[str, dict[str, Any]]
) -> None:
    hashes = defaultdict(set)
    for clause in clauses.values():
        text = max(catalogue["revision"], clause["revisions"]["from"])
        hashes[text, clause["anchor"]].add(clause["hash"])
        for place in clause.get("reworded", ()):
            hashes[place["from"], place["anchor"]].add(place["hash"])
    assert all(len(found) == 1 for found in hashes.values())


@pytest.mark.parametrize("form", ["A50-FAST7-", "A50-FAST10-"])
def test_every_clause_about_fast_ingest_that_binds_servers_has_a_case(
    clauses: Mapping[str, dict[str, Any]], form: str
) -> None:
    """Of both revisions; those that bind clients have none here."""
    named = {clause for case in load_library().cases for clause in case.clauses}
    own = {name: it["actor"] for name, it in clauses.items() if name.startswith(form)}
    assert {name for name, actor in own.items() if actor != "client"} == own.keys() & named
