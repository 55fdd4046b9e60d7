"""How far a campaign is: cells played of cells planned, verdicts, time gone and time left, and what
is being played. Every campaign shows the same display.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

from rich.cells import cell_len
from rich.text import Text

from jetproof.events import CaseFinished, CaseHeld, CaseStarted, Event, SchemaJudged
from jetproof.model.verdict import Result, Verdict
from jetproof.sinks.console.lines import ORDER, Layout, Part, bold, dim, joined, line
from jetproof.sinks.console.screen import Screen

_REDRAW_SECONDS = 0.1
_BAR = 20
_ECHO = 3
"""Room for the `^C` that a terminal writes at the end of the display: it must not wrap."""
_LEAST_BAR = 8
_RECENT_SECONDS = 20.0
_ESTIMATE_SECONDS, _ESTIMATE_CELLS = 3.0, 5
"""An estimate of the time left needs some seconds and some cells."""


class Progress:
    """Counts what is played. `label` names the current part, such as a round."""

    def __init__(self, noun: str = "cells") -> None:
        self.noun = noun
        self.label = ""
        self.planned = 0
        self.done = 0
        self.verdicts: Counter[Verdict] = Counter()
        self.running: dict[tuple[str, str], float] = {}
        self._verdict_of: dict[tuple[str, str], Verdict | None] = {}
        self._began: float | None = None
        self._played: deque[float] = deque()
        self._played_before = 0
        self._to_play: int | None = None
        self._drawn_at: float | None = None

    def begin(self, planned: int, now: float, to_play: int | None = None) -> None:
        """`planned` cells are to come, of which `to_play` have to be played if that is known. What was
        counted before stays counted."""
        self._to_play = to_play
        if self._began is None:
            self._began = now
        self.planned = self.done + planned

    def handle(self, event: Event, now: float) -> None:
        """Count a cell; a further attempt replaces the one before it."""
        match event:
            case CaseStarted():
                self.running[event.case, event.target] = now
            case CaseHeld():
                self.running.pop((event.case, event.target), None)
            case CaseFinished(cell=cell):
                started = self.running.pop((cell.case, cell.target), None)
                if (cell.name, cell.target) not in self._verdict_of:
                    self.advance(now, played=started is not None)
                self._count(cell)
            case SchemaJudged():
                self._count(event.result)
            case _:
                pass

    def _count(self, result: Result) -> None:
        before = self._verdict_of.get((result.name, result.target))
        if before is not None:
            self.verdicts[before] -= 1
        if result.scored:
            self.verdicts[result.verdict] += 1
        self._verdict_of[result.name, result.target] = result.verdict if result.scored else None

    def advance(self, now: float, *, played: bool = True) -> None:
        """One more is done. Only what was `played` says how long the others take."""
        self.done += 1
        if played:
            self._played.append(now)
            while self._played[0] < now - _RECENT_SECONDS:
                self._played.popleft()
                self._played_before += 1

    def part(self, label: str) -> None:
        """A new part begins: verdicts and running cases of the last one are forgotten."""
        self.label = label
        self.verdicts.clear()
        self.running.clear()
        self._verdict_of.clear()

    def seconds_gone(self, now: float) -> float:
        return 0.0 if self._began is None else now - self._began

    def seconds_left(self, now: float) -> float | None:
        """How long the rest takes at the speed of the campaign so far, or at its speed of late if that
        is higher: the longest cases are played first."""
        spent, played = self.seconds_gone(now), self._played_before + len(self._played)
        if spent < _ESTIMATE_SECONDS or played < _ESTIMATE_CELLS or self.done >= self.planned:
            return None
        recent = sum(when > now - _RECENT_SECONDS for when in self._played)
        speed = played / spent
        if recent >= _ESTIMATE_CELLS:
            speed = max(speed, recent / min(spent, _RECENT_SECONDS))
        rest = self.planned - self.done if self._to_play is None else self._to_play - played
        return max(0, rest) / speed

    def draw(self, screen: Screen, now: float, playing: Callable[[], str] = str) -> None:
        """Show the progress on a terminal, not faster than an eye can follow."""
        if not screen.interactive:
            return
        if self._drawn_at is None or now - self._drawn_at >= _REDRAW_SECONDS:
            self._drawn_at = now
            screen.show(self.lines(screen.layout, screen.columns, now, playing()))

    def lines(self, layout: Layout, columns: int, now: float, playing: str = "") -> list[Text]:
        """Two lines at most, neither wider than the terminal. `playing` says what is being played."""
        room = columns - _ECHO
        second = self._playing(layout, room, now, playing)
        return [self._first(layout, room, now), *([second] if second.plain else [])]

    def _first(self, layout: Layout, room: int, now: float) -> Text:
        count = f"{self.done}/{self.planned} {self.noun}" if self.planned else self.label
        times = gone(self.seconds_gone(now))
        if (left := self.seconds_left(now)) is not None:
            times += f", about {about(left)} left"
        parts: list[Part] = [bold(count), dim(times)]
        parts += [
            line(layout.symbol(verdict), f" {self.verdicts[verdict]}")
            for verdict in ORDER
            if self.verdicts[verdict] and verdict is not Verdict.NOT_APPLICABLE
        ]
        if self.label and self.planned:
            parts.insert(0, self.label)
        shown = _fitting(parts, room)
        bar = min(_BAR, room - sum(map(_width, shown)) - 2 * len(shown))
        if self.planned and bar >= _LEAST_BAR:
            shown.insert(0, self._bar(layout, bar))
        return joined("  ", shown) if shown else line(layout.fit(count, max(0, room)))

    def _bar(self, layout: Layout, size: int) -> Text:
        full = size * min(self.done, self.planned) // max(1, self.planned)
        mark, rest = ("━", "─") if layout.unicode else ("=", "-")
        return line((mark * full, "green"), (rest * (size - full), "dim"))

    def _playing(self, layout: Layout, room: int, now: float, playing: str) -> Text:
        """The current targets, and the case that has been running longest."""
        targets = dict.fromkeys(target for _, target in self.running)
        playing = playing or (", ".join(targets) if len(targets) > 1 else "")
        words = [playing] if playing else []
        if self.running:
            (case, target), since = min(self.running.items(), key=lambda item: item[1])
            where = f" @{target}" if len(targets) == 1 else ""
            more = f" +{len(self.running) - 1}" if len(self.running) > 1 else ""
            tail = f" {gone(now - since)}{more}"
            taken = sum(cell_len(word) + 2 for word in words)
            if room - taken - len(tail) > 12:
                words.append(layout.fit(case + where, room - taken - len(tail)) + tail)
        return line(dim(layout.fit("  ".join(words), max(0, room))))


def gone(seconds: float) -> str:
    """The time that has passed, no more exact than an eye can follow."""
    if seconds < 60:
        return f"{int(seconds)} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60):02} s"
    return f"{int(seconds // 3600)} h {int(seconds % 3600 // 60):02} min"


def about(seconds: float) -> str:
    """An estimate, no more exact than it is."""
    if seconds < 90:
        return f"{max(5, round(seconds / 5) * 5)} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600, 1):g} h"


def _width(part: Part) -> int:
    return line(part).cell_len


def _fitting(parts: Sequence[Part], room: int) -> list[Part]:
    """The first parts, as many as there is room for."""
    shown: list[Part] = []
    for part in parts:
        size = _width(part)
        if size > room:
            break
        shown.append(part)
        room -= size + 2
    return shown
