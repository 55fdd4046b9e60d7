"""`jetproof bisect`: the release of a change, in few runs."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.campaigns.bisect import answer, first_other
from jetproof.model.verdict import Cell, Verdict
from support.case_files import CHANGED, FAILS, PASSES, CaseFile
from support.commands import Command
from support.documents import Validate
from support.programs import Build

# The search


def search(answers: list[str]) -> tuple[int | None, list[int]]:
    """What is found, and what was asked."""
    asked: list[int] = []

    async def ask(number: int) -> str:
        asked.append(number)
        return answers[number]

    return asyncio.run(first_other(len(answers), ask)), asked


@given(st.integers(1, 200), st.integers(1, 200))
def test_a_change_is_found_in_few_runs(before: int, after: int) -> None:
    found, asked = search(["old"] * before + ["new"] * after)
    assert found == before
    assert len(asked) <= math.ceil(math.log2(before + after)) + 2
    assert len(set(asked)) == len(asked)


def test_32_releases_take_at_most_seven_runs() -> None:
    assert max(len(search(["old"] * n + ["new"] * (32 - n))[1]) for n in range(1, 32)) == 7


@given(st.integers(1, 200))
def test_no_change_takes_two_runs_at_most(count: int) -> None:
    found, asked = search(["old"] * count)
    assert found is None
    assert len(asked) == min(2, count)


@given(st.lists(st.sampled_from("abc"), min_size=2, max_size=60))
def test_whatever_is_found_differs_from_the_oldest_and_its_neighbour_does_not(
    answers: list[str],
) -> None:
    found, _ = search(answers)
    if found is None:
        assert answers[-1] == answers[0]
    else:
        assert answers[found] != answers[0] == answers[found - 1]


def cell(verdict: Verdict, **position: str) -> Cell:
    return Cell(
        case="s::c", suite="s", spec="adr-50", spec_revision=7, server="2.15.1", provider="embedded",
        topology="single", configuration="default", verdict=verdict, clauses=(), position=position,
    )  # fmt: skip


def test_another_position_counts_only_where_a_position_is_all_there_is() -> None:
    assert answer(cell(Verdict.POSITION, limit="50")) != answer(
        cell(Verdict.POSITION, limit="1000")
    )
    assert answer(cell(Verdict.PASS, text="a")) == answer(cell(Verdict.PASS, text="b"))
    assert answer(cell(Verdict.PASS)) != answer(cell(Verdict.FAIL))


# The command


@pytest.mark.network
def test_the_release_that_changed_it(
    jetproof: Command, case_file: CaseFile, conforms: Validate
) -> None:
    """2.12.2 looks for Nats-Expected-Last-Msg-Id in every member, earlier ones in the last."""
    path = case_file(CHANGED)
    done = jetproof("bisect", "--json", path, "--servers", "2.11.11,2.12.*")
    document = done.document
    conforms("cli/bisect", document)
    assert done.code == document["exit_code"] == 0
    assert document["last_same"]["server"] == "2.12.1"  # type: ignore[index]
    assert document["first_other"]["server"] == "2.12.2"  # type: ignore[index]
    assert document["first_other"]["verdict"] == "pass"  # type: ignore[index]
    assert document["left_out"][0]["target"] == "2.11.11"  # type: ignore[index]
    assert document["runs"] == len(document["cells"])  # type: ignore[arg-type]
    assert int(str(document["runs"])) <= math.ceil(math.log2(9)) + 2
    assert "2.12.2 is the first with pass; 2.12.1 still has fail" in done.err
    assert f"replay {path}::changed --server 2.12.2" in done.err


@pytest.mark.network
def test_against_a_release_after_the_change_there_is_none(
    jetproof: Command, case_file: CaseFile
) -> None:
    servers = ("--servers", "2.12.0,2.12.1,2.12.2,2.12.3")
    done = jetproof("bisect", case_file(CHANGED), *servers, "--against", "2.12.2")
    assert done.code == 0
    assert "no change: 2.12.2 and 2.12.3 are both pass" in done.out
    assert "2 runs on 2 releases" in done.out


def test_builds_are_ordered_by_their_version(
    jetproof: Command, case_file: CaseFile, build: Build
) -> None:
    new, old = build("new", "2.16.0"), build("old", "2.16.0-dev")
    done = jetproof("bisect", case_file(PASSES), "--servers", f"{new},{old}")
    assert done.code == 0
    assert f"no change: {old} and {new} are both pass" in done.out


def test_a_release_without_a_verdict_is_no_answer(
    jetproof: Command, case_file: CaseFile, build: Build, conforms: Validate
) -> None:
    broken = build("broken", "2.16.0", does="exit 7")
    servers = f"{build('good')},{broken}"
    done = jetproof("bisect", "--json", case_file(FAILS), "--servers", servers)
    assert done.code == 3
    conforms("cli/bisect", done.document)
    assert done.document["answered"] is False
    assert done.document["first_other"] is None
    assert f"no answer: {broken} gave no verdict" in done.err


def test_a_case_is_looked_at_where_no_release_speaks_its_form(jetproof: Command) -> None:
    case = "adr-50/fast-ingest/rev-7/start::first-message-gets-a-flow-ack"
    done = jetproof("bisect", case, "--servers", "latest")
    assert done.code == 0
    assert "is known, and there is no other to compare with" in done.out


def test_a_case_that_applies_nowhere_is_told(jetproof: Command, case_file: CaseFile) -> None:
    done = jetproof("bisect", case_file(PASSES), "--servers", "2.10.*,2.11.*")
    assert done.code == 2
    assert "applies to none of these releases" in done.err


def test_a_release_to_compare_with_must_be_one_that_the_case_applies_to(
    jetproof: Command, case_file: CaseFile
) -> None:
    done = jetproof("bisect", case_file(PASSES), "--against", "2.11.11")
    assert done.code == 2
    assert "does not apply to 2.11.11" in done.err
    done = jetproof("bisect", case_file(PASSES), "--against", "2.12.*")
    assert done.code == 2
    assert "--against 2.12.* names 15 releases" in done.err


def test_one_case_is_looked_at(jetproof: Command, case_file: CaseFile, tmp_path: Path) -> None:
    done = jetproof("bisect", case_file(PASSES, FAILS))
    assert done.code == 2
    assert "names 2 cases" in done.err
    assert list(tmp_path.iterdir()) == [tmp_path / "trial.yaml"]
