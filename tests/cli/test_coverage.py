"""`jetproof coverage`: what cases name, what runs show, and what is missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof.load.library import load_library
from jetproof.model.clause import Actor
from support.case_files import FAILS, PASSES
from support.commands import Command
from support.documents import Validate

CODES = """\
  - case: says-an-error
    clauses: [A50-ATOMIC-034]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a, headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1}}
        reply: {error: 10174}
"""
UNDESCRIBED = """\
  - case: asks-for-something-odd
    clauses: [A50-ATOMIC-034]
    steps:
      - subscribe: {subject: $JS.API.ODD.$id, to: odd}
      - together:
          asks:
            - request: {subject: $JS.API.ODD.$id}
              reply: {json: {type: io.nats.jetstream.api.v1.odd_response}}
          answers:
            - receive: {from: odd}
              message: {capture: {back: reply}}
            - publish: {subject: $back, json: {type: io.nats.jetstream.api.v1.odd_response}}
"""


def clause(document: dict[str, Any], name: str) -> dict[str, Any]:
    [found] = [row for row in document["clauses"] if row["clause"] == name]
    return found


def test_without_a_run_it_shows_what_cases_name(jetproof: Command, conforms: Validate) -> None:
    done = jetproof("coverage", "--json")
    assert done.code == 0
    document: dict[str, Any] = done.document
    conforms("cli/coverage", document)
    assert len(document["clauses"]) == sum(len(s.clauses) for s in load_library().specs.values())
    assert {row["state"] for row in document["clauses"]} == {"not-played", "untested"}


def test_every_clause_for_servers_has_a_case(jetproof: Command) -> None:
    """It fails when a clause loses its last one."""
    done = jetproof("coverage", "--strict")
    assert done.code == 0, done.out


def test_a_clause_that_lost_its_last_case_is_named(
    jetproof: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    lost = next(
        clause
        for spec in load_library().specs.values()
        for clause in spec.clauses.values()
        if clause.actor is Actor.SERVER
    )
    from jetproof.load import lookup

    whole = lookup.cases_by_clause
    monkeypatch.setattr(
        lookup,
        "cases_by_clause",
        lambda library: {k: v for k, v in whole(library).items() if k != lost.id},
    )
    done = jetproof("coverage", "--strict")
    assert done.code == 1
    assert "1 clause for servers without a case" in done.out
    assert lost.id in done.out
    assert jetproof("coverage").code == 0


def test_a_run_shows_what_was_judged_and_what_was_seen(
    jetproof: Command, conforms: Validate, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    file = case_file(PASSES, FAILS, CODES)
    assert jetproof("run", file, "--out", tmp_path / "run").code == 1
    document: dict[str, Any] = jetproof("coverage", "--run", tmp_path / "run", "--json").document
    conforms("cli/coverage", document)
    judged = clause(document, "A50-ATOMIC-001")
    assert judged["state"] == "judged"
    assert judged["verdicts"] == {"pass": 1, "fail": 1}
    assert judged["cases"] == ["adr-50/trial::fails", "adr-50/trial::passes"]
    assert clause(document, "A50-ATOMIC-002")["state"] == "not-played"  # it binds clients
    assert clause(document, "A37-091")["state"] == "untested"
    assert clause(document, "A50-ATOMIC-003")["state"] == "not-played"
    [code] = [row for row in document["errors"] if row["err_code"] == 10174]
    assert code["seen"] == 1
    assert code["cases"] == ["adr-50/trial::says-an-error"]
    assert {row["err_code"] for row in document["errors"]} >= set(range(10174, 10203))
    [created] = [row for row in document["schemas"] if row["schema"] == "stream-create"]
    assert created["seen"] == 6  # what fails is played again, among its neighbours
    assert document["without_schema"] == []


def test_a_message_without_a_schema_is_named(
    jetproof: Command, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    assert jetproof("run", case_file(UNDESCRIBED), "--out", tmp_path / "run").code == 0
    done = jetproof("coverage", "--run", tmp_path / "run", "--strict")
    assert done.code == 1
    assert "messages without a schema" in done.out
    assert "io.nats.jetstream.api.v1.odd_response" in done.out


def test_the_tables_are_for_people_and_for_pages(
    jetproof: Command, case_file: Callable[..., Path], tmp_path: Path
) -> None:
    jetproof("run", case_file(CODES), "--out", tmp_path / "run")
    errors = jetproof("coverage", "--run", tmp_path / "run", "--errors").out
    [line] = [line for line in errors.splitlines() if line.startswith("10174")]
    assert "JSAtomicPublishDisabledErr" in line
    page = jetproof("coverage", "--run", tmp_path / "run", "--markdown").out
    head, rule, *rows = page.splitlines()
    assert head.startswith("| specification | for servers |")
    assert set(rule) <= set("|- ")
    assert [row.split(" | ")[0] for row in rows][-1] == "| all"


def test_a_folder_that_is_no_run_is_refused(jetproof: Command, tmp_path: Path) -> None:
    done = jetproof("coverage", "--run", tmp_path)
    assert done.code == 2
    assert "is not a run folder" in done.err
