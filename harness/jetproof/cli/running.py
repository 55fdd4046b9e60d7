"""The work of `jetproof run`: load, plan, open the sinks, play, report."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from jetproof.campaigns.interrupts import Interrupts, play
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import say, write_json
from jetproof.cli.report_files import open_report_files
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, Stop, fresh_run_id
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Emit, Event, Notice, RunStarted
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import Library, load_library
from jetproof.model.edition import Edition
from jetproof.model.law_modes import DEFAULT_LAWS, LAW_MODES
from jetproof.model.verdict import Cell, Check, FrameRecord, exit_code
from jetproof.plan import PlanTarget, Selected, Selection, make_plan, scored_by
from jetproof.results import Key, Run, read_run
from jetproof.sinks import FanOut, Sink
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.document import Document
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
from jetproof.sinks.record import EXPLAINED, SCHEMA_SUITE, Record
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted

_DEFAULT_TARGETS = ("latest",)


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for. It is kept in `run.json`, so that `--resume` need not be told again."""

    patterns: tuple[str, ...] = ()
    servers: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    specs: tuple[tuple[str, int | None], ...] = ()
    shard: tuple[int, int] | None = None
    per_case: bool = False
    edition: str | None = None
    laws: str | None = None

    @property
    def selection(self) -> Selection:
        return Selection(self.patterns, self.clauses, self.specs, self.shard)

    def document(self) -> dict[str, object]:
        return asdict(replace(self, servers=tuple(map(redacted, self.servers))))


def resumed(folder: Path, given: Request, out: Path | None) -> tuple[Request, Run]:
    """The request of an earlier run. Only a target with a password has to be named again."""
    earlier = read_run(folder)
    stored = earlier.document.get("request")
    request = _request_of(stored if isinstance(stored, dict) else {})
    renamed = tuple(map(redacted, given.servers)) == request.servers
    others = (
        given.patterns,
        given.clauses,
        given.specs,
        given.shard,
        given.per_case,
        given.edition,
        given.laws,
        out,
    )
    if any(others) or (given.servers and not renamed):
        raise JetproofError(
            f"{folder} is resumed with what it was asked for then",
            phase="plan",
            hint="leave out patterns and options that select, or start a new run",
        )
    if not given.servers and any("***@" in server for server in request.servers):
        raise JetproofError(
            f"{folder} does not keep passwords",
            phase="plan",
            hint=f"name the target again: --server {request.servers[0]}",
        )
    return (replace(request, servers=given.servers) if given.servers else request), earlier


async def execute(args: argparse.Namespace, request: Request, earlier: Run | None) -> int:
    """Everything from loading to the last line."""
    library = load_library()
    same_suites(library, earlier)
    edition = find_edition(library, request.edition)
    # `latest` means the edition that was the newest then, however long a run takes to be finished.
    request = replace(request, edition=edition.name if edition else request.edition)
    selected = scored_selection(library, select_cases(library, request.selection), edition)
    targets = await resolve(request.servers or _DEFAULT_TARGETS, notify=say)
    # A resumed run goes on with the releases that it had, whatever `latest` means by now.
    request = replace(request, servers=tuple(target.name for target in targets))
    apart = _apart(request, targets)
    plan = make_plan(library, selected, targets, skip=played(earlier, selected), apart=apart)

    run_id = earlier.id if earlier else fresh_run_id()
    stop = Stop()
    folder, sinks = _open(args, request, earlier, run_id, stop)
    console, document, record = sinks
    interrupts = Interrupts(stop, notify=console.say)
    cases = [item.case for item in selected.items]
    files = open_report_files(args, folder, cases, lambda: code_of(fan, record, interrupts))
    fan = open_fan(folder, earlier, (*sinks, *files))
    emit = keep_broken(earlier, fan)
    options = RunOptions(
        run=run_id,
        time_factor=time_factor(),
        fail_fast=args.fail_fast,
        command=tuple(args.command_line),
        attempts=earlier.attempts if earlier else {},
        laws=request.laws or DEFAULT_LAWS,
        editions=(edition,) if edition else (),
    )
    if edition and (unlike := difference(standing_of(library, edition, for_clients=False))):
        fan(Notice(unlike))
    if args.jobs is not None:
        options = replace(options, servers_at_once=args.jobs)
    try:
        await play(plan, library, emit, options, interrupts, console.tick)
    finally:
        fan.close()
    code = ended(fan, console.say, record, interrupts)
    if args.json:
        write_json(document.build(results=str(folder.folder), code=code))
    return code


def _apart(request: Request, targets: Sequence[PlanTarget]) -> frozenset[str]:
    """The targets on which every case gets servers of its own."""
    if not request.per_case:
        return frozenset()
    covered = frozenset(target.name for target in targets if target.provider == "cover")
    if not covered:
        raise JetproofError(
            "--per-case is for servers that record which code they reach",
            phase="plan",
            hint="name one with --server cover:2.15.1, or leave --per-case out",
        )
    return covered


def _open(
    args: argparse.Namespace, request: Request, earlier: Run | None, run_id: str, stop: Stop
) -> tuple[RunFolder, tuple[Console, Document, Record]]:
    if earlier is None:
        place = args.out or Path(DEFAULT_PARENT) / run_id
        folder = RunFolder.create(place, request.document())
    else:
        folder = RunFolder.resume(earlier)
    console = Console(
        sys.stderr if args.json else sys.stdout,
        verbose=args.verbose,
        results=str(folder.folder),
        stopped=lambda: stop.reason or "",
    )
    return folder, (console, Document(), Record(keep_frames=0))


def open_fan(folder: RunFolder, earlier: Run | None, sinks: Sequence[Sink]) -> FanOut:
    """The folder hears what is new; the other sinks hear of the whole run."""
    return FanOut([folder, Resumed(earlier, sinks)])


def ended(fan: FanOut, say: Callable[[str], None], record: Record, interrupts: Interrupts) -> int:
    """The exit code of a run whose sinks are closed; tells which of them failed."""
    for failure in fan.failures:
        say(str(failure))
    return code_of(fan, record, interrupts)


def code_of(fan: FanOut, record: Record, interrupts: Interrupts) -> int:
    """The exit code of a run, by what is known of it now."""
    if interrupts.exit_code is not None:
        return interrupts.exit_code
    return 2 if fan.failures else exit_code(record.cells)


class Resumed:
    """Tells sinks that print the whole run what earlier plays of it gave."""

    def __init__(self, earlier: Run | None, sinks: Sequence[Sink]) -> None:
        self._earlier = earlier
        self._sinks = sinks

    def handle(self, event: Event) -> None:
        if self._earlier is None or not isinstance(event, RunStarted):
            self._tell(event)
            return
        old = [cell for cell in self._earlier.latest if cell.name in self._earlier.completed]
        planned = sum(cell.suite != SCHEMA_SUITE for cell in old)
        self._tell(replace(event, cells=event.cells + planned))
        for finished in _finished(self._earlier, old):
            self._tell(finished)

    def close(self) -> None:
        """Close every sink, also after one that fails."""
        with contextlib.ExitStack() as closing:
            for sink in reversed(self._sinks):
                closing.callback(sink.close)

    def _tell(self, event: Event) -> None:
        for sink in self._sinks:
            sink.handle(event)


def scored_selection(library: Library, selected: Selected, edition: Edition | None) -> Selected:
    """The selection, each item scored or not by an edition."""
    return replace(selected, items=scored_by(library, selected.items, edition))


def keep_broken(earlier: Run | None, emit: Emit) -> Emit:
    """A schema's cell sums up all frames of a run: what an earlier part saw broken stays so."""
    broken = {
        cell.name: cell
        for cell in (earlier.latest if earlier else ())
        if cell.suite == SCHEMA_SUITE and cell.fails
    }

    def kept(event: Event) -> None:
        if isinstance(event, CaseFinished) and (before := broken.get(event.cell.name)):
            reason = f"before the run was resumed: {before.reason}"
            cell = replace(event.cell, verdict=before.verdict, reason=reason, scored=True)
            event = replace(event, cell=cell)
        emit(event)

    return kept if broken else emit


def _finished(run: Run, cells: Sequence[Cell]) -> list[CaseFinished]:
    """The events that gave these cells, with the evidence for those that need it."""
    wanted: dict[Key, tuple[list[Check], list[FrameRecord]]] = {
        (cell.name, cell.target, cell.attempt): ([], [])
        for cell in cells
        if cell.verdict in EXPLAINED
    }
    if wanted:
        for key, check in run.checks():
            if key in wanted:
                wanted[key][0].append(check)
        for key, frame in run.frames():
            if key in wanted:
                wanted[key][1].append(frame)
    nothing: tuple[list[Check], list[FrameRecord]] = ([], [])
    return [
        CaseFinished(cell, *wanted.get((cell.name, cell.target, cell.attempt), nothing))
        for cell in cells
    ]


def played(earlier: Run | None, selected: Selected) -> frozenset[str]:
    """Names of the cells that need not be played again: a case that was changed is another one."""
    if earlier is None:
        return frozenset()
    hashes = {item.case.id: item.case.hash for item in selected.items}
    return frozenset(
        cell.name
        for cell in earlier.latest
        if cell.name in earlier.completed and cell.case_hash == hashes.get(cell.case)
    )


def same_suites(library: Library, earlier: Run | None) -> None:
    if earlier is not None and earlier.document.get("suite_hash") != library.suite_hash:
        raise JetproofError(
            f"the suites have changed since {earlier.folder} was made",
            phase="plan",
            hint="its cells and new ones would not be of the same cases: start a new run",
        )


def _request_of(stored: Mapping[str, object]) -> Request:
    def texts(name: str) -> tuple[str, ...]:
        value = stored.get(name)
        return tuple(map(str, value)) if isinstance(value, list) else ()

    specs, part = stored.get("specs"), stored.get("shard")
    return Request(
        patterns=texts("patterns"),
        servers=texts("servers"),
        clauses=texts("clauses"),
        specs=tuple((str(name), revision) for name, revision in specs)
        if isinstance(specs, list)
        else (),
        shard=(int(part[0]), int(part[1])) if isinstance(part, list) else None,
        per_case=stored.get("per_case") is True,
        edition=str(stored["edition"]) if stored.get("edition") else None,
        laws=str(stored["laws"]) if stored.get("laws") in LAW_MODES else None,
    )
