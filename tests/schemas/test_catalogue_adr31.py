"""The catalogue of ADR-31's clauses hangs together, and every clause for servers has a case."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from typing import Any

import pytest

from jetproof.data import suites_dir
from jetproof.load.mistakes import Mistake
from jetproof.load.yaml_source import read_yaml

NEEDED = {
    "id", "section", "level", "actor", "status", "revisions", "clause", "anchor", "hash",
}  # fmt: skip
OPTIONAL = {"reworded", "applies_from", "replaces", "contested_with", "note"}
SINCE_2_11 = re.compile(r"\b(batch|multi_last|start_time|up_to_seq|several subjects)\b")


def _read(name: str) -> Mapping[str, Any]:
    mistakes: list[Mistake] = []
    document = read_yaml(suites_dir() / name, name, mistakes)
    assert not mistakes
    assert document is not None
    assert isinstance(document.data, dict)
    return document.data


@pytest.fixture(scope="module")
def catalogue() -> Mapping[str, Any]:
    return _read("adr-31/clauses.yaml")


@pytest.fixture(scope="module")
def clauses(catalogue: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {clause["id"]: clause for clause in catalogue["clauses"]}


@pytest.fixture(scope="module")
def cases() -> list[tuple[int, Mapping[str, Any]]]:
    """Every case of the suite, with the revision that it is about."""
    found = []
    for path in sorted((suites_dir() / "adr-31").glob("*.yaml")):
        document = _read(f"adr-31/{path.name}")
        found += [(document.get("revision", 2), case) for case in document.get("cases", ())]
    return found


def test_ids_are_unique_and_in_order(catalogue: Mapping[str, Any]) -> None:
    ids = [clause["id"] for clause in catalogue["clauses"]]
    assert ids == [f"A31-{number:03}" for number in range(1, len(ids) + 1)]


def test_every_clause_is_complete(clauses: Mapping[str, dict[str, Any]]) -> None:
    for name, clause in clauses.items():
        assert clause.keys() <= NEEDED | OPTIONAL, name
        assert clause.keys() >= NEEDED, name
        assert re.fullmatch(r"[0-9a-f]{16}", clause["hash"]), name
        assert clause["clause"].endswith("."), name
        assert clause["status"] in {"normative", "silent"}, name


def test_both_actors_and_all_levels_occur(clauses: Mapping[str, dict[str, Any]]) -> None:
    assert {clause["actor"] for clause in clauses.values()} == {"server", "client"}
    levels = Counter(clause["level"] for clause in clauses.values())
    assert levels.keys() == {"must", "should", "may"}
    assert levels["must"] > levels["should"] + levels["may"]


def test_revisions_are_those_of_the_table(
    catalogue: Mapping[str, Any], clauses: Mapping[str, dict[str, Any]]
) -> None:
    known = [row["revision"] for row in catalogue["revisions"]]
    assert known == list(range(1, 9))
    assert catalogue["revision"] == 2
    for name, clause in clauses.items():
        first, last = clause["revisions"]["from"], clause["revisions"].get("to", known[-1])
        assert first in known, name
        assert first <= last <= known[-1], name


def test_what_came_with_2_11_applies_from_there(clauses: Mapping[str, dict[str, Any]]) -> None:
    """The text gives that release for batches, several subjects and start times, and no other."""
    assert {clause.get("applies_from") for clause in clauses.values()} == {None, "2.11.0"}
    for name, clause in clauses.items():
        if "applies_from" in clause:
            assert clause["revisions"]["from"] >= 2, name
        elif clause["revisions"]["from"] == 2:
            assert "such a server" in clause["clause"] or "does not know" in clause["clause"], name
        else:
            assert not SINCE_2_11.search(clause["clause"]) or "outside a batch" in clause["clause"]


def test_a_replaced_clause_ends_where_the_new_one_begins(
    clauses: Mapping[str, dict[str, Any]],
) -> None:
    replaced = [(clause, clause["replaces"]) for clause in clauses.values() if "replaces" in clause]
    assert replaced
    for clause, old in replaced:
        assert clauses[old]["revisions"]["to"] + 1 == clause["revisions"]["from"], clause["id"]


def test_one_anchor_has_one_hash(clauses: Mapping[str, dict[str, Any]]) -> None:
    hashes = defaultdict(set)
    for clause in clauses.values():
        newer = clause["revisions"]["from"] > 2
        hashes[newer, clause["anchor"]].add(clause["hash"])
    assert all(len(found) == 1 for found in hashes.values())


def test_every_clause_for_servers_has_a_case_of_a_revision_in_which_it_holds(
    clauses: Mapping[str, dict[str, Any]], cases: list[tuple[int, Mapping[str, Any]]]
) -> None:
    covered = set()
    for revision, case in cases:
        for name in case["clauses"]:
            bounds = clauses[name]["revisions"]
            assert bounds["from"] <= revision <= bounds.get("to", 8), (case["case"], name)
            covered.add(name)
    servers = {name for name, clause in clauses.items() if clause["actor"] == "server"}
    assert covered == servers
