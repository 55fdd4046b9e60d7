"""The table of knobs: what it names exists, and nothing that binds clients is left out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

import jetproof.targets.reference_client as package
from jetproof.data import suites_dir
from jetproof.errors import JetproofError
from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.knobs import BEYOND, KNOBS

ACKS = ("nak", "progress", "term")


def client_clauses(*, demanding: bool) -> set[str]:
    """Those that bind clients; if `demanding`, without permissions and points left open."""
    files = sorted(suites_dir().glob("*/clauses.yaml"))
    assert files
    clauses = [clause for file in files for clause in yaml.safe_load(file.read_text())["clauses"]]
    return {
        clause["id"]
        for clause in clauses
        if clause["actor"] in ("client", "both")
        and not (demanding and (clause["level"] == "may" or clause.get("status") == "silent"))
    }


def asked_for() -> set[str]:
    """The knobs that the sources ask for, by the text in `wrong("...")` or a name of their own."""
    found: set[str] = set()
    for path in Path(package.__file__).parent.glob("*.py"):
        if path.name.startswith("knobs"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return found | {f"{kind}-sent-as-ack" for kind in ACKS}


def test_names_are_unique() -> None:
    names = [knob.name for knob in KNOBS]
    assert len(names) == len(set(names))


def test_every_knob_is_asked_for() -> None:
    assert {knob.name for knob in KNOBS} <= asked_for()


def test_every_clause_of_clients_has_a_knob_or_a_reason() -> None:
    broken = {clause for knob in KNOBS for clause in knob.breaks}
    assert client_clauses(demanding=True) <= broken | set(BEYOND)
    assert broken | set(BEYOND) <= client_clauses(demanding=False)
    assert not broken & set(BEYOND)


def test_revisions_are_ones_that_it_speaks() -> None:
    for knob in KNOBS:
        if knob.revision is not None:
            spec, _, number = knob.revision.partition("@")
            asked = {spec.replace("-", ""): int(number)}
            assert Conduct(knobs=[knob.name], **asked).claims[spec] == int(number)  # type: ignore[arg-type]


def test_a_knob_that_is_not_there() -> None:
    with pytest.raises(JetproofError, match="no knob 'turbo'"):
        Conduct(["turbo"])
