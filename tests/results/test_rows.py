"""Rows hold text that every JSON reader accepts, whatever a server sent."""

from __future__ import annotations

import json

from jetproof.model.verdict import Cell, Check, Verdict
from jetproof.results.rows import check_row, encode


def test_bytes_in_an_iteration_of_a_check_are_escaped() -> None:
    cell = Cell(
        case="s/x::one",
        suite="s/x",
        spec="s",
        spec_revision=1,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="js",
        verdict=Verdict.PASS,
        clauses=(),
    )
    part = b"\xff\x06S2sTwO".decode("utf-8", "surrogateescape")
    check = Check("11.1", "request", "reply", True, "an empty message", iteration=f"part={part}")
    row = json.loads(encode(check_row("run", cell, 0, check)))
    assert row["iteration"] == "part=\\xff\x06S2sTwO"
    row["iteration"].encode("utf-8")
