"""`jetproof coverage` needs no Java and says the same as the tables that Spark makes."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.engine.wire_schemas import WireSchemas
from jetproof.events import CaseFinished
from jetproof.load.wire_schemas import read_schema_set
from jetproof.model.verdict import Verdict
from jetproof.results import read_run
from jetproof.results.coverage import Coverage, State, clause_rows, coverage

from .samples import every_case, make_cell, make_clause, played, schema_judged, write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]
TAPPED = b'{"error":{"err_code":10999}}'
ONLY_REFERENCE, UNSPOKEN, NOBODY = "S-REFERENCE", "S-UNSPOKEN", "S-NOBODY"


def on_reference(case: str) -> CaseFinished:
    outcome = played(case, "2.14.0", random.Random(7))
    cell = replace(outcome.cell, provider="reference", target="reference:2.14.0")
    return replace(outcome, cell=replace(cell, clauses=(*cell.clauses, ONLY_REFERENCE)))


def not_spoken() -> CaseFinished:
    """A release that does not speak the wire form that a case is about."""
    clauses = (ONLY_REFERENCE, UNSPOKEN)
    return CaseFinished(make_cell("unspoken", "2.14.0", Verdict.NOT_APPLICABLE, clauses=clauses))


def by_client(case: str, client: str) -> CaseFinished:
    outcome = played(case, "2.14.0", random.Random(8))
    named = ONLY_REFERENCE if client.startswith("reference@") else "S-CLIENT"
    cell = replace(outcome.cell, client=client, clauses=(*outcome.cell.clauses, named))
    answer = outcome.frames[-1]
    tapped = replace(answer, connection="client", note="made by rule", payload=TAPPED)
    return replace(outcome, cell=cell, frames=(*outcome.frames, tapped))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    outcomes = [
        *every_case(1),
        not_spoken(),
        on_reference("steady"),
        on_reference("repaired"),
        by_client("repaired", "go:lib@1.0.0"),
        by_client("repaired", "reference@0.1.0"),
    ]
    schemas = [schema_judged("2.12.0", 7), schema_judged("2.14.0", 5, broken=2)]
    names = {name for outcome in outcomes for name in outcome.cell.clauses}
    clauses = [make_clause(name) for name in sorted({*names, NOBODY})]
    return write_run(tmp_path_factory.mktemp("run") / "run", [*outcomes, *schemas], clauses=clauses)


@pytest.fixture(scope="module")
def plain(run: Path) -> Coverage:
    runs = [read_run(run)]
    return coverage(clause_rows(runs).values(), {}, runs, WireSchemas(read_schema_set()))


@pytest.fixture(scope="module")
def tables(
    spark: SparkSession, run: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, Rows]:
    from jetproof_reports.build import rows_of
    from jetproof_reports.history import History
    from jetproof_reports.report_tables import report_tables

    history = History(tmp_path_factory.mktemp("history"))
    history.add(run)
    wanted = ("coverage", "coverage_errors", "coverage_schemas")
    with report_tables(spark, history.runs(), exact=False) as made:
        return {name: rows_of(made[name].toArrow()) for name in wanted}


def test_clauses(tables: dict[str, Rows], plain: Coverage) -> None:
    told = {
        one.clause: (
            sorted(one.cases),
            len(one.servers),
            dict(one.verdicts),
            bool(one.verdicts),
            bool(one.reference),
        )
        for one in plain.clauses.values()
    }
    names = ("cases", "servers_run", "verdicts", "covered", "reference")
    assert told == {row["clause"]: tuple(row[name] for name in names) for row in tables["coverage"]}
    states = {one.clause: one.state for one in plain.clauses.values()}
    assert states[ONLY_REFERENCE] is State.REFERENCE
    assert states[UNSPOKEN] is State.NOT_APPLICABLE
    assert states[NOBODY] is State.UNTESTED
    assert State.JUDGED in states.values()


def test_error_codes(tables: dict[str, Rows], plain: Coverage) -> None:
    told = {
        code: (seen.count + seen.reference, sorted(seen.cases))
        for code, seen in plain.codes.items()
    }
    assert told == {
        row["err_code"]: (row["count"], row["cases"]) for row in tables["coverage_errors"]
    }
    assert any(seen.reference for seen in plain.codes.values())
    assert 10999 not in plain.codes


def test_schemas(tables: dict[str, Rows], plain: Coverage) -> None:
    assert dict(plain.schemas) == {"pub-ack": 12}
    assert [(row["schema"], row["seen"]) for row in tables["coverage_schemas"]] == [("pub-ack", 12)]
