"""Cells that an edition does not score: in the tables, in no total, and counted on the page."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.events import CaseFinished
from jetproof.model.verdict import Check, FrameRecord, Verdict
from jetproof.results import read_run
from jetproof.results.digest import digest

from .samples import make_cell, write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]
SERVER = "2.15.1"


def played(case: str, verdict: Verdict, **more: Any) -> CaseFinished:
    cell = make_cell(case, SERVER, verdict, edition="2026.11", **more)
    checks = () if verdict is Verdict.PASS else (Check("1", "request", "reply", False, "x", "y"),)
    return CaseFinished(cell, checks, (FrameRecord(1.0, ">", "main", "PUB", "a", step="1"),))


def outcomes() -> list[CaseFinished]:
    return [
        played("old", Verdict.PASS),
        played("new", Verdict.PASS, scored=False),
        played("newer", Verdict.FAIL, scored=False, reason="step 1, reply: expected x, got y"),
    ]


@pytest.fixture(scope="module")
def report(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    from jetproof_reports.build import build

    folder = tmp_path_factory.mktemp("editions")
    run = write_run(folder / "run", outcomes())
    build([run], folder / "report", spark=spark)
    return folder / "report"


def rows(report: Path, name: str) -> Rows:
    import pyarrow.parquet as pq

    found: Rows = pq.read_table(report / "tables" / f"{name}.parquet").to_pylist()
    return found


def test_the_matrix_has_every_cell_and_says_which_is_scored(report: Path) -> None:
    found = {row["case"].partition("::")[2]: row for row in rows(report, "matrix")}
    assert {case: row["scored"] for case, row in found.items()} == {
        "old": True, "new": False, "newer": False,
    }  # fmt: skip
    assert {row["edition"] for row in found.values()} == {"2026.11"}


def test_totals_leave_them_out(report: Path) -> None:
    assert [(row["verdict"], row["cells"]) for row in rows(report, "trends")] == [("pass", 1)]
    verdicts: list[dict[str, int]] = [dict(row["verdicts"]) for row in rows(report, "coverage")]
    assert all("fail" not in counts for counts in verdicts)


def test_the_page_and_the_summary_count_them(report: Path) -> None:
    line = "2 cells not scored by edition 2026.11: 1 fail, 1 pass"
    summary = (report / "summary.md").read_text()
    assert line in summary
    assert "nothing fails" in summary
    assert "| 2.15.1 | 1 |" in summary
    badge = json.loads((report / "badge.json").read_text())
    assert (badge["message"].rpartition(": ")[2], badge["color"] == "red") == ("1 conform", False)


def test_runs_without_the_columns_score_everything(spark: SparkSession, tmp_path: Path) -> None:
    from jetproof_reports.build import build

    run = write_run(tmp_path / "run", outcomes())
    path = run / "cells.jsonl"
    cells = [json.loads(line) for line in path.read_text().splitlines()]
    for cell in cells:
        del cell["edition"], cell["scored"]
    path.write_text("".join(json.dumps(cell) + "\n" for cell in cells))
    assert digest(read_run(run).latest).code == 1
    build([run], tmp_path / "report", spark=spark)
    assert sum(row["cells"] for row in rows(tmp_path / "report", "trends")) == 3
    assert "not scored" not in (tmp_path / "report" / "summary.md").read_text()
