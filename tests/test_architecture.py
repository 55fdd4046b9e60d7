"""The rule of ARCHITECTURE.md: a module imports only from those on its left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness" / "jetproof"
LAYERS = [
    {"__version__", "clock", "data", "errors", "tasks"},
    {"model", "wire", "events"},
    {"load"},
    {"plan"},
    {"targets"},
    {"engine"},
    {"results"},
    {"campaigns"},
    {"sinks"},
    {"cli", "pytest_plugin"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}
MODULES = sorted(
    path for path in HARNESS.rglob("*.py") if path.parent != HARNESS or path.stem != "__init__"
)


def part_of(path: Path) -> str:
    return path.relative_to(HARNESS).parts[0].removesuffix(".py")


def imported_parts(path: Path) -> set[tuple[str, int]]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return {
        (name.split(".")[1], node.lineno)
        for node in ast.walk(tree)
        for name in imported_names(node)
        if name.startswith("jetproof.")
    }


def imported_names(node: ast.AST) -> list[str]:
    """`from jetproof import sinks` names jetproof.sinks."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def test_every_form_of_an_import_is_seen() -> None:
    text = "import jetproof.cli\nfrom jetproof import sinks\nfrom jetproof.engine import run\n"
    found = [name for node in ast.walk(ast.parse(text)) for name in imported_names(node)]
    assert found == ["jetproof.cli", "jetproof.sinks", "jetproof.engine.run"]


def test_every_part_has_a_place() -> None:
    assert {part_of(path) for path in MODULES} <= LEVEL.keys()


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(HARNESS)))
def test_imports_come_from_the_left(path: Path) -> None:
    part = part_of(path)
    own = LEVEL[part]
    wrong = [
        f"{path.relative_to(HARNESS)}:{line} imports jetproof.{other}"
        for other, line in sorted(imported_parts(path))
        if other != part and LEVEL[other] > own
    ]
    assert not wrong, wrong


def test_only_the_fronts_print() -> None:
    printing = [
        str(path.relative_to(HARNESS))
        for path in MODULES
        if part_of(path) not in ("cli", "sinks", "pytest_plugin")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "print"
    ]
    assert not printing


FACTS = {"calibrate", "wire_schemas"}
"""Modules of the engine that play nothing: how fast the machine is, how messages are judged."""


def test_only_campaigns_play() -> None:
    """What prints or parses asks a campaign to play, and never the engine."""
    reaching = [
        f"{path.relative_to(HARNESS)}:{node.lineno} imports {name}"
        for path in MODULES
        if LEVEL[part_of(path)] > LEVEL["campaigns"]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in imported_names(node)
        if name.startswith("jetproof.engine") and name.split(".")[2] not in FACTS
    ]
    assert not reaching


def test_campaigns_know_no_command_line() -> None:
    campaigns = [
        path
        for path in MODULES
        if part_of(path) == "campaigns" and path.name != "load_worker.py"  # a process of its own
    ]
    assert campaigns
    knowing = [
        f"{path.relative_to(HARNESS)}:{node.lineno}"
        for path in campaigns
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if {"argparse", "sys.stdout", "sys.stderr"} & {*imported_names(node), attribute(node)}
    ]
    assert not knowing


def attribute(node: ast.AST) -> str:
    """`sys.stdout` as it is written."""
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return f"{node.value.id}.{node.attr}"
    return ""


BUILDS = {"checkout_build.py", "go_tool.py", "go_versions.py", "kept.py", "calibrate.py"}
"""They measure compilers, files and the machine itself, outside of any loop."""


def test_every_moment_comes_from_the_clock() -> None:
    asking = [
        f"{path.relative_to(HARNESS)}:{node.lineno}"
        for path in MODULES
        if part_of(path) in ("engine", "wire", "targets") and path.name not in BUILDS
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if getattr(node, "attr", "") == "monotonic"
        or (isinstance(node, ast.ImportFrom) and node.module == "time")
    ]
    assert not asking
