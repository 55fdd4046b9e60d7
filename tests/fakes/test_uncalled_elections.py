"""A leader that changes by itself says nothing about a case on something else."""

from __future__ import annotations

import pytest

from jetproof.load.library import Library

from .conftest import Cases
from .playing import Played, bounded, play

ELECTION = """
      - publish: {subject: $JS.EVENT.ADVISORY.STREAM.LEADER_ELECTED.$stream, json: {}}
      - advisory: {event: STREAM.LEADER_ELECTED}
"""
FAILS = """
      - request: {subject: $stream.a}
        reply: {json: {seq: 7}}
"""
HOLDS = FAILS.replace("7", "1")
UPDATES = """
      - request:
          subject: $JS.API.STREAM.UPDATE.$stream
          json: {name: $stream, subjects: ["$stream.>"], max_msgs: 5}
        reply: {json: {config.max_msgs: 5}}
"""


def played(library: Library, cases: Cases, steps: str) -> Played:
    text = f"""
  - case: victim
    clauses: [DEMO-MUST-001]
    given: {{stream: {{subjects: ["$stream.>"]}}}}
    steps:
{steps}
"""
    return bounded(play(library, cases(text), "latest"))


def test_a_failure_after_it_is_no_verdict(library: Library, cases: Cases) -> None:
    seen = played(library, cases, ELECTION * 2 + FAILS)
    assert seen.verdicts == {"victim": "error"}
    assert seen.cells["victim"].reason == "the leader of $stream changed by itself"
    assert seen.exit_code == 3


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        (ELECTION + FAILS, "fail"),
        (ELECTION * 2 + HOLDS, "pass"),
        (ELECTION * 2 + UPDATES + FAILS, "fail"),
    ],
    ids=["the first election of a stream", "nothing failed", "the case may have called for it"],
)
def test_otherwise_the_verdict_stands(
    library: Library, cases: Cases, steps: str, verdict: str
) -> None:
    assert played(library, cases, steps).verdicts == {"victim": verdict}
