"""The rule of ARCHITECTURE.md: a module imports only from those on its left."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HARNESS = Path(__file__).parent.parent / "harness" / "jetproof"
LAYERS = [
    {"errors", "data", "tasks"},
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
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = (
            [alias.name for alias in node.names]
            if isinstance(node, ast.Import)
            else [node.module or ""]
            if isinstance(node, ast.ImportFrom)
            else []
        )
        found.update(
            (name.split(".")[1], node.lineno) for name in names if name.startswith("jetproof.")
        )
    return found


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
