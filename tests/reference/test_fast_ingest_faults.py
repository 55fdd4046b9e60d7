"""A peer that is wrong in the middle of a batch fails the case with the reason, and hangs nothing."""

from __future__ import annotations

import json

import pytest

from jetproof.cli import main

CASE = "adr-50/fast-ingest/rev-7/flow::every-third-message-is-acknowledged"
LAWFUL = "adr-50/fast-ingest/rev-7/flow::next-acknowledgement-comes-by-the-flow-told"
FAULTS = {
    "fast7-never-answers": "step acks, messages.count: expected gte 4 messages, got 0",
    "fast7-acks-twice": "step law, law.flow.points: expected acknowledgements as far apart",
    "fast7-acks-the-future": "acknowledgements as far apart as they tell, got 8 after 6 with 3",
    "fast7-raises-the-flow": "law.flow.asked: expected a flow from 1 to what was asked for, got 6 of 3",
    "fast7-talks-garbage-in-the-middle": "messages.each.json: expected a JSON payload, got payload",
    "fast7-says-503-in-the-middle": "messages.each.json: expected a JSON payload, got status 503",
}


def test_each_fault_fails_the_case_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    named = [part for fault in FAULTS for part in ("--mutant", fault)]
    assert main(["mutate", CASE, *named, "--server", "reference:latest", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["mutants"]
    told = {row["mutant"]: row["caught_by"] for row in rows}
    assert told.keys() == FAULTS.keys()
    for fault, reason in FAULTS.items():
        (cell,) = told[fault]
        assert cell["verdict"] == "fail", fault
        assert reason in cell["reason"], (fault, cell["reason"])


def test_a_flow_that_is_lowered_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    """The text allows it: the case must follow what the peer tells."""
    lowers = ["--mutant", "fast7-lowers-the-flow", "--server", "reference:latest", "--json"]
    cases = [CASE, LAWFUL, "adr-50/fast-ingest/rev-7/flow::flow-stays-or-changes"]
    assert main(["mutate", *cases, *lowers]) == 0
    (row,) = json.loads(capsys.readouterr().out)["mutants"]
    assert row["fired"]["fast-lowers-the-flow"] >= 1
    told = {cell["case"]: cell["verdict"] for cell in row["played"]}
    assert (told[CASE], told[LAWFUL]) == ("pass", "pass")
