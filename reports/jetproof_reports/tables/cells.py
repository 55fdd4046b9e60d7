"""`cells`: every verdict of every run and attempt, with the fingerprint of its transcript."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import CELL_KEY
from jetproof_reports.tables.common import PLACE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def cells(source: DataFrame, fingerprints: DataFrame) -> DataFrame:
    """The cells of runs; one without frames has no fingerprint."""
    marks = fingerprints.select(*CELL_KEY, "fingerprint")
    return source.join(marks, list(CELL_KEY), "left")


def latest(table: DataFrame) -> DataFrame:
    """The newest row of each cell: the last attempt of the newest run that has it."""
    key = [*PLACE, "server"]
    rest = [name for name in table.columns if name not in key]
    newest = F.max_by(F.struct(*rest), F.struct("run_at", "run_id", "attempt", "cell_no"))
    return table.groupBy(*key).agg(newest.alias("row")).select(*key, "row.*")
