"""The knobs of the layer, the names that files may use, and the mutants that turn them."""

from __future__ import annotations

import json

import pytest

from jetproof.data import fixtures_dir
from jetproof.errors import JetproofError
from jetproof.load.library import load_library
from jetproof.targets.reference import knob_names, parts_with
from jetproof.targets.reference.reads import Reads


def test_the_schema_of_mutants_names_just_these_knobs() -> None:
    schema = json.loads((fixtures_dir() / "schemas" / "mutants-file.json").read_text())
    named = schema["$defs"]["mutant"]["properties"]["reference"]["properties"]
    assert tuple(named) == knob_names()


def test_every_knob_is_turned_by_a_mutant() -> None:
    turned = {name for mutant in load_library().mutants for name in mutant.knobs}
    assert turned == set(knob_names())


def test_an_unknown_knob_is_told_with_those_there_are() -> None:
    with pytest.raises(JetproofError, match="no knob 'refuse-always'") as raised:
        parts_with({"refuse-always": True})
    assert "refuse-at-once" in raised.value.hint


def test_a_knob_that_is_off_changes_nothing() -> None:
    assert parts_with({"refuse-at-once": True}).part(Reads) is not Reads
    assert parts_with({"refuse-at-once": False}).part(Reads) is Reads
