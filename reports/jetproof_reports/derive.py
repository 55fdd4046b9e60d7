"""Tables of one run alone: computed once, kept next to the run, and all that a history's reports read.

A report over a hundred runs so reads a hundred small tables, and not their frames and checks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.history import History, KeptRun
from jetproof_reports.reading import Sources, location, read_files, read_sources
from jetproof_reports.schemas import DERIVED
from jetproof_reports.tables import coverage, fingerprints, latency
from jetproof_reports.tables.cells import cells

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

NAME = "derived-1"
"""The number is raised when a table's meaning changes: older ones are then computed again."""


@dataclass(frozen=True, slots=True)
class Derived:
    """The derived tables of one or more runs."""

    cells: DataFrame
    transcripts: DataFrame
    latency_hist: DataFrame
    errors_seen: DataFrame
    fields_seen: DataFrame
    evidence: DataFrame


def derive(sources: Sources) -> Derived:
    """Compute them; nothing is kept."""
    marks = fingerprints.transcripts_of(sources.frames).persist()
    one = marks.groupBy("run_id", "fingerprint").agg(F.first("transcript").alias("transcript"))
    timed = latency.samples(sources.checks, sources.frames)
    return Derived(
        cells=cells(sources.cells, marks),
        transcripts=one,
        latency_hist=latency.latency_hist(timed),
        errors_seen=coverage.errors_seen(sources.frames),
        fields_seen=coverage.fields_seen(sources.frames),
        evidence=sources.checks.where(~F.col("ok")),
    )


def read_derived(spark: SparkSession, history: History, runs: Sequence[KeptRun]) -> Derived:
    """The derived tables of these runs, computed first for those that lack them."""
    missing = [run for run in runs if not (run.folder / NAME).is_dir()]
    if missing:
        _keep(history, missing, derive(read_sources(spark, [run.folder for run in missing])))
    return Derived(
        **{
            name: read_files(spark, columns, [run.folder / NAME / name for run in runs])
            for name, columns in DERIVED.items()
        }
    )


def _keep(history: History, runs: Sequence[KeptRun], made: Derived) -> None:
    """Write all runs' tables in one go, then move each run's into its folder."""
    with history.placing() as place:
        for field in fields(made):
            table: DataFrame = getattr(made, field.name).select(*DERIVED[field.name])
            # The run's id is the folder's name and a column, as in every other file.
            table.withColumn("of", F.col("run_id")).repartition("of").write.partitionBy(
                "of"
            ).option("compression", "zstd").parquet(location(place / field.name))
        for run in runs:
            _move(place, run, history)


def _move(place: Path, run: KeptRun, history: History) -> None:
    whole = place / run.run_id
    whole.mkdir()
    for name in DERIVED:
        part = place / name / f"of={run.run_id}"
        target = whole / name
        if part.is_dir():
            part.rename(target)
        else:
            target.mkdir()
    history.put_derived(whole, run.run_id, NAME)
