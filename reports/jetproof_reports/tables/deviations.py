"""`deviations`: where releases and libraries are known to differ from the text, as runs met it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import DEVIATIONS
from jetproof_reports.tables.common import by_release, verdict_counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def deviations(latest: DataFrame) -> DataFrame:
    """One row an entry of a ledger that was met: where, and with what verdicts.

    Each library has a ledger of its own, so that two of them may use one name."""
    return (
        latest.where(F.col("deviation").isNotNull())
        .groupBy("deviation", "library")
        .agg(
            F.array_sort(F.collect_set("client")).alias("clients"),
            F.array_sort(F.collect_set("case")).alias("cases"),
            by_release().alias("servers"),
            F.array_sort(F.array_distinct(F.flatten(F.collect_list("clauses")))).alias("clauses"),
            F.min("reason").alias("reason"),
            verdict_counts().alias("verdicts"),
        )
        .select(*DEVIATIONS)
    )
