"""A comparison for people and for programs: progress, what differs, and the line that counts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

from rich.text import Text

from jetproof.campaigns.agreement import Agreement
from jetproof.campaigns.compare import ALL, ALONE, APART, NEIGHBOURS, ONCE_MORE, Compare
from jetproof.campaigns.compare_rulings import Difference, Kind, WireChange
from jetproof.errors import JetproofError
from jetproof.events import Event, Notice
from jetproof.model.verdict import Check, Verdict
from jetproof.model.wording import plural
from jetproof.results.rows import Row, value_text
from jetproof.sinks.console.evidence import duration, log_lines
from jetproof.sinks.console.lines import (
    ALARM,
    Layout,
    Part,
    bold,
    dim,
    joined,
    line,
    pad,
)
from jetproof.sinks.console.progress import Progress
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.console.tables import table_lines
from jetproof.sinks.text import visible, visible_value

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
    Kind.WORSE: ALARM,
    Kind.UNDECIDED: ALARM,
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


class CompareConsole:
    """Prints a comparison. `tick` draws the progress again."""

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

    def start(self) -> None:
        about, layout = self.about, self._screen.layout
        parts: list[Part] = [bold(f"jetproof compare {about.id}"), plural(about.cases, "case")]
        lines = [joined(layout.separator, parts)]
        lines += [line(f"  base  {about.base}"), line(f"  head  {about.head}")]
        lines += [line(dim(f"  left out: {text}")) for text in about.left_out]
        self._screen.print(lines)
        for text in about.notes:
            self.say(text)

    def round(self, how: str, cells: int) -> None:
        self._end_round()
        self._progress = Progress()
        self._progress.begin(cells, self._clock())
        self._progress.part(how)

    def handle(self, side: str, event: Event) -> None:
        if isinstance(event, Notice):
            if self._verbose:
                self.say(f"{side}: {event.text}")
            return
        self._progress.handle(event, self._clock())

    def tick(self) -> None:
        if self._progress.label:
            self._progress.draw(self._screen, self._clock())

    def say(self, text: str) -> None:
        self._screen.say(text)

    def end(self, compare: Compare, failures: Sequence[JetproofError], *, stopped: str) -> None:
        self.close()
        lines = [
            line(),
            *end_lines(compare, self.about, self._screen.layout, verbose=self._verbose),
        ]
        self._screen.print(lines)
        if stopped:
            self.say(f"not complete: {stopped}")
        for failure in failures:
            self.say(str(failure))

    def close(self) -> None:
        """Erase the progress."""
        self._end_round()
        self._progress = Progress()
        self._screen.hide()

    def _end_round(self) -> None:
        done = self._progress
        if done.label:
            took = duration(done.seconds_gone(self._clock()) * 1000)
            count = plural(done.planned, "cell")
            self._screen.print([line(dim(f"  {_ROUNDS[done.label]}: {count}, {took}"))])


def end_lines(
    compare: Compare, about: About, layout: Layout, *, verbose: bool = False
) -> Iterator[Text]:
    """What differs, the worst nearest to the prompt, then the verdict."""
    if not compare.complete:
        yield line(dim(f"results: {about.results}"))
        return
    for one in compare.one_sided if verbose else compare.one_sided[:_ONE_SIDED_SHOWN]:
        text = f"{plural(len(one.keys), 'case')} apply to {one.side} only: {one.reason}"
        yield line(dim(f"  {layout.fit(visible(text, 400), layout.width - 2)}"))
    if len(compare.one_sided) > _ONE_SIDED_SHOWN and not verbose:
        more = compare.one_sided[_ONE_SIDED_SHOWN:]
        count = sum(len(one.keys) for one in more)
        yield line(dim(f"  and {plural(count, 'case')} more that apply to one side (-v)"))
    if verbose and compare.agreement:
        head = ("suite", "same verdict", "same positions")
        yield from table_lines(head, agreement_rows(compare.agreement), layout, indent=2)
    yield from _wire(compare.wire, layout, verbose)
    for kind in reversed(Kind):
        yield from _kind(compare.of_kind(kind), kind, layout, verbose)
    for side, name in enumerate(("base", "head")):
        if not compare.started(side):
            yield line("  ", (f"{name} does not start", ALARM))
            yield from log_lines(compare.log(side))
    yield line(dim(f"results: {about.results}"))
    symbol, text = conclusion(compare)
    yield line(layout.symbol(symbol), " ", bold(text))


def conclusion(compare: Compare) -> tuple[Verdict, str]:
    """The line that counts."""
    counts = [f"{len(found)} {TITLES[kind]}" for kind in Kind if (found := compare.of_kind(kind))]
    fields = sum(one.confirmed for one in compare.wire)
    if fields:
        counts.append(f"{plural(fields, 'field')} on the wire")
    of = f"of {plural(compare.compared, 'cell')}"
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
    return Verdict.PASS, f"nothing differs in {plural(compare.compared, 'cell')}"


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
            yield f"{side}: {plural(len(checks) - _CHECKS, 'more check')}"
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


def _wire(changes: Sequence[WireChange], layout: Layout, verbose: bool) -> Iterator[Text]:
    sure = [one for one in changes if one.confirmed]
    shown = sure if verbose else sure[:_WIRE_SHOWN]
    room = layout.width - _LABEL - 4
    for one in shown:
        several = " (other values elsewhere)" if one.several else ""
        change = layout.fit(visible(wire_text(one), 400), room)
        yield line("  ", (pad("wire", _LABEL), "blue"), " ", change)
        cases = f"{plural(len(one.cases), 'case')}{several}, such as {one.example}"
        yield line(dim(f"  {' ' * _LABEL} {layout.fit(cases, room)}"))
    if len(sure) > len(shown):
        yield line(dim(f"  and {plural(len(sure) - len(shown), 'more field')} on the wire (-v)"))
    if unsure := len(changes) - len(sure):
        fields = plural(unsure, "field")
        yield line(dim(f"  {fields} differ on the wire and were not played again"))


def _kind(found: Sequence[Difference], kind: Kind, layout: Layout, verbose: bool) -> Iterator[Text]:
    shown = found if verbose else found[: _SHOWN[kind]]
    if len(found) > len(shown):
        yield line(dim(f"  and {len(found) - len(shown)} more {TITLES[kind]} (-v)"))
    room = layout.width - _LABEL - 4
    for one in shown:
        label = pad(TITLES[kind], _LABEL), _LOOKS[kind]
        unsure = "" if one.confirmed else " (not played again)"
        yield line("  ", label, " ", layout.fit(one.key + unsure, room))
        for text in what(one):
            yield line(f"  {' ' * _LABEL} ", layout.fit(visible(text, 600), room))
        if kind is Kind.WORSE and one.head.replay:
            yield line(dim(f"  {' ' * _LABEL} {one.head.replay}"))


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
