"""What tables share: which verdicts are verdicts, counts by verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof.model.verdict import Verdict
from jetproof.results.changes import NO_VERDICT

if TYPE_CHECKING:
    from pyspark.sql import Column

ERROR = Verdict.ERROR.value
UNSTABLE = Verdict.UNSTABLE.value
"""Failed in one play and in none of the others."""


def of_schema() -> Column:
    """Whether a row is about all messages of one kind, and not about a case."""
    return F.col("schema").isNotNull()


def is_scored() -> Column:
    """Whether a cell counts in totals. Runs before there were editions scored every cell."""
    return F.coalesce(F.col("scored"), F.lit(True))


def decided(verdict: str = "verdict") -> Column:
    """Whether the case ran to a verdict."""
    return ~F.col(verdict).isin(*sorted(NO_VERDICT))


def verdict_counts(verdict: str = "verdict") -> Column:
    """An aggregate: how often each verdict was given; verdicts that were not are left out."""
    pairs = []
    for value in Verdict:
        given = F.count(F.when(F.col(verdict) == value.value, 1))
        pairs += [F.lit(value.value), given]
    return F.map_filter(F.create_map(*pairs), lambda _, count: count > 0)


def by_release(server: str = "server", key: str = "release_key") -> Column:
    """An aggregate: the distinct servers, oldest first."""
    pairs = F.array_sort(
        F.collect_set(F.struct(F.col(key).alias("key"), F.col(server).alias("of")))
    )
    return F.array_distinct(F.transform(pairs, lambda pair: pair["of"]))
