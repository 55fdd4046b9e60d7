"""The table of knobs: what it names exists, and nothing that binds clients is left out."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import yaml

import jetproof.targets.reference_client as client
from jetproof.data import suites_dir
from jetproof.errors import JetproofError
from jetproof.targets.reference_client import faults
from jetproof.targets.reference_client.faults.fault import fault
from jetproof.targets.reference_client.flow import Flow
from jetproof.targets.reference_client.knobs import BEYOND, KNOBS, Faulty
from jetproof.targets.reference_client.pulls import Limits, Pending, Pull


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


def test_every_fault_is_a_knob_of_one_part_of_the_client() -> None:
    files = sorted(Path(faults.__file__).parent.glob("*.py"))
    named = [
        decorator.args[0].value
        for file in files
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
        for decorator in node.decorator_list
        if isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "fault"
        and isinstance(decorator.args[0], ast.Constant)
    ]
    assert named
    assert sorted(named) == sorted(knob.name for knob in KNOBS)


def test_the_client_knows_nothing_of_faults() -> None:
    folder = Path(client.__file__).parent
    files = [file for file in folder.glob("*.py") if file.name not in ("knobs.py", "__main__.py")]
    assert len(files) > 20
    for file in files:
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                assert "faults" not in str(node.module), file.name
                assert not str(node.module).endswith("knobs"), file.name


def test_a_call_in_which_a_fault_is_harmless_does_not_count() -> None:
    conduct = Faulty(["stuck-at-one", "refill-overfills"])
    pending = conduct.part(Pending)(Limits(10, 0, 5))
    first = pending.wanted()
    assert first == Pull(10, 0)
    assert not conduct.fired
    pending.asked(first)
    pending.ended(6, 0)
    assert pending.wanted() == Pull(10, 0)
    assert conduct.fired == {"refill-overfills": 1}


def test_two_faults_of_one_hook_both_come_to_bear() -> None:
    conduct = Faulty(["future-acks-ignored", "late-acks-take-back"])
    flow = conduct.part(Flow)(2)
    flow.sent = 20
    for sequence in (20, 30, 10):
        flow.acknowledged(sequence, 10)
    assert flow.acked == 10
    assert conduct.fired == {"future-acks-ignored": 1, "late-acks-take-back": 1}


def test_a_fault_that_overrides_no_hook_is_refused() -> None:
    class Unrelated(Flow):
        """Does nothing."""

        def unheard_of(self) -> None:
            pass

    with pytest.raises(TypeError, match="Unrelated"):
        fault("unrelated", "A37-001")(Unrelated)


def test_every_clause_of_clients_has_a_knob_or_a_reason() -> None:
    broken = {clause for knob in KNOBS for clause in knob.breaks}
    assert client_clauses(demanding=True) <= broken | set(BEYOND)
    assert broken | set(BEYOND) <= client_clauses(demanding=False)
    assert not broken & set(BEYOND)


def test_revisions_are_ones_that_it_speaks() -> None:
    bound = {knob.name: knob.revision for knob in KNOBS if knob.revision is not None}
    assert bound
    for name, revision in bound.items():
        spec, _, number = revision.partition("@")
        asked = {spec.replace("-", ""): int(number)}
        assert Faulty([name], **asked).claims[spec] == int(number)  # type: ignore[arg-type]


def test_a_knob_that_is_not_there() -> None:
    with pytest.raises(JetproofError, match="no knob 'turbo'"):
        Faulty(["turbo"])
