"""A soak for people and for programs: a line per round, the cells that flipped, the last line.

A flip is shown with what each round saw, the checks that differ, and the frames of one round of
each outcome. Names that a run makes up are placeholders here (`stream_<id>`), so that only what
differs looks different; the folders of the rounds keep the exact bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.text import Text

from jetproof.campaigns.alignment import Pair, first_difference, plain
from jetproof.campaigns.load import LoadReport, total
from jetproof.campaigns.soak import Detail, Outcome, Round, Side, Soak
from jetproof.errors import JetproofError
from jetproof.events import Event, RunStarted
from jetproof.model.verdict import Check, FrameRecord, Verdict
from jetproof.model.wording import plural
from jetproof.results.rows import Row, value_text
from jetproof.sinks.console.evidence import mismatch_table
from jetproof.sinks.console.lines import (
    ALARM,
    ORDER,
    Layout,
    Part,
    bold,
    dim,
    joined,
    line,
    pad,
    worded,
)
from jetproof.sinks.console.progress import Progress
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.text import visible, visible_payload

DETAILED = 10
_COLUMNS_FROM = 120
_CONTEXT = 2
_FRAME_ROWS = 14
_SEEN_ROUNDS = 12
_MISSING = "missing"


@dataclass(frozen=True, slots=True)
class About:
    """What is played. `shared` are the targets that the rounds do not start themselves."""

    id: str
    rounds: int
    cells: int
    targets: tuple[str, ...]
    shared: tuple[str, ...]
    partial: str
    load: int | None
    results: str


class SoakConsole:
    """Prints a soak. `tick` draws the progress again; call it now and then."""

    def __init__(
        self,
        stream: TextIO,
        about: About,
        *,
        verbose: bool = False,
        screen: Screen | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.about = about
        self._screen = screen or Screen(stream)
        self._verbose = verbose
        self._clock = clock
        self._progress = Progress()
        self._round = 0

    def start(self) -> None:
        about, layout = self.about, self._screen.layout
        parts: list[Part] = [
            bold(f"jetproof soak {about.id}"),
            f"{about.rounds} rounds of {plural(about.cells, 'cell')}",
            ", ".join(about.targets),
        ]
        lines = [joined(layout.separator, parts)]
        if about.load is not None:
            lines.append(line(dim(f"load: {_cores(about.load)} and the disk, in every round")))
        if about.partial:
            lines.append(line(dim(f"a partial soak: {about.partial}")))
        for target in about.shared:
            lines += layout.note(f"{target} is not started again: the rounds share it")
        lines.append(line(dim(_ROUND_HEAD.rstrip())))
        self._screen.print(lines)
        self._progress.begin(about.rounds * about.cells, self._clock())

    def handle(self, event: Event) -> None:
        """Count what is played."""
        if isinstance(event, RunStarted):
            self._round += 1
            self._progress.part(f"round {self._round} of {self.about.rounds}")
        self._progress.handle(event, self._clock())

    def tick(self) -> None:
        if self._round:
            self._progress.draw(self._screen, self._clock())

    def round(self, done: Round) -> None:
        self._screen.print(round_lines(done, self._screen.layout))
        if done.load is not None and done.load.failures:
            for failure in done.load.failures:
                self.say(f"round {done.number} was without a part of its load: {failure}")

    def say(self, text: str) -> None:
        self._screen.say(text)

    def flip(self, number: int, detail: Detail) -> None:
        """One flip, whole or by its name."""
        layout = self._screen.layout
        if self._verbose or number < DETAILED:
            lines = flip_lines(detail, layout, whole=self._verbose)
            self._screen.print([line(), *lines])
            return
        if number == DETAILED:
            title = line(bold("further cells that flipped (-v shows them whole)"))
            self._screen.print([line(), title])
        flip = detail.flip
        self._screen.print([line("  ", flip.cell), line("    ", _seen(flip.seen))])

    def end(self, soak: Soak, *, interrupted: bool, failures: Sequence[JetproofError]) -> None:
        layout = self._screen.layout
        self._screen.print([line(), *end_lines(soak, self.about, layout, interrupted, failures)])

    def close(self) -> None:
        """Erase the progress."""
        self._round = 0
        self._screen.hide()


_ROUND_HEAD = f"{'round':>5}  {'seconds':>7}  {'replays':>7}  {'flips':>5}  verdicts"


def round_lines(done: Round, layout: Layout) -> list[Text]:
    """One line per round, more only where the verdicts do not fit."""
    head = line(
        f"{done.number:>5}  {done.seconds:>7.1f}  {done.replayed:>7}  ",
        (f"{done.flips:>5}", ALARM if done.flips else ""),
        "  ",
    )
    counts = [
        worded(verdict, f"{done.verdicts[verdict]} {verdict.value}")
        for verdict in ORDER
        if done.verdicts.get(verdict)
    ]
    indent = head.cell_len if layout.width >= 60 else 4
    return layout.flow(counts, head=head, indent=indent, separator="  ")


def flip_lines(detail: Detail, layout: Layout, *, whole: bool = False) -> Iterator[Text]:
    """One flip: its name, what each round saw, the checks, the frames."""
    flip, first = detail.flip, detail.sides[0]
    yield line(bold(flip.cell))
    yield line("  ", _seen(flip.seen))
    for side in detail.sides:
        yield line(f"  {_rounds(side)}: ", _outcome(side.outcome, layout))
        if side.cell is not None and side.cell.verdict is Verdict.ERROR:
            reason = visible(side.cell.reason, 400)
            yield line("      ", layout.fit(reason, layout.width - 6))
        if side.failed and (side is first or _failed(side.failed) != _failed(first.failed)):
            yield from mismatch_table(side.failed, layout)
    compared = next((side for side in detail.sides if not side.pairs and side.cell), None)
    for side in detail.sides:
        if side.pairs and compared is not None:
            yield from _frames(compared, side, layout, whole=whole)
    replay = next((side.cell.replay for side in detail.sides if side.cell is not None), "")
    if replay:
        yield line("  replay it: ", bold(replay))


def _frames(a: Side, b: Side, layout: Layout, *, whole: bool) -> Iterator[Text]:
    at = first_difference(b.pairs)
    names = f"round {a.round}", f"round {b.round}"
    if at is None:
        yield line(dim(f"  frames: the same in {names[0]} and {names[1]}"))
        return
    wide = layout.width >= _COLUMNS_FROM
    if wide:
        column = (layout.width - 9) // 2
        yield line("  ", bold("frames"), f"  {pad(names[0], column - 4)} | {names[1]}")
    else:
        legend = dim(f"(- {names[0]}, + {names[1]}, * the first that differs)")
        yield line("  ", bold("frames"), " ", legend)
    shown = range(len(b.pairs)) if whole else _around(b.pairs, at)
    step, before = None, -1
    for place in shown:
        if place > before + 1:
            equal = plural(place - before - 1, "equal frame")
            yield line(dim(f"      {layout.ellipsis} {equal}"))
        before, pair = place, b.pairs[place]
        if pair.step != step:
            step = pair.step
            yield line(dim(f"    {'' if step in ('given', 'advisories') else 'step '}{step}"))
        yield from (_beside if wide else _below)(pair, layout, mark="*" if place == at else " ")
    if before < len(b.pairs) - 1:
        rest = plural(len(b.pairs) - 1 - before, "frame")
        yield line(dim(f"      {layout.ellipsis} {rest} more"))


def _around(pairs: Sequence[Pair], at: int) -> list[int]:
    """The places to show: what differs, with a little before and after, from the first on."""
    shown: list[int] = []
    for place in range(max(0, at - _CONTEXT), len(pairs)):
        near = range(max(0, place - _CONTEXT), min(len(pairs), place + _CONTEXT + 1))
        if any(not pairs[other].same for other in near):
            shown.append(place)
    return shown[:_FRAME_ROWS]


def _below(pair: Pair, layout: Layout, mark: str) -> Iterator[Text]:
    a, b = _texts(pair, layout, layout.width - 8)
    if pair.same:
        yield line("        ", dim(a or ""))
        return
    star = mark, ALARM
    if a is not None:
        yield line("    ", star, " ", (f"- {a}", "red"))
        star = " ", ""
    if b is not None:
        yield line("    ", star, " ", (f"+ {b}", "green"))


def _beside(pair: Pair, layout: Layout, mark: str) -> Iterator[Text]:
    column = (layout.width - 9) // 2
    a, b = _texts(pair, layout, column)
    left, right = pad(a or "", column), b or ""
    if pair.same:
        yield line("      ", dim(f"{left} | {right}"))
    else:
        yield line("    ", (mark, ALARM), " ", (left, "red"), " | ", (right, "green"))


def _texts(pair: Pair, layout: Layout, room: int) -> tuple[str | None, str | None]:
    """Both frames in one line each; where they differ late, the line begins shortly before."""
    a, b = (None if frame is None else frame_text(frame) for frame in (pair.a, pair.b))
    if a is not None and b is not None and not pair.same:
        same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
        head = min(len(a), len(b), 14)
        if same > room * 2 // 3:
            start = same - room // 3
            a, b = (f"{text[:head]}{layout.ellipsis} {text[start:]}" for text in (a, b))
    return (
        None if a is None else layout.fit(a, room),
        None if b is None else layout.fit(b, room),
    )


def frame_text(frame: FrameRecord) -> str:
    """A frame in one line, with placeholders for what the run made up."""
    parts = [frame.direction, frame.connection, frame.op, plain(frame.subject)]
    if frame.reply:
        parts.append(f"reply={plain(frame.reply)}")
    if frame.status is not None:
        parts.append(f"{frame.status} {frame.description}".rstrip())
    if frame.note:
        parts.append(plain(frame.note))
    if frame.headers:
        parts.append(
            "{" + ", ".join(f"{name}: {plain(value)}" for name, value in frame.headers) + "}"
        )
    text = " ".join(visible(part, 400) for part in parts if part)
    payload = plain(visible_payload(frame.payload, 4000))
    return f"{text} {payload}" if payload else text


def end_lines(
    soak: Soak,
    about: About,
    layout: Layout,
    interrupted: bool,
    failures: Sequence[JetproofError],
) -> Iterator[Text]:
    """What the load did, where the results are, and the one line that counts."""
    drifting = soak.drifting
    if drifting:
        yield line(
            f"{len(drifting)} with the same verdict in every round, but not the same failed checks:"
        )
        yield from (line("  ", name) for name in drifting[:DETAILED])
        if len(drifting) > DETAILED:
            yield line(dim(f"  and {len(drifting) - DETAILED} more"))
    load = total([done.load for done in soak.rounds if done.load is not None])
    if load is not None:
        yield line(_load_text(load, soak.rounds))
    for failure in failures:
        yield from layout.note(str(failure))
    yield line(dim(f"results: {about.results}"))
    flips = len(soak.flips)
    schemas = sum(flip.of_schema for flip in soak.flips)
    text = f"{plural(flips, 'flip')} in {plural(len(soak.rounds), 'round')} "
    text += f"of {plural(about.cells, 'cell')}"
    text += f" (load: {_cores(about.load)})" if about.load is not None else ""
    parts = [text]
    if schemas:
        parts.append(f"{schemas} of the flips in schemas")
    if soak.undecided:
        parts.append("some cells got no verdict")
    if interrupted or len(soak.rounds) < about.rounds:
        why = "interrupted" if interrupted else "stopped"
        parts.append(f"{why} in round {len(soak.rounds) + 1} of {about.rounds}")
    yield line((layout.separator.join(parts), ALARM if flips or soak.undecided else "green"))


def _load_text(load: LoadReport, rounds: Sequence[Round]) -> str:
    text = (
        f"the load used {load.cpu_seconds:.1f} CPU seconds on {_cores(load.cores)} "
        f"and wrote {load.mib_written:,} MiB"
    )
    without = [str(done.number) for done in rounds if done.load and done.load.failures]
    if without:
        text += f"; rounds without a part of it: {', '.join(without)}"
    return text


def soak_document(
    about: About, soak: Soak, flips: Sequence[Row], interrupted: bool, code: int
) -> Row:
    """The document of `--json` and of `soak.json`."""
    load = total([done.load for done in soak.rounds if done.load is not None])
    return {
        "schema": 1,
        "soak": about.id,
        "targets": list(about.targets),
        "partial": about.partial,
        "results": about.results,
        "rounds_asked": about.rounds,
        "cells": about.cells,
        "compared": soak.compared,
        "load": load.document() if load else None,
        "rounds": [_round_row(done) for done in soak.rounds],
        "flips": list(flips),
        "drifting": soak.drifting,
        "interrupted": interrupted,
        "failures": [failure.message for failure in soak.failures],
        "exit_code": code,
    }


def flip_row(detail: Detail) -> Row:
    """One flip as data."""
    flip = detail.flip
    replay = next((side.cell.replay for side in detail.sides if side.cell is not None), "")
    return {
        "cell": flip.cell,
        "suite": flip.heading,
        "target": flip.target,
        "replay": replay,
        "seen": [outcome and outcome.verdict.value for outcome in flip.seen],
        "outcomes": [_side_row(side) for side in detail.sides],
    }


def _round_row(done: Round) -> Row:
    return {
        "round": done.number,
        "run": done.run,
        "folder": f"round-{done.number}",
        "seconds": done.seconds,
        "verdicts": {verdict.value: done.verdicts.get(verdict, 0) for verdict in Verdict},
        "replayed": done.replayed,
        "flips": done.flips,
        "load": done.load.document() if done.load else None,
    }


def _side_row(side: Side) -> Row:
    outcome, at = side.outcome, first_difference(side.pairs)
    differs: Mapping[str, object] | None = None
    if at is not None:
        pair = side.pairs[at]
        usual, here = (None if one is None else frame_text(one) for one in (pair.a, pair.b))
        differs = {"step": pair.step, "usual": usual, "here": here}
    return {
        "verdict": outcome and outcome.verdict.value,
        "deviation": outcome and outcome.deviation,
        "position": dict(outcome.position) if outcome else {},
        "rounds": list(side.rounds),
        "reason": side.cell.reason if side.cell else "",
        "failed": [
            {
                "step": check.step,
                "iteration": check.iteration,
                "path": check.path,
                "expected": check.expected,
                "actual": value_text(check.actual),
            }
            for check in side.failed
        ],
        "differs": differs,
    }


def _seen(seen: Sequence[Outcome | None]) -> Text:
    """What each round saw, a word per round; of a long soak the counts."""
    words = [_MISSING if one is None else one.verdict.value for one in seen]
    if len(words) > _SEEN_ROUNDS:
        counts = {word: words.count(word) for word in dict.fromkeys(words)}
        return line(", ".join(f"{count} {word}" for word, count in counts.items()))
    return joined(" ", (dim(_MISSING) if one is None else worded(one.verdict) for one in seen))


def _rounds(side: Side) -> str:
    numbers = [str(number) for number in side.rounds[:_SEEN_ROUNDS]]
    if len(side.rounds) > _SEEN_ROUNDS:
        numbers.append("…")
    return f"round{'' if len(side.rounds) == 1 else 's'} {', '.join(numbers)}"


def _outcome(outcome: Outcome | None, layout: Layout) -> Text:
    if outcome is None:
        return line(dim(_MISSING))
    parts: list[Part] = [worded(outcome.verdict)]
    if outcome.deviation:
        parts.append(outcome.deviation)
    parts += [f"{visible(name, 80)}: {visible(value, 200)}" for name, value in outcome.position]
    return joined(layout.separator, parts)


def _failed(checks: Sequence[Check]) -> list[tuple[str, str, str, str]]:
    return [
        (check.step, check.iteration, check.path, plain(value_text(check.actual)))
        for check in checks
    ]


def _cores(cores: int) -> str:
    return plural(cores, "core")
