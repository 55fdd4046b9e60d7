"""Tables of one run alone: computed once, kept next to the run, and all that a history's reports read.

A report over a hundred runs so reads a hundred small tables, and not their frames and checks again.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.cached import cached
from jetproof_reports.history import History, KeptRun
from jetproof_reports.reading import Sources, location, read_files, read_sources
from jetproof_reports.schemas import CELL_KEY, DERIVED
from jetproof_reports.tables import coverage, fingerprints, latency
from jetproof_reports.tables.cells import cells
from jetproof_reports.tables.common import DIFFERS, ERROR, UNSTABLE
from jetproof_reports.together import together

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FRAMES_KEPT = 200
NAME = "derived-4"
"""The number is raised when a table's meaning changes: older ones are then computed again."""


Tables = dict[str, "DataFrame"]


def derive(sources: Sources, marks: DataFrame) -> Tables:
    """Compute them; nothing is kept. `marks` are the transcripts of the sources."""
    # Of equal transcripts (their set-up may differ) always the same one, whoever computes it.
    chosen = F.min_by("transcript", "cell_no").alias("transcript")
    timed = latency.samples(sources.checks, sources.frames)
    return {
        "cells": cells(sources.cells, marks),
        "transcripts": marks.groupBy("run_id", "fingerprint").agg(chosen),
        "latency_hist": latency.latency_hist(timed),
        "errors_seen": coverage.errors_seen(sources.frames),
        "fields_seen": coverage.fields_seen(sources.frames),
        "evidence": sources.checks.where(~F.col("ok")),
        "frames": _frames_behind(sources),
    }


def read_derived(
    spark: SparkSession, runs: Sequence[KeptRun], names: Sequence[str] = tuple(DERIVED)
) -> Tables:
    """These derived tables of these runs, computed first where a run lacks one."""
    missing = [
        run for run in runs if not all((run.folder / NAME / name).is_dir() for name in names)
    ]
    if missing:
        sources = read_sources(spark, [run.folder for run in missing])
        with cached(fingerprints.transcripts_of(sources.frames)) as marks:
            made = derive(sources, marks)
            _keep(missing, {name: made[name] for name in names})
    return {
        name: read_files(spark, DERIVED[name], [run.folder / NAME / name for run in runs])
        for name in names
    }


def _frames_behind(sources: Sources) -> DataFrame:
    """The frames as they were, for cells that somebody will want to look into."""
    several = F.col("verdict") == UNSTABLE
    plays = F.when(several, F.greatest(F.size("plays"), F.lit(1))).otherwise(F.lit(1))
    wanted = sources.cells.where(F.col("verdict").isin(*DIFFERS, UNSTABLE, ERROR))
    most = wanted.select(*CELL_KEY, (F.coalesce(plays, F.lit(1)) * FRAMES_KEPT).alias("most"))
    behind = sources.frames.join(F.broadcast(most), list(CELL_KEY))
    return behind.where(F.col("index") <= F.col("most")).drop("most")


def _keep(runs: Sequence[KeptRun], made: Tables) -> None:
    """Write all runs' tables in one go, then move each run's into its folder."""
    history = History(runs[0].folder.parent)
    with history.placing() as place:

        def write(name: str) -> None:
            # The run's id is the folder's name and a column, as in every other file.
            parted = made[name].select(*DERIVED[name]).withColumn("of", F.col("run_id"))
            output = parted.repartition(len(runs), "of").write.partitionBy("of")
            output.option("compression", "zstd").parquet(location(place / name))

        together({name: partial(write, name) for name in made})
        for run in runs:
            for name in made:
                part = place / name / f"of={run.run_id}"
                part.mkdir(exist_ok=True)  # a run without such rows
                history.put_derived(part, run.run_id, f"{NAME}/{name}")
