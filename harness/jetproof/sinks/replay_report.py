"""One case for people, whole: every frame of its transcript. And the same for machines."""

from __future__ import annotations

from typing import TextIO

from jetproof.events import CaseFinished, Event, Notice, RunStarted, TargetFailed, TargetStarted
from jetproof.model.verdict import Verdict
from jetproof.results.rows import cell_row, check_row, frame_row
from jetproof.sinks.evidence import check_table, duration, explain, headline
from jetproof.sinks.paint import Paint
from jetproof.sinks.record import Outcome
from jetproof.sinks.text import visible


class ReplayConsole:
    """The sink that shows one case, whole."""

    def __init__(self, stream: TextIO, paint: Paint, case: str, verbose: bool) -> None:
        self.finished: CaseFinished | None = None
        self._stream = stream
        self._paint = paint
        self._case = case
        self._verbose = verbose
        self._clauses: RunStarted | None = None

    def handle(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._clauses = event
            case TargetStarted():
                what = f"{event.version} {event.provider} {event.topology} {event.configuration}"
                self._line(self._paint.dim(f"{visible(what)}, ready after {duration(event.ms)}"))
            case TargetFailed():
                self._line(f"{self._paint.symbol(Verdict.ERROR)} {visible(event.reason, 4000)}")
            case CaseFinished():
                self._finish(event)
            case Notice():
                self.say(event.text)
            case _:
                pass

    def close(self) -> None:
        self._stream.flush()

    def say(self, text: str) -> None:
        self._line(f"{self._paint.style('note', 'yellow')} {visible(text, 2000)}")
        self._stream.flush()

    def _finish(self, event: CaseFinished) -> None:
        frames = tuple(event.frames)
        failed = tuple(check for check in event.checks if not check.ok)
        outcome = Outcome(event.cell, failed, frames, len(frames))
        if event.cell.case != self._case:
            if event.cell.verdict.nonconforming:
                self._line(headline(outcome, self._paint, reason=True))
            return
        self.finished = event
        clauses = {row.id: row for row in self._clauses.clauses} if self._clauses else {}
        for line in explain(
            outcome, clauses, self._paint, whole=True, log=self._verbose, replay=False
        ):
            self._line(line)
        if self._verbose and event.checks:
            self._line("")
            for line in check_table(event.checks, self._paint):
                self._line(line)
        for key, text in event.cell.position.items():
            self._line(f"    position {visible(key)}: {visible(text, 1000)}")
        self._stream.flush()

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")


def replay_document(run: str, finished: CaseFinished | None, code: int) -> dict[str, object]:
    if finished is None:
        return {"schema": 1, "cell": None, "checks": [], "frames": [], "exit_code": code}
    cell = finished.cell
    return {
        "schema": 1,
        "cell": cell_row(run, cell),
        "checks": [check_row(run, cell, n, check) for n, check in enumerate(finished.checks, 1)],
        "frames": [frame_row(run, cell, n, frame) for n, frame in enumerate(finished.frames, 1)],
        "exit_code": code,
    }
