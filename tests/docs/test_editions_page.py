"""The examples of docs/editions.md: commands can be given, files can be read, screens look like that."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from jetproof.cli.parser import build_parser
from jetproof.data import data_root
from jetproof.load.client_ledger import read_ledger
from jetproof.load.library import load_library
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import parse_yaml
from jetproof.model.edition import Edition
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.digest import not_scored_line

PAGE = (Path(__file__).parents[2] / "docs" / "editions.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```([^\n]*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if kind == "sh" for line in text.splitlines()]


def block(kind: str) -> str:
    [found] = [text for info, text in BLOCKS if info == kind]
    return found


@pytest.mark.parametrize("line", [line for line in COMMANDS if line.startswith("jetproof ")])
def test_a_command_can_be_given(line: str) -> None:
    build_parser().parse_args(shlex.split(line)[1:])


def test_every_example_is_of_a_known_kind() -> None:
    assert {kind for kind, _ in BLOCKS} == {"sh", "text", "yaml ledger", "yaml renamed"}
    assert {line.split()[0] for line in COMMANDS} == {"jetproof", "pytest"}


def test_the_ledger_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "ledger.yaml").write_text(block("yaml ledger"))
    ledger = read_ledger(tmp_path / "ledger.yaml", load_library())
    assert ledger.edition == "2026.11"


def test_the_table_of_renamed_cases_follows_its_schema() -> None:
    document = parse_yaml(block("yaml renamed"), "renamed.yaml", [])
    assert document is not None
    schema = FileSchema(data_root() / "fixtures" / "schemas" / "renamed-file.json")
    assert schema.check(document, []) == ()


def test_the_line_of_what_is_not_scored_is_as_shown() -> None:
    def cell(verdict: Verdict) -> Cell:
        return Cell(
            case="a::b", suite="a", spec="a", spec_revision=1, server="2.15.1",
            provider="embedded", topology="single", configuration="default", verdict=verdict,
            clauses=(), edition="2026.11", scored=False,
        )  # fmt: skip

    cells = [*[cell(Verdict.PASS)] * 11, cell(Verdict.FAIL)]
    assert f"  {not_scored_line(cells)}\n" in PAGE


def test_the_edition_that_examples_name_is_there() -> None:
    edition = load_library().editions["2026.11"]
    assert isinstance(edition, Edition)
    assert len(edition.hashes) > 2000
