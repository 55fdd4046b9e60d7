"""The columns of a table, written once and read by Spark and by pyarrow with the very same types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

Columns = dict[str, str]
"""Names and types, in order."""


def columns(text: str) -> Columns:
    """One `name type` a line."""
    pairs = (line.split(maxsplit=1) for line in text.strip().splitlines())
    return {name: kind.strip() for name, kind in pairs}


def spark_schema(of: Columns) -> StructType:
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
        [types.StructField(name, build(_parse(kind))) for name, kind in of.items()]
    )


def arrow_schema(of: Columns) -> pa.Schema:
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

    return pa.schema([(name, build(_parse(kind))) for name, kind in of.items()])


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
            field, _, kind = part.partition(":") if name == "struct" else ("", "", part)
            parts.append((field, _parse(kind)))
            start = place + 1
    return name, parts
