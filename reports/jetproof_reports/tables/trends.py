"""`trends`: how many cells of a run had which verdict, so that runs can be followed over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof.results.changes import PLACE
from jetproof_reports.schemas import TRENDS
from jetproof_reports.tables.common import is_scored

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def trends(cells: DataFrame) -> DataFrame:
    """One row a run, specification, server, client and verdict: scored cells, each with its last attempt."""
    last = F.max_by("verdict", F.struct("attempt", "cell_no")).alias("verdict")
    played = (
        cells.where(is_scored()).groupBy("run_id", "run_at", "spec", "server", *PLACE).agg(last)
    )
    return (
        played.groupBy(
            "run_id",
            F.col("run_at").alias("started_at"),
            "spec",
            "server",
            "provider",
            "client",
            "verdict",
        )
        .agg(F.count("*").alias("cells"))
        .select(*TRENDS)
    )
