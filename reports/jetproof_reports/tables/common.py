"""What tables share: which verdicts are verdicts, counts by verdict, positions as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof.model.verdict import Verdict

if TYPE_CHECKING:
    from pyspark.sql import Column

ERROR = Verdict.ERROR.value
NO_VERDICT = (Verdict.NOT_APPLICABLE.value, ERROR)
DIFFERS = tuple(v.value for v in (Verdict.FAIL, Verdict.STALE, Verdict.KNOWN, Verdict.WARN))
"""Verdicts that say: it does not do what the text says (whether anybody minds or not)."""
UNSTABLE = Verdict.UNSTABLE.value
"""Failed in one play and in none of the others: see `differs` and `undecided`."""

REFERENCE = "reference"
"""The provider and the client library that show how the text can be kept."""

PLACE = ("case", "spec_revision", "topology", "client", "provider")
"""One row of the matrix, for one provider; a release makes it a cell."""


def is_real() -> Column:
    """Whether a cell says something of a release or a library: the reference ones stand apart."""
    witness = F.coalesce(F.col("library") == REFERENCE, F.lit(False))
    return (F.col("provider") != REFERENCE) & ~witness


def of_schema() -> Column:
    """Whether a row is about all messages of one kind, and not about a case."""
    return F.col("schema").isNotNull()


def is_scored() -> Column:
    """Whether a cell counts in totals. Runs before there were editions scored every cell."""
    return F.coalesce(F.col("scored"), F.lit(True))


def decided(verdict: str = "verdict") -> Column:
    """Whether the case ran to a verdict."""
    return ~F.col(verdict).isin(*NO_VERDICT)


def differs(verdict: Column, never_right: Column) -> Column:
    """Whether a cell says: it does not do what the text says. An unstable one does if what was seen
    is never right, on whatever machine."""
    proven = (verdict == UNSTABLE) & F.coalesce(never_right, F.lit(False))
    return verdict.isin(*DIFFERS) | proven


def undecided(verdict: Column, never_right: Column) -> Column:
    """Whether a cell is unstable and proves nothing: no change of behaviour may rest on it."""
    return (verdict == UNSTABLE) & ~F.coalesce(never_right, F.lit(False))


def verdict_counts(verdict: str = "verdict") -> Column:
    """An aggregate: how often each verdict was given; verdicts that were not are left out."""
    pairs = []
    for value in Verdict:
        given = F.count(F.when(F.col(verdict) == value.value, 1))
        pairs += [F.lit(value.value), given]
    return F.map_filter(F.create_map(*pairs), lambda _, count: count > 0)


def position_text(position: str = "position") -> Column:
    """A position as one text that can be compared: its entries are kept sorted."""
    entries = F.transform(
        F.map_entries(position), lambda entry: F.concat_ws(": ", entry["key"], entry["value"])
    )
    # How often a schema was seen is a count, and no position.
    told = F.filter(entries, lambda text: ~F.startswith(text, F.lit("seen: ")))
    return F.coalesce(F.concat_ws("; ", told), F.lit(""))


def by_release(server: str = "server", key: str = "release_key") -> Column:
    """An aggregate: the distinct servers, oldest first."""
    pairs = F.array_sort(
        F.collect_set(F.struct(F.col(key).alias("key"), F.col(server).alias("of")))
    )
    return F.array_distinct(F.transform(pairs, lambda pair: pair["of"]))
