"""The work of `jetproof bisect`: play one case on few releases until the change is found.

Binary search assumes one change between the two ends. A verdict that changes and changes back looks
like no change, and of several changes one is found: `jetproof matrix` with the case shows them all.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import TextIO

from jetproof.campaigns.interrupts import Interrupts, play
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of, plural, say, write_json
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, Stop, fresh_run_id
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice
from jetproof.load.library import Library, load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import PlanTarget, Selected, Selection, make_plan, named_exactly, why_not
from jetproof.results.rows import SCHEMA, Row, cell_row
from jetproof.sinks.paint import Paint, paint_for
from jetproof.sinks.text import fit, pad, visible
from jetproof.targets.go_versions import candidates
from jetproof.targets.redaction import without_passwords
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted

Ask = Callable[[int], Awaitable[Hashable]]


class Unanswered(Exception):
    """A release gave no verdict (or a person interrupted): the search cannot go on."""


async def first_other(count: int, ask: Ask) -> int | None:
    """The first of `count` answers that is not that of number 0, or None if the last one is.

    Asks at most ceil(log2(count)) + 2 times.
    """
    usual = await ask(0)
    if count < 2 or await ask(count - 1) == usual:
        return None
    low, high = 0, count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if await ask(middle) == usual:
            low = middle
        else:
            high = middle
    return high


@dataclass(frozen=True, slots=True)
class Field:
    """Where to look: the releases to which the case applies, oldest first, and the others."""

    targets: tuple[PlanTarget, ...]
    left_out: tuple[tuple[PlanTarget, str], ...] = ()


@dataclass(slots=True)
class Player:
    """Plays the one case that a search is about."""

    library: Library
    selected: Selected
    options: RunOptions
    say: Callable[[str], None]
    signal: int | None = None

    async def play(self, target: PlanTarget) -> Cell:
        """Play the case on one target; Unanswered if a person interrupts."""
        plan = make_plan(self.library, self.selected, [target], skip=frozenset())
        interrupts = Interrupts(Stop(), notify=self.say)
        found: list[Cell] = []
        case = self.selected.items[0].case.id

        def emit(event: Event) -> None:
            event = without_passwords(event)
            if isinstance(event, CaseFinished) and event.cell.case == case:
                found.append(event.cell)
            elif isinstance(event, Notice):
                self.say(event.text)

        await play(plan, self.library, emit, self.options, interrupts)
        if not found:
            self.signal = interrupts.exit_code
            raise Unanswered
        return found[-1]


@dataclass(slots=True)
class Search:
    """One search, and everything that it has played so far."""

    player: Player
    targets: Sequence[PlanTarget]
    show: Callable[[Cell], None]
    cells: dict[int, Cell] = field(default_factory=dict)

    async def ask(self, number: int) -> Hashable:
        """Play the case on one release; what it says there."""
        cell = self.cells[number] = await self.player.play(self.targets[number])
        self.show(cell)
        if cell.verdict is Verdict.ERROR:
            raise Unanswered
        return said(cell)


def said(cell: Cell) -> Hashable:
    """What counts as another verdict: where a position is all there is, another position."""
    positions = sorted(cell.position.items()) if cell.verdict is Verdict.POSITION else ()
    return (cell.verdict, tuple(positions))


def chosen(library: Library, args: argparse.Namespace) -> Selected:
    """The one case that was asked for."""
    selected = select_cases(library, Selection((args.case,)))
    if len(selected.items) != 1:
        listed = ", ".join(item.case.id for item in selected.items[:10])
        raise JetproofError(
            f"{args.case!r} names {len(selected.items)} cases",
            phase="plan",
            hint=f"bisect looks at one; these are: {listed}",
        )
    return named_exactly(selected)


def options(args: argparse.Namespace) -> RunOptions:
    return RunOptions(
        run=fresh_run_id(),
        time_factor=time_factor(),
        command=tuple(args.command_line),
        laws=laws_of(args),
    )


async def execute(args: argparse.Namespace) -> int:
    """Search releases, and tell."""
    library = load_library()
    selected = chosen(library, args)
    where = await look_at(library, selected, args)
    stream = sys.stderr if args.json else sys.stdout
    printer = Printer(stream, paint_for(stream), where.targets)
    printer.begin(selected.items[0].case.id, where)
    player = Player(library, selected, options(args), printer.say)
    search = Search(player, where.targets, printer.show)
    answered, found = True, None
    try:
        found = await first_other(len(where.targets), search.ask)
    except Unanswered:
        answered = False
    code = 0 if answered else player.signal or 3
    printer.end(search, found, answered)
    if args.json:
        write_json(_document(search, where, found, answered, code))
    return code


async def look_at(library: Library, selected: Selected, args: argparse.Namespace) -> Field:
    """The releases to look at; where the case does not apply, there is nothing to compare."""
    targets = await resolve(args.servers or ["*"], notify=say, ahead=False)
    against: str | None = args.against
    base: PlanTarget | None = None
    if against is not None:
        bases = await resolve([against], notify=say, ahead=False)
        if len(bases) != 1:
            raise JetproofError(
                f"--against {against} names {len(bases)} releases",
                phase="plan",
                hint="name one, such as 2.12.0",
            )
        base = bases[0]
        targets = [base, *(target for target in targets if target.version > base.version)]
    if args.candidates:
        targets += await _candidates(targets)
    targets.sort(key=lambda target: target.version)
    item = selected.items[0]
    reasons = [(target, why_not(library, item, target)) for target in targets]
    applies = tuple(target for target, reason in reasons if reason is None)
    left_out = tuple((target, reason) for target, reason in reasons if reason is not None)
    if base is not None and base not in applies:
        reason = dict(left_out)[base]
        raise JetproofError(
            f"{item.case.id} does not apply to {redacted(base.name)}: {reason}",
            phase="plan",
            hint="compare with a release that it applies to",
        )
    if not applies:
        raise JetproofError(
            f"{item.case.id} applies to none of these releases: {left_out[-1][1]}",
            phase="plan",
            hint="name newer ones with --servers",
        )
    return Field(applies, left_out)


async def _candidates(targets: Sequence[PlanTarget]) -> list[PlanTarget]:
    """The release candidates between the oldest and the newest of the targets, as targets."""
    versions = [target.version for target in targets]
    named = await asyncio.to_thread(candidates, min(versions), max(versions))
    added = [f"go:{version}" for version in named if version not in versions]
    if not added:
        say(f"there is no release candidate between {min(versions)} and {max(versions)}")
        return []
    return await resolve(added, notify=say, ahead=False)


class Printer:
    """What a person sees of a search."""

    def __init__(self, stream: TextIO, paint: Paint, targets: Sequence[PlanTarget]) -> None:
        self._stream = stream
        self._paint = paint
        self._names = max(len(redacted(target.name)) for target in targets)

    def begin(self, case: str, where: Field) -> None:
        targets = where.targets
        self._line(self._paint.bold(visible(case)))
        told = plural(len(targets), "release")
        if len(targets) > 1:
            told += f", {redacted(targets[0].name)} to {redacted(targets[-1].name)}"
        if where.left_out:
            told += f"; {len(where.left_out)} to which it does not apply are left out"
        self._line(self._paint.dim(visible(told)))

    def say(self, text: str) -> None:
        self._line(f"{self._paint.style('note', 'yellow')} {visible(text, 2000)}")

    def show(self, cell: Cell) -> None:
        paint = self._paint
        name = pad(visible(cell.target), self._names)
        verdict = paint.verdict(cell.verdict, pad(cell.verdict.value, 8))
        why = fit(visible(reason(cell), 400), max(20, paint.width - self._names - 16))
        self._line(f"  {paint.symbol(cell.verdict)} {name}  {verdict}  {paint.dim(why)}".rstrip())

    def end(self, search: Search, found: int | None, answered: bool) -> None:
        paint, cells, targets = self._paint, search.cells, search.targets
        runs = plural(len(cells), "run")
        if not answered:
            self._line(f"{paint.verdict(Verdict.ERROR, 'no answer')}: {_known_so_far(search)}")
        elif found is None:
            first, last = cells[0], cells[len(targets) - 1]
            told = "a change in between that was taken back is not seen"
            both = f"{first.target} and {last.target} are both {first.verdict} ({told})"
            if len(targets) == 1:
                both = f"{first.target} is {first.verdict}, and there is no other to compare with"
            self._line(f"{paint.bold('no change')}: {visible(both)}")
        else:
            new, old = cells[found], cells[found - 1]
            self._line(
                f"{paint.bold(f'{new.server} is the first')} with {new.verdict}; "
                f"{old.server} still has {old.verdict}"
            )
            for cell in (old, new):
                self._line(paint.dim(f"  {visible(cell.replay)}"))
        self._line(f"{runs} on {plural(len(targets), 'release')}")
        self._stream.flush()

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def reason(cell: Cell) -> str:
    """Why it has the verdict, or the position that it took."""
    if cell.verdict is Verdict.POSITION:
        return "; ".join(f"{key}: {text}" for key, text in cell.position.items())
    return cell.reason


def _known_so_far(search: Search) -> str:
    """What the verdicts that there are tell, although one is missing."""
    errors = [cell for cell in search.cells.values() if cell.verdict is Verdict.ERROR]
    why = f"{errors[0].target} gave no verdict: {visible(errors[0].reason, 400)}" if errors else ""
    good = {n: cell for n, cell in search.cells.items() if cell.verdict is not Verdict.ERROR}
    if 0 not in good or len(search.targets) - 1 not in good:
        return why or "interrupted"
    same = max(number for number, cell in good.items() if said(cell) == said(good[0]))
    other = [number for number, cell in good.items() if said(cell) != said(good[0])]
    between = ""
    if other:
        between = f"; it changed after {good[same].server}, in {good[min(other)].server} at latest"
    return (why or "interrupted") + between


def _document(search: Search, where: Field, found: int | None, answered: bool, code: int) -> Row:
    def row(number: int) -> Row:
        return cell_row(search.player.options.run, search.cells[number])

    return {
        "schema": SCHEMA,
        "case": search.player.selected.items[0].case.id,
        "releases": [redacted(target.name) for target in where.targets],
        "left_out": [
            {"target": redacted(target.name), "reason": reason} for target, reason in where.left_out
        ],
        "answered": answered,
        "last_same": None if found is None else row(found - 1),
        "first_other": None if found is None else row(found),
        "cells": [row(number) for number in search.cells],
        "commits": None,
        "runs": len(search.cells),
        "exit_code": code,
    }
