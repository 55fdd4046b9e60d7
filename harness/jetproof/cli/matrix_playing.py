"""Plays the plans of many releases side by side, each as a run of its own.

A release is played by the same engine as a run, with its own stop, its own time and its own end.
Whatever happens to one (its binary cannot be had, its servers die, its time is used up, the engine
itself fails on it) becomes `error` on the cells that it still owes, and the others go on.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.engine.cells import cell_of
from jetproof.engine.run import RunOptions, Stop, now, run
from jetproof.engine.verdicts import Ruling
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Emit, Event, Notice, RunFinished, RunStarted, TargetFailed
from jetproof.load.library import Library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Item, Plan, PlanTarget
from jetproof.targets.own_build import own_build, release_binary
from jetproof.targets.spec import MODULE_PROVIDERS, parse
from jetproof.tasks import all_of

ANY = "any"
SERVERS_EACH = 8
"""Server processes that one release gets: two clusters and two single servers, say."""

Fetch = Callable[[PlanTarget, Callable[[str], None]], Coroutine[Any, Any, None]]
"""Brings what a target needs onto this machine, or raises JetproofError."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How much at the same time, and how long at most."""

    releases: int
    servers: int
    budget: float

    @classmethod
    def of(cls, jobs: int, budget: float) -> Pace:
        """So many server processes, in as many releases as that is enough for."""
        releases = max(1, jobs // SERVERS_EACH)
        return cls(releases, jobs // releases, budget)


class Stops(Stop):
    """Ends a whole matrix early, by ending every release that is being played."""

    def __init__(self) -> None:
        super().__init__()
        self._each: list[Stop] = []

    def for_release(self) -> Stop:
        stop = Stop()
        self._each.append(stop)
        return stop

    def now(self, reason: str) -> None:
        super().now(reason)
        for stop in self._each:
            stop.now(reason)


async def fetch(target: PlanTarget, notify: Callable[[str], None]) -> None:
    """The binary of a release: fetched or built once, before the release's time is counted."""
    if target.provider in ("embedded", "reference"):
        await release_binary(target.version, notify=notify)
    elif target.provider in MODULE_PROVIDERS:
        await own_build(parse(target.name), notify=notify)


class Matrix:
    """One matrix: `plans` holds one plan a release, in the order to play them in."""

    def __init__(
        self,
        plans: Sequence[Plan],
        library: Library,
        emit: Emit,
        options: RunOptions,
        pace: Pace,
        stops: Stops,
        fetch: Fetch = fetch,
    ) -> None:
        self._plans = plans
        self._library = library
        self._emit = emit
        self._options = options
        self._pace = pace
        self._stops = stops
        self._fetch = fetch
        self._verdicts: Counter[Verdict] = Counter()
        self._slowest = 0.0

    async def play(self, interrupts: Interrupts, tick: Callable[[], None] | None = None) -> None:
        """Play all of it with a person in front of it."""
        async with attended(interrupts, tick) as owner:
            self._options = replace(self._options, owner=owner)
            await self.whole()

    async def whole(self) -> RunFinished:
        """Every release, so many at a time; one event at the beginning and one at the end."""
        began = time.monotonic()
        self._emit(self._started())
        places = asyncio.Semaphore(self._pace.releases)
        await all_of(*(self._release(plan, places) for plan in self._plans))
        ended = RunFinished(
            run=self._options.run,
            verdicts=dict(self._verdicts),
            wall_ms=round((time.monotonic() - began) * 1000, 1),
            slowest_case_ms=round(self._slowest, 1),
            interrupted=self._stops.reason is not None,
        )
        self._emit(ended)
        return ended

    # -- one release ----------------------------------------------------------------------------

    async def _release(self, plan: Plan, places: asyncio.Semaphore) -> None:
        target = plan.targets[0]
        told: set[tuple[str, int]] = set()

        def tell(event: Event) -> None:
            """What the engine tells of this release, without the ends of its own run."""
            if isinstance(event, CaseFinished):
                told.add((event.cell.name, event.cell.spec_revision))
            if not isinstance(event, (RunStarted, RunFinished)):
                self._tell(event)

        async with places:
            if self._stops.reason is not None:
                return
            try:
                problem = await self._play(plan, tell)
            except JetproofError as error:
                hint = f" ({error.hint.splitlines()[0]})" if error.hint else ""
                problem = error.message.splitlines()[0].rstrip(":") + hint
            except Exception as error:
                # A bug of ours on one release: the others still deserve their verdicts.
                problem = f"jetproof itself failed on it: {type(error).__name__}: {error}"
        if problem is not None and self._stops.reason is None:
            self._owed(plan, target, told, problem)

    async def _play(self, plan: Plan, tell: Emit) -> str | None:
        """Play one release; the reason why it did not get to its end, if it did not."""
        target, stop = plan.targets[0], self._stops.for_release()
        if plan.groups:
            loop = asyncio.get_running_loop()

            def notify(text: str) -> None:
                """Called in the thread that fetches; sinks are told in this one."""
                loop.call_soon_threadsafe(tell, Notice(text))

            fetching = asyncio.create_task(self._fetch(target, notify))
            stop.watch(fetching)
            try:
                await fetching
            except asyncio.CancelledError:
                if stop.reason is None:
                    raise
                return stop.reason
        seconds = self._pace.budget
        over = f"{target.name} had not ended within its budget of {seconds:g} s"
        timer = asyncio.get_running_loop().call_later(seconds, stop.now, over)
        try:
            options = replace(self._options, servers_at_once=self._pace.servers)
            await run(plan, self._library, tell, options, stop)
        finally:
            timer.cancel()
        return stop.reason

    def _owed(
        self, plan: Plan, target: PlanTarget, told: set[tuple[str, int]], problem: str
    ) -> None:
        """The cells of a release that ended early: no verdict, and why.

        What does not apply was planned, and stays so whatever happens.
        """
        cells = [
            self._cell(dropped.item, target, Verdict.NOT_APPLICABLE, dropped.reason)
            for dropped in plan.not_applicable
        ]
        cells += [
            self._cell(item, target, Verdict.ERROR, problem)
            for group in plan.groups
            for item in group.items
        ]
        missing = [cell for cell in cells if (cell.name, cell.spec_revision) not in told]
        if any(cell.verdict is Verdict.ERROR for cell in missing):
            self._tell(TargetFailed(target.name, ANY, ANY, problem))
        for cell in missing:
            self._tell(CaseFinished(cell))

    def _cell(self, item: Item, target: PlanTarget, verdict: Verdict, reason: str) -> Cell:
        started_at = now() if verdict is Verdict.ERROR else ""
        ruling = Ruling(verdict, reason)
        return cell_of(
            self._library, item, target, ruling, self._options.attempts, started_at=started_at
        )

    # -- the whole ------------------------------------------------------------------------------

    def _tell(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self._verdicts[event.cell.verdict] += event.cell.scored
            self._slowest = max(self._slowest, event.cell.ms)
        self._emit(event)

    def _started(self) -> RunStarted:
        specs = self._library.specs.values()
        return RunStarted(
            run=self._options.run,
            started_at=now(),
            targets=tuple(plan.targets[0].name for plan in self._plans),
            cells=sum(plan.cells for plan in self._plans),
            time_factor=self._options.time_factor,
            suite_hash=self._library.suite_hash,
            clauses=tuple(clause for spec in specs for clause in spec.clauses.values()),
            partial=self._plans[0].partial if self._plans else "",
            command=self._options.command,
        )
