"""Catalogues that break a rule: `tests/format/invalid-catalogues/*.yaml`, each with its `*.expect`."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import load_library
from jetproof.load.mistakes import LoadError

FOLDER = Path(__file__).parent.parent / "format" / "invalid-catalogues"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
LISTED = """\
specs:
  - id: demo
    clauses: demo/clauses.yaml
    prefix: DEMO-
    source: {repository: owner/name, path: demo.md}
"""
SOUND = """\
spec: demo
title: A demonstration
revision: 1
revisions: [{revision: 1}, {revision: 2}]
clauses:
  - id: DEMO-001
    section: S
    level: must
    actor: client
    status: contested
    revisions: {from: 1, to: 1}
    clause: One.
    anchor: "S: bullet 1"
    hash: "0000000000000001"
    contested_with: [DEMO-002]
  - id: DEMO-002
    section: S
    level: must
    actor: client
    status: contested
    revisions: {from: 2}
    replaces: DEMO-001
    clause: Two.
    anchor: "S: bullet 1"
    hash: "0000000000000002"
    contested_with: [DEMO-001]
"""


def mistakes(root: Path, catalogue: str, listed: str = LISTED) -> list[str]:
    """What is wrong with a catalogue, as lines of text."""
    (root / "suites" / "specs.yaml").write_text(listed)
    (root / "suites" / "demo" / "clauses.yaml").write_text(catalogue)
    try:
        load_library(root)
    except LoadError as error:
        return str(error).replace("suites/demo/clauses.yaml:", "line ").splitlines()
    return []


@pytest.mark.parametrize("name", FILES)
def test_a_broken_rule_is_reported_with_its_line_and_what_to_write(name: str, root: Path) -> None:
    expected = (FOLDER / f"{name}.expect").read_text().splitlines()
    assert expected
    assert mistakes(root, (FOLDER / f"{name}.yaml").read_text()) == expected


def test_a_sound_catalogue_breaks_no_rule(root: Path) -> None:
    assert mistakes(root, SOUND) == []


def test_every_file_has_its_expectation() -> None:
    assert FILES
    assert sorted(path.stem for path in FOLDER.glob("*.expect")) == FILES


@pytest.mark.parametrize("name", ["order", "place", "no-case"])
def test_a_reading_of_our_own_has_no_places_to_look_up(name: str, root: Path) -> None:
    """Without a source nobody can look a sentence up."""
    listed = LISTED.replace("    source: {repository: owner/name, path: demo.md}\n", "")
    assert mistakes(root, (FOLDER / f"{name}.yaml").read_text(), listed) == []


def test_places_in_a_source_that_is_no_text_have_their_own_form(root: Path) -> None:
    catalogue = SOUND.replace('"S: bullet 1"', "error_code 1")
    assert mistakes(root, catalogue, LISTED.replace("demo.md", "demo.json")) == []
    assert len(mistakes(root, catalogue)) == 2
