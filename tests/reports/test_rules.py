"""The rules that keep the pipeline one that any Spark can run, and the harness free of Spark."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import jetproof
import jetproof_reports
from jetproof.model.versions import Version
from jetproof_reports.releases import UNKNOWN, release_key
from jetproof_reports.schemas import DERIVED, REPORT, SOURCES

REPORTS = Path(jetproof_reports.__file__).parent
HARNESS = Path(jetproof.__file__).parent
TABLES = {**SOURCES, **DERIVED, **REPORT}
ALLOWED = {"jetproof.data", "jetproof.errors", "jetproof.model", "jetproof.results"}


def parsed(folder: Path) -> list[tuple[Path, ast.Module]]:
    return [(path, ast.parse(path.read_text())) for path in sorted(folder.rglob("*.py"))]


def test_the_pipeline_uses_nothing_that_only_one_kind_of_spark_has() -> None:
    banned = {
        "_jvm",
        "_jsc",
        "_sc",
        "_jdf",
        "sparkContext",
        "rdd",
        "udf",
        "pandas_udf",
        "mapInPandas",
    }
    used = [
        f"{path.name}:{node.lineno} {node.attr}"
        for path, tree in parsed(REPORTS)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in banned
    ]
    assert not used, used


def test_the_pipeline_imports_of_the_harness_only_what_it_reads_with() -> None:
    wrong = [
        f"{path.name}: {node.module}"
        for path, tree in parsed(REPORTS)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("jetproof.")
        if ".".join((node.module or "").split(".")[:2]) not in ALLOWED
    ]
    assert not wrong, wrong


def test_the_harness_imports_the_pipeline_only_inside_commands() -> None:
    wrong = []
    for path, tree in parsed(HARNESS):
        inside = {
            id(node)
            for function in ast.walk(tree)
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(function)
        }
        for node in ast.walk(tree):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if any(name.startswith("jetproof_reports") for name in names) and (
                id(node) not in inside or path.parent.name != "cli"
            ):
                wrong.append(f"{path.name}:{node.lineno}")
    assert not wrong, wrong


@pytest.mark.parametrize("table", sorted(TABLES))
def test_spark_and_arrow_read_a_table_with_the_same_columns(table: str) -> None:
    pytest.importorskip(
        "pyspark", reason="PySpark is not installed: pip install 'jetproof[reports]'"
    )
    from pyspark.sql.pandas.types import from_arrow_schema

    from jetproof_reports.columns import arrow_schema, spark_schema

    assert from_arrow_schema(arrow_schema(TABLES[table])) == spark_schema(TABLES[table])


def test_release_keys_order_as_versions_do() -> None:
    order = [
        "2.9.25", "2.10.0-dev", "2.10.0-preview.2", "2.10.0-RC.2", "2.10.0-RC.10", "2.10.0",
        "2.10.25", "2.12.0", "2.12.10", "2.15.1", "3.0.0",
    ]  # fmt: skip
    assert [str(version) for version in sorted(map(Version.parse, order))] == order
    keys = [release_key(text) for text in order]
    assert keys == sorted(set(keys))
    assert all(0 < key < 2**63 for key in keys)


def test_a_server_without_a_version_has_a_key_that_sorts_first() -> None:
    assert release_key("") == release_key("unknown") == UNKNOWN < release_key("0.0.1-dev")
