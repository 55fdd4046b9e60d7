"""What of the protocol was seen on the wire: error codes, header names, JSON keys, schemas."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

from jetproof.results.coverage import CLIENT, ERROR_CODE
from jetproof_reports.schemas import (
    COVERAGE_ERRORS,
    COVERAGE_FIELDS,
    COVERAGE_SCHEMAS,
)
from jetproof_reports.tables.common import (
    by_release,
    of_schema,
    verdict_counts,
)

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_FIELD = r'"([A-Za-z_][A-Za-z0-9_.-]*)":'


def _from_server() -> Column:
    """What a server sent; what the tap made of it, or made up, says nothing of a server."""
    touched = (F.col("connection") == CLIENT) & (F.coalesce("note", F.lit("")) != "")
    return (F.col("direction") == "<") & ~touched


def errors_seen(frames: DataFrame) -> DataFrame:
    """Derived, one run: JetStream error codes that servers sent.

    `results.coverage` scans the frames of a run folder for the same codes, with the same pattern. One
    function for both would be a Python function in Spark: every frame of a history would pass through
    a Python worker, and every worker of a cluster would need Jetproof. `tests/reports/test_coverage.py`
    compares the two."""
    found = F.regexp_extract_all("payload", F.lit(ERROR_CODE), F.lit(1))
    told = frames.where(_from_server() & F.col("payload").contains('"err_code"'))
    return (
        told.withColumn("err_code", F.explode(F.array_distinct(found).cast("array<int>")))
        .groupBy("run_id", "err_code", "case", "server")
        .agg(F.count("*").alias("count"))
    )


def fields_seen(frames: DataFrame) -> DataFrame:
    """Derived, one run: header names and JSON keys that servers sent."""
    received = frames.where(_from_server())
    headers = F.transform(
        F.coalesce("headers", F.array()),
        lambda header: F.struct(F.lit("header").alias("where"), header["name"].alias("name")),
    )
    keys = F.transform(
        F.regexp_extract_all("payload", F.lit(_FIELD), F.lit(1)),
        lambda key: F.struct(F.lit("json").alias("where"), key.alias("name")),
    )
    document = F.when(F.startswith("payload", F.lit("{")), keys).otherwise(F.array())
    seen = F.explode(F.array_distinct(F.concat(headers, document)))
    return (
        received.withColumn("seen", seen)
        .groupBy("run_id", "seen.where", "seen.name", "server")
        .agg(F.count("*").alias("count"))
    )


def coverage_errors(errors: DataFrame, releases: DataFrame) -> DataFrame:
    named = errors.join(F.broadcast(releases), "server", "left")
    return (
        named.groupBy("err_code")
        .agg(
            by_release().alias("servers"),
            F.array_sort(F.collect_set("case")).alias("cases"),
            F.sum("count").alias("count"),
        )
        .select(*COVERAGE_ERRORS)
    )


def coverage_fields(fields: DataFrame, releases: DataFrame) -> DataFrame:
    named = fields.join(F.broadcast(releases), "server", "left")
    return (
        named.groupBy("where", "name")
        .agg(by_release().alias("servers"), F.sum("count").alias("count"))
        .select(*COVERAGE_FIELDS)
    )


def coverage_schemas(latest: DataFrame, evidence: DataFrame) -> DataFrame:
    """One row a schema of the wire: how often it was seen, and how many ways of breaking it."""
    broken = (
        evidence.where(F.col("kind") == "schema")
        .groupBy("run_id", "cell_no")
        .agg(F.count("*").alias("broken"))
    )
    seen = F.coalesce(F.element_at("position", F.lit("seen")).cast("bigint"), F.lit(0))
    return (
        latest.where(of_schema())
        .join(broken, ["run_id", "cell_no"], "left")
        .groupBy("schema")
        .agg(
            F.sum(seen).alias("seen"),
            F.coalesce(F.sum("broken"), F.lit(0)).alias("invalid"),
            by_release().alias("servers"),
            verdict_counts().alias("verdicts"),
        )
        .select(*COVERAGE_SCHEMAS)
    )
