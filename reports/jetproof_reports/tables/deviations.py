"""`deviations`: where releases and libraries are known to differ from the text, as runs met it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof.model.verdict import Verdict
from jetproof_reports.schemas import DEVIATIONS
from jetproof_reports.tables.common import by_release, verdict_counts

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def deviations(latest: DataFrame) -> DataFrame:
    """One row an entry of a ledger that was met: where, with what verdicts, and the first and the
    last release that it explains.

    Each library has a ledger of its own, so that two of them may use one name."""
    known = F.col("verdict") == Verdict.KNOWN.value
    order = F.when(known, F.struct("release_key", "server"))
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
            *(F.max(name).alias(name) for name in ("kind", "severity", "upstream")),
            F.min_by(F.when(known, F.col("server")), order).alias("first_server"),
            F.max_by(F.when(known, F.col("server")), order).alias("last_server"),
        )
        .select(*DEVIATIONS)
    )
