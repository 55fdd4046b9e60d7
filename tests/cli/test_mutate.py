"""`jetproof mutate`: servers that are wrong on purpose."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jetproof.campaigns import mutate
from jetproof.load.library import load_library
from jetproof.model.mutant import Mutant
from jetproof.model.verdict import Cell, Verdict
from support.commands import Command
from support.documents import Validate

CASE = "adr-50/atomic/commit::commit-1-stores-every-message"


def mutant(name: str, clause: str, *rules: dict[str, object]) -> Mutant:
    return Mutant(name, f"about {name}", (clause,), rules, "mutants.yaml", 3)


CAUGHT = mutant(
    "says-one-less",
    "A50-ATOMIC-057",
    {"on": {"from": "server", "json": {"count": 3}}, "do": {"change": {"json": {"count": 2}}}},
)
HARMLESS = mutant(
    "adds-a-field",
    "A50-ATOMIC-057",
    {"on": {"from": "server", "json": {"count": 3}}, "do": {"change": {"json": {"more": 1}}}},
)
IDLE = mutant(
    "waits",
    "A50-ATOMIC-057",
    {"on": {"from": "server", "subject": "nobody.says.this"}, "do": "drop"},
)
UNTESTED = mutant("elsewhere", "A50-NONE", {"on": {"from": "server"}, "do": "drop"})


@pytest.fixture
def with_mutants(monkeypatch: pytest.MonkeyPatch) -> None:
    library = replace(load_library(), mutants=(CAUGHT, HARMLESS, IDLE, UNTESTED))
    monkeypatch.setattr("jetproof.load.library.load_library", lambda: library)


@pytest.mark.usefixtures("with_mutants")
def test_what_is_caught_what_survives_what_does_nothing(
    jetproof: Command, conforms: Validate
) -> None:
    done = jetproof("mutate", "--json", CASE, *(f"--mutant={name}" for name in ("*",)))
    document = done.document
    conforms("cli/mutate", document)
    rows = {row["mutant"]: row for row in document["mutants"]}  # type: ignore[attr-defined]
    assert {name: row["outcome"] for name, row in rows.items()} == {
        "says-one-less": "caught",
        "adds-a-field": "survived",
        "waits": "idle",
        "elsewhere": "untested",
    }
    assert [cell["case"] for cell in rows["says-one-less"]["caught_by"]] == [CASE]
    assert sum(rows["adds-a-field"]["fired"].values()) > 0
    assert document["never_failed"] == []
    assert done.code == document["exit_code"] == 1


@pytest.mark.usefixtures("with_mutants")
def test_for_people(jetproof: Command) -> None:
    done = jetproof("mutate", CASE)
    assert "caught   says-one-less  caught by commit-1-stores-every-message" in done.out
    assert "survived adds-a-field  survived 1 case" in done.out
    assert "idle     waits  its rules never fired in 1 case" in done.out
    assert "mutants that nothing caught\n  adds-a-field: about adds-a-field" in done.out
    assert "1 of 1 cases were seen to fail" in done.out


@pytest.mark.usefixtures("with_mutants")
def test_for_a_page(jetproof: Command) -> None:
    done = jetproof("mutate", CASE, "--markdown")
    head, _, *rows = done.out.splitlines()
    assert head == "| specification | mutants | caught | cases | seen to fail |"
    assert rows[:2] == ["| adr-50 | 3 | 1 | 1 | 1 |", "| all | 3 | 1 | 1 | 1 |"]
    assert "- `adds-a-field` survived: about adds-a-field" in rows


@pytest.mark.usefixtures("with_mutants")
def test_all_caught_exits_with_0(jetproof: Command) -> None:
    assert jetproof("mutate", CASE, "--mutant", "says-*").code == 0


@pytest.mark.usefixtures("with_mutants")
def test_cases_that_nothing_made_fail_are_named(jetproof: Command) -> None:
    done = jetproof("mutate", CASE, "--mutant", "adds-*")
    assert f"cases that no mutant of their clauses made fail\n  {CASE}  tried: adds-a-field" in (
        done.out
    )
    assert "0 of 1 cases were seen to fail" in done.out


@pytest.mark.usefixtures("with_mutants")
def test_an_unknown_mutant_and_a_server_that_cannot_be_made_wrong(jetproof: Command) -> None:
    assert "no mutant matches 'nobody'" in jetproof("mutate", "--mutant", "nobody").err
    assert jetproof("mutate", CASE, "-s", "2.12.*").code == 2


def cell(verdict: Verdict, **more: object) -> Cell:
    base = Cell(
        case=CASE, suite="s", spec="adr-50", spec_revision=7, server="2.15.1", provider="embedded",
        topology="single", configuration="default", verdict=verdict, clauses=(),
    )  # fmt: skip
    return replace(base, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("before", "now", "caught"),
    [
        (cell(Verdict.PASS), cell(Verdict.FAIL), True),
        (cell(Verdict.PASS), cell(Verdict.WARN), True),
        (cell(Verdict.PASS), cell(Verdict.PASS), False),
        (cell(Verdict.PASS), cell(Verdict.ERROR), False),
        (cell(Verdict.ERROR), cell(Verdict.FAIL), False),
        (cell(Verdict.KNOWN), cell(Verdict.STALE), True),
        (cell(Verdict.FAIL, reason="a"), cell(Verdict.FAIL, reason="a"), False),
        (cell(Verdict.FAIL, reason="a"), cell(Verdict.FAIL, reason="b"), True),
        (
            cell(Verdict.POSITION, position={"x": "1"}),
            cell(Verdict.POSITION, position={"x": "2"}),
            True,
        ),
        (
            cell(Verdict.POSITION, position={"x": "1"}),
            cell(Verdict.POSITION, position={"x": "1"}),
            False,
        ),
    ],
)
def test_a_case_catches_a_mutant_by_a_worse_verdict_or_another_position(
    before: Cell, now: Cell, caught: bool
) -> None:
    assert mutate.catches(before, now) is caught
