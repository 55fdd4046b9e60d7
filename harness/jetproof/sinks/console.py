"""The terminal: a live line while a run goes on, what went wrong at once, a summary at the end.

On a terminal one line is drawn anew; elsewhere (CI, a file, TERM=dumb) only plain lines are
written, one for each cell that needs attention, as it comes. Both end with the same summary.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from jetproof.events import (
    CaseFinished,
    CaseHeld,
    CaseStarted,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    SchemaJudged,
    TargetFailed,
    TargetStarted,
)
from jetproof.model.verdict import Result, Verdict
from jetproof.sinks.evidence import duration, headline
from jetproof.sinks.paint import ORDER, Paint, is_terminal, paint_for
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.summary import Front, summary
from jetproof.sinks.text import fit, visible

_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_PLAIN_SPINNER = "|/-\\"
_REDRAW_SECONDS = 0.08
_ERASE = "\r\x1b[2K"
_LOG_LINES = 12


class Console:
    """The sink for people. `tick` draws the live line anew; call it now and then."""

    def __init__(
        self,
        stream: TextIO,
        *,
        paint: Paint | None = None,
        live: bool | None = None,
        verbose: bool = False,
        results: str = "",
        stopped: Callable[[], str] = lambda: "",
        front: Front | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.paint = paint or paint_for(stream)
        self.record = Record(keep_frames=None) if verbose else Record()
        self._stream = stream
        self._live = is_terminal(stream) if live is None else live
        self._verbose = verbose
        self._results = results
        self._stopped = stopped
        self._front = front
        self._clock = clock
        self._began = clock()
        self._drawn_at = 0.0
        self._drawn = False
        self._turn = 0
        self._running: dict[tuple[str, str], float] = {}
        self._reported = False
        self._gone = False

    def handle(self, event: Event) -> None:
        self.record.handle(event)
        match event:
            case RunStarted():
                self._start(event)
            case TargetStarted():
                if self._verbose:
                    self._print(self._target(event))
            case TargetFailed():
                self._print(self._failed_target(event))
            case CaseStarted():
                self._running[event.case, event.target] = self._clock()
            case CaseHeld():
                self._running.pop((event.case, event.target), None)
            case CaseFinished():
                self._finish(event)
            case SchemaJudged(result=result):
                self._print_result(result)
            case Notice():
                self.say(event.text)
            case RunFinished():
                self._report()
            case _:
                pass
        self.tick()

    def tick(self) -> None:
        """Draw the live line if it is time to."""
        now = self._clock()
        if not self._live or self._reported or self.record.started is None:
            return
        if now - self._drawn_at >= _REDRAW_SECONDS:
            self._drawn_at = now
            self._turn += 1
            self._write(f"{_ERASE}{self._line(now)}")
            self._drawn = True

    def say(self, text: str) -> None:
        """A line of the front's own, above the live line."""
        self._print([f"{self.paint.style('note', 'yellow')} {visible(text, 2000)}"])

    def close(self) -> None:
        """Erase the live line; a run that ended without saying so is still summed up."""
        if not self._reported and self.record.started is not None:
            self._report()

    def _start(self, event: RunStarted) -> None:
        self._began = self._clock()
        paint = self.paint
        cells = f"{event.cells} cell{'' if event.cells == 1 else 's'}"
        targets = ", ".join(visible(target) for target in event.targets)
        parts = [paint.bold(f"jetproof run {event.run}"), cells, targets]
        self._print([f" {paint.dot} ".join(part for part in parts if part)])
        if event.partial:
            self._print([paint.dim(f"a partial run: {visible(event.partial)}")])

    def _finish(self, event: CaseFinished) -> None:
        self._running.pop((event.cell.case, event.cell.target), None)
        self._print_result(event.cell)

    def _print_result(self, result: Result) -> None:
        wanted = Outcome(result).is_explained(all_cells=self._verbose)
        if wanted or self._verbose:
            self._print([headline(Outcome(result), self.paint, reason=wanted)])

    def _target(self, event: TargetStarted) -> Iterable[str]:
        words = f"{event.version} {event.provider} {event.topology} ({event.configuration})"
        many = f"{event.cases} case{'' if event.cases == 1 else 's'}"
        yield self.paint.dim(f"  {visible(words)} is ready after {duration(event.ms)}: {many}")

    def _failed_target(self, event: TargetFailed) -> Iterable[str]:
        paint = self.paint
        where = f"{visible(event.target)} {event.topology} ({event.configuration})"
        yield f"{paint.symbol(Verdict.ERROR)} {paint.bold(where)}: {visible(event.reason, 2000)}"
        for line in event.log[-_LOG_LINES:]:
            yield f"    {paint.dim(visible(line, 300))}"

    def _line(self, now: float) -> str:
        """Counted, running, how long; the oldest running case is what the run waits for."""
        paint, record = self.paint, self.record
        frames = _SPINNER if paint.unicode else _PLAIN_SPINNER
        counts = record.verdicts
        count = f"{frames[self._turn % len(frames)]} {record.played}/{record.planned}"
        parts = [(len(count), paint.bold(count))]
        for verdict in ORDER:
            if number := counts[verdict]:
                parts.append((2 + len(str(number)), f"{paint.symbol(verdict)} {number}"))
        elapsed = duration((now - self._began) * 1000)
        parts.append((len(elapsed), paint.dim(elapsed)))
        room, shown = paint.columns - 1, []
        for size, text in parts:
            if size > room:
                break
            shown.append(text)
            room -= size + 2
        if self._running and room > 20:
            (case, target), since = min(self._running.items(), key=lambda item: item[1])
            more = f" {duration((now - since) * 1000)}"
            more += f" +{len(self._running) - 1}" if len(self._running) > 1 else ""
            name = f"{visible(case)} @{visible(target)}"
            shown.append(paint.dim(fit(name, room - len(more)) + more))
        return "  ".join(shown)

    def _report(self) -> None:
        self._reported = True
        self._running.clear()
        self._print(
            summary(
                self.record,
                self.paint,
                verbose=self._verbose,
                results=self._results,
                stopped=self._stopped(),
                front=self._front,
            )
        )

    def _print(self, lines: Iterable[str]) -> None:
        text = "".join(f"{line}\n" for line in lines)
        if self._drawn:
            text = f"{_ERASE}{text}"
            self._drawn = False
            self._drawn_at = 0.0
        self._write(text)

    def _write(self, text: str) -> None:
        """A reader that has gone (`| head`) ends the printing, not the run."""
        if self._gone:
            return
        try:
            self._stream.write(text)
        except UnicodeEncodeError:
            encoding = self._stream.encoding or "ascii"
            safe = text.encode(encoding, "backslashreplace").decode(encoding)
            with contextlib.suppress(OSError):
                self._stream.write(safe)
        except (BrokenPipeError, ValueError):
            self._gone = True
            return
        try:
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self._gone = True
