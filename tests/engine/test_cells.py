"""Cells by name: two revisions of a case in one run are two of them, everywhere."""

from __future__ import annotations

from dataclasses import replace

from jetproof.cli.replay import law_of, split_name
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.rows import cell_of, cell_row

CELL = Cell(
    "demo/f::c", "demo/f", "demo", 2, "2.14.6", "embedded", "single", "default",
    Verdict.PASS, ("DEMO-001",),
)  # fmt: skip


def test_the_revision_is_named_where_it_is_not_the_cases_own() -> None:
    asked = replace(CELL, law="demo@2")
    assert CELL.name == "demo/f::c @2.14.6 single"
    assert asked.name == "demo/f::c @2.14.6 single demo@2"
    assert cell_of(cell_row("run", CELL)) == CELL
    assert cell_of(cell_row("run", asked)) == asked


def test_a_cells_name_says_what_to_replay() -> None:
    words = ["demo/f::c", "@2.14.6", "single", "demo@2"]
    assert split_name(words, None) == ("demo/f::c", "2.14.6")
    assert law_of(words) == ("demo", 2)
    assert law_of(["demo/f::c @2.14.6 single container adr-50@10"]) == ("adr-50", 10)
    assert law_of(["demo/f::c @2.14.6 single"]) is None
    assert law_of(["demo/f::c"]) is None
