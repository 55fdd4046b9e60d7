"""The work of `jetproof gate`: libraries, their adapters and ledgers, and the verdict on each."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from jetproof.campaigns.interrupts import Interrupts, play
from jetproof.campaigns.libraries import Judged, meet, meet_reference, named, pools, today
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of, say, write_json
from jetproof.cli.report_files import open_report_files
from jetproof.engine.calibrate import time_factor
from jetproof.engine.client_pool import AT_ONCE
from jetproof.engine.run import RunOptions, Stop, fresh_run_id
from jetproof.events import CaseFinished, Event, Notice, RunStarted
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import Library, load_library
from jetproof.model.edition import Edition
from jetproof.model.verdict import Cell, exit_code
from jetproof.plan import (
    PlanClient,
    Selected,
    Selection,
    client_items,
    is_claimed,
    make_plan,
    scored_by,
)
from jetproof.sinks import FanOut, Sink
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.console.summary import SummaryOptions
from jetproof.sinks.document import Document
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
from jetproof.sinks.record import Record
from jetproof.targets.resolve import resolve

_DEFAULT_TARGETS = ("latest",)
_REASONS = 6


async def execute(args: argparse.Namespace) -> int:
    """Everything from loading to the last line."""
    library = load_library()
    selection = Selection(tuple(args.patterns), tuple(args.clauses))
    chosen = select_cases(library, selection, for_clients=True)
    cases = [item.case for item in chosen.items if _asked_for(item.case.spec, args.specs)]
    factor = time_factor()
    asked = find_edition(library, args.edition)
    libraries = [
        _scored(library, one, args, asked)
        for one in await meet(named(args.clients, args.all), args.ledger, library, factor)
    ]
    witness = await meet_reference(factor)
    targets = await resolve(args.servers or _DEFAULT_TARGETS, notify=say)
    items = [
        item
        for one in libraries
        for item in scored_by(library, client_items(library, cases, one.plan), one.edition)
    ]
    plan = make_plan(library, Selected(tuple(items), chosen.partial), targets, skip=frozenset())
    run_id, stop = fresh_run_id(), Stop()
    introduced = [one.document() for one in libraries]
    folder = RunFolder.create(args.out or Path(DEFAULT_PARENT) / run_id, _request(args), introduced)
    console = Console(
        sys.stderr if args.json else sys.stdout,
        verbose=args.verbose,
        results=str(folder.folder),
        stopped=lambda: stop.reason or "",
        options=SummaryOptions(
            command="gate",
            resumable=False,
            reasons=_REASONS if len(libraries) == 1 else 2,
            besides=lambda: _told(library, libraries, [one.cell for one in record.outcomes]),
        ),
    )
    document, record = Document(), Record(keep_frames=0)
    plans = {one.plan.name: one.plan for one in libraries}

    def counts(cell: Cell) -> bool:
        return _counts(library, plans, cell)

    held = sum(
        is_claimed(library, item.client, item.case.spec, item.revision)
        for item in items
        if item.client is not None
    )
    interrupts = Interrupts(stop, notify=console.say)

    def code_now() -> int:
        return _exit_code(record, counts, bool(fan.failures), interrupts)

    claimed: list[Sink] = [console, *open_report_files(args, folder, cases, code_now)]
    told_apart = [Claimed(counts, held * len(targets), sink) for sink in claimed]
    fan = FanOut([folder, document, record, *told_apart])
    for one in libraries:
        console.say(one.introduction)
    editions = {one.edition.name: one.edition for one in libraries if one.edition}
    for edition in editions.values():
        if apart := difference(standing_of(library, edition, for_clients=True)):
            fan(Notice(apart))
    try:
        async with pools(
            [*libraries, witness], factor, args.jobs or _at_once(len(libraries))
        ) as ready:
            options = RunOptions(
                run=run_id,
                time_factor=factor,
                command=tuple(args.command_line),
                libraries=ready,
                witness=None if witness.client is None else witness.plan,
                ledgers={one.plan.name: one.in_force for one in libraries},
                editions=tuple(editions.values()),
                laws=laws_of(args),
            )
            await play(plan, library, fan, options, interrupts, console.tick)
    finally:
        fan.close()
    for failure in fan.failures:
        console.say(str(failure))
    code = code_now()
    if args.json:
        built = document.build(
            results=str(folder.folder),
            code=code,
            more=lambda cell: {"counts": counts(cell) and cell.scored},
            counts=counts,
        )
        write_json({**built, "libraries": introduced})
    return code


def _at_once(libraries: int) -> int:
    """Adapters of each: a tap that shares a machine with too many of them stands still."""
    return max(4, min(AT_ONCE, 2 * AT_ONCE // libraries))


def _asked_for(spec: str, specs: Sequence[tuple[str, int | None]]) -> bool:
    return not specs or any(spec == name for name, _ in specs)


def _request(args: argparse.Namespace) -> dict[str, object]:
    return {
        "patterns": list(args.patterns),
        "servers": list(args.servers),
        "clauses": list(args.clauses),
        "clients": list(args.clients),
        "edition": args.edition,
        "laws": args.laws,
    }


def _scored(
    library: Library, one: Judged, args: argparse.Namespace, asked: Edition | None
) -> Judged:
    """A library with the edition that it is scored by: the one asked for, or else that of its ledger."""
    named = find_edition(library, one.ledger.edition) if args.edition is None else asked
    return replace(one, edition=named)


class Claimed:
    """Lets a sink hear of what a library is held to: not of texts that it does not claim.

    Those cells are in the result files, and are summed up in a line at the end."""

    def __init__(self, counts: Callable[[Cell], bool], planned: int, sink: Sink) -> None:
        self._counts = counts
        self._planned = planned
        self._sink = sink

    def handle(self, event: Event) -> None:
        if isinstance(event, RunStarted):
            event = replace(event, cells=self._planned)
        if not isinstance(event, CaseFinished) or self._counts(event.cell):
            self._sink.handle(event)

    def close(self) -> None:
        self._sink.close()


def _exit_code(
    record: Record, counts: Callable[[Cell], bool], failed: bool, interrupts: Interrupts
) -> int:
    """By the revisions that each library claims; what it does not claim is shown, and no more."""
    if interrupts.exit_code is not None:
        return interrupts.exit_code
    if failed:
        return 2
    return exit_code(cell for cell in record.cells if counts(cell))


def _counts(library: Library, plans: Mapping[str, PlanClient], cell: Cell) -> bool:
    """The witness never counts, unless it was asked for itself."""
    plan = plans.get(cell.client or "")
    if plan is None:
        return cell.client is None
    return is_claimed(library, plan, cell.spec, cell.spec_revision)


def _told(library: Library, libraries: Sequence[Judged], cells: Sequence[Cell]) -> Iterator[str]:
    """What a person wants to know besides: expired entries, and what newer texts would say."""
    for one in libraries:
        for entry in one.ledger.expired(today()):
            yield f"{one.plan.name}: {entry.deviation.id} expired on {entry.expires}"
        own = [cell for cell in cells if cell.client == one.plan.name]
        beside = [
            cell for cell in own if not is_claimed(library, one.plan, cell.spec, cell.spec_revision)
        ]
        if beside:
            counts = Counter(cell.verdict for cell in beside)
            words = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
            yield f"{one.plan.name}: by the text in force, which it does not claim: {words}"
