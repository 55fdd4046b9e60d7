"""One case for people, whole: every frame of its transcript. And the same for machines."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from jetproof.events import CaseFinished, Event, Notice, RunStarted, TargetFailed, TargetStarted
from jetproof.model.verdict import Verdict
from jetproof.results.documents.playing import ReplayDocument
from jetproof.results.rows import cell_row, check_row, frame_row
from jetproof.sinks.console.evidence import (
    check_table,
    duration,
    explain,
    headline,
    reason_line,
)
from jetproof.sinks.console.lines import dim, line
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.record import Outcome
from jetproof.sinks.text import visible


class ReplayConsole:
    """The sink that shows one case, whole."""

    def __init__(self, screen: Screen, case: str, verbose: bool) -> None:
        self.finished: CaseFinished | None = None
        self._screen = screen
        self._case = case
        self._verbose = verbose
        self._clauses: RunStarted | None = None

    def handle(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._clauses = event
            case TargetStarted():
                what = f"{event.version} {event.provider} {event.topology} {event.configuration}"
                ready = f"{what}, ready after {duration(event.ms)}"
                self._screen.print([line(dim(ready))])
            case TargetFailed():
                symbol = self._screen.layout.symbol(Verdict.ERROR)
                self._screen.print([line(symbol, " ", visible(event.reason, 4000))])
            case CaseFinished():
                self._screen.print(self._finish(event))
            case Notice():
                self.say(event.text)
            case _:
                pass

    def close(self) -> None:
        """Nothing is held."""

    def say(self, text: str) -> None:
        self._screen.say(text)

    def _finish(self, event: CaseFinished) -> Iterator[Text]:
        layout = self._screen.layout
        frames = tuple(event.frames)
        failed = tuple(check for check in event.checks if not check.ok)
        outcome = Outcome(event.cell, failed, frames, len(frames))
        if event.cell.case != self._case:
            if event.cell.verdict.nonconforming:
                yield headline(outcome, layout)
                yield from reason_line(outcome, layout)
            return
        self.finished = event
        clauses = {row.id: row for row in self._clauses.clauses} if self._clauses else {}
        yield from explain(outcome, clauses, layout, whole=True, log=self._verbose, replay=False)
        if self._verbose and event.checks:
            yield line()
            yield from check_table(event.checks, layout)
        for key, text in event.cell.position.items():
            yield line(f"    position {key}: {visible(text, 1000)}")


def replay_document(run: str, finished: CaseFinished | None, code: int) -> ReplayDocument:
    if finished is None:
        return ReplayDocument(schema=1, cell=None, checks=[], frames=[], exit_code=code)
    cell = finished.cell
    return ReplayDocument(
        schema=1,
        cell=cell_row(run, cell),
        checks=[check_row(run, cell, n, check) for n, check in enumerate(finished.checks, 1)],
        frames=[frame_row(run, cell, n, frame) for n, frame in enumerate(finished.frames, 1)],
        exit_code=code,
    )
