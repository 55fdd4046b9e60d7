"""Which tables a report has, and from what each is made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.cached import cached
from jetproof_reports.compact import library_of
from jetproof_reports.derive import Tables, read_derived
from jetproof_reports.history import KeptRun
from jetproof_reports.reading import read_files, read_sources
from jetproof_reports.schemas import CLAUSES, EVIDENCE, FINGERPRINTS, RUNS
from jetproof_reports.tables import coverage, latency, regressions
from jetproof_reports.tables.cells import latest as latest_of
from jetproof_reports.tables.deviations import deviations
from jetproof_reports.tables.first_change import first_change, first_change_of_libraries
from jetproof_reports.tables.flakiness import flakiness
from jetproof_reports.tables.matrix import matrix
from jetproof_reports.tables.positions import positions
from jetproof_reports.tables.stability import as_they_are, settled, weighed
from jetproof_reports.tables.trends import trends

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@contextmanager
def report_tables(spark: SparkSession, kept: Sequence[KeptRun], *, exact: bool) -> Iterator[Tables]:
    """Every table of a report, by name, not yet computed: that has to be done inside the block.

    Frames and checks are read once in a run's life, to derive its own tables; only `exact`
    percentiles need them again.
    """
    made = read_derived(spark, kept)
    runs = read_files(spark, RUNS, [run.folder / "run.parquet" for run in kept])
    clauses = read_files(spark, CLAUSES, [run.folder / "clauses.parquet" for run in kept])
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
        changes = regressions.between_releases(latest)
        if len(kept) > 1:
            changes = changes.unionByName(regressions.between_runs(cells))
        several = _several(kept)
        if several.revisions:
            changes = changes.unionByName(regressions.between_revisions(latest))
        firsts = first_change(latest)
        if several.versions:
            changes = changes.unionByName(regressions.between_versions(latest))
            firsts = firsts.unionByName(first_change_of_libraries(latest))
        yield {
            **_tables(made, clauses, runs, cells, latest),
            "first_change": firsts,
            "regressions": changes,
            "latency": times,
        }


@dataclass(frozen=True, slots=True)
class Several:
    """Whether some case was judged by more than one revision, and some library played in more than
    one version: mostly none was."""

    revisions: bool
    versions: bool


def _several(kept: Sequence[KeptRun]) -> Several:
    import pyarrow.parquet as pq

    names = ["case", "spec_revision", "client"]
    revisions: dict[tuple[str, str | None], set[int]] = {}
    versions: dict[str | None, set[str]] = {}
    for run in kept:
        table = pq.read_table(run.folder / "cells.parquet", columns=names)
        for row in table.group_by(names).aggregate([]).to_pylist():
            client = row["client"]
            revisions.setdefault((row["case"], client), set()).add(row["spec_revision"])
            if client:
                versions.setdefault(library_of(client)[0], set()).add(client)
    return Several(
        any(len(found) > 1 for found in revisions.values()),
        any(len(found) > 1 for found in versions.values()),
    )


def _tables(
    made: Tables, clauses: DataFrame, runs: DataFrame, cells: DataFrame, latest: DataFrame
) -> Tables:
    releases = latest.select("server", "release_key").distinct()
    return {
        "runs": runs,
        "cells": latest,
        "matrix": matrix(latest),
        "coverage": coverage.coverage(clauses, runs, latest),
        "coverage_errors": coverage.coverage_errors(made["errors_seen"], releases),
        "coverage_schemas": coverage.coverage_schemas(latest, made["evidence"]),
        "coverage_fields": coverage.coverage_fields(made["fields_seen"], releases),
        "flakiness": flakiness(cells),
        "fingerprints": _fingerprints(latest, made["transcripts"]),
        "positions": positions(latest),
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
