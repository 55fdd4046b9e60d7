"""The columns of a table, known once and read by Spark and by pyarrow with the very same types.

Columns of journals follow from the types of their rows (`columns_of`); others are written down."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import msgspec
from msgspec import inspect

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql.types import DataType, StructType

Columns = dict[str, str]
"""Names and types, in order."""


def columns(text: str) -> Columns:
    """One `name type` a line."""
    pairs = (line.split(maxsplit=1) for line in text.strip().splitlines())
    return {name: kind.strip() for name, kind in pairs}


def columns_of(row: type[msgspec.Struct], without: Collection[str] = ()) -> Columns:
    """A column per field of a row; every column may be null."""
    described = inspect.type_info(row)
    assert isinstance(described, inspect.StructType)
    return {
        field.encode_name: _kind_of(field.type)
        for field in described.fields
        if field.encode_name not in without
    }


def _kind_of(kind: inspect.Type) -> str:
    match kind:
        case inspect.Metadata():
            return _kind_of(kind.type)
        case inspect.UnionType():
            [one] = [one for one in kind.types if not isinstance(one, inspect.NoneType)]
            return _kind_of(one)
        case inspect.StrType() | inspect.EnumType() | inspect.LiteralType():
            return "string"
        case inspect.IntType():
            return "int"
        case inspect.FloatType():
            return "double"
        case inspect.BoolType():
            return "boolean"
        case inspect.ListType() | inspect.VarTupleType():
            return f"array<{_kind_of(kind.item_type)}>"
        case inspect.DictType():
            return f"map<{_kind_of(kind.key_type)},{_kind_of(kind.value_type)}>"
        case inspect.StructType():
            fields = (f"{field.encode_name}:{_kind_of(field.type)}" for field in kind.fields)
            return f"struct<{','.join(fields)}>"
    raise TypeError(f"a table has no column for {kind}")


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
