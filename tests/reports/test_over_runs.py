"""What tables tell of runs that differ: what is flaky, what only moved, whose catalogue counts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.events import CaseFinished
from jetproof.model.verdict import Verdict

from .samples import SUITE, make_cell, make_clause, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

from jetproof_reports.history import History
from jetproof_reports.reading import Sources, read_sources

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]

PASS, FAIL, ERROR = Verdict.PASS, Verdict.FAIL, Verdict.ERROR


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> History:
    """Three runs, an hour between them; the third was made by another harness."""
    place = tmp_path_factory.mktemp("over-runs")
    history = History(place / "history")
    verdicts = {
        "steady": (PASS, PASS, PASS),
        "flaky": (PASS, FAIL, PASS),
        "moved": (FAIL, FAIL, PASS),
        "changed": (FAIL, PASS, PASS),
        "retried": (PASS, PASS, PASS),
    }
    catalogues = (("S-001", "S-OLD"), ("S-001", "S-OLD"), ("S-001", "S-NEW"))
    for number, names in enumerate(catalogues):
        cells = [
            make_cell(case, "2.14.0", told[number], attempt=2 if case == "retried" else 1)
            for case, told in verdicts.items()
        ]
        cells.append(make_cell("retried", "2.14.0", ERROR if number else FAIL))
        cells = [
            make_cell("changed", "2.14.0", cell.verdict, case_hash=f"of-{number}")
            if cell.case.endswith("::changed")
            else cell
            for cell in cells
        ]
        run = write_run(
            place / f"run{number}",
            [CaseFinished(cell) for cell in cells],
            run=f"run-{number}",
            started_at=f"2026-11-16T{number:02}:00:00.000Z",
            clauses=[make_clause(name, section=f"As of run {number}") for name in names],
        )
        if number == 2:
            path = run / "run.json"
            path.write_text(json.dumps(json.loads(path.read_text()) | {"harness_hash": "new"}))
        history.add(run)
    return history


@pytest.fixture(scope="module")
def sources(spark: SparkSession, history: History) -> Sources:
    return read_sources(spark, [run.folder for run in history.runs()])


def by_case(rows: Rows) -> dict[str, Rows]:
    told: dict[str, Rows] = {}
    for row in rows:
        told.setdefault(row["case"].removeprefix(f"{SUITE}::"), []).append(row)
    return told


def test_flaky_is_what_was_judged_otherwise_with_nothing_moved(sources: Sources) -> None:
    from jetproof_reports.tables.flakiness import flakiness

    told = by_case(flakiness(sources.cells).toArrow().to_pylist())
    flaky = {case: any(row["flaky"] for row in rows) for case, rows in told.items()}
    assert flaky == {"steady": False, "flaky": True, "moved": False, "retried": True}
    (row,) = told["flaky"]
    assert (row["runs"], row["plays"], dict(row["verdicts"])) == (2, 2, {"pass": 1, "fail": 1})


def test_trends_count_a_retry_once_with_its_last_attempt(sources: Sources) -> None:
    from jetproof_reports.tables.trends import trends

    rows = trends(sources.cells).toArrow().to_pylist()
    assert {(row["run_id"], row["verdict"]): row["cells"] for row in rows} == {
        ("run-0", "pass"): 3,
        ("run-0", "fail"): 2,
        ("run-1", "pass"): 3,
        ("run-1", "fail"): 2,
        ("run-2", "pass"): 5,
    }


def test_the_matrix_shows_the_last_attempt_of_the_newest_run(sources: Sources) -> None:
    from jetproof_reports.tables.cells import latest

    rows = latest(sources.cells).toArrow().to_pylist()
    assert {(row["run_id"], row["verdict"]) for row in rows} == {("run-2", "pass")}
    assert sorted(row["attempt"] for row in rows) == [1, 1, 1, 1, 2]


def test_the_newest_catalogue_decides_which_sentences_there_are(
    sources: Sources, history: History
) -> None:
    from jetproof_reports.newest import cell_of
    from jetproof_reports.questions import clauses_of, coverage_rows, rows_of
    from jetproof_reports.tables.cells import latest

    cells = [cell_of(row) for row in rows_of(latest(sources.cells).toArrow())]
    rows = coverage_rows(clauses_of(history.runs()), cells)
    assert {row["clause"]: (row["section"], row["covered"]) for row in rows} == {
        "S-001": ("As of run 2", True),
        "S-NEW": ("As of run 2", False),
    }


def test_the_newest_run_is_compared_with_the_one_before(sources: Sources) -> None:
    from pyspark.sql.functions import lit

    from jetproof.results.changes import between_runs
    from jetproof_reports.tables.cells import newest_two_runs

    cells = sources.cells.withColumn("fingerprint", lit(None).cast("string"))
    recent = newest_two_runs(cells).toArrow().to_pylist()
    assert {row["run_id"] for row in recent} == {"run-1", "run-2"}
    rows = by_case(between_runs(recent))
    assert {
        case: [(row["side_a"], row["side_b"], row["kind"], row["what_moved"]) for row in told]
        for case, told in rows.items()
    } == {
        "flaky": [("run-1", "run-2", "fixed", ["harness"])],
        "moved": [("run-1", "run-2", "fixed", ["harness"])],
    }
