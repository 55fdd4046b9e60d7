"""Which tables a report has, and from what each is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.derive import Derived, derive, read_derived
from jetproof_reports.history import History, KeptRun
from jetproof_reports.reading import read_files, read_sources
from jetproof_reports.schemas import CLAUSES, EVIDENCE, FINGERPRINTS, RUNS
from jetproof_reports.tables import coverage, latency, regressions
from jetproof_reports.tables.cells import latest as latest_of
from jetproof_reports.tables.deviations import deviations
from jetproof_reports.tables.first_change import first_change
from jetproof_reports.tables.flakiness import flakiness
from jetproof_reports.tables.matrix import matrix
from jetproof_reports.tables.positions import positions
from jetproof_reports.tables.stability import settled

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Tables = dict[str, "DataFrame"]


def of_runs(spark: SparkSession, kept: Sequence[KeptRun]) -> Tables:
    """From the runs themselves: exact percentiles, nothing kept."""
    sources = read_sources(spark, [run.folder for run in kept])
    made = derive(sources)
    timed = latency.samples(sources.checks, sources.frames)
    times = latency.latency(timed, made.latency_hist)
    return _tables(made, sources.clauses, sources.runs, times, runs_count=len(kept))


def of_history(spark: SparkSession, store: History, kept: Sequence[KeptRun]) -> Tables:
    """From what each run left behind: frames and checks are read once in a run's life."""
    made = read_derived(spark, store, kept)
    runs = read_files(spark, RUNS, [run.folder / "run.parquet" for run in kept])
    clauses = read_files(spark, CLAUSES, [run.folder / "clauses.parquet" for run in kept])
    times = latency.latency_of_hist(made.latency_hist)
    return _tables(made, clauses, runs, times, runs_count=len(kept))


def _tables(
    made: Derived, clauses: DataFrame, runs: DataFrame, times: DataFrame, *, runs_count: int
) -> Tables:
    cells = settled(made.cells, made.transcripts) if runs_count > 1 else _alone(made.cells)
    cells = cells.persist()
    latest = latest_of(cells).persist()
    releases = latest.select("server", "release_key").distinct()
    changes = regressions.between_releases(latest)
    if runs_count > 1:
        changes = changes.unionByName(regressions.between_runs(cells))
    return {
        "runs": runs,
        "cells": latest,
        "matrix": matrix(latest),
        "regressions": changes,
        "coverage": coverage.coverage(clauses, runs, latest),
        "coverage_errors": coverage.coverage_errors(made.errors_seen, releases),
        "coverage_schemas": coverage.coverage_schemas(latest, made.evidence),
        "coverage_fields": coverage.coverage_fields(made.fields_seen, releases),
        "flakiness": flakiness(cells),
        "latency": times,
        "first_change": first_change(latest),
        "fingerprints": _fingerprints(latest, made.transcripts),
        "positions": positions(latest),
        "deviations": deviations(latest),
        "evidence": _evidence(latest, made.evidence),
    }


def _alone(cells: DataFrame) -> DataFrame:
    """One run alone cannot tell what is unsteady."""
    return cells.withColumns(
        {
            "wire": F.col("fingerprint"),
            "runs": F.lit(1).cast("bigint"),
            "stable": F.lit(None).cast("boolean"),
        }
    )


def _fingerprints(latest: DataFrame, transcripts: DataFrame) -> DataFrame:
    """One row a cell; the transcript stands on the first row of each fingerprint only."""
    marked = latest.where(F.col("fingerprint").isNotNull())
    nth = Window.partitionBy("fingerprint").orderBy("case", "topology", "release_key", "run_id")
    first = marked.withColumn("nth", F.row_number().over(nth))
    shown = F.when(F.col("nth") == 1, F.col("wire")).alias("wire")
    rows = first.select(
        "run_id", shown, *(name for name in FINGERPRINTS if name != "transcript")
    )
    known = transcripts.select("run_id", F.col("fingerprint").alias("wire"), "transcript")
    return rows.join(known, ["run_id", "wire"], "left").select(*FINGERPRINTS)


def _evidence(latest: DataFrame, evidence: DataFrame) -> DataFrame:
    """What was expected and what was there instead, for the cells of the matrix."""
    names = ("cell", "topology", "client", "provider", "spec_revision")
    cells = latest.select("run_id", "cell_no", *names)
    return evidence.join(cells, ["run_id", "cell_no"]).select(*names, *EVIDENCE)
