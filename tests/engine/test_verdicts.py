"""From checks to verdicts: levels, positions, and a ledger that must stay honest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jetproof.engine.verdicts import rule
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.ledger import Deviation, KnownMismatch
from jetproof.model.matcher import parse_matcher
from jetproof.model.verdict import Cell, Check, Verdict, exit_code
from jetproof.model.versions import Releases, Version, VersionError


def clause(level: Level = Level.MUST, status: Status = Status.NORMATIVE) -> Clause:
    return Clause("X-001", "x", "s", level, Actor.SERVER, status, "text", None, None, None, None)


def check(ok: bool = False, path: str = "reply.error", actual: object = "pub-ack") -> Check:
    return Check("commit", "request", path, ok, "error 10177 (400)", None if ok else actual)


def entry(actual: object = "pub-ack", path: str = "reply.error", step: str = "commit") -> Deviation:
    known = KnownMismatch(step, path, parse_matcher(actual))
    return Deviation("D-1", "x::c", Releases.parse("*"), "says", "does", (known,))


@pytest.mark.parametrize(
    ("clauses", "checks", "verdict"),
    [
        ([clause()], [check(ok=True)], Verdict.PASS),
        ([clause()], [check(ok=True), check()], Verdict.FAIL),
        ([clause(Level.SHOULD)], [check()], Verdict.WARN),
        ([clause(Level.SHOULD), clause()], [check()], Verdict.FAIL),
        ([clause(Level.MAY)], [check()], Verdict.POSITION),
        ([clause(status=Status.SILENT)], [check(ok=True)], Verdict.POSITION),
        ([clause(status=Status.CONTESTED)], [check()], Verdict.POSITION),
        ([clause(status=Status.SILENT), clause()], [check()], Verdict.FAIL),
        ([clause(status=Status.SILENT), clause()], [check(ok=True)], Verdict.PASS),
        ([], [check()], Verdict.FAIL),
        ([], [], Verdict.PASS),
    ],
)
def test_levels_and_status_decide(
    clauses: list[Clause], checks: list[Check], verdict: Verdict
) -> None:
    assert rule(clauses, checks, []).verdict is verdict


def test_a_failure_that_the_ledger_describes_is_known() -> None:
    ruling = rule([clause()], [check(ok=True), check()], [entry()])
    assert (ruling.verdict, ruling.entry) == (Verdict.KNOWN, entry())


@pytest.mark.parametrize(
    "described",
    [
        entry(actual="empty"),
        entry(path="reply.empty"),
        entry(step="other"),
    ],
)
def test_a_failure_that_the_ledger_describes_otherwise_is_stale(described: Deviation) -> None:
    ruling = rule([clause()], [check()], [described])
    assert ruling.verdict is Verdict.STALE
    assert "got pub-ack" in ruling.reason


def test_one_mismatch_more_than_the_ledger_says_is_stale() -> None:
    more = [check(), check(path="stream.messages", actual=3)]
    assert rule([clause()], more, [entry()]).verdict is Verdict.STALE


def test_one_mismatch_less_than_the_ledger_says_is_stale() -> None:
    known = (*entry().mismatches, KnownMismatch("commit", "stream.messages", parse_matcher(3)))
    both = Deviation("D-1", "x::c", Releases.parse("*"), "says", "does", known)
    assert rule([clause()], [check()], [both]).verdict is Verdict.STALE


def test_a_case_that_passes_although_the_ledger_says_it_fails_is_stale() -> None:
    ruling = rule([clause()], [check(ok=True)], [entry()])
    assert ruling.verdict is Verdict.STALE
    assert ruling.reason == "D-1 says that this fails, and it does not"


def test_an_entry_that_holds_sometimes_is_not_stale_when_the_case_passes() -> None:
    now_and_then = replace(entry(), sometimes=True)
    assert rule([clause()], [check(ok=True)], [now_and_then]).verdict is Verdict.PASS
    assert rule([clause()], [check()], [now_and_then]).verdict is Verdict.KNOWN
    another = [check(path="stream.messages", actual=3)]
    assert rule([clause()], another, [now_and_then]).verdict is Verdict.FAIL
    # An entry beside it that always holds does get stale.
    always = replace(entry(), id="D-2")
    assert rule([clause()], [check(ok=True)], [now_and_then, always]).verdict is Verdict.STALE


def test_absence_is_matched_as_absence() -> None:
    absent = check(path="reply.json.batch", actual={"absent": True})
    described = entry(actual={"absent": True}, path="reply.json.batch")
    assert rule([clause()], [absent], [described]).verdict is Verdict.KNOWN


def test_an_entry_covers_only_its_releases() -> None:
    bounded = Deviation(
        "D-1", "x::c", Releases.parse(">=2.12.0 <2.12.2"), "says", "does", (), provider="path"
    )
    assert bounded.covers("x::c", Version.parse("2.12.1"), "single", "path")
    assert not bounded.covers("x::c", Version.parse("2.12.2"), "single", "path")
    assert not bounded.covers("x::c", Version.parse("2.12.1"), "single", "embedded")
    assert not bounded.covers("x::d", Version.parse("2.12.1"), "single", "path")


def cell(verdict: Verdict, *, never_right: bool = False) -> Cell:
    return Cell(
        case="x::c",
        suite="x",
        spec="x",
        spec_revision=1,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=(),
        never_right=never_right,
    )


def test_exit_codes() -> None:
    assert exit_code(map(cell, (Verdict.PASS, Verdict.KNOWN, Verdict.WARN))) == 0
    assert exit_code(map(cell, (Verdict.PASS, Verdict.FAIL))) == 1
    assert exit_code([cell(Verdict.STALE)]) == 1
    assert exit_code(map(cell, (Verdict.FAIL, Verdict.ERROR))) == 3


def test_an_unstable_cell_fails_a_run_only_if_something_was_never_right() -> None:
    assert exit_code([cell(Verdict.UNSTABLE)]) == 0
    assert exit_code([cell(Verdict.UNSTABLE, never_right=True)]) == 1


def test_releases_of_an_entry_may_differ_by_line() -> None:
    backported = Releases.parse({"2.11": "<2.11.9", "2.12": ">=2.12.1 <2.12.4", "2.14+": "*"})
    covered = ["2.11.8", "2.12.1", "2.12.3", "2.14.0", "2.15.1", "2.16.0-dev"]
    free = ["2.10.25", "2.11.9", "2.12.0", "2.12.4"]
    assert [backported.contains(one) for one in covered] == [True] * len(covered)
    assert [backported.contains(one) for one in free] == [False] * len(free)
    ended = Releases.parse({"2.12+": "*", "2.15": "<2.15.2"})
    assert [ended.contains(one) for one in ("2.14.9", "2.15.1", "2.15.2")] == [True, True, False]
    assert (backported.bounded, Releases.parse("<2.14").bounded) == (False, True)


@pytest.mark.parametrize("raw", [{"2.12.0": "*"}, {"recent": "*"}, {"2.12": "new"}])
def test_a_release_line_that_is_none_is_refused(raw: dict[str, str]) -> None:
    with pytest.raises(VersionError):
        Releases.parse(raw)
