"""A comparison for people and for programs: progress, what differs, and the line that counts."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from jetproof.campaigns.agreement import Agreement
from jetproof.campaigns.compare import ALL, ALONE, APART, NEIGHBOURS, ONCE_MORE, Compare
from jetproof.campaigns.compare_rulings import Difference, Kind, WireChange
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice
from jetproof.model.verdict import Check, Verdict
from jetproof.results.rows import Row, value_text
from jetproof.sinks.evidence import duration
from jetproof.sinks.live import Screen
from jetproof.sinks.paint import Paint
from jetproof.sinks.text import fit, pad, visible, visible_value

_ROUNDS = {
    ALL: "every case on both sides",
    APART: "cases without a verdict, apart from the others",
    ALONE: "cases that differ, each alone on a fresh server",
    NEIGHBOURS: "what did not show again, among its neighbours",
    ONCE_MORE: "the only cases with a difference on the wire, once more",
}
_SHOWN = {Kind.WORSE: 20, Kind.UNDECIDED: 6, Kind.BETTER: 6, Kind.CHANGED: 6, Kind.ONCE: 4}
_CHECKS = 3
_WIRE_SHOWN = 6
_ONE_SIDED_SHOWN = 3
_LABEL = 9
TITLES = {
    Kind.WORSE: "worse",
    Kind.UNDECIDED: "undecided",
    Kind.BETTER: "better",
    Kind.CHANGED: "changed",
    Kind.ONCE: "once",
}
_LOOKS = {
    Kind.WORSE: "alarm",
    Kind.UNDECIDED: "alarm",
    Kind.BETTER: "green",
    Kind.CHANGED: "cyan",
    Kind.ONCE: "yellow",
}


@dataclass(frozen=True, slots=True)
class About:
    """What is compared."""

    id: str
    base: str
    head: str
    cases: int
    results: str
    partial: str = ""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Progress:
    how: str = ""
    cells: int = 0
    played: dict[str, int] = field(default_factory=dict)
    began: float = 0.0


class CompareConsole:
    """Prints a comparison. `tick` draws the live line anew."""

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
        self._progress = _Progress()

    def start(self) -> None:
        about, paint = self.about, self._paint
        parts = [paint.bold(f"jetproof compare {about.id}"), _plural(about.cases, "case")]
        lines = [f" {paint.dot} ".join(parts)]
        lines += [f"  base  {visible(about.base)}", f"  head  {visible(about.head)}"]
        lines += [paint.dim(f"  left out: {visible(text)}") for text in about.left_out]
        lines += [f"{self._note} {visible(text)}" for text in about.notes]
        self._screen.print(lines)

    def round(self, how: str, cells: int) -> None:
        self._end_round()
        self._progress = _Progress(how, cells, {}, time.monotonic())

    def handle(self, side: str, event: Event) -> None:
        if isinstance(event, CaseFinished):
            played = self._progress.played
            played[side] = played.get(side, 0) + 1
        elif isinstance(event, Notice) and self._verbose:
            self.say(f"{side}: {event.text}")

    def tick(self) -> None:
        now = self._progress
        if now.how and self._screen.due:
            counts = ", ".join(f"{side} {count}" for side, count in sorted(now.played.items()))
            took = duration((time.monotonic() - now.began) * 1000)
            self._screen.draw(f"{now.how}: {counts or 'starting'} of {now.cells} cells, {took}")

    def say(self, text: str) -> None:
        self._screen.print([f"{self._note} {visible(text, 2000)}"])

    def end(self, compare: Compare, failures: Sequence[JetproofError], *, stopped: str) -> None:
        self.close()
        lines = ["", *end_lines(compare, self.about, self._paint, verbose=self._verbose)]
        if stopped:
            lines.append(f"{self._note} not complete: {visible(stopped)}")
        lines += [f"{self._note} {visible(str(failure), 2000)}" for failure in failures]
        self._screen.print(lines)

    def close(self) -> None:
        """End the live line."""
        self._end_round()
        self._progress = _Progress()
        self._screen.print([])

    def _end_round(self) -> None:
        done, paint = self._progress, self._paint
        if done.how:
            took = duration((time.monotonic() - done.began) * 1000)
            count = f"{done.cells} {'cell' if done.cells == 1 else 'cells'}"
            self._screen.print([paint.dim(f"  {_ROUNDS[done.how]}: {count}, {took}")])

    @property
    def _note(self) -> str:
        return self._paint.style("note", "yellow")


def end_lines(
    compare: Compare, about: About, paint: Paint, *, verbose: bool = False
) -> Iterator[str]:
    """What differs, the worst nearest to the prompt, then the verdict."""
    if not compare.complete:
        yield paint.dim(f"results: {visible(about.results)}")
        return
    for one in compare.one_sided if verbose else compare.one_sided[:_ONE_SIDED_SHOWN]:
        text = f"{_plural(len(one.keys), 'case')} apply to {one.side} only: {one.reason}"
        yield paint.dim(f"  {fit(visible(text, 400), paint.width - 2)}")
    if len(compare.one_sided) > _ONE_SIDED_SHOWN and not verbose:
        more = compare.one_sided[_ONE_SIDED_SHOWN:]
        count = sum(len(one.keys) for one in more)
        yield paint.dim(f"  and {_plural(count, 'case')} more that apply to one side (-v)")
    if verbose:
        yield from _agreement(compare.agreement, paint)
    yield from _wire(compare.wire, paint, verbose)
    for kind in reversed(Kind):
        yield from _kind(compare.of_kind(kind), kind, paint, verbose)
    for side, name in enumerate(("base", "head")):
        if not compare.started(side):
            yield f"  {paint.style(f'{name} does not start', 'alarm')}"
            yield from (f"    {paint.dim(visible(line, 300))}" for line in compare.log(side)[-12:])
    yield paint.dim(f"results: {visible(about.results)}")
    symbol, text = conclusion(compare)
    yield f"{paint.symbol(symbol)} {paint.bold(visible(text))}"


def conclusion(compare: Compare) -> tuple[Verdict, str]:
    """The line that counts."""
    counts = [f"{len(found)} {TITLES[kind]}" for kind in Kind if (found := compare.of_kind(kind))]
    fields = sum(one.confirmed for one in compare.wire)
    if fields:
        counts.append(f"{_plural(fields, 'field')} on the wire")
    of = f"of {_plural(compare.compared, 'cell')}"
    if not compare.started(1):
        return Verdict.FAIL, "head is worse: it does not start"
    if not compare.started(0):
        return Verdict.ERROR, "nothing is compared: base does not start"
    if compare.worse:
        return Verdict.FAIL, f"head is worse: {', '.join(counts)} {of}"
    if compare.of_kind(Kind.UNDECIDED):
        return Verdict.ERROR, f"some cells have no verdict: {', '.join(counts)} {of}"
    if counts:
        return Verdict.PASS, f"head is not worse: {', '.join(counts)} {of}"
    return Verdict.PASS, f"nothing differs in {_plural(compare.compared, 'cell')}"


def what(one: Difference) -> Iterator[str]:
    """A difference in lines, base and head side by side; the text is not escaped yet."""
    if Verdict.ERROR in (one.base.verdict, one.head.verdict):
        for name, cell in (("base", one.base), ("head", one.head)):
            yield f"{name} is {cell.verdict}" + (f": {cell.reason}" if cell.reason else "")
        return
    if one.base.verdict is not one.head.verdict:
        yield f"{one.base.verdict} on base, {one.head.verdict} on head"
    for side, checks in (("head", one.new), ("base", one.gone)):
        for check in checks[:_CHECKS]:
            yield f"{side}: {check_text(check)}"
        if len(checks) > _CHECKS:
            yield f"{side}: {_plural(len(checks) - _CHECKS, 'more check')}"
    for before, after in one.moved[:_CHECKS]:
        yield (
            f"{before.path}: expected {before.expected}; base gives {visible_value(before.actual)}, "
            f"head gives {visible_value(after.actual)}"
        )
    for name, before_text, after_text in one.positions:
        yield f"{name}: {before_text} on base, {after_text} on head"
    if one.known:
        yield f"in the ledger: {one.known}"


def check_text(check: Check) -> str:
    where = f"step {check.step}" + (f" [{check.iteration}]" if check.iteration else "")
    return f"{where}, {check.path}: expected {check.expected}, got {visible_value(check.actual)}"


def wire_text(one: WireChange) -> str:
    """What differs, without the cases."""
    before, after = one.change
    return f"{one.signature.kind}, {one.signature.field}: {before} on base, {after} on head"


def agreement_rows(rows: Sequence[Agreement]) -> list[tuple[str, str, str]]:
    """Suite, verdicts and positions as `same of all`; the last row is the sum."""

    def texts(name: str, some: Sequence[Agreement]) -> tuple[str, str, str]:
        verdicts = sum(one.same_verdict for one in some), sum(one.cells for one in some)
        positions = sum(one.same_positions for one in some), sum(one.positions for one in some)
        shown = "{} of {}".format(*positions) if positions[1] else ""
        return name, "{} of {}".format(*verdicts), shown

    return [*(texts(one.suite, [one]) for one in rows), texts("all", rows)]


def _agreement(rows: Sequence[Agreement], paint: Paint) -> Iterator[str]:
    if not rows:
        return
    table = agreement_rows(rows)
    wide = max(len(name) for name, _, _ in table)
    yield f"  {pad('suite', wide)}  {pad('same verdict', 14)}  same positions"
    for name, verdicts, positions in table:
        yield f"  {pad(visible(name), wide)}  {pad(verdicts, 14)}  {positions}".rstrip()


def _wire(changes: Sequence[WireChange], paint: Paint, verbose: bool) -> Iterator[str]:
    sure = [one for one in changes if one.confirmed]
    shown = sure if verbose else sure[:_WIRE_SHOWN]
    room = paint.width - _LABEL - 4
    for one in shown:
        several = " (other values elsewhere)" if one.several else ""
        yield f"  {paint.style(pad('wire', _LABEL), 'blue')} {fit(visible(wire_text(one), 400), room)}"
        cases = f"{_plural(len(one.cases), 'case')}{several}, such as {one.example}"
        yield paint.dim(f"  {' ' * _LABEL} {fit(visible(cases), room)}")
    if len(sure) > len(shown):
        yield paint.dim(f"  and {_plural(len(sure) - len(shown), 'more field')} on the wire (-v)")
    if unsure := len(changes) - len(sure):
        text = f"  {_plural(unsure, 'field')} differ on the wire and were not played again"
        yield paint.dim(text)


def _kind(found: Sequence[Difference], kind: Kind, paint: Paint, verbose: bool) -> Iterator[str]:
    shown = found if verbose else found[: _SHOWN[kind]]
    if len(found) > len(shown):
        yield paint.dim(f"  and {len(found) - len(shown)} more {TITLES[kind]} (-v)")
    room = paint.width - _LABEL - 4
    for one in shown:
        label = paint.style(pad(TITLES[kind], _LABEL), _LOOKS[kind])
        unsure = "" if one.confirmed else " (not played again)"
        yield f"  {label} {fit(visible(one.key + unsure), room)}"
        for line in what(one):
            yield f"  {' ' * _LABEL} {fit(visible(line, 600), room)}"
        if kind is Kind.WORSE and one.head.replay:
            yield paint.dim(f"  {' ' * _LABEL} {visible(one.head.replay)}")


def compare_document(about: About, compare: Compare, *, interrupted: bool, code: int) -> Row:
    """The document of `--json` and of `compare.json`."""
    return {
        "schema": 1,
        "compare": about.id,
        "base": {"target": about.base, "builds": compare.builds(0), "started": compare.started(0)},
        "head": {"target": about.head, "builds": compare.builds(1), "started": compare.started(1)},
        "cases": about.cases,
        "compared": compare.compared,
        "partial": about.partial,
        "left_out": list(about.left_out),
        "complete": compare.complete,
        "interrupted": interrupted,
        "worse": compare.worse or (compare.complete and not compare.started(1)),
        "counts": {kind.value: len(compare.of_kind(kind)) for kind in Kind},
        "differences": [_row(one) for one in compare.differences],
        "wire": [_wire_row(one) for one in compare.wire],
        "unsteady_fields": compare.unsteady,
        "agreement": [_agreement_row(one) for one in compare.agreement],
        "one_sided": [
            {"side": one.side, "reason": one.reason, "cases": list(one.keys)}
            for one in compare.one_sided
        ],
        "results": about.results,
        "exit_code": code,
    }


def _row(one: Difference) -> Row:
    return {
        "case": one.key,
        "kind": one.kind.value,
        "confirmed": one.confirmed,
        "base": {"verdict": one.base.verdict.value, "replay": one.base.replay},
        "head": {"verdict": one.head.verdict.value, "replay": one.head.replay},
        "what": list(what(one)),
        "known": one.known,
        "new": [_check_row(check) for check in one.new],
        "gone": [_check_row(check) for check in one.gone],
        "positions": [
            {"name": name, "base": before, "head": after} for name, before, after in one.positions
        ],
    }


def _agreement_row(one: Agreement) -> Row:
    return {
        "suite": one.suite,
        "cells": one.cells,
        "same_verdict": one.same_verdict,
        "positions": one.positions,
        "same_positions": one.same_positions,
    }


def _check_row(check: Check) -> Row:
    return {
        "step": check.step,
        "iteration": check.iteration,
        "path": check.path,
        "expected": check.expected,
        "actual": value_text(check.actual),
    }


def _wire_row(one: WireChange) -> Row:
    return {
        "kind": one.signature.kind,
        "field": one.signature.field,
        "base": one.change[0],
        "head": one.change[1],
        "confirmed": one.confirmed,
        "several_values": one.several,
        "cases": list(one.cases),
        "example": {"case": one.example, "step": one.step},
    }


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
