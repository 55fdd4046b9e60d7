"""`latency`: how long replies took and when steps were judged, as percentiles by case and step.

Exact where a group has at most `EXACT_ROWS` samples. Above, and over a history, percentiles come
from histograms of one run each that can be added up: each sample is kept as the number of a bucket,
buckets grow by 2 %, so a percentile is within 1 % of a sample.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof_reports.schemas import LATENCY, LATENCY_HIST

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

EXACT_ROWS = 1_000_000
GROWTH = 1.02
POINTS = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
REPLY, JUDGED = "reply", "judged"
_GROUP = ("measure", "case", "step", "server", "client")
_SMALLEST = 0.001


def samples(checks: DataFrame, frames: DataFrame) -> DataFrame:
    """Every measured time: run_id, cell_no, measure, case, step, server, client, ms.

    `reply` is from a request to its first answer; `judged` is from the case's start to the moment
    at which an expectation was judged, which tells how long what it waits for took to come.
    """
    sent = F.col("direction") == ">"
    inbox = F.when(sent, F.nullif("reply", F.lit(""))).when(
        F.col("direction") == "<", F.col("subject")
    )
    trips = (
        frames.where(F.col("direction") != "!")
        .groupBy("run_id", "cell_no", "case", "server", "client", inbox.alias("inbox"))
        .agg(
            F.min(F.when(sent, F.struct("ms", "step"))).alias("asked"),
            F.min(F.when(~sent, F.col("ms"))).alias("answered"),
        )
        .where(F.col("asked").isNotNull() & (F.col("answered") >= F.col("asked.ms")))
        .select(
            "run_id",
            "cell_no",
            F.lit(REPLY).alias("measure"),
            "case",
            F.col("asked.step").alias("step"),
            "server",
            "client",
            (F.col("answered") - F.col("asked.ms")).alias("ms"),
        )
    )
    return trips.unionByName(judged(checks))


def judged(checks: DataFrame) -> DataFrame:
    """The part of the samples that comes from checks."""
    return checks.where(F.col("kind") != "schema").select(
        "run_id", "cell_no", F.lit(JUDGED).alias("measure"), "case", "step", "server", "client", "ms"
    )  # fmt: skip


def latency_hist(of: DataFrame) -> DataFrame:
    """Derived, one run: the buckets of the samples of each cell and step."""
    # By the cell's number, and not by the names that go with it: there are millions of rows.
    return (
        of.groupBy("run_id", "cell_no", "measure", "step")
        .agg(
            F.first("case").alias("case"),
            F.first("server").alias("server"),
            F.first("client").alias("client"),
            F.sort_array(F.collect_list(_bucket(F.col("ms")))).alias("buckets"),
            F.max("ms").alias("max"),
        )
        .select(*LATENCY_HIST)
    )


def latency(of: DataFrame, hist: DataFrame, exact_rows: int = EXACT_ROWS) -> DataFrame:
    """Exact percentiles for groups of bearable size, from histograms for the others."""
    sizes = hist.groupBy(*_GROUP).agg(F.sum(F.size("buckets")).alias("total"))
    exact = exact_latency(_within(of, sizes.where(F.col("total") <= exact_rows)))
    rough = latency_of_hist(_within(hist, sizes.where(F.col("total") > exact_rows)))
    return exact.unionByName(rough)


def _within(rows: DataFrame, groups: DataFrame) -> DataFrame:
    """The rows of these groups; most have no client, and nothing is equal to nothing only so."""
    named = groups.select(*(F.col(name).alias(f"of_{name}") for name in _GROUP))
    same = [F.col(name).eqNullSafe(F.col(f"of_{name}")) for name in _GROUP]
    return rows.join(F.broadcast(named), same, "left_semi")


def exact_latency(of: DataFrame) -> DataFrame:
    points = F.percentile("ms", F.array(*(F.lit(point) for point in POINTS.values())))
    grouped = of.groupBy(*_GROUP).agg(
        F.count("*").alias("n"), points.alias("points"), F.max("ms").alias("max")
    )
    named = {name: F.col("points")[place] for place, name in enumerate(POINTS)}
    return grouped.withColumns({**named, "exact": F.lit(True)}).select(*LATENCY)


def latency_of_hist(hist: DataFrame) -> DataFrame:
    merged = (
        hist.groupBy(*_GROUP)
        .agg(
            F.sort_array(F.flatten(F.collect_list("buckets"))).alias("buckets"),
            F.max("max").alias("max"),
        )
        .withColumn("n", F.size("buckets").cast("bigint"))
    )

    def point(share: float) -> Column:
        nth = F.greatest(F.ceil(F.col("n") * F.lit(share)), F.lit(1)).cast("int")
        return _middle(F.try_element_at("buckets", nth))  # times that nobody took are no samples

    points = {name: point(share) for name, share in POINTS.items()}
    return merged.withColumns({**points, "exact": F.lit(False)}).select(*LATENCY)


def _bucket(ms: Column) -> Column:
    return F.floor(F.log(F.greatest(ms, F.lit(_SMALLEST))) / math.log(GROWTH)).cast("int")


def _middle(bucket: Column) -> Column:
    return F.pow(F.lit(GROWTH), bucket + 0.5)
