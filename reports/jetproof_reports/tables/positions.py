"""`positions`: what servers do where the text does not decide."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import POSITIONS
from jetproof_reports.tables.common import by_release, decided, of_schema

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def positions(latest: DataFrame) -> DataFrame:
    """One row a position that was taken: by which releases, from the oldest on."""
    taken = latest.where(decided() & ~of_schema())
    key = ("spec", "spec_revision", "suite", "case", "topology", "client", "provider")
    return (
        taken.select(*key, "server", "release_key", "clauses", F.explode("position"))
        .groupBy(*key, F.col("key").alias("name"), "value")
        .agg(F.min("clauses").alias("clauses"), by_release().alias("servers"))
        .select(*POSITIONS)
    )
