"""`matrix`: plays the plans of many releases side by side, each with its own time and its own end.

Whatever happens to one (its binary cannot be had, its servers die, its time is used up, the engine
itself fails on it) becomes `error` on the cells that it still owes, and the others go on.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.planning import Expected, choose
from jetproof.campaigns.providers import Where, find_provider, placed
from jetproof.campaigns.request import Request, Settings
from jetproof.engine.cells import cell_of
from jetproof.engine.run import RunOptions, Stop, now, play_plan
from jetproof.engine.run_events import RunEvents
from jetproof.engine.verdicts import Ruling
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Emit, Event, Notice, TargetFailed
from jetproof.load.library import Library
from jetproof.model.identity import ANY
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Item, Plan, PlanTarget, make_plan, name_of
from jetproof.results import Run
from jetproof.targets.own_build import own_build, release_binary
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import MODULE_PROVIDERS, parse, redacted
from jetproof.tasks import all_of

SERVERS_EACH = 8
"""Server processes that one release gets: two clusters and two single servers, say."""
JOBS_PER_CORE = 8
JOBS_MOST = 32
"""One process plays all cases: more servers than this would wait for it. Shards go further."""

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


@dataclass(slots=True, kw_only=True)
class Matrix(Campaign):
    """One matrix: `plans` holds one plan per release, in the order to play them in."""

    plans: Sequence[Plan]
    where: Where
    pace: Pace
    fetch: Fetch = fetch
    stop: Stops = field(default_factory=Stops)

    @property
    def side_by_side(self) -> int:
        """How many releases are played at the same time."""
        return min(self.pace.releases, len(self.plans))

    @property
    def expected(self) -> dict[str, Expected]:
        """What every release owes, and how much of it an earlier part of the run has not played.

        By the names that sinks hear: no password is in them.
        """
        return {
            redacted(plan.targets[0].name): self._expected(plan, redacted(plan.targets[0].name))
            for plan in self.plans
        }

    def _expected(self, plan: Plan, name: str) -> Expected:
        items = [item for group in plan.groups for item in group.items]
        items += [dropped.item for dropped in plan.not_applicable]
        names = {name_of(item, plan.targets[0]) for item in items}
        if self.earlier is not None:
            names |= {
                cell.name
                for cell in self.earlier.latest
                if cell.target == name and cell.name in self.earlier.completed
            }
        return Expected(len(names), sum(len(group.items) for group in plan.groups))

    async def _play(self, emit: Emit, options: RunOptions) -> None:
        """Every release, so many at a time; one event at the beginning and one at the end."""
        events = RunEvents(self.plans, self.library, emit, options, self.stop)
        events.start()
        places = asyncio.Semaphore(self.pace.releases)
        options = replace(options, servers_at_once=self.pace.servers)
        releases = [
            _Release(self, plan, events, options, self.stop.for_release()) for plan in self.plans
        ]
        await all_of(*(release.play(places) for release in releases))
        events.finish()


@dataclass(slots=True)
class _Release:
    """One release, played to its end or to the problem that ends it."""

    matrix: Matrix
    plan: Plan
    emit: Emit
    options: RunOptions
    stop: Stop
    _reported: set[tuple[str, int]] = field(default_factory=set)

    async def play(self, places: asyncio.Semaphore) -> None:
        whole = self.matrix.stop
        async with places:
            if whole.reason is not None:
                return
            try:
                problem = await self._played()
            except JetproofError as error:
                hint = f" ({error.hint.splitlines()[0]})" if error.hint else ""
                problem = error.message.splitlines()[0].rstrip(":") + hint
            except Exception as error:
                # A bug of ours on one release: the others still deserve their verdicts.
                problem = f"jetproof itself failed on it: {type(error).__name__}: {error}"
        if problem is not None and whole.reason is None:
            self._owed(problem)

    @property
    def _target(self) -> PlanTarget:
        return self.plan.targets[0]

    async def _played(self) -> str | None:
        """Play it; the reason why it did not get to its end, if it did not."""
        if self.plan.groups and (reason := await self._fetched()) is not None:
            return reason
        seconds = self.matrix.pace.budget
        over = f"{self._target.name} had not ended within its budget of {seconds:g} s"
        timer = asyncio.get_running_loop().call_later(seconds, self.stop.now, over)
        try:
            await play_plan(self.plan, self.matrix.library, self._tell, self.options, self.stop)
        finally:
            timer.cancel()
        return self.stop.reason

    async def _fetched(self) -> str | None:
        """Bring its binary here; the reason why that was given up, if it was."""
        loop = asyncio.get_running_loop()

        def notify(text: str) -> None:
            """Called in the thread that fetches; sinks hear of it in this one."""
            loop.call_soon_threadsafe(self._tell, Notice(text))

        fetching = asyncio.create_task(self.matrix.fetch(self._target, notify))
        self.stop.watch(fetching)
        try:
            await fetching
        except asyncio.CancelledError:
            if self.stop.reason is None:
                raise
        return self.stop.reason

    def _tell(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self._reported.add((event.cell.name, event.cell.spec_revision))
        self.emit(event)

    def _owed(self, problem: str) -> None:
        """The cells of a release that ended early: no verdict, and why.

        What does not apply was planned, and stays so whatever happens.
        """
        cells = [
            self._cell(dropped.item, Verdict.NOT_APPLICABLE, dropped.reason)
            for dropped in self.plan.not_applicable
        ]
        cells += [
            self._cell(item, Verdict.ERROR, problem)
            for group in self.plan.groups
            for item in group.items
        ]
        missing = [cell for cell in cells if (cell.name, cell.spec_revision) not in self._reported]
        if any(cell.verdict is Verdict.ERROR for cell in missing):
            self.emit(TargetFailed(self._target.name, ANY, ANY, problem))
        for cell in missing:
            self.emit(CaseFinished(cell))

    def _cell(self, item: Item, verdict: Verdict, reason: str) -> Cell:
        return cell_of(
            self.matrix.library,
            item,
            self._target,
            Ruling(verdict, reason),
            self.options.attempts,
            started_at=now() if verdict is Verdict.ERROR else "",
        )


async def plan_matrix(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    provider: str | None,
    budget: float,
    earlier: Run | None = None,
    notify: Callable[[str], None],
) -> Matrix:
    """What a request asks for, one plan per release. `notify` hears of builds."""
    choice = choose(library, request, earlier)
    where = await find_provider(provider, request.servers, resuming=earlier is not None)
    names = await asyncio.to_thread(placed, request.servers, where.provider, notify)
    targets = await resolve(names, notify=notify, ahead=False)
    choice = choice.on(targets)
    skip = choice.skip
    return Matrix(
        library=library,
        request=choice.request.document(),
        cases=choice.cases,
        options=choice.options(settings),
        earlier=earlier,
        notices=choice.notices,
        plans=[make_plan(library, choice.selected, [target], skip=skip) for target in targets],
        where=where,
        pace=Pace.of(settings.jobs or default_jobs(), budget),
    )


def default_jobs() -> int:
    """So many server processes at the same time as this machine's cores can serve."""
    return min(JOBS_MOST, JOBS_PER_CORE * (os.cpu_count() or 1))
