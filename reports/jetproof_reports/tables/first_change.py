"""`first_change`: the release in which the verdict, the position or the wire of a case changed.

Of client libraries, the versions of a library on one server are followed as well."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.schemas import FIRST_CHANGE
from jetproof_reports.tables.common import PLACE, decided, position_text, undecided

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, WindowSpec


def first_change(latest: DataFrame) -> DataFrame:
    """Each change from one release to the next; releases without a verdict, or with one that is
    unstable and proves nothing, are passed over."""
    return _changes(latest, Window.partitionBy(*PLACE).orderBy("release_key", "server"))


def first_change_of_libraries(latest: DataFrame) -> DataFrame:
    """Each change from one version of a library to the next, on the same server."""
    mine = latest.where(F.col("library").isNotNull())
    place = [name for name in PLACE if name not in ("client", "spec_revision")]
    order = Window.partitionBy(*place, "library", "server").orderBy("client_key", "client")
    return _changes(mine, order)


def _changes(latest: DataFrame, order: WindowSpec) -> DataFrame:
    settled = decided() & ~undecided(F.col("verdict"), F.col("never_right"))
    rows = latest.where(settled).withColumn("position", position_text())
    values = ("verdict", "position", "fingerprint")
    before = {f"{name}_before": F.lag(name).over(order) for name in (*values, "server", "client")}
    stepped = rows.withColumns(before).where(F.col("server_before").isNotNull())
    changes = F.array_compact(F.array(*(_change(name) for name in values)))
    told = {
        "from_server": F.col("server_before"),
        "to_server": F.col("server"),
        "from_client": F.col("client_before"),
        "to_client": F.col("client"),
    }
    return (
        stepped.withColumn("change", F.explode(changes))
        .withColumns(told)
        .select(*PLACE, *told, "release_key", "change.*")
        .select(*FIRST_CHANGE)
    )


def _change(name: str) -> Column:
    was, now = F.col(f"{name}_before"), F.col(name)
    told = F.struct(F.lit(name).alias("what"), was.alias("from_value"), now.alias("to_value"))
    return F.when(was != now, told)
