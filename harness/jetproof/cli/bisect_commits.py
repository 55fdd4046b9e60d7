"""The work of `jetproof bisect --good REV`: play one case on few commits of a checkout.

The search is that of `git bisect`, over merges as well. A commit that does not build, or on which the
case has no verdict, is skipped. No file, index or ref of the checkout changes.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Awaitable, Callable, Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from jetproof.cli.bisect_search import Player, Unanswered, chosen, options, reason, said
from jetproof.cli.common import plural, write_json
from jetproof.errors import JetproofError
from jetproof.load.library import load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import why_not
from jetproof.results.rows import SCHEMA, Row, cell_row, plain
from jetproof.sinks.paint import Paint, paint_for
from jetproof.sinks.text import fit, pad, visible
from jetproof.targets.checkout import look_at
from jetproof.targets.history import Commit, check_order, commit_of, halves
from jetproof.targets.own_build import is_folder, named
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import TargetSpec, parse_list

DIGITS = 12
Ask = Callable[[str], Awaitable[Hashable]]
Halves = Callable[[Sequence[str], str], list[str]]


class Skipped(Exception):
    """Nothing can be said of a commit; the message is why."""


@dataclass(frozen=True, slots=True)
class Found:
    """The first commit with another answer. `doubtful` are skipped commits that may be it instead."""

    commit: str
    doubtful: tuple[str, ...] = ()


async def first_bad(good: str, bad: str, ask: Ask, halves: Halves) -> Found | None:
    """The first commit after `good` that does not answer like it; None if `bad` answers like it.

    `halves` orders the commits between good ones and a bad one, best first. `ask` raises Skipped
    where there is no answer; at the two ends that ends the search.
    """
    usual = await ask(good)
    if await ask(bad) == usual:
        return None
    known, skipped = [good], set[str]()
    while True:
        between = [commit for commit in halves(known, bad) if commit != bad]
        left = [commit for commit in between if commit not in skipped]
        if not left:
            return Found(bad, tuple(between))
        # Commits that do not build are neighbours: each skipped one leads further away from them.
        away = len(between) - len(left)
        commit = left[min(away * away, len(left) - 1)]
        try:
            same = await ask(commit) == usual
        except Skipped:
            skipped.add(commit)
            continue
        if same:
            known.append(commit)
        else:
            bad = commit


@dataclass(slots=True)
class Commits:
    """One search over the commits of a checkout, and everything that it has seen so far."""

    player: Player
    spec: TargetSpec
    folder: Path
    printer: Printer
    cells: dict[str, Cell] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    async def ask(self, commit: str) -> Hashable:
        """Build and play one commit; what the case says there."""
        shown = commit_of(self.folder, commit)
        try:
            cell = await self._played(commit)
        except Skipped as skipped:
            self.skipped[commit] = str(skipped)
            self.printer.skip(shown, str(skipped))
            raise
        self.cells[commit] = cell
        self.printer.show(shown, cell)
        return said(cell)

    async def _played(self, commit: str) -> Cell:
        name = f"{self.spec}@{commit[:DIGITS]}"
        try:
            (target,) = await resolve([name], notify=self.player.say)
        except JetproofError as error:
            raise Skipped(error.message) from error
        if (why := why_not(self.player.library, self.player.selected.items[0], target)) is not None:
            raise Skipped(f"the case does not apply: {why}")
        cell = await self.player.play(target)
        if cell.verdict is Verdict.ERROR:
            raise Skipped(f"no verdict: {cell.reason}")
        return cell


async def execute(args: argparse.Namespace) -> int:
    """Search commits, and tell."""
    spec = checkout_asked(args)
    library = load_library()
    selected = chosen(library, args)
    folder = named(spec)
    await asyncio.to_thread(look_at, folder)
    good, bad = commit_of(folder, args.good), commit_of(folder, args.bad or "HEAD")
    check_order(folder, good, bad)
    stream = sys.stderr if args.json else sys.stdout
    printer = Printer(stream, paint_for(stream))
    count = len(halves(folder, [good.id], bad.id))
    printer.begin(selected.items[0].case.id, spec, count, good, bad)
    player = Player(library, selected, options(args), printer.say)
    search = Commits(player, spec, folder, printer)
    answered, found, problem = True, None, ""
    try:
        found = await first_bad(
            good.id, bad.id, search.ask, lambda known, end: halves(folder, known, end)
        )
    except Unanswered:
        answered, problem = False, "interrupted"
    except Skipped:
        answered, problem = False, "one of the two ends has no verdict"
    first = None if found is None else commit_of(folder, found.commit)
    doubtful = () if found is None else found.doubtful
    code = 0 if answered and not doubtful else player.signal or 3
    printer.end(search, good, first, doubtful, problem)
    if args.json:
        write_json(_document(search, (good, bad), first, doubtful, answered, code))
    return code


def checkout_asked(args: argparse.Namespace) -> TargetSpec:
    """The checkout whose commits are searched; the error says what to write."""
    hint = "jetproof bisect CASE --server path:../nats-server --good REV [--bad REV]"
    if args.good is None:
        raise JetproofError(
            "--bad names where a search ends, not where it begins", phase="plan", hint=hint
        )
    if args.against is not None or args.candidates:
        raise JetproofError(
            "--against and --candidates are about releases", phase="plan", hint=hint
        )
    specs = parse_list(args.servers) if args.servers else []
    if len(specs) != 1 or not is_folder(specs[0]):
        raise JetproofError(
            "--good wants one checkout of nats-server to search", phase="plan", hint=hint
        )
    return specs[0]


class Printer:
    """What a person sees of a search."""

    def __init__(self, stream: TextIO, paint: Paint) -> None:
        self._stream = stream
        self._paint = paint

    def begin(self, case: str, spec: TargetSpec, count: int, good: Commit, bad: Commit) -> None:
        self._line(self._paint.bold(visible(case)))
        ends = f"{good.id[:DIGITS]} (good) to {bad.id[:DIGITS]} (bad)"
        self._line(self._paint.dim(visible(f"{spec}: {plural(count, 'commit')}, {ends}")))

    def say(self, text: str) -> None:
        self._line(f"{self._paint.style('note', 'yellow')} {visible(text, 2000)}")

    def show(self, commit: Commit, cell: Cell) -> None:
        verdict = self._paint.verdict(cell.verdict, pad(cell.verdict.value, 8))
        self._row(commit, self._paint.symbol(cell.verdict), verdict, commit.subject)
        if why := reason(cell):
            self._line(self._paint.dim(f"    {fit(visible(why, 400), self._width(4))}"))

    def skip(self, commit: Commit, why: str) -> None:
        self._row(commit, "-", pad("skipped", 8), commit.subject)
        for line in why.splitlines()[:4]:
            self._line(self._paint.dim(f"    {fit(visible(line, 400), self._width(4))}"))

    def end(
        self,
        search: Commits,
        good: Commit,
        first: Commit | None,
        doubtful: Sequence[str],
        problem: str,
    ) -> None:
        paint = self._paint
        if problem:
            self._line(f"{paint.verdict(Verdict.ERROR, 'no answer')}: {problem}")
        elif first is None:
            words = f"both ends are {search.cells[good.id].verdict}"
            self._line(f"{paint.bold('no change')}: {words}")
        else:
            self._found(search, good, first, doubtful)
        words = plural(len(search.cells), "run")
        if search.skipped:
            words += f", {plural(len(search.skipped), 'commit')} skipped"
        self._line(words)

    def _found(self, search: Commits, good: Commit, first: Commit, doubtful: Sequence[str]) -> None:
        paint = self._paint
        new, old = search.cells[first.id], last_same(search, good, first)
        if doubtful:
            self._line(
                f"{paint.bold('not decided')}: the change is {first.id} or one of "
                f"{plural(len(doubtful), 'skipped commit')} before it"
            )
            for each in doubtful:
                self._line(f"  {each}")
        else:
            self._line(
                f"{paint.bold(f'{first.id} is the first')} with {new.verdict}; before it is {old.verdict}"
            )
        self._line(f"  {visible(first.subject, 200)}")
        self._line(f"  author date {first.date}")
        for cell in (old, new):
            self._line(paint.dim(f"  {visible(cell.replay)}"))

    def _row(self, commit: Commit, symbol: str, verdict: str, subject: str) -> None:
        text = fit(visible(subject, 200), self._width(DIGITS + 16))
        self._line(f"  {symbol} {commit.id[:DIGITS]}  {verdict}  {text}".rstrip())

    def _width(self, used: int) -> int:
        return max(20, self._paint.width - used)

    def _line(self, text: str) -> None:
        self._stream.write(f"{text}\n")
        self._stream.flush()


def last_same(search: Commits, good: Commit, first: Commit) -> Cell:
    """A parent of the first bad commit that was played, else the good end."""
    played = [parent for parent in first.parents if parent in search.cells]
    return search.cells[played[0] if played else good.id]


def _document(
    search: Commits,
    ends: tuple[Commit, Commit],
    first: Commit | None,
    doubtful: Sequence[str],
    answered: bool,
    code: int,
) -> Row:
    run = search.player.options.run

    def row(cell: Cell) -> Row:
        return plain(cell_row(run, cell))

    return {
        "schema": SCHEMA,
        "case": search.player.selected.items[0].case.id,
        "releases": [f"{search.spec}@{end.id[:DIGITS]}" for end in ends],
        "left_out": [],
        "answered": answered and not doubtful,
        "last_same": None if first is None else row(last_same(search, ends[0], first)),
        "first_other": None if first is None else row(search.cells[first.id]),
        "cells": [row(cell) for cell in search.cells.values()],
        "commits": {
            "first": None
            if first is None
            else {"commit": first.id, "subject": first.subject, "author_date": first.date},
            "doubtful": list(doubtful),
            "skipped": [
                {"commit": commit, "reason": why} for commit, why in search.skipped.items()
            ],
        },
        "runs": len(search.cells),
        "exit_code": code,
    }
