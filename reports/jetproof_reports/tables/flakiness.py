"""`flakiness`: the same case, sentence, server, client and harness, played more than once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import CONTENT, FLAKINESS
from jetproof_reports.tables.common import UNSTABLE, of_schema, verdict_counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def flakiness(cells: DataFrame) -> DataFrame:
    """One row for what was played at least twice; flaky if its verdicts differ.

    A red cell is played again within its run; an unstable one is what failed in one play only."""
    played = F.greatest(F.size("plays"), F.lit(1)).cast("bigint")
    return (
        cells.where(~of_schema())
        .groupBy(*CONTENT, "harness")
        .agg(
            F.count_distinct("run_id").alias("runs"),
            F.sum(played).alias("plays"),
            verdict_counts().alias("verdicts"),
        )
        .where("plays > 1")
        .withColumn("flaky", (F.size("verdicts") > 1) | F.map_contains_key("verdicts", UNSTABLE))
        .select(*FLAKINESS)
    )
