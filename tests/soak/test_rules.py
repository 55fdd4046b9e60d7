"""What counts as a flip: rounds whose cells are written down, without any server."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from jetproof.campaigns import soak as campaign
from jetproof.campaigns.soak import Soak, SoakOptions
from jetproof.engine.run import RunOptions
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Emit, Event, Notice, RunFinished, SchemaJudged
from jetproof.model.verdict import Cell, Check, Result, Verdict
from jetproof.targets.sweep import Owner
from support.schema_results import broken_schema, schema_result


def cell(verdict: Verdict = Verdict.PASS, suite: str = "s", **more: object) -> Cell:
    given: dict[str, Any] = {"case": f"{suite}::c", "suite": suite, "spec": "s"}
    given |= {"target": "2.15.1", **more}
    return Cell(
        spec_revision=1,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=(),
        **given,
    )


def ended(result: Result) -> Event:
    return CaseFinished(result) if isinstance(result, Cell) else SchemaJudged(result)


class Nowhere:
    """A writer that writes nothing."""

    failures: Sequence[JetproofError] = ()

    def __call__(self, event: Event) -> None: ...

    def close(self) -> None: ...


class Silent:
    """A listener that prints nothing."""

    def start(self) -> None: ...

    def handle(self, event: Event) -> None: ...

    def round(self, done: campaign.Round) -> None: ...


@pytest.fixture
def soaked(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Soaks with rounds that consist of the events given."""

    def play(*rounds: Sequence[Event]) -> Soak:
        left, ids = list(rounds), set()

        async def run(
            _: object, __: object, emit: Emit, options: RunOptions, ___: object
        ) -> RunFinished:
            ids.add(options.run)
            for event in left.pop(0):
                emit(event)
            return RunFinished(options.run)

        monkeypatch.setattr(campaign, "run", run)
        options = SoakOptions(len(rounds), RunOptions("", 1.0))
        soak = Soak(cast(Any, None), cast(Any, None), options)
        owner = Owner("test", Path())
        asyncio.run(soak.play(lambda _: Nowhere(), owner, Silent()))
        assert len(ids) == len(rounds)
        return soak

    return play


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cell(Verdict.PASS), cell(Verdict.FAIL)),
        (cell(Verdict.KNOWN, deviation="a"), cell(Verdict.KNOWN, deviation="b")),
        (cell(Verdict.POSITION, position={"x": "1"}), cell(Verdict.POSITION, position={"x": "2"})),
        (schema_result(), broken_schema("seq is missing")),
    ],
    ids=["verdict", "ledger entry", "position", "verdict of a schema"],
)
def test_a_flip(soaked: Any, first: Result, second: Result) -> None:
    soak = soaked([ended(first)], [ended(first)], [ended(second)])
    assert [flip.cell for flip in soak.flips] == [first.name]
    assert [len(rounds) for _, rounds in soak.flips[0].outcomes] == [2, 1]
    assert [done.flips for done in soak.rounds] == [0, 0, 1]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (cell(Verdict.FAIL), cell(Verdict.FAIL, reason="said otherwise", ms=5.0)),
        (cell(position={"a": "1", "b": "2"}), cell(position={"b": "2", "a": "1"})),
        (schema_result(seen=3), schema_result(seen=9)),
    ],
    ids=["reason and time", "order of positions", "messages that a schema saw"],
)
def test_no_flip(soaked: Any, first: Result, second: Result) -> None:
    soak = soaked([ended(first)], [ended(second)])
    assert (soak.flips, soak.compared) == ([], 1)


@pytest.mark.parametrize("missing", [1, 2, 3])
def test_a_cell_that_is_missing_in_a_round_flips(soaked: Any, missing: int) -> None:
    other = CaseFinished(cell(case="s::other"))
    rounds = [
        [other] if number == missing else [other, CaseFinished(cell())] for number in (1, 2, 3)
    ]
    [flip] = soaked(*rounds).flips
    assert [number for number, seen in enumerate(flip.seen, 1) if seen is None] == [missing]


def test_a_message_that_came_in_some_rounds_only_is_no_flip_of_its_schema(soaked: Any) -> None:
    seen = [ended(schema_result())]
    assert soaked(seen, [], seen).flips == []
    wrong = [ended(broken_schema("seq is missing"))]
    [flip] = soaked(seen, [], wrong).flips
    assert flip.of_schema


def test_the_same_verdict_by_other_checks_drifts(soaked: Any) -> None:
    def failed(path: str) -> CaseFinished:
        return CaseFinished(cell(Verdict.FAIL), [Check("1", "reply", path, False, "1", "2")])

    drifting = soaked([failed("json.a")], [failed("json.b")])
    assert (drifting.flips, drifting.drifting) == ([], [cell().name])
    steady = soaked([failed("json.a")], [failed("json.a")])
    assert steady.drifting == []


def test_cases_that_were_played_again_are_counted(soaked: Any) -> None:
    again = Notice("s::c @2.15.1 is played again: too slow")
    soak = soaked([again, CaseFinished(cell())], [Notice("hello"), CaseFinished(cell())])
    assert [done.replayed for done in soak.rounds] == [1, 0]


def test_an_error_in_any_round_leaves_the_soak_undecided(soaked: Any) -> None:
    soak = soaked([CaseFinished(cell())], [CaseFinished(cell(Verdict.ERROR))])
    assert soak.undecided


def test_a_password_is_in_no_result(soaked: Any) -> None:
    secret = "nats://me:secret@host:4222"
    rounds = [
        [CaseFinished(cell(verdict, target=secret))] for verdict in (Verdict.PASS, Verdict.FAIL)
    ]
    [flip] = soaked(*rounds).flips
    assert flip.target == "nats://me:***@host:4222"


def test_outcomes_of_equal_rounds_share_one_object(soaked: Any) -> None:
    soak = soaked(*([CaseFinished(cell(position={"x": "1"}))] for _ in range(50)))
    [seen] = soak._seen.values()
    assert len(seen) == 50
    assert len({id(one) for one in seen}) == 1
