"""Every table and its columns: the one place of column names and types.

A table is written down once, in the small type language that Spark prints (`array<string>`,
`map<string,bigint>`). `spark_schema` and `arrow_schema` turn it into what either side needs, so that
files written without Spark are read by Spark with the very same types. Columns are only ever
added: a file that lacks one is read with nulls (see `docs/reports.md`, "History").

Source tables are what a run folder holds. Derived tables of one run (`DERIVED`) are computed once a
run and kept in a history. Everything in `REPORT` is computed for one report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

VERSION = 1
"""Raised when a reader of older files would misread newer ones; new columns do not raise it."""

HEADERS = "array<struct<name:string,value:string>>"
LINE = (
    "struct<step:string,dir:string,connection:string,op:string,subject:string,reply:string,"
    f"status:int,description:string,headers:{HEADERS},payload:string,note:string>"
)

Columns = dict[str, str]


def _columns(text: str) -> Columns:
    """`name type, name type` over several lines; commas inside `<>` do not part columns."""
    columns: Columns = {}
    for line in text.strip().splitlines():
        name, _, kind = line.strip().partition(" ")
        columns[name] = kind.strip()
    return columns


# -- what identifies a cell, and with what it is compared ----------------------------------------
CELL_KEY = ("run_id", "cell_no")
CONTENT = ("case", "case_hash", "spec_hash", "server", "provider", "topology", "client")

RUNS = _columns("""
    run_id string
    started_at string
    finished_at string
    jetproof string
    python string
    platform string
    cores int
    time_factor double
    suite_hash string
    partial string
    interrupted boolean
    wall_ms double
    targets array<string>
    command string
    folder string
    cells bigint
    checks bigint
    frames bigint
    clauses bigint
    schema_version int
""")

CELLS = _columns("""
    run_id string
    cell_no int
    cell string
    case string
    suite string
    spec string
    spec_revision int
    server string
    release_key bigint
    provider string
    topology string
    configuration string
    target string
    client string
    attempt int
    verdict string
    reason string
    ms double
    started_at string
    clauses array<string>
    position map<string,string>
    deviation string
    case_hash string
    spec_hash string
    harness string
    run_at string
    replay string
    server_log array<string>
""")

CHECKS = _columns("""
    run_id string
    cell_no int
    case string
    server string
    index int
    step string
    iteration string
    kind string
    path string
    ok boolean
    expected string
    actual string
    ms double
""")

FRAMES = _columns(f"""
    run_id string
    cell_no int
    case string
    server string
    index int
    ms double
    direction string
    connection string
    op string
    subject string
    reply string
    status int
    description string
    headers {HEADERS}
    size int
    truncated boolean
    payload string
    payload_b64 string
    note string
    step string
""")

CLAUSES = _columns("""
    run_id string
    clause string
    spec string
    section string
    level string
    actor string
    status string
    text string
    revision_from int
    revision_to int
    applies_from string
    sentence_hash string
    anchor string
    replaces string
    contested_with array<string>
    note string
""")

SOURCES: dict[str, Columns] = {
    "runs": RUNS,
    "cells": CELLS,
    "checks": CHECKS,
    "frames": FRAMES,
    "clauses": CLAUSES,
}


def columns_of(table: str) -> Columns:
    for group in (SOURCES,):
        if table in group:
            return group[table]
    raise KeyError(table)


def spark_schema(columns: Columns) -> StructType:
    """The columns as Spark's type; every column may be null, as older files may lack it."""
    from pyspark.sql import types

    def build(kind: _Kind) -> DataType:
        name, parts = kind
        match name:
            case "array":
                return types.ArrayType(build(parts[0][1]))
            case "map":
                return types.MapType(build(parts[0][1]), build(parts[1][1]))
            case "struct":
                fields = [types.StructField(field, build(part)) for field, part in parts]
                return types.StructType(fields)
        simple: dict[str, DataType] = {
            "string": types.StringType(),
            "int": types.IntegerType(),
            "bigint": types.LongType(),
            "double": types.DoubleType(),
            "boolean": types.BooleanType(),
        }
        return simple[name]

    return types.StructType(
        [types.StructField(name, build(_parse(kind))) for name, kind in columns.items()]
    )


def arrow_schema(columns: Columns) -> pa.Schema:
    """The columns as pyarrow writes them."""
    import pyarrow as pa

    simple = {
        "string": pa.string(),
        "int": pa.int32(),
        "bigint": pa.int64(),
        "double": pa.float64(),
        "boolean": pa.bool_(),
    }

    def build(kind: _Kind) -> pa.DataType:
        name, parts = kind
        match name:
            case "array":
                return pa.list_(build(parts[0][1]))
            case "map":
                return pa.map_(build(parts[0][1]), build(parts[1][1]))
            case "struct":
                return pa.struct([(field, build(part)) for field, part in parts])
        return simple[name]

    return pa.schema([(name, build(_parse(kind))) for name, kind in columns.items()])


_Kind = tuple[str, "list[tuple[str, _Kind]]"]


def _parse(text: str) -> _Kind:
    """`map<string,bigint>` as ("map", [("", ("string", [])), ("", ("bigint", []))])."""
    name, bracket, rest = text.partition("<")
    if not bracket:
        return name, []
    parts: list[tuple[str, _Kind]] = []
    depth, start, inner = 0, 0, rest[:-1]
    for place, char in enumerate(inner + ","):
        if char == "<":
            depth += 1
        elif char == ">":
            depth -= 1
        elif char == "," and depth == 0:
            part = inner[start:place]
            field, colon, kind = part.partition(":") if name == "struct" else ("", "", part)
            parts.append((field, _parse(kind)))
            start = place + 1
    return name, parts
