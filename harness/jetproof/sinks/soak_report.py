"""A soak for people and for programs: a line per round, the cells that flipped, the last line.

A flip is shown with what each round saw, the checks that differ, and the frames of one round of
each outcome. Names that a run makes up are placeholders here (`stream_<id>`), so that only what
differs looks different; the folders of the rounds keep the exact bytes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TextIO

from jetproof.campaigns.alignment import Pair, first_difference, plain
from jetproof.campaigns.load import LoadReport, total
from jetproof.campaigns.soak import Detail, Outcome, Round, Side, Soak
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, RunStarted
from jetproof.model.verdict import Check, FrameRecord, Verdict
from jetproof.results.rows import Row, value_text
from jetproof.sinks.evidence import duration, mismatch_table
from jetproof.sinks.live import Screen
from jetproof.sinks.paint import ORDER, Paint
from jetproof.sinks.text import fit, pad, visible, visible_payload

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
    """Prints a soak. `tick` draws the live line anew; call it now and then."""

    def __init__(
        self,
        stream: TextIO,
        about: About,
        *,
        verbose: bool = False,
        paint: Paint | None = None,
        live: bool | None = None,
    ) -> None:
        self.about = about
        self._screen = Screen(stream, paint=paint, live=live)
        self._paint = self._screen.paint
        self._verbose = verbose
        self._began = time.monotonic()
        self._round = 0
        self._played = 0

    def start(self) -> None:
        about, paint = self.about, self._paint
        parts = [
            paint.bold(f"jetproof soak {about.id}"),
            f"{about.rounds} rounds of {_plural(about.cells, 'cell')}",
            ", ".join(map(visible, about.targets)),
        ]
        lines = [f" {paint.dot} ".join(parts)]
        if about.load is not None:
            lines.append(paint.dim(f"load: {_cores(about.load)} and the disk, in every round"))
        if about.partial:
            lines.append(paint.dim(f"a partial soak: {visible(about.partial)}"))
        for target in about.shared:
            lines.append(f"{self._note} {visible(target)} is not started anew: the rounds share it")
        lines.append(paint.dim(_ROUND_HEAD.rstrip()))
        self._screen.print(lines)

    def handle(self, event: Event) -> None:
        """Count what is played, for the live line."""
        if isinstance(event, RunStarted):
            self._round, self._played = self._round + 1, 0
            self._began = time.monotonic()
        elif isinstance(event, CaseFinished):
            self._played += 1

    def tick(self) -> None:
        if not self._round or not self._screen.due:
            return
        self._screen.draw(
            f"round {self._round} of {self.about.rounds}: {self._played} of "
            f"{self.about.cells} cells, {duration((time.monotonic() - self._began) * 1000)}"
        )

    def round(self, done: Round) -> None:
        self._screen.print(round_lines(done, self._paint))
        if done.load is not None and done.load.failures:
            for failure in done.load.failures:
                self.say(f"round {done.number} was without a part of its load: {failure}")

    def say(self, text: str) -> None:
        self._screen.print([f"{self._note} {visible(text, 2000)}"])

    def flip(self, number: int, detail: Detail) -> None:
        """One flip, whole or by its name."""
        if self._verbose or number < DETAILED:
            self._screen.print(["", *flip_lines(detail, self._paint, whole=self._verbose)])
            return
        if number == DETAILED:
            self._screen.print(
                ["", self._paint.bold("further cells that flipped (-v shows them whole)")]
            )
        seen = _seen(detail.flip.seen, self._paint)
        self._screen.print([f"  {visible(detail.flip.cell)}", f"    {seen}"])

    def end(self, soak: Soak, *, interrupted: bool, failures: Sequence[JetproofError]) -> None:
        self._screen.print(["", *end_lines(soak, self.about, self._paint, interrupted, failures)])

    def close(self) -> None:
        """Erase the live line."""
        self._round = 0
        self._screen.print([])

    @property
    def _note(self) -> str:
        return self._paint.style("note", "yellow")


_ROUND_HEAD = f"{'round':>5}  {'seconds':>7}  {'replays':>7}  {'flips':>5}  verdicts"


def round_lines(done: Round, paint: Paint) -> list[str]:
    """One line per round, more only where the verdicts do not fit."""
    flips = f"{done.flips:>5}"
    head = f"{done.number:>5}  {done.seconds:>7.1f}  {done.replayed:>7}  "
    head += f"{paint.style(flips, 'alarm') if done.flips else flips}  "
    room = max(20, paint.width - 32)
    lines, taken = [head], 0
    for verdict in ORDER:
        count = done.verdicts.get(verdict, 0)
        if not count:
            continue
        size = len(f"{count} {verdict.value}")
        if taken and taken + 2 + size > room:
            lines.append(" " * 32)
            taken = 0
        lines[-1] += ("  " if taken else "") + paint.verdict(verdict, f"{count} {verdict.value}")
        taken += size + (2 if taken else 0)
    return lines


def flip_lines(detail: Detail, paint: Paint, *, whole: bool = False) -> Iterator[str]:
    """One flip: its name, what each round saw, the checks, the frames."""
    flip, first = detail.flip, detail.sides[0]
    yield paint.bold(visible(flip.cell))
    yield f"  {_seen(flip.seen, paint)}"
    for side in detail.sides:
        told = _outcome(side.outcome, paint)
        yield f"  {_rounds(side)}: {told}"
        if side.cell is not None and side.cell.verdict is Verdict.ERROR:
            yield f"      {fit(visible(side.cell.reason, 400), paint.width - 6)}"
        if side.failed and (side is first or _failed(side.failed) != _failed(first.failed)):
            yield from mismatch_table(side.failed, paint)
    compared = next((side for side in detail.sides if not side.pairs and side.cell), None)
    for side in detail.sides:
        if side.pairs and compared is not None:
            yield from _frames(compared, side, paint, whole=whole)
    replay = next((side.cell.replay for side in detail.sides if side.cell is not None), "")
    if replay:
        yield f"  replay it: {paint.bold(visible(replay))}"


def _frames(a: Side, b: Side, paint: Paint, *, whole: bool) -> Iterator[str]:
    at = first_difference(b.pairs)
    names = f"round {a.round}", f"round {b.round}"
    if at is None:
        yield paint.dim(f"  frames: alike in {names[0]} and {names[1]}")
        return
    wide = paint.width >= _COLUMNS_FROM
    if wide:
        column = (paint.width - 9) // 2
        yield f"  {paint.bold('frames')}  {pad(names[0], column - 4)} | {names[1]}"
    else:
        told = paint.dim(f"(- {names[0]}, + {names[1]}, * the first that differs)")
        yield f"  {paint.bold('frames')} {told}"
    shown = range(len(b.pairs)) if whole else _around(b.pairs, at)
    step, before = None, -1
    for place in shown:
        if place > before + 1:
            yield paint.dim(f"      … {_plural(place - before - 1, 'equal frame')}")
        before, pair = place, b.pairs[place]
        if pair.step != step:
            step = pair.step
            yield paint.dim(
                f"    {'' if step in ('given', 'advisories') else 'step '}{visible(step)}"
            )
        yield from (_beside if wide else _below)(pair, paint, mark="*" if place == at else " ")
    if before < len(b.pairs) - 1:
        yield paint.dim(f"      … {_plural(len(b.pairs) - 1 - before, 'frame')} more")


def _around(pairs: Sequence[Pair], at: int) -> list[int]:
    """The places to show: what differs, with a little before and after, from the first on."""
    shown: list[int] = []
    for place in range(max(0, at - _CONTEXT), len(pairs)):
        near = range(max(0, place - _CONTEXT), min(len(pairs), place + _CONTEXT + 1))
        if any(not pairs[other].same for other in near):
            shown.append(place)
    return shown[:_FRAME_ROWS]


def _below(pair: Pair, paint: Paint, mark: str) -> Iterator[str]:
    room = paint.width - 8
    a, b = _texts(pair, room)
    if pair.same:
        yield f"        {paint.dim(a or '')}"
        return
    star = paint.style(mark, "alarm")
    if a is not None:
        yield f"    {star} {paint.style('- ' + a, 'red')}"
        star = " "
    if b is not None:
        yield f"    {star} {paint.style('+ ' + b, 'green')}"


def _beside(pair: Pair, paint: Paint, mark: str) -> Iterator[str]:
    column = (paint.width - 9) // 2
    a, b = _texts(pair, column)
    left, right = pad(a or "", column), b or ""
    if pair.same:
        yield f"      {paint.dim(left)} {paint.dim('|')} {paint.dim(right)}"
    else:
        star = paint.style(mark, "alarm")
        yield f"    {star} {paint.style(left, 'red')} | {paint.style(right, 'green')}"


def _texts(pair: Pair, room: int) -> tuple[str | None, str | None]:
    """Both frames in one line each; where they differ late, the line begins shortly before."""
    a, b = (None if frame is None else frame_text(frame) for frame in (pair.a, pair.b))
    if a is not None and b is not None and not pair.same:
        same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), 0)
        head = min(len(a), len(b), 14)
        if same > room * 2 // 3:
            start = same - room // 3
            a, b = (f"{text[:head]}… {text[start:]}" for text in (a, b))
    return (
        None if a is None else fit(a, room),
        None if b is None else fit(b, room),
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
    paint: Paint,
    interrupted: bool,
    failures: Sequence[JetproofError],
) -> Iterator[str]:
    """What the load did, where the results are, and the one line that counts."""
    drifting = soak.drifting
    if drifting:
        yield f"{len(drifting)} with the same verdict in every round, but not the same failed checks:"
        yield from (f"  {visible(name)}" for name in drifting[:DETAILED])
        if len(drifting) > DETAILED:
            yield paint.dim(f"  and {len(drifting) - DETAILED} more")
    load = total([done.load for done in soak.rounds if done.load is not None])
    if load is not None:
        yield _load_line(load, soak.rounds)
    for failure in failures:
        yield f"{paint.style('note', 'yellow')} {visible(str(failure), 2000)}"
    yield paint.dim(f"results: {visible(about.results)}")
    flips = len(soak.flips)
    schemas = sum(flip.of_schema for flip in soak.flips)
    style = "alarm" if flips or soak.undecided else "green"
    told = f"{_plural(flips, 'flip')} in {_plural(len(soak.rounds), 'round')} "
    told += f"of {_plural(about.cells, 'cell')}"
    told += f" (load: {_cores(about.load)})" if about.load is not None else ""
    if schemas:
        told += f" {paint.dot} {schemas} of the flips in schemas"
    if soak.undecided:
        told += f" {paint.dot} some cells got no verdict"
    if interrupted or len(soak.rounds) < about.rounds:
        why = "interrupted" if interrupted else "stopped"
        told += f" {paint.dot} {why} in round {len(soak.rounds) + 1} of {about.rounds}"
    yield paint.style(told, style)


def _load_line(load: LoadReport, rounds: Sequence[Round]) -> str:
    told = (
        f"the load used {load.cpu_seconds:.1f} CPU seconds on {_cores(load.cores)} "
        f"and wrote {load.mib_written:,} MiB"
    )
    without = [str(done.number) for done in rounds if done.load and done.load.failures]
    if without:
        told += f"; rounds without a part of it: {', '.join(without)}"
    return told


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


def _seen(seen: Sequence[Outcome | None], paint: Paint) -> str:
    """What each round saw, a word per round; of a long soak the counts."""
    words = [_MISSING if one is None else one.verdict.value for one in seen]
    if len(words) > _SEEN_ROUNDS:
        counts = {word: words.count(word) for word in dict.fromkeys(words)}
        return ", ".join(f"{count} {word}" for word, count in counts.items())
    return " ".join(
        paint.dim(word) if one is None else paint.verdict(one.verdict)
        for word, one in zip(words, seen, strict=True)
    )


def _rounds(side: Side) -> str:
    numbers = [str(number) for number in side.rounds[:_SEEN_ROUNDS]]
    if len(side.rounds) > _SEEN_ROUNDS:
        numbers.append("…")
    return f"round{'' if len(side.rounds) == 1 else 's'} {', '.join(numbers)}"


def _outcome(outcome: Outcome | None, paint: Paint) -> str:
    if outcome is None:
        return paint.dim(_MISSING)
    parts = [paint.verdict(outcome.verdict)]
    if outcome.deviation:
        parts.append(visible(outcome.deviation))
    parts += [f"{visible(name, 80)}: {visible(value, 200)}" for name, value in outcome.position]
    return f" {paint.dot} ".join(parts)


def _failed(checks: Sequence[Check]) -> list[tuple[str, str, str, str]]:
    return [
        (check.step, check.iteration, check.path, plain(value_text(check.actual)))
        for check in checks
    ]


def _cores(cores: int) -> str:
    return _plural(cores, "core")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
