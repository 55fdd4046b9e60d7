"""The work of `jetproof matrix`: where releases run, the plans, the sinks, the end."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.campaigns.interrupts import Interrupts
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import say, write_json
from jetproof.cli.matrix_playing import Matrix, Pace, Stops
from jetproof.cli.report_files import open_report_files
from jetproof.cli.running import (
    Request,
    code_of,
    ended,
    keep_broken,
    open_fan,
    played,
    resumed,
    same_suites,
    scored_selection,
)
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id
from jetproof.errors import JetproofError
from jetproof.events import Notice
from jetproof.load.editions import difference, find_edition, standing_of
from jetproof.load.library import load_library
from jetproof.model.law_modes import DEFAULT_LAWS
from jetproof.plan import Plan, make_plan, name_of
from jetproof.results import Run
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.console.summary import SummaryOptions
from jetproof.sinks.document import Document
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
from jetproof.sinks.record import SCHEMA_SUITE, Record
from jetproof.sinks.releases import Board, Expected
from jetproof.targets.go_tool import Notify
from jetproof.targets.go_versions import singles
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import Provider, parse_list, redacted

JOBS_A_CORE = 8
JOBS_MOST = 32
"""One process plays all cases: more servers than this would wait for it. Shards go further."""


@dataclass(frozen=True, slots=True)
class Where:
    """Where releases run that did not say so themselves, and the line that tells it."""

    provider: Provider | None
    heading: str


async def execute(args: argparse.Namespace) -> int:
    """Everything from loading to the last line."""
    request, earlier = _asked(args)
    library = load_library()
    same_suites(library, earlier)
    edition = find_edition(library, request.edition)
    request = replace(request, edition=edition.name if edition else request.edition)
    selected = scored_selection(library, select_cases(library, request.selection), edition)
    where = await _where(args.provider, request.servers, resuming=earlier is not None)
    names = await asyncio.to_thread(placed, request.servers, where.provider, say)
    targets = await resolve(names, notify=say, ahead=False)
    request = replace(request, servers=tuple(target.name for target in targets))
    skip = played(earlier, selected)
    plans = [make_plan(library, selected, [target], skip=skip) for target in targets]

    run_id = earlier.id if earlier else fresh_run_id()
    pace = Pace.of(args.jobs or default_jobs(), args.budget)
    stops = Stops()
    board = Board(expected(plans, earlier), min(pace.releases, len(plans)))
    folder = _folder(args, request, earlier, run_id)
    console = Console(
        sys.stderr if args.json else sys.stdout,
        options=SummaryOptions(command="matrix", reasons=0),
        board=board,
        heading=where.heading,
        verbose=args.verbose,
        results=str(folder.folder),
        stopped=lambda: stops.reason or "",
    )
    document, record = Document(), Record(keep_frames=0)
    interrupts = Interrupts(stops, notify=console.say)
    cases = [item.case for item in selected.items]
    files = open_report_files(args, folder, cases, lambda: code_of(fan, record, interrupts))
    fan = open_fan(folder, earlier, (console, document, record, *files))
    emit = keep_broken(earlier, fan)
    options = RunOptions(
        run=run_id,
        time_factor=time_factor(),
        command=tuple(args.command_line),
        attempts=earlier.attempts if earlier else {},
        editions=(edition,) if edition else (),
        laws=request.laws or DEFAULT_LAWS,
    )
    if edition and (told := difference(standing_of(library, edition, for_clients=False))):
        fan(Notice(told))
    matrix = Matrix(plans, library, emit, options, pace, stops)
    try:
        await matrix.play(interrupts, console.tick)
    finally:
        fan.close()
    code = ended(fan, console.say, record, interrupts)
    if args.json:
        built = document.build(results=str(folder.folder), code=code)
        write_json({**built, "provider": where.provider, "releases": board.rows()})
    return code


def placed(
    servers: Sequence[str], provider: Provider | None, notify: Notify | None = None
) -> list[str]:
    """The targets asked for (all known releases if none), each with the provider it gets.

    A name that says its provider means the same thing when the run is resumed or replayed. `notify`
    hears of releases that cannot be built here and are left out.
    """
    names: list[str] = []
    for spec in parse_list(list(servers) or "*"):
        if spec.url is not None:
            names.append(spec.url)
            continue
        for single in singles(spec, notify=notify):
            if provider == "container" and not single.pinned:
                single = replace(single, provider=provider, pinned=True)
            names.append(str(single))
    return names


def expected(plans: Sequence[Plan], earlier: Run | None) -> dict[str, Expected]:
    """What every release owes, and how much of it an earlier part of the run has not played.

    By the names that sinks hear: no password is in them.
    """
    found: dict[str, Expected] = {}
    for plan in plans:
        target = plan.targets[0]
        name = redacted(target.name)
        items = [item for group in plan.groups for item in group.items]
        items += [dropped.item for dropped in plan.not_applicable]
        names = {name_of(item, target) for item in items}
        if earlier is not None:
            names |= {
                cell.name
                for cell in earlier.latest
                if cell.target == name
                and cell.suite != SCHEMA_SUITE
                and cell.name in earlier.completed
            }
        found[name] = Expected(len(names), sum(len(group.items) for group in plan.groups))
    return found


def default_jobs() -> int:
    """So many server processes at the same time as this machine's cores can serve."""
    return min(JOBS_MOST, JOBS_A_CORE * (os.cpu_count() or 1))


def _asked(args: argparse.Namespace) -> tuple[Request, Run | None]:
    request = Request(
        patterns=tuple(args.patterns),
        servers=tuple(args.servers),
        clauses=tuple(args.clauses),
        specs=tuple(args.specs),
        shard=args.shard,
        edition=args.edition,
        laws=args.laws,
    )
    if args.resume is None:
        return request, None
    if args.provider is not None:
        raise JetproofError(
            f"{args.resume} is resumed with what it was asked for then",
            phase="plan",
            hint="leave out --provider, or start a new matrix",
        )
    return resumed(args.resume, request, args.out)


async def _where(asked: str | None, servers: Sequence[str], *, resuming: bool) -> Where:
    """Containers where a Docker engine answers; whoever asks for one provider gets it."""
    if resuming:
        return Where(None, "servers: as in the run that is resumed")
    if asked == "embedded":
        return Where("embedded", "servers: release binaries on this machine (--provider embedded)")
    open_to_choice = not servers or any(not spec.pinned for spec in parse_list(list(servers)))
    if asked is None and not open_to_choice:
        return Where(None, "servers: each where its target says")
    from jetproof.targets.docker_engine import engine_problem

    problem = await asyncio.to_thread(engine_problem)
    if problem is None:
        told = "--provider container" if asked else "--provider embedded takes release binaries"
        return Where("container", f"servers: in containers, a Docker engine answers ({told})")
    if asked == "container":
        raise JetproofError(
            f"--provider container was asked for: {problem.splitlines()[0]}",
            phase="start",
            hint="install and start Docker (`docker info` must answer), or leave out --provider",
        )
    why = problem.splitlines()[0]
    return Where("embedded", f"servers: release binaries on this machine, not containers: {why}")


def _folder(
    args: argparse.Namespace, request: Request, earlier: Run | None, run_id: str
) -> RunFolder:
    if earlier is not None:
        return RunFolder.resume(earlier)
    return RunFolder.create(args.out or Path(DEFAULT_PARENT) / run_id, request.document())
