"""The terminal while a matrix is played: how far every release is, and how long the rest takes.

On a terminal one line is drawn anew; elsewhere a plain line tells of every release that is done.
A cell that fails is told at once, as in a run. A server that could not start is told once, and not
again for each of its cells.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from jetproof.events import CaseFinished, Event, RunStarted, TargetFailed
from jetproof.model.verdict import Verdict
from jetproof.sinks.console import Console
from jetproof.sinks.evidence import duration
from jetproof.sinks.matrix_summary import matrix_summary
from jetproof.sinks.paint import ORDER, Paint
from jetproof.sinks.releases import Board, Progress
from jetproof.sinks.text import fit, pad, visible, width


class MatrixConsole(Console):
    """The console of a matrix. `heading` is its first line."""

    def __init__(
        self,
        stream: TextIO,
        board: Board,
        heading: str,
        *,
        paint: Paint | None = None,
        live: bool | None = None,
        verbose: bool = False,
        results: str = "",
        stopped: Callable[[], str] = lambda: "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(
            stream,
            paint=paint,
            live=live,
            verbose=verbose,
            results=results,
            stopped=stopped,
            clock=clock,
        )
        self.board = board
        self._heading = heading
        self._told: set[tuple[str, str]] = set()

    def handle(self, event: Event) -> None:
        if isinstance(event, TargetFailed):
            if (event.target, event.reason) in self._told:
                # Thirty groups of a broken release fail alike; the record still has to know.
                self.record.handle(event)
                self.board.handle(event, self._clock())
                return
            self._told.add((event.target, event.reason))
        done = self.board.handle(event, self._clock())
        super().handle(event)
        if done is not None:
            self._print([self._release_line(done)])

    def _start(self, event: RunStarted) -> None:
        self._began = self._clock()
        paint, targets = self.paint, event.targets
        many = f"{len(targets)} release{'' if len(targets) == 1 else 's'}"
        if len(targets) > 1:
            many += f", {visible(targets[0])} to {visible(targets[-1])}"
        sides = f"{self.board.side_by_side} side by side"
        parts = [paint.bold(f"jetproof matrix {event.run}"), f"{event.cells} cells", many, sides]
        self._print([visible(self._heading, 2000), f" {paint.dot} ".join(parts)])
        if event.partial:
            self._print([paint.dim(f"a partial run: {visible(event.partial)}")])

    def _finish(self, event: CaseFinished) -> None:
        cell = event.cell
        known_cause = cell.verdict is Verdict.ERROR and (cell.target, cell.reason) in self._told
        if known_cause:
            self._running.pop((cell.case, cell.target), None)
        else:
            super()._finish(event)

    def _release_line(self, row: Progress) -> str:
        paint, verdicts = self.paint, row.verdicts
        worst = next(
            (
                v
                for v in (Verdict.ERROR, Verdict.FAIL, Verdict.STALE, Verdict.UNSTABLE)
                if verdicts[v]
            ),
            None,
        )
        applies = any(verdict is not Verdict.NOT_APPLICABLE for verdict in verdicts)
        look = worst or (Verdict.PASS if applies else Verdict.NOT_APPLICABLE)
        names = max(width(visible(name)) for name in self.board.releases)
        parts = [f"{paint.symbol(look)} {paint.bold(pad(visible(row.target), names))}"]
        parts += [f"{verdicts[verdict]} {verdict.value}" for verdict in ORDER if verdicts[verdict]]
        if row.seconds is not None:
            parts.append(duration(row.seconds * 1000))
        parts.append(f"{self.board.done} of {len(self.board.releases)} releases")
        if left := self._left(self._clock()):
            parts.append(left)
        return f" {paint.dot} ".join(parts)

    def _left(self, now: float) -> str:
        seconds = self.board.seconds_left(now)
        if seconds is None or self.board.done == len(self.board.releases):
            return ""
        return f"about {_roughly(seconds)} left"

    def _line(self, now: float) -> str:
        """Releases, cells, verdicts, time gone and left, and what is being played."""
        paint, record, board = self.paint, self.record, self.board
        spinner = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏" if paint.unicode else "|/-\\"
        turn = spinner[self._turn % len(spinner)]
        count = f"{turn} {board.done}/{len(board.releases)} releases"
        cells = f"{record.played}/{record.planned}"
        parts = [(len(count), paint.bold(count)), (len(cells), cells)]
        counts = record.verdicts
        for verdict in ORDER:
            if number := counts[verdict]:
                parts.append((2 + len(str(number)), f"{paint.symbol(verdict)} {number}"))
        times = [duration((now - self._began) * 1000), self._left(now)]
        elapsed = ", ".join(filter(None, times))
        parts.append((len(elapsed), paint.dim(elapsed)))
        room, shown = paint.columns - 1, []
        for size, text in parts:
            if size > room:
                break
            shown.append(text)
            room -= size + 2
        playing = ", ".join(
            f"{visible(row.target)} {row.played}/{row.expected.cells}" for row in board.running
        )
        if playing and room > 12:
            shown.append(paint.dim(fit(playing, room)))
        return "  ".join(shown)

    def _report(self) -> None:
        self._reported = True
        self._running.clear()
        self._print(
            matrix_summary(
                self.record,
                self.board,
                self.paint,
                verbose=self._verbose,
                results=self._results,
                stopped=self._stopped(),
            )
        )


def _roughly(seconds: float) -> str:
    """An estimate, no more exact than it is."""
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    return f"{round(seconds / 60)} min"
