"""Tables of one run alone: computed once, kept next to the run, and all that a history's reports read.

A report over a hundred runs so reads a hundred small tables, and not their frames and checks again.

No row gets lost unseen. Spark counts the rows while it writes a table. This process then counts the
rows in the files it finds, and compares both before the table gets its manifest (`manifest.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING

from pyspark.sql import Observation
from pyspark.sql import functions as F

from jetproof.errors import JetproofError
from jetproof.results.changes import DIFFERS
from jetproof_reports.cached import cached
from jetproof_reports.history import History, KeptRun
from jetproof_reports.manifest import fault, need_sources, rows_in, uneven, write_manifest
from jetproof_reports.reading import Sources, location, read_files, read_sources
from jetproof_reports.schemas import CELL_KEY, DERIVED
from jetproof_reports.session import hint_for, is_elsewhere, within
from jetproof_reports.tables import coverage, fingerprints, latency
from jetproof_reports.tables.cells import cells
from jetproof_reports.tables.common import ERROR, UNSTABLE
from jetproof_reports.together import together

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

FRAMES_KEPT = 200
NAME = "derived-6"
"""The number is raised when a table's meaning changes: older ones are then computed again."""
COUNT_SECONDS = 60.0
"""How long to wait for the count of a write that is done; it comes at once."""

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
    lacking = {run.folder: missing for run in runs if (missing := _lacking(run, names))}
    # Runs of a diff can be in two histories, perhaps on two disks.
    for history in dict.fromkeys(folder.parent for folder in lacking):
        there = [run for run in runs if run.folder in lacking and run.folder.parent == history]
        wanted = [name for name in names if any(name in lacking[run.folder] for run in there)]
        _derive_missing(spark, History(history), there, wanted)
    for run in runs:
        if run.folder in lacking and (faults := _lacking(run, names)):
            name, why = next(iter(faults.items()))
            raise _lost(spark, name, f"run {run.run_id}: {why}", run.folder.parent)
    places = {name: [run.folder / NAME / name for run in runs] for name in names}
    tables = {name: read_files(spark, DERIVED[name], paths) for name, paths in places.items()}
    if runs and is_elsewhere(spark):
        _need_the_same_rows(spark, tables, places, runs[0].folder.parent)
    return tables


def _lacking(run: KeptRun, names: Sequence[str]) -> dict[str, str]:
    """The tables that this run lacks, each with the reason."""
    found = {name: fault(run.folder / NAME / name, run, NAME, name) for name in names}
    return {name: why for name, why in found.items() if why}


def _derive_missing(
    spark: SparkSession, history: History, runs: Sequence[KeptRun], names: Sequence[str]
) -> None:
    for run in runs:
        need_sources(run)
    sources = read_sources(spark, [run.folder for run in runs])
    if is_elsewhere(spark):
        tables = {"cells": sources.cells, "checks": sources.checks, "frames": sources.frames}
        places = {name: [run.folder / f"{name}.parquet" for run in runs] for name in tables}
        _need_the_same_rows(spark, tables, places, history.folder)
    with cached(fingerprints.transcripts_of(sources.frames)) as marks:
        made = derive(sources, marks)
        _keep(spark, history, runs, {name: made[name] for name in names})


def _need_the_same_rows(
    spark: SparkSession, tables: Tables, places: Mapping[str, Sequence[Path]], folder: Path
) -> None:
    """Workers on other machines read the rows that this process finds, and no older copy of them."""
    names = [table.select(F.lit(name).alias("name")) for name, table in tables.items()]
    every = reduce(lambda one, other: one.unionAll(other), names)
    counted = every.groupBy("name").count().collect()
    found = dict.fromkeys(tables, 0) | {row["name"]: row["count"] for row in counted}
    for name in tables:
        expected = sum(map(rows_in, places[name]))
        if found[name] != expected:
            why = f"the workers read {found[name]} rows, expected {expected}"
            raise _lost(spark, name, why, folder)


def _lost(spark: SparkSession, name: str, why: str, folder: Path) -> JetproofError:
    return JetproofError(
        f"rows of the table {name} got lost: {why}", phase="load", hint=hint_for(spark, folder)
    )


def _frames_behind(sources: Sources) -> DataFrame:
    """The frames as they were, for cells that somebody will want to look into."""
    several = F.col("verdict") == UNSTABLE
    plays = F.when(several, F.greatest(F.size("plays"), F.lit(1))).otherwise(F.lit(1))
    wanted = sources.cells.where(F.col("verdict").isin(*sorted(DIFFERS), UNSTABLE, ERROR))
    most = wanted.select(*CELL_KEY, (F.coalesce(plays, F.lit(1)) * FRAMES_KEPT).alias("most"))
    behind = sources.frames.join(F.broadcast(most), list(CELL_KEY))
    return behind.where(F.col("index") <= F.col("most")).drop("most")


def _keep(spark: SparkSession, history: History, runs: Sequence[KeptRun], made: Tables) -> None:
    """Write all runs' tables in one go, then move each run's into its folder."""
    with history.placing() as place:

        def write(name: str) -> int:
            # The run's id is the folder's name and a column, as in every other file.
            parted = made[name].select(*DERIVED[name]).withColumn("of", F.col("run_id"))
            # After the last shuffle: a task that is played again counts once.
            seen = Observation()
            parted = parted.repartition(len(runs), "of")
            parted = parted.observe(seen, F.count(F.lit(1)).alias("rows"))
            output = parted.write.partitionBy("of").option("compression", "zstd")
            output.parquet(location(place / name))
            return int(within(COUNT_SECONDS, lambda: seen.get)["rows"])

        wrote = together({name: partial(write, name) for name in made})
        found = {name: _rows_found(place / name, runs) for name in made}
        for name in made:
            _need_every_row(spark, history, name, wrote[name], found[name], runs)
        for run in runs:
            for name in made:
                part = _part(place / name, run)
                part.mkdir(parents=True, exist_ok=True)  # a run without such rows
                write_manifest(part, run, NAME, name, found[name][run.run_id])
                history.put_derived(
                    part, run.run_id, f"{NAME}/{name}", partial(_is_whole, run, name)
                )


def _part(place: Path, run: KeptRun) -> Path:
    return place / f"of={run.run_id}"


def _is_whole(run: KeptRun, name: str, part: Path) -> bool:
    return not fault(part, run, NAME, name)


def _rows_found(place: Path, runs: Sequence[KeptRun]) -> dict[str, int]:
    """By run: the rows in the files that this process finds."""
    return {run.run_id: rows_in(_part(place, run)) for run in runs}


def _need_every_row(
    spark: SparkSession,
    history: History,
    name: str,
    wrote: int,
    found: Mapping[str, int],
    runs: Sequence[KeptRun],
) -> None:
    """What Spark wrote is what this process finds; a run has all of its cells."""
    there = sum(found.values())
    if there != wrote:
        why = f"expected {wrote} rows, which Spark wrote, and found {there} in {history.folder}"
        raise _lost(spark, name, why, history.folder)
    for run in runs:
        if why := uneven(run, name, found[run.run_id]):
            raise _lost(spark, name, f"run {run.run_id}: {why}", history.folder)
