"""Goes on with a run that ended early: what it was asked for, what it has, and what it still owes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jetproof.campaigns.request import Request
from jetproof.engine.run import RunOptions
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Emit, Event, RunStarted, SchemaJudged
from jetproof.load.library import Library
from jetproof.model.verdict import EXPLAINED, Cell, Check, FrameRecord
from jetproof.plan import Selected
from jetproof.results import Key, Run, read_run
from jetproof.targets.spec import is_redacted


def resumed(folder: Path, given: Request, *, others: bool = False) -> tuple[Request, Run]:
    """The request of an earlier run. Only a target with a password has to be named again.

    `others` says that something else was asked for that a resumed run cannot change."""
    earlier = read_run(folder)
    stored = earlier.document.get("request")
    request = Request.of(stored if isinstance(stored, dict) else {})
    anew = replace(given, servers=()) != Request()
    if anew or others or (given.servers and not _same_servers(given, request)):
        raise JetproofError(
            f"{folder} goes on with its original options",
            phase="plan",
            hint="leave out patterns and options that select, or start a new run",
        )
    if not given.servers and any(map(is_redacted, request.servers)):
        raise JetproofError(
            f"{folder} does not keep passwords",
            phase="plan",
            hint=f"name the target again: --server {request.servers[0]}",
        )
    return (replace(request, servers=given.servers) if given.servers else request), earlier


def _same_servers(given: Request, stored: Request) -> bool:
    return given.document()["servers"] == stored.servers


def check_suites(library: Library, earlier: Run) -> None:
    """Raise if the cells of a run, and new ones, would not be of the same cases."""
    if earlier.document.get("suite_hash") != library.suite_hash:
        raise JetproofError(
            f"the suites have changed since {earlier.folder} was made",
            phase="plan",
            hint="its cells and new ones would not be of the same cases: start a new run",
        )


def played(earlier: Run, selected: Selected) -> frozenset[str]:
    """Names of the cells that need not be played again: a case that was changed is another one."""
    hashes = {item.case.id: item.case.hash for item in selected.items}
    return frozenset(
        cell.name
        for cell in earlier.latest
        if cell.name in earlier.completed and cell.case_hash == hashes.get(cell.case)
    )


def going_on(earlier: Run, options: RunOptions) -> RunOptions:
    """Options that know what an earlier part of the run has: its id, attempts, and schemas."""
    schemas = {one.name: one for one in earlier.latest_schemas}
    return replace(options, run=earlier.id, attempts=earlier.attempts, schemas=schemas)


def with_earlier(earlier: Run, emit: Emit) -> Emit:
    """Reports what earlier parts of the run gave when it starts again, marked as such."""

    def emit_all(event: Event) -> None:
        if not isinstance(event, RunStarted):
            emit(event)
            return
        old = [cell for cell in earlier.latest if cell.name in earlier.completed]
        emit(replace(event, cells=event.cells + len(old)))
        for finished in _finished(earlier, old):
            emit(finished)
        for result in earlier.latest_schemas:
            emit(SchemaJudged(result, earlier=True))

    return emit_all


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
        CaseFinished(
            cell, *wanted.get((cell.name, cell.target, cell.attempt), nothing), earlier=True
        )
        for cell in cells
    ]
