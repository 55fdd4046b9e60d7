"""How far each release is, how long the rest takes, and what a person sees of it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable

from jetproof.campaigns.planning import Expected
from jetproof.events import (
    CaseFinished,
    CaseStarted,
    Event,
    RunFinished,
    RunStarted,
    SchemaJudged,
    TargetFailed,
)
from jetproof.model.verdict import Cell, Verdict
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.console.summary import SummaryOptions
from jetproof.sinks.releases import Board, spans
from support.schema_results import schema_result

RELEASES = ("2.12.0", "2.12.1", "2.12.2", "2.15.1")


class Stream(io.StringIO):
    encoding = "utf-8"  # type: ignore[assignment]

    def __init__(self, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return self._terminal


class Clock:
    def __init__(self) -> None:
        self.time = 100.0

    def __call__(self) -> float:
        return self.time


def make_cell(
    release: str, case: str = "s::c", verdict: Verdict = Verdict.PASS, **more: object
) -> Cell:
    return Cell(
        case=case,
        suite=case.partition("::")[0],
        spec="adr-50",
        spec_revision=7,
        server=release,
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=(),
        target=release,
        **more,  # type: ignore[arg-type]
    )


def board(side_by_side: int = 1, cells: int = 2) -> Board:
    return Board({name: Expected(cells, cells) for name in RELEASES}, side_by_side)


def play(release: str, case: str, verdict: Verdict = Verdict.PASS) -> list[Event]:
    return [CaseStarted(case, release), CaseFinished(make_cell(release, case, verdict))]


def judged(release: str, schema: str) -> Event:
    return SchemaJudged(schema_result(schema, server=release, target=release))


def told(board: Board, events: Iterable[Event], now: float = 0.0) -> list[str]:
    done = [board.handle(event, now) for event in events]
    return [row.target for row in done if row is not None]


# The board


def test_a_release_is_done_when_every_expected_cell_has_come() -> None:
    rows = board()
    assert told(rows, play("2.12.0", "s::a")) == []
    assert told(rows, play("2.12.0", "s::b")) == ["2.12.0"]
    assert rows.done == 1


def test_a_release_is_told_to_be_done_once_and_schemas_come_on_top() -> None:
    rows = board(cells=1)
    assert told(rows, [judged("2.12.0", "pub-ack")]) == []
    assert told(rows, play("2.12.0", "s::a")) == ["2.12.0"]
    assert told(rows, [judged("2.12.0", "pub-ack-batch")]) == []
    assert rows.releases["2.12.0"].verdicts[Verdict.PASS] == 3


def test_another_attempt_is_not_another_cell() -> None:
    rows = board()
    assert told(rows, [*play("2.12.0", "s::a", Verdict.ERROR), *play("2.12.0", "s::a")]) == []
    assert rows.releases["2.12.0"].verdicts == {Verdict.PASS: 1}


def test_a_release_that_owes_nothing_takes_no_time() -> None:
    rows = Board({"2.10.25": Expected(1, 0), "2.12.0": Expected(1, 1)}, 1)
    assert told(rows, [CaseFinished(make_cell("2.10.25", "s::a", Verdict.NOT_APPLICABLE))])
    assert rows.releases["2.10.25"].seconds is None
    assert rows.to_play == 1


def test_neighbours_are_told_as_a_span() -> None:
    assert spans(["2.12.0", "2.12.1", "2.12.2"], RELEASES) == "2.12.0 to 2.12.2"
    assert spans(["2.12.1", "2.12.2"], RELEASES) == "2.12.1, 2.12.2"
    assert spans(["2.12.0", "2.12.2", "2.15.1"], RELEASES) == "2.12.0, 2.12.2, 2.15.1"
    assert spans(["path:./x", "2.12.0"], RELEASES) == "2.12.0, path:./x"
    assert spans([], RELEASES) == ""


# The console


def run_started(cells: int = 8) -> RunStarted:
    return RunStarted(
        "20261116T000000Z-abcdef", "2026-11-16T00:00:00Z", RELEASES, cells, 1.0, "", ()
    )


def printed(
    events: Iterable[Event], *, live: bool = False, cells: int = 2, clock: Clock | None = None
) -> str:
    stream = Stream(live)
    console = Console(
        stream,
        options=SummaryOptions(command="matrix", reasons=0),
        board=board(cells=cells),
        heading="servers: somewhere",
        screen=Screen(stream, {"TERM": "xterm", "COLUMNS": "110"}),
        clock=clock or Clock(),
    )
    for event in events:
        console.handle(event)
    console.close()
    return stream.getvalue()


def test_the_first_line_says_where_the_servers_run() -> None:
    lines = printed([run_started()]).splitlines()
    assert lines[0] == "servers: somewhere"
    assert "8 cells · 4 releases, 2.12.0 to 2.15.1" in lines[1]


def test_a_release_that_is_done_is_told_with_its_verdicts() -> None:
    events = [*play("2.12.0", "s::a"), *play("2.12.0", "s::b", Verdict.FAIL)]
    text = printed([run_started(), *events])
    assert "✗ 2.12.0 · 1 pass · 1 fail · " in text
    assert " · 1 of 4 releases" in text


def test_the_time_left_counts_what_every_release_has_to_play() -> None:
    clock = Clock()

    def events() -> Iterable[Event]:
        yield run_started(40)
        for number in range(10):
            clock.time += 30
            yield from play("2.12.0", f"s::c{number}")

    text = printed(events(), cells=10, clock=clock)
    assert "1 of 4 releases · about 15 min left" in text


def test_progress_names_the_releases_that_are_being_played() -> None:
    clock = Clock()

    def events() -> Iterable[Event]:
        yield run_started()
        for event in play("2.12.1", "s::a"):
            clock.time += 1
            yield event

    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(events(), live=True, clock=clock))
    assert "1/8 cells  2 s  ✓ 1" in text
    assert "0/4 releases  2.12.1 1/2" in text


def test_a_broken_release_is_told_once_and_not_for_each_of_its_cells() -> None:
    failed = TargetFailed("2.12.0", "single", "default", "it did not start")
    cells = [
        CaseFinished(make_cell("2.12.0", f"s::c{n}", Verdict.ERROR, reason="it did not start"))
        for n in range(7)
    ]
    text = printed([run_started(), failed, failed, *cells], cells=7)
    before_summary, _, after = text.partition("1 of 4 releases")
    assert before_summary.count("it did not start") == 1
    assert "‼ error    7 cells of 2.12.0" in after
    assert after.count("it did not start") == 2
    assert "  ‼ error    7 cells\n      it did not start\n" in after


def test_a_failure_that_releases_share_is_explained_once() -> None:
    cells = [
        CaseFinished(make_cell(name, "s::c", Verdict.FAIL, reason="wrong", replay=f"replay {name}"))
        for name in RELEASES[:3]
    ]
    text = printed([run_started(), *cells, RunFinished("r")], cells=1)
    assert "the same on: 2.12.0 to 2.12.2" in text
    assert "replay it: replay 2.12.2" in text
    assert "replay it: replay 2.12.0" not in text


def test_the_summary_has_one_row_a_release() -> None:
    cells = [CaseFinished(make_cell(name)) for name in RELEASES]
    known = CaseFinished(make_cell("2.12.0", "s::d", Verdict.KNOWN, deviation="entry-1"))
    lines = printed([run_started(), *cells, known, RunFinished("r", wall_ms=2000)]).splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("release "))
    assert [line.split()[0] for line in lines[head + 1 : head + 5]] == list(RELEASES)
    assert any(line.startswith("  known    1 ") and "[2.12.0]" in line for line in lines)
    assert lines[-1] == "≈ nothing new · 4 pass · 1 known · 2.0 s"


def test_hostile_names_cannot_act_on_the_terminal() -> None:
    hostile = make_cell("2.12.0", "s::c", Verdict.FAIL, reason="\x1b[2J\u202e")
    text = printed([run_started(), CaseFinished(hostile), RunFinished("r")])
    assert "s::c" in text
    assert all(line.isprintable() for line in text.split("\n"))
