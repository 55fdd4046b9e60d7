"""A test that asserts only inside a loop proves nothing where there is nothing to loop over.

Such a test must assert that there is data, or loop over something that is written down and not empty.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor)
COMPREHENSIONS = (ast.GeneratorExp, ast.ListComp, ast.SetComp)
AROUND = {"dict", "enumerate", "list", "reversed", "set", "sorted", "tuple", "zip"}
"""Calls that give something where their arguments do."""
PARTS = {"items", "keys", "values"}

Written = Mapping[str, ast.expr]
"""What names stand for, as far as it is written down."""


def written(body: list[ast.stmt]) -> dict[str, ast.expr]:
    """The values that are assigned to names in a module or a function."""
    found: dict[str, ast.expr] = {}
    for statement in body:
        if isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
            found |= dict.fromkeys(names, statement.value)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            found |= {statement.target.id: statement.value} if statement.value else {}
    return found


def certain(data: ast.expr, names: Written) -> bool:
    """Whether there is data, for all that can be read here."""
    match data:
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Set(elts=parts):
            return any(not isinstance(part, ast.Starred) for part in parts)
        case ast.Dict(keys=keys):
            return bool(keys)
        case ast.Constant(value=str(text)):
            return bool(text)
        case ast.IfExp(body=one, orelse=other):
            return certain(one, names) and certain(other, names)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return certain(left, names) or certain(right, names)
        case ast.Name(id=name) if name in names:
            return certain(names[name], {key: names[key] for key in names if key != name})
        case ast.Name(id=name):
            return name[0].isupper() and not name.isupper()  # an enumeration
        case ast.Call(func=ast.Name(id="range"), args=[*_, ast.Constant()]):
            return True
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in AROUND:
            return bool(arguments) and all(certain(one, names) for one in arguments)
        case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in PARTS:
            return certain(value, names)
    return False


def asserts(node: ast.AST, names: Written, *, sure: bool = True) -> Iterator[bool]:
    """For each assertion, whether it is reached, and looks at something, for certain."""
    for child in ast.iter_child_nodes(node):
        reached = sure
        if isinstance(child, LOOPS):
            reached = sure and certain(child.iter, names)
        elif isinstance(child, ast.Assert):
            yield sure and looks(child.test, names)
        elif isinstance(child, ast.With | ast.AsyncWith):
            called = [ast.unparse(item.context_expr) for item in child.items]
            if any(call.startswith(("pytest.raises", "pytest.warns")) for call in called):
                yield sure
        yield from asserts(child, names, sure=reached)


def looks(test: ast.expr, names: Written) -> bool:
    """Whether an assertion could fail: `all` of nothing holds."""
    match test:
        case ast.Call(func=ast.Name(id="all"), args=[ast.expr() as data]):
            inner = data.generators[0].iter if isinstance(data, COMPREHENSIONS) else data
            return certain(inner, names)
    return True


def is_given(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Hypothesis draws empty data too, among others."""
    return any(ast.unparse(one).startswith("given(") for one in function.decorator_list)


def vacuous(source: str) -> list[str]:
    """The tests of a module that hold where there is no data."""
    module = ast.parse(source)
    constants = written(module.body)
    found = []
    for node in ast.walk(module):
        if not isinstance(node, FUNCTIONS) or not node.name.startswith("test_") or is_given(node):
            continue
        outcomes = list(asserts(node, constants | written(node.body)))
        if outcomes and not any(outcomes):
            found.append(f"line {node.lineno}: {node.name}")
    return found


FILES = [path.relative_to(TESTS).as_posix() for path in sorted(TESTS.rglob("test_*.py"))]


def test_no_test_asserts_only_over_data_that_may_be_missing() -> None:
    assert FILES
    found = {name: vacuous((TESTS / name).read_text(encoding="utf-8")) for name in FILES}
    assert {name: tests for name, tests in found.items() if tests} == {}


@pytest.mark.parametrize(
    "body",
    [
        "for one in rows(): assert one",
        "for one in rows().values():\n        for two in one: assert two",
        "assert all(one for one in rows())",
        "assert all(rows())",
        "data = []\n    for one in data: assert one",
        "for one in CODES: assert one",
        "for one in sorted(rows()): assert one",
    ],
)
def test_such_a_test_is_found(body: str) -> None:
    assert vacuous(f"def test_it():\n    {body}\n") == ["line 1: test_it"]


@pytest.mark.parametrize(
    "body",
    [
        "data = rows()\n    assert data\n    for one in data: assert one",
        "for one in (1, 2): assert one",
        "for one in range(3): assert one",
        "for verdict in Verdict: assert verdict",
        "for name, one in {'a': 1}.items(): assert one",
        "for one in NAMES: assert one",
        "for one in rows():\n        pass",
        "with pytest.raises(ValueError):\n        for one in rows(): assert one",
        "assert all(one for one in NAMES)",
    ],
)
def test_a_test_with_data_is_not(body: str) -> None:
    assert vacuous(f"NAMES = ['a']\ndef test_it():\n    {body}\n") == []
