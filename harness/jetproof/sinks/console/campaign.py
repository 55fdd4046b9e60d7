"""The sink that prints a run, a matrix or a gate: progress, what goes wrong as soon as it is known,
and a summary at the end.

On a terminal progress is drawn below the lines. Elsewhere (CI, a file, TERM=dumb) there are only plain
lines: one for each cell that needs attention, and one for each release of a matrix that is done.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO

from rich.cells import cell_len
from rich.text import Text

from jetproof.events import (
    CaseFinished,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    SchemaJudged,
    TargetFailed,
    TargetStarted,
)
from jetproof.model.verdict import Result, Verdict
from jetproof.model.wording import plural
from jetproof.sinks.console.evidence import duration, headline, log_lines, reason_line
from jetproof.sinks.console.lines import ORDER, Part, bold, dim, line, pad
from jetproof.sinks.console.progress import Progress, about
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.console.summary import SummaryOptions, summary
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.releases import Board, Release
from jetproof.sinks.text import visible

_WORST = (Verdict.ERROR, Verdict.FAIL, Verdict.STALE, Verdict.UNSTABLE)


class Console:
    """The sink for people. `tick` draws the progress again; call it now and then.

    `board` holds the releases of a matrix, `heading` is a line above the first one."""

    def __init__(
        self,
        stream: TextIO,
        *,
        options: SummaryOptions | None = None,
        verbose: bool = False,
        results: str = "",
        stopped: Callable[[], str] = lambda: "",
        board: Board | None = None,
        heading: str = "",
        screen: Screen | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.record = Record(keep_frames=None) if verbose else Record()
        self._screen = screen or Screen(stream)
        self._options = options or SummaryOptions()
        self._verbose = verbose
        self._results = results
        self._stopped = stopped
        self._board = board
        self._heading = heading
        self._clock = clock
        self._progress = Progress()
        self._failures: set[tuple[str, str]] = set()
        self._reported = False

    def handle(self, event: Event) -> None:
        now = self._clock()
        self.record.handle(event)
        self._progress.handle(event, now)
        done = self._board.handle(event, now) if self._board else None
        if lines := list(self._lines(event, now)):
            self._screen.print(lines)
        if done is not None:
            self._screen.print(self._release_lines(done, now))
        self.tick()

    def tick(self) -> None:
        """Draw the progress if it is time to."""
        if not self._reported and self.record.started is not None:
            self._progress.draw(self._screen, self._clock(), self._playing)

    def say(self, text: str) -> None:
        """Print a line of the command's own."""
        self._screen.say(text)

    def close(self) -> None:
        """Erase the progress; a run that ended without saying so is still summed up."""
        if not self._reported and self.record.started is not None:
            self._screen.print(self._report())

    def _lines(self, event: Event, now: float) -> Iterable[Text]:
        match event:
            case RunStarted():
                return self._start(event, now)
            case TargetStarted():
                return self._target(event) if self._verbose else ()
            case TargetFailed():
                return self._failed_target(event)
            case CaseFinished(cell=cell):
                return self._finish(cell)
            case SchemaJudged(result=result):
                return self._finish(result)
            case Notice():
                return self._screen.layout.note(event.text)
            case RunFinished():
                return self._report()
            case _:
                return ()

    def _start(self, event: RunStarted, now: float) -> Iterator[Text]:
        self._progress.begin(event.cells, now, self._board.to_play if self._board else None)
        if self._heading:
            yield line(visible(self._heading, 2000))
        targets = ", ".join(event.targets)
        if self._board:
            targets = plural(len(event.targets), "release")
            if len(event.targets) > 1:
                targets += f", {event.targets[0]} to {event.targets[-1]}"
            targets += f", {self._board.side_by_side} side by side"
        name = bold(f"jetproof {self._options.command} {event.run}")
        parts: list[Part] = [name, plural(event.cells, "cell"), *filter(None, [targets])]
        yield from self._screen.layout.flow(parts, head=line(), indent=2)
        if event.partial:
            yield line(dim(f"a partial run: {event.partial}"))

    def _target(self, event: TargetStarted) -> Iterator[Text]:
        words = f"{event.version} {event.provider} {event.topology} ({event.configuration})"
        ready = f"is ready after {duration(event.ms)}: {plural(event.cases, 'case')}"
        yield line(dim(f"  {words} {ready}"))

    def _failed_target(self, event: TargetFailed) -> Iterator[Text]:
        """A target that fails thirty times for one reason is reported once."""
        if (event.target, event.reason) in self._failures:
            return
        self._failures.add((event.target, event.reason))
        symbol = self._screen.layout.symbol(Verdict.ERROR)
        where = f"{event.target} {event.topology} ({event.configuration})"
        yield line(symbol, " ", bold(where), ": ", visible(event.reason, 2000))
        yield from log_lines(event.log)

    def _finish(self, result: Result) -> Iterator[Text]:
        outcome = Outcome(result)
        if result.verdict is Verdict.ERROR and (result.target, result.reason) in self._failures:
            return
        attention = outcome.is_explained(all_cells=self._verbose)
        if attention or self._verbose:
            yield headline(outcome, self._screen.layout)
        if attention:
            yield from reason_line(outcome, self._screen.layout)

    def _release_lines(self, row: Release, now: float) -> list[Text]:
        layout, verdicts, board = self._screen.layout, row.verdicts, self._board
        assert board is not None
        worst = next((verdict for verdict in _WORST if verdicts[verdict]), None)
        applies = any(verdict is not Verdict.NOT_APPLICABLE for verdict in verdicts)
        look = worst or (Verdict.PASS if applies else Verdict.NOT_APPLICABLE)
        names = max(cell_len(visible(name)) for name in board.releases)
        parts: list[Part] = [
            line(layout.symbol(look), " ", bold(pad(row.target, names))),
            *(f"{verdicts[verdict]} {verdict.value}" for verdict in ORDER if verdicts[verdict]),
        ]
        if row.seconds is not None:
            parts.append(duration(row.seconds * 1000))
        parts.append(f"{board.done} of {plural(len(board.releases), 'release')}")
        left = self._progress.seconds_left(now)
        if left and left >= 1 and board.done < len(board.releases):
            parts.append(f"about {about(left)} left")
        return layout.flow(parts, head=line(), indent=2)

    def _playing(self) -> str:
        """How far each release is that is being played."""
        if not self._board:
            return ""
        running = (f"{row.target} {row.played}/{row.expected.cells}" for row in self._board.running)
        done = f"{self._board.done}/{len(self._board.releases)} releases"
        return "  ".join([done, ", ".join(running)]).rstrip()

    def _report(self) -> Iterator[Text]:
        self._reported = True
        self._screen.hide()
        yield from summary(
            self.record,
            self._screen.layout,
            verbose=self._verbose,
            results=self._results,
            stopped=self._stopped(),
            options=self._options,
            board=self._board,
        )
