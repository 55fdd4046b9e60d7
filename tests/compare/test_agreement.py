"""How far two sides agree, and what the ledger says about where they do not."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.campaigns.agreement import Agreement, agreements, explained
from jetproof.campaigns.compare_rulings import Observation, broken_of, ruled
from jetproof.events import CaseFinished, SchemaJudged
from jetproof.load.library import Library, load_library
from jetproof.model.verdict import Cell, Check, Verdict
from jetproof.sinks.compare_report import agreement_rows
from support.schema_results import schema_result

CASE = "adr-53/consumers::pending-of-the-last-of-each-key"
SKIPS = (
    Check("pulled", "messages", "messages.first.subject", False, "'$stream.b'", "$stream.a", ""),
    Check("pulled", "messages", "messages.last.subject", False, "'$stream.a'", "$stream.c", ""),
    Check("info", "reply", "reply.json.num_pending", False, "1", 0, ""),
)


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def play(verdict: Verdict, *checks: Check, server: str = "2.15.1", **position: str) -> Observation:
    cell = Cell(
        case=CASE,
        suite="adr-53/consumers",
        spec="adr-53",
        spec_revision=4,
        server=server,
        provider="go",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=("A53-020",),
        position=position,
    )
    return Observation(cell, broken_of(CaseFinished(cell, list(checks))), Path())


def test_each_suite_has_its_own_row_and_what_showed_once_is_no_disagreement() -> None:
    right, wrong = play(Verdict.PASS), play(Verdict.FAIL, SKIPS[2])
    a, b = (play(Verdict.POSITION, who=who, same="yes") for who in "ab")
    result = schema_result("x")
    schema = Observation(result, broken_of(SchemaJudged(result)), Path())
    base = {
        "alike": [right, right],
        "worse": [right, right],
        "once": [right, right],
        "position": [a, a],
        "only": [play(Verdict.NOT_APPLICABLE)],
        "schemas::x": [schema],
    }
    head = {
        "alike": [right, right],
        "worse": [wrong, wrong],
        "once": [wrong, right],
        "position": [b, b],
        "only": [right],
        "schemas::x": [schema],
    }
    found = [ruled(key, base[key], head[key]) for key in base]
    rows = agreements(base, head, [one for one in found if one is not None])
    assert rows == [Agreement("adr-53/consumers", 4, 3, 2, 1), Agreement("schemas", 1, 1, 0, 0)]
    assert agreement_rows(rows) == [
        ("adr-53/consumers", "3 of 4", "1 of 2"),
        ("schemas", "1 of 1", ""),
        ("all", "4 of 5", "1 of 2"),
    ]


@pytest.mark.parametrize(
    ("server", "checks", "known"),
    [
        ("2.12.0-preview.1", SKIPS, True),
        # Another failure of the same case, and the same failure of another release.
        ("2.12.0-preview.1", SKIPS[:1], False),
        ("2.15.1", SKIPS, False),
    ],
)
def test_the_ledger_explains_a_head_that_is_worse(
    library: Library, server: str, checks: tuple[Check, ...], known: bool
) -> None:
    right, wrong = play(Verdict.PASS), play(Verdict.FAIL, *checks, server=server)
    worse = ruled(CASE, [right, right], [wrong, wrong])
    assert worse is not None
    said = explained(worse, library.deviations).known
    assert said.startswith("a53-waiting-list-of-keys-skips-one: ") is known
    better = ruled(CASE, [wrong, wrong], [right, right])
    assert better is not None
    assert explained(better, library.deviations).known == said
