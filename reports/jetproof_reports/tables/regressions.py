"""What differs between two verdicts of one case, and which of the inputs moved.

`regressions` compares two sides that somebody chose (runs, releases, revisions of a specification);
`between_releases`, `between_runs`, `between_revisions` and `between_versions` (of a client library)
compare each with the one before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.schemas import REGRESSIONS
from jetproof_reports.tables.common import NO_VERDICT, PLACE, differs, position_text, undecided

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec

_FACTS = (
    "run_id", "run_at", "server", "release_key", "provider", "build", "spec", "spec_revision",
    "client", "verdict", "never_right", "reason", "fingerprint", "case_hash", "spec_hash", "harness",
)  # fmt: skip


def regressions(
    a: DataFrame, b: DataFrame, side_a: str, side_b: str, key: Sequence[str]
) -> DataFrame:
    """What differs between two sets of cells (the newest row of each), matched by `key`."""
    sides = a.withColumn("side", F.lit(0)).unionByName(b.withColumn("side", F.lit(1)))
    row = F.struct(*_facts())
    # One conditional aggregation: half the cost of joining the table with itself.
    newest = F.struct("run_at", "run_id", "attempt")
    pairs = sides.groupBy(*_rest(key)).agg(
        F.max_by(F.when(F.col("side") == 0, row), F.when(F.col("side") == 0, newest)).alias("a"),
        F.max_by(F.when(F.col("side") == 1, row), F.when(F.col("side") == 1, newest)).alias("b"),
    )
    return _told(pairs, F.lit(side_a), F.lit(side_b))


def between_releases(latest: DataFrame) -> DataFrame:
    """Each release compared with the one before it, on the newest rows.

    A case that one of the two was not asked has no verdict there, as between two chosen releases.
    """
    order = Window.partitionBy(*PLACE).orderBy("release_key", "server")
    facts = F.struct(*_facts())
    near = F.broadcast(_neighbours(latest))
    same = [
        F.col("provider") == F.col("near_provider"),
        F.col("server") == F.col("near_server"),
        F.col("client").eqNullSafe(F.col("near_client")),
    ]
    rows = latest.join(near, same).select(
        "case", "topology", "client", "before", "after", facts.alias("here"),
        F.lag(facts).over(order).alias("earlier"), F.lead("server").over(order).alias("later"),
    )  # fmt: skip
    here, earlier = F.col("here"), F.col("earlier")
    since = F.when(earlier["server"] == F.col("before"), earlier)
    left = F.coalesce(F.col("later") != F.col("after"), F.lit(True))
    came = F.when(F.col("before").isNotNull(), _pair(F.col("before"), here["server"], since, here))
    went = F.when(
        F.col("after").isNotNull() & left,
        _pair(here["server"], F.col("after"), here, F.when(F.lit(False), here)),
    )
    pairs = rows.select(
        "case", "topology", "client", F.explode(F.array_compact(F.array(came, went))).alias("pair")
    ).select("case", "topology", "client", "pair.*")
    return _told(pairs, F.col("side_a"), F.col("side_b"))


def _pair(side_a: Column, side_b: Column, a: Column, b: Column) -> Column:
    return F.struct(side_a.alias("side_a"), side_b.alias("side_b"), a.alias("a"), b.alias("b"))


def _neighbours(latest: DataFrame) -> DataFrame:
    """Of each provider's releases, the one before and the one after.

    A library is mostly played on few releases: those that it was played on are its neighbours."""
    order = Window.partitionBy("provider", "client").orderBy("release_key", "server")
    return (
        latest.select("provider", "client", "server", "release_key")
        .distinct()
        .select(
            F.col("provider").alias("near_provider"),
            F.col("client").alias("near_client"),
            F.col("server").alias("near_server"),
            F.lag("server").over(order).alias("before"),
            F.lead("server").over(order).alias("after"),
        )
    )


def between_runs(cells: DataFrame) -> DataFrame:
    """The newest run of each cell compared with the run before it."""
    by_run = Window.partitionBy(*PLACE, "server").orderBy(F.desc("run_at"), F.desc("run_id"))
    attempt = Window.partitionBy(*PLACE, "server", "run_id").orderBy(F.desc("attempt"))
    ranked = cells.withColumn("again", F.row_number().over(attempt)).where("again = 1")
    recent = ranked.withColumn("age", F.row_number().over(by_run)).where("age <= 2")
    order = Window.partitionBy(*PLACE, "server").orderBy("run_at", "run_id")
    return _chain(recent, order, F.col("run_id"))


def between_revisions(latest: DataFrame) -> DataFrame:
    """Each revision of a specification compared with the one before it, on the same server."""
    place = [name for name in PLACE if name != "spec_revision"]
    order = Window.partitionBy(*place, "server").orderBy("spec_revision")
    return _chain(latest, order, F.concat_ws("@", "spec", "spec_revision"))


def between_versions(latest: DataFrame) -> DataFrame:
    """Each version of a client library compared with the one before it, on the same server."""
    place = [name for name in PLACE if name not in ("client", "spec_revision")]
    mine = latest.where(F.col("library").isNotNull())
    order = Window.partitionBy(*place, "library", "server").orderBy("client_key", "client")
    return _chain(mine, order, F.col("client"))


def _chain(rows: DataFrame, order: WindowSpec, label: Column) -> DataFrame:
    row = F.struct(*_facts(), label.alias("label"))
    pairs = rows.select(
        "case", "topology", "client", row.alias("b"), F.lag(row).over(order).alias("a")
    )
    pairs = pairs.where(F.col("a").isNotNull())
    return _told(pairs, F.col("a.label"), F.col("b.label"))


def _facts() -> list[Column]:
    return [F.col(name) for name in _FACTS] + [position_text().alias("position")]


def _rest(key: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(("case", "topology", *key)))


def _told(pairs: DataFrame, side_a: Column, side_b: Column) -> DataFrame:
    told = pairs.withColumn("kind", _kind()).where(F.col("kind").isNotNull())
    if "client" not in told.columns:
        told = told.withColumn("client", F.coalesce("b.client", "a.client"))
    both = {
        f"{name}_{side}": F.col(f"{side}.{name}")
        for name in ("verdict", "reason", "position", "server", "provider", "run_id", "fingerprint")
        for side in ("a", "b")
    }
    made = {"side_a": side_a, "side_b": side_b, **both, "what_moved": _moved()}
    return told.withColumns(made).select(*REGRESSIONS)


def _kind() -> Column:
    a, b = F.col("a"), F.col("b")
    had = a.isNotNull() & ~a["verdict"].isin(*NO_VERDICT)
    has = b.isNotNull() & ~b["verdict"].isin(*NO_VERDICT)
    was, now = (differs(side["verdict"], side["never_right"]) for side in (a, b))
    unsure = [undecided(side["verdict"], side["never_right"]) for side in (a, b)]
    wire = a["fingerprint"] != b["fingerprint"]
    return (
        F.when(~F.coalesce(had, F.lit(False)) & ~F.coalesce(has, F.lit(False)), None)
        .when(~F.coalesce(had, F.lit(False)), "new")
        .when(~F.coalesce(has, F.lit(False)), "gone")
        .when(unsure[0] | unsure[1], None)
        .when(~was & now, "new-failure")
        .when(was & ~now, "fixed")
        .when(
            was & now & ((a["reason"] != b["reason"]) | (a["verdict"] != b["verdict"])),
            "changed-reason",
        )
        .when((a["position"] != b["position"]) | (a["verdict"] != b["verdict"]), "changed-position")
        .when(wire, "changed-on-the-wire")
    )


def _moved() -> Column:
    """Which inputs differ: only these can be to blame."""

    def differ(*names: str) -> Column:
        same = F.lit(True)
        for name in names:
            same = same & F.col(f"a.{name}").eqNullSafe(F.col(f"b.{name}"))
        return ~same

    moved = F.array(
        F.when(differ("spec_hash", "spec_revision"), "spec"),
        F.when(differ("server", "provider", "build"), "server"),
        F.when(differ("client"), "client"),
        F.when(differ("case_hash"), "case"),
        F.when(differ("harness"), "harness"),
    )
    both = F.col("a").isNotNull() & F.col("b").isNotNull()
    return F.when(both, F.array_compact(moved)).otherwise(F.array().cast("array<string>"))
