"""`cells`: every verdict of every run and attempt, with the fingerprint of its transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof.results.changes import PLACE
from jetproof_reports.schemas import CELL_KEY
from jetproof_reports.tables.common import UNSTABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_COMPARED = (
    *PLACE, "server", "release_key", "build", "library", "client_key", "spec", "verdict",
    "never_right", "reason", "position", "fingerprint", "case_hash", "spec_hash", "harness", "run_id",
    "run_at", "attempt",
)  # fmt: skip
"""What a comparison needs of a cell."""


def cells(source: DataFrame, fingerprints: DataFrame) -> DataFrame:
    """The cells of runs; one without frames has no fingerprint.

    Nor has an unstable one: its frames are those of several plays, which are no transcript."""
    marks = fingerprints.select(*CELL_KEY, "fingerprint")
    steady = F.when(F.col("verdict") != UNSTABLE, F.col("fingerprint"))
    return source.join(marks, list(CELL_KEY), "left").withColumns(
        {
            "fingerprint": steady,
            # Files of older versions lack these.
            "scored": F.coalesce("scored", F.lit(True)),
            "plays": F.coalesce("plays", F.array().cast("array<string>")),
            "never_right": F.coalesce("never_right", F.lit(False)),
        }
    )


def latest(table: DataFrame) -> DataFrame:
    """The newest row of each cell: the last attempt of the newest run that has it."""
    key = [*PLACE, "server"]
    rest = [name for name in table.columns if name not in key]
    newest = F.max_by(F.struct(*rest), F.struct("run_at", "run_id", "attempt", "cell_no"))
    return table.groupBy(*key).agg(newest.alias("row")).select(*key, "row.*")


def compared(table: DataFrame) -> DataFrame:
    """The newest row of each cell, with what a comparison needs."""
    return latest(table).select(*_COMPARED)


def newest_two_runs(cells: DataFrame) -> DataFrame:
    """The last attempts of the newest two runs of each cell, if they differ in anything that is compared.

    Cells that show the same in both runs are most of them, and need not leave the cluster."""
    place = [*PLACE, "server"]
    attempt = Window.partitionBy(*place, "run_id").orderBy(F.desc("attempt"))
    newest = Window.partitionBy(*place).orderBy(F.desc("run_at"), F.desc("run_id"))
    last = cells.withColumn("again", F.row_number().over(attempt)).where("again = 1")
    two = last.withColumn("age", F.row_number().over(newest)).where("age <= 2")
    shown = ("verdict", "never_right", "reason", "fingerprint")
    mark = F.struct(*shown, F.map_entries("position").alias("position"))
    either = Window.partitionBy(*place)
    differ = ~F.min(mark).over(either).eqNullSafe(F.max(mark).over(either))
    return two.withColumn("differ", differ).where("differ").select(*_COMPARED)
