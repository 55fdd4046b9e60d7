"""Cells by name: two revisions of a case in one run are two of them, everywhere."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.campaigns.replay import Wanted, wanted
from jetproof.model.identity import CellId, ClientName, cell_id
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.rows import cell_of, cell_row

CELL = Cell(
    case="demo/f::c",
    suite="demo/f",
    spec="demo",
    spec_revision=2,
    server="2.14.6",
    provider="embedded",
    topology="single",
    configuration="default",
    verdict=Verdict.PASS,
    clauses=("DEMO-001",),
)


def test_the_revision_is_named_where_it_is_not_the_cases_own() -> None:
    asked = replace(CELL, revision="demo@2")
    assert CELL.name == "demo/f::c @2.14.6 single"
    assert asked.name == "demo/f::c @2.14.6 single demo@2"
    assert cell_of(cell_row("run", CELL)) == CELL
    assert cell_of(cell_row("run", asked)) == asked


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("demo/f::c", ("demo/f::c", "latest", None, None)),
        ("demo/f::c @2.14.6 single", ("demo/f::c", "2.14.6", None, None)),
        ("demo/f::c @2.14.6 single demo@2", ("demo/f::c", "2.14.6", ("demo", 2), None)),
        ("d/f::c @2.14.6 leaf container adr-50@10", ("d/f::c", "2.14.6", ("adr-50", 10), None)),
        (
            "d/f::c @2.15.1 single go:nats.go@1.55.0 adr-50@10",
            ("d/f::c", "2.15.1", ("adr-50", 10), "go:nats.go@1.55.0"),
        ),
        ("d/f::c @2.15.1 single reference@7", ("d/f::c", "2.15.1", None, "reference")),
        ("d/f::c @2.15.1 single ./my one@1.2", ("d/f::c", "2.15.1", None, "./my one@1.2")),
    ],
)
def test_a_cells_name_says_what_to_replay(name: str, expected: tuple[object, ...]) -> None:
    assert wanted(name) == Wanted(*expected)


clients = st.builds(
    ClientName,
    st.sampled_from(["go:nats.go", "js:nats.js", "./my-adapter", "../a b/c", "reference"]),
    st.sampled_from(["1.55.0", "0.3.0-dev.1", "2026.11"]),
)


@given(
    st.builds(
        CellId,
        st.sampled_from(["demo/f::c", "./mine.yaml::gap-1", "adr-50/a/b::c.d"]),
        st.sampled_from(["2.14.6", "2.15.0-RC.1", "2.15.1-dev"]),
        st.sampled_from(["single", "cluster-3", "leaf", "any"]),
        st.sampled_from(["embedded", "container", "reference", "path"]),
        st.none() | clients,
        st.sampled_from(["", "adr-50@10", "demo@2"]),
        st.sampled_from(["", "restart", "memory-store"]),
        st.none() | clients,
    )
)
def test_a_name_is_read_as_it_was_made(cell: CellId) -> None:
    if cell.peer is not None and cell.client is None:
        return  # a relay has two libraries
    assert cell_id(str(cell)) == cell
