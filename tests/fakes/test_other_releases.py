"""What another release says is no matter of the schemas of the one under test."""

from __future__ import annotations

from jetproof.load.library import Library

from .conftest import Cases
from .playing import bounded, play

WRITES = """
  - case: writes
    clauses: [DEMO-MUST-001]
    budget: 30s
    given: {isolation: server, release: older, stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a}
        reply: {json: {seq: 1}}
"""
OPENS = """
      - action: {restart: n1, release: target, reconnect: main}
      - request: {subject: $stream.a}
        reply: {json: {seq: 2}}
"""
BACK = """
      - action: {restart: n1, release: older, reconnect: main}
      - request: {subject: $stream.a}
        reply: {json: {seq: 3}}
"""


def test_only_what_the_release_under_test_says_is_held_against_its_schemas(
    library: Library, cases: Cases
) -> None:
    seen = {}
    for steps in ("", OPENS, OPENS + BACK):
        played = bounded(play(library, cases(WRITES + steps), "latest"))
        assert played.verdicts == {"writes": "pass"}, played.cells["writes"].reason
        seen[steps] = {name: one.seen for name, one in played.schemas.items()}
    assert seen == {"": {}, OPENS: {"pub-ack": 1}, OPENS + BACK: {"pub-ack": 1}}
