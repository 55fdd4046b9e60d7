"""Kept runs as source DataFrames, each with its explicit schema.

What is read is the Parquet of `compact`: reading a run folder means keeping it first, in a history
or, for one report, in a folder that goes away with it. The schema is never inferred, so a file
written before a column existed reads as nulls in that column.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.model.identity import schema_key
from jetproof_reports.columns import Columns, spark_schema
from jetproof_reports.schemas import SOURCES

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@dataclass(frozen=True, slots=True)
class Sources:
    """The source tables of one or more runs."""

    runs: DataFrame
    cells: DataFrame
    checks: DataFrame
    frames: DataFrame
    clauses: DataFrame


def read_sources(spark: SparkSession, folders: Sequence[Path]) -> Sources:
    """The source tables of the runs in these folders of compacted files."""

    def table(name: str) -> DataFrame:
        file = "run" if name == "runs" else name
        return read_files(spark, SOURCES[name], [folder / f"{file}.parquet" for folder in folders])

    tables = {name: table(name) for name in SOURCES}
    return Sources(**tables | {"cells": _with_schemas(tables["cells"])})


def _with_schemas(cells: DataFrame) -> DataFrame:
    """Runs that were kept before `schema` was a column called it the case `schemas::pub-ack`."""
    from pyspark.sql import functions as F

    prefix = schema_key("")
    named = F.when(F.startswith("case", F.lit(prefix)), F.substr("case", F.lit(len(prefix) + 1)))
    return cells.withColumn("schema", F.coalesce("schema", named))


def read_files(spark: SparkSession, columns: Columns, paths: Sequence[Path]) -> DataFrame:
    schema = spark_schema(columns)
    if not paths:
        return spark.createDataFrame([], schema)
    # Whatever the cluster's defaults are: a file that a worker cannot read fails the job.
    reader = spark.read.options(ignoreMissingFiles="false", ignoreCorruptFiles="false")
    return reader.schema(schema).parquet(*(_literal(path) for path in paths))


def location(path: Path) -> str:
    """A path as Spark wants to be told where to write: the same on every machine that shares it."""
    return f"file://{path.resolve()}"


def _literal(path: Path) -> str:
    """A path to read, in which Spark would otherwise see wildcards."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", location(path))
