"""Runs in, a report out: every table, the page, `summary.md` and `badge.json`.

out/
  report.html   the page, one file
  summary.md    for the page of a CI job
  badge.json    for a badge
  tables/       every table as Parquet, for whoever has further questions
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.errors import JetproofError
from jetproof.results.changes import PLACE
from jetproof_reports.compact import writer, writing
from jetproof_reports.history import History, KeptRun
from jetproof_reports.ledger import explained
from jetproof_reports.questions import answered, rows_of
from jetproof_reports.revisions import revisions
from jetproof_reports.session import hint_for
from jetproof_reports.together import together

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

PAGE, SUMMARY, BADGE, TABLES = "report.html", "summary.md", "badge.json", "tables"


@dataclass(frozen=True, slots=True)
class Report:
    """What was written, and the numbers that a command prints."""

    out: Path
    page: Path
    summary: Path
    badge: Path
    runs: tuple[str, ...]
    rows: Mapping[str, int]


def build(
    runs: Sequence[Path], out: Path, *, spark: SparkSession, history: Path | None = None
) -> Report:
    """Read run folders (and, with a history, every run it keeps) and write the report."""
    from jetproof_reports.report_tables import report_tables

    with writing(out):
        out.mkdir(parents=True, exist_ok=True)
    with (
        keeping(runs, out, history) as kept,
        report_tables(spark, kept, exact=history is None) as tables,
    ):
        collected = collect(tables, kept)
        need_every_cell(collected, kept, hint_for(spark, (history or out).absolute()))
    return write(collected, out, kept)


@contextmanager
def keeping(runs: Sequence[Path], out: Path, history: Path | None) -> Iterator[list[KeptRun]]:
    """The runs in a history: the one given, or one that goes away with the report."""
    if history is not None:
        store = History(history)
        for run in runs:
            store.add(run)
        kept = store.runs()
        if not kept:
            raise JetproofError(
                f"{history} keeps no runs", phase="load", hint="name a run folder to add"
            )
        yield kept
        return
    with writing(out):
        place = Path(tempfile.mkdtemp(prefix="runs-", dir=out))
    try:
        store = History(place)
        for run in runs:
            store.add(run)
        yield store.runs()
    finally:
        shutil.rmtree(place, ignore_errors=True)


def collect(tables: Mapping[str, DataFrame], kept: Sequence[KeptRun]) -> dict[str, pa.Table]:
    """Every table computed; the suites' own words are put next to what runs say."""
    collected = answered(together({name: table.toArrow for name, table in tables.items()}), kept)
    deviations = explained(collected["deviations"])
    return collected | {"deviations": deviations, "revisions": revisions()}


def need_every_cell(collected: Mapping[str, pa.Table], kept: Sequence[KeptRun], hint: str) -> None:
    """The report counts the scored cells that this process finds in the runs: else it is not written."""
    import pyarrow.parquet as pq

    counted = {run.run_id: 0 for run in kept}
    for row in collected["trends"].select(["run_id", "cells"]).to_pylist():
        counted[row["run_id"]] += row["cells"]
    key = ["spec", "server", *PLACE]
    for run in kept:
        path = run.folder / "cells.parquet"
        # Runs kept before there were editions lack the column: all of their cells are scored.
        known = "scored" in pq.read_schema(path).names
        cells = pq.read_table(
            path, columns=key, filters=[("scored", "!=", False)] if known else None
        )
        expected = cells.group_by(key).aggregate([]).num_rows
        if counted[run.run_id] != expected:
            raise JetproofError(
                f"rows got lost: the report has {counted[run.run_id]} cells of run {run.run_id}, "
                f"expected {expected}",
                phase="load",
                hint=hint,
            )


def write(collected: Mapping[str, pa.Table], out: Path, kept: Sequence[KeptRun]) -> Report:
    """Write all of a report, then put it in place: an earlier one stays whole until then."""
    from jetproof_reports import page

    document = page.document({name: rows_of(table) for name, table in collected.items()})
    texts = {
        PAGE: page.render(document),
        SUMMARY: page.summary_markdown(document),
        BADGE: json.dumps(page.badge(document)) + "\n",
    }
    with writing(out), tempfile.TemporaryDirectory(prefix="new-", dir=out) as place:
        new, tables = Path(place), out / TABLES
        (new / TABLES).mkdir()
        for name, table in collected.items():
            with writer(new / TABLES / f"{name}.parquet", table.schema) as stream:
                stream.write_table(table)
        for file, text in texts.items():
            (new / file).write_text(text, encoding="utf-8")
        if tables.exists():
            tables.rename(new / "old")
        (new / TABLES).rename(tables)
        for file in texts:
            (new / file).replace(out / file)
    return Report(
        out,
        out / PAGE,
        out / SUMMARY,
        out / BADGE,
        tuple(run.run_id for run in kept),
        {name: table.num_rows for name, table in collected.items()},
    )
