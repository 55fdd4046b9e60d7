"""`cells`: every verdict of every run and attempt, with the fingerprint of its transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import CELL_KEY
from jetproof_reports.tables.common import PLACE, UNSTABLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


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
