"""A history of a version that called schemas cases: its runs still report, with those of today.

`old-history` keeps the run of `tests/results/old-run`, with the tables that version derived.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytest.importorskip("pyarrow", reason="pyarrow is not installed")

OLD_HISTORY = Path(__file__).parent / "old-history"
OLD_RUN = Path(__file__).parents[1] / "results" / "old-run"
NAMES = ("matrix", "coverage_schemas", "evidence", "trends", "positions", "flakiness")


def tables(spark: SparkSession, folder: Path) -> dict[str, list[dict[str, object]]]:
    from jetproof_reports.build import collect, need_every_cell
    from jetproof_reports.history import History
    from jetproof_reports.questions import rows_of
    from jetproof_reports.report_tables import report_tables

    kept = History(folder).runs()
    with report_tables(spark, kept, exact=False) as made:
        every = collect(made, kept)
    found = {name: every[name] for name in NAMES}
    need_every_cell(found, kept, "")
    return {
        name: sorted(rows_of(table), key=lambda row: str(sorted(row.items(), key=str)))
        for name, table in found.items()
    }


def test_it_says_the_same_as_the_run_added_today(spark: SparkSession, tmp_path: Path) -> None:
    from jetproof_reports.history import History

    shutil.copytree(OLD_HISTORY, tmp_path / "old")
    History(tmp_path / "new").add(OLD_RUN)
    old, new = tables(spark, tmp_path / "old"), tables(spark, tmp_path / "new")
    assert all(old[name] for name in ("matrix", "coverage_schemas", "evidence", "trends"))
    assert old == new
    assert {row["schema"]: row["seen"] for row in new["coverage_schemas"]} == {
        "account-info": 1,
        "pub-ack": 2,
        "stream-action": 2,
        "stream-create": 6,
    }
    assert [row["invalid"] for row in new["coverage_schemas"] if row["invalid"]] == [5]
    assert new["positions"] == []


def test_a_merged_run_of_today_says_the_same(spark: SparkSession, tmp_path: Path) -> None:
    """Its schemas are rows of their own kind, and reach the report by another way."""
    from jetproof.cli import main
    from jetproof_reports.history import History

    assert main(["merge", str(OLD_RUN), "--out", str(tmp_path / "joined")]) == 1
    History(tmp_path / "old").add(OLD_RUN)
    History(tmp_path / "new").add(tmp_path / "joined")
    old, new = tables(spark, tmp_path / "old"), tables(spark, tmp_path / "new")
    for rows in (*old.values(), *new.values()):
        for row in rows:
            row.pop("run_id", None)
            row.pop("index", None)
    assert old == new
