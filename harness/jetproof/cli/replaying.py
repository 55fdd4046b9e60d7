"""The work of `jetproof replay`."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import replace

from rich.text import Text

from jetproof.campaigns.interrupts import Interrupts, play
from jetproof.campaigns.libraries import meet, pools
from jetproof.campaigns.selecting import select_cases
from jetproof.cli.common import laws_of, say, write_json
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, Stop, fresh_run_id
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice, RunStarted, TargetFailed, TargetStarted
from jetproof.load.library import load_library
from jetproof.model.verdict import Verdict, exit_code
from jetproof.plan import Selection, client_items, make_plan, named_exactly
from jetproof.results.rows import cell_row, check_row, frame_row
from jetproof.sinks import FanOut
from jetproof.sinks.console.evidence import (
    check_table,
    duration,
    explain,
    headline,
    reason_line,
)
from jetproof.sinks.console.lines import dim, line, note
from jetproof.sinks.console.screen import Screen
from jetproof.sinks.record import Outcome
from jetproof.sinks.text import visible
from jetproof.targets.clients.spec import parse_client
from jetproof.targets.resolve import resolve_one
from jetproof.targets.topology import RunningTarget


async def execute(
    args: argparse.Namespace,
    name: str,
    server: str,
    law: tuple[str, int | None] | None = None,
    client: str | None = None,
) -> int:
    """Play the one case that is named, on one target, and with one client library if it needs one."""
    library = load_library()
    if client is None and any(case.id == name for case in library.client_cases):
        raise JetproofError(
            f"{name} judges client libraries",
            phase="plan",
            hint="say which one: --client go:nats.go",
        )
    specs = (law,) if law else ()
    selected = select_cases(
        library, Selection((name,), specs=specs), for_clients=client is not None
    )
    if len(selected.items) != 1:
        listed = ", ".join(item.case.id for item in selected.items[:10])
        raise JetproofError(
            f"{name!r} names {len(selected.items)} cases",
            phase="plan",
            hint=f"replay plays one; these are: {listed}",
        )
    selected = named_exactly(selected)
    targets = [await resolve_one(server, hint="replay plays on one", notify=say)]
    factor = time_factor()
    libraries = []
    if client is not None:
        libraries = await meet([parse_client(client)], None, library, factor)
        plan_client = libraries[0].plan
        items = tuple(replace(item, client=plan_client) for item in selected.items)
        if law is None:
            items = client_items(library, [item.case for item in items], plan_client)
        selected = replace(selected, items=items)
    plan = make_plan(library, selected, targets, skip=frozenset())
    stream = sys.stderr if args.json else sys.stdout
    printer = Printer(Screen(stream), selected.items[0].case.id, args.verbose)
    interrupts = Interrupts(Stop(), notify=printer.say)
    fan = FanOut([printer])
    try:
        async with pools(libraries, factor) as ready:
            options = RunOptions(
                again=False,
                confirm=0,
                run=fresh_run_id(),
                time_factor=factor,
                command=tuple(args.command_line),
                laws=laws_of(args),
                hold=_holding(interrupts, printer.say) if args.keep_server else None,
                libraries=ready,
                ledgers={one.plan.name: one.in_force for one in libraries},
            )
            await play(plan, library, fan, options, interrupts)
    finally:
        fan.close()
    finished = printer.finished
    code = 3 if finished is None else exit_code([finished.cell])
    code = interrupts.exit_code or code
    if args.json:
        write_json(_document(options.run, finished, code))
    return code


class Printer:
    """The sink that shows one case, whole."""

    def __init__(self, screen: Screen, case: str, verbose: bool) -> None:
        self.finished: CaseFinished | None = None
        self._screen = screen
        self._case = case
        self._verbose = verbose
        self._clauses: RunStarted | None = None

    def handle(self, event: Event) -> None:
        match event:
            case RunStarted():
                self._clauses = event
            case TargetStarted():
                what = f"{event.version} {event.provider} {event.topology} {event.configuration}"
                ready = f"{what}, ready after {duration(event.ms)}"
                self._screen.print([line(dim(ready))])
            case TargetFailed():
                symbol = self._screen.layout.symbol(Verdict.ERROR)
                self._screen.print([line(symbol, " ", visible(event.reason, 4000))])
            case CaseFinished():
                self._screen.print(self._finish(event))
            case Notice():
                self.say(event.text)
            case _:
                pass

    def close(self) -> None:
        """Nothing is held."""

    def say(self, text: str) -> None:
        self._screen.print([note(text)])

    def _finish(self, event: CaseFinished) -> Iterator[Text]:
        layout = self._screen.layout
        frames = tuple(event.frames)
        failed = tuple(check for check in event.checks if not check.ok)
        outcome = Outcome(event.cell, failed, frames, len(frames))
        if event.cell.case != self._case:
            if event.cell.verdict.nonconforming:
                yield headline(outcome, layout)
                yield from reason_line(outcome, layout)
            return
        self.finished = event
        clauses = {row.id: row for row in self._clauses.clauses} if self._clauses else {}
        yield from explain(outcome, clauses, layout, whole=True, log=self._verbose, replay=False)
        if self._verbose and event.checks:
            yield line()
            yield from check_table(event.checks, layout)
        for key, text in event.cell.position.items():
            yield line(f"    position {key}: {visible(text, 1000)}")


def _holding(
    interrupts: Interrupts, say: Callable[[str], None]
) -> Callable[[RunningTarget], contextlib.AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def hold(target: RunningTarget) -> AsyncIterator[None]:
        interrupts.hold = asyncio.Event()
        for name in target.nodes:
            host, port = target.address(name)
            say(f"{name} is kept alive at nats://{host}:{port}")
        say("Ctrl-C takes it down")
        await interrupts.hold.wait()
        yield

    return hold


def _document(run: str, finished: CaseFinished | None, code: int) -> dict[str, object]:
    if finished is None:
        return {"schema": 1, "cell": None, "checks": [], "frames": [], "exit_code": code}
    cell = finished.cell
    return {
        "schema": 1,
        "cell": cell_row(run, cell),
        "checks": [check_row(run, cell, n, check) for n, check in enumerate(finished.checks, 1)],
        "frames": [frame_row(run, cell, n, frame) for n, frame in enumerate(finished.frames, 1)],
        "exit_code": code,
    }
