"""Which tables of a report Spark makes, and from what each is made; `questions` makes the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.cached import cached
from jetproof_reports.derive import Tables, read_derived
from jetproof_reports.history import KeptRun
from jetproof_reports.questions import RECENT
from jetproof_reports.reading import read_files, read_sources
from jetproof_reports.schemas import EVIDENCE, FINGERPRINTS, RUNS
from jetproof_reports.tables import coverage, latency
from jetproof_reports.tables.cells import latest as latest_of
from jetproof_reports.tables.cells import newest_two_runs
from jetproof_reports.tables.deviations import deviations
from jetproof_reports.tables.flakiness import flakiness
from jetproof_reports.tables.stability import as_they_are, settled, weighed
from jetproof_reports.tables.trends import trends

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def report_tables(spark: SparkSession, kept: Sequence[KeptRun], *, exact: bool) -> Iterator[Tables]:
    """The tables that Spark makes, by name, not yet computed: that has to be done inside the block.

    Frames and checks are read once in a run's life, to derive its own tables; only `exact`
    percentiles need them again.
    """
    made = read_derived(spark, kept)
    runs = read_files(spark, RUNS, [run.folder / "run.parquet" for run in kept])
    if exact:
        sources = read_sources(spark, [run.folder for run in kept])
        times = latency.latency(
            latency.samples(sources.checks, sources.frames), made["latency_hist"]
        )
    else:
        times = latency.latency_of_hist(made["latency_hist"])
    with (
        steadied(made["cells"], made["transcripts"]) as cells,
        cached(latest_of(cells)) as latest,
    ):
        yield {
            **_tables(made, runs, cells, latest),
            **({RECENT: newest_two_runs(cells)} if len(kept) > 1 else {}),
            "latency": times,
        }


def _tables(made: Tables, runs: DataFrame, cells: DataFrame, latest: DataFrame) -> Tables:
    releases = latest.select("server", "release_key").distinct()
    return {
        "runs": runs,
        "cells": latest,
        "coverage_errors": coverage.coverage_errors(made["errors_seen"], releases),
        "coverage_schemas": coverage.coverage_schemas(latest, made["evidence"]),
        "coverage_fields": coverage.coverage_fields(made["fields_seen"], releases),
        "flakiness": flakiness(cells),
        "fingerprints": _fingerprints(latest, made["transcripts"]),
        "deviations": deviations(latest),
        "trends": trends(cells),
        "evidence": _evidence(latest, made["evidence"]),
        "frames": made["frames"].join(latest.select("run_id", "cell_no"), ["run_id", "cell_no"]),
    }


@contextmanager
def steadied(cells: DataFrame, transcripts: DataFrame) -> Iterator[DataFrame]:
    """The cells with fingerprints that can be compared.

    Looks first whether anything is unsteady: mostly nothing is, and then most of the work falls away.
    """
    with cached(weighed(cells)) as known:
        steady = known.where("shaky").isEmpty()
        with cached(as_they_are(known) if steady else settled(known, transcripts)) as made:
            yield made


def _fingerprints(latest: DataFrame, transcripts: DataFrame) -> DataFrame:
    """One row a cell; the transcript stands on the first row of each fingerprint only."""
    marked = latest.where(F.col("fingerprint").isNotNull())
    nth = Window.partitionBy("fingerprint").orderBy(
        "case", "topology", "client", "release_key", "run_id"
    )
    first = marked.withColumn("nth", F.row_number().over(nth))
    shown = F.when(F.col("nth") == 1, F.col("wire")).alias("wire")
    rows = first.select("run_id", shown, *(name for name in FINGERPRINTS if name != "transcript"))
    known = transcripts.select("run_id", F.col("fingerprint").alias("wire"), "transcript")
    return rows.join(known, ["run_id", "wire"], "left").select(*FINGERPRINTS)


def _evidence(latest: DataFrame, evidence: DataFrame) -> DataFrame:
    """What was expected and what was there instead, for the cells of the matrix."""
    names = ("cell", "topology", "client", "provider", "spec_revision")
    cells = latest.select("run_id", "cell_no", *names)
    told = [name for name in EVIDENCE if name not in names]
    return evidence.drop("client").join(cells, ["run_id", "cell_no"]).select(*names, *told)
