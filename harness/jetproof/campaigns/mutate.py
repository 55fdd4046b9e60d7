"""Mutation: can the cases fail? Plays them against servers that are wrong on purpose.

The cases are played once as the server is, and then once for each mutant: the same server behind
a tap that makes it wrong. A mutant is caught if a case that names one of its clauses comes to
a worse verdict, or records another position, than without it. A mutant whose rules never fired
proves nothing, and is reported as idle; `error` catches nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import fnmatch
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from jetproof.campaigns.request import Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.engine.retries import AT_ONCE as CASES_AT_ONCE
from jetproof.engine.run import Proxy, RunOptions, Stop, fresh_run_id, no_proxy, run
from jetproof.engine.session import Address
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event
from jetproof.load.library import Library
from jetproof.model.identity import REFERENCE
from jetproof.model.mutant import Mutant
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import Item, PlanTarget, Selected, Selection, make_plan
from jetproof.targets.resolve import resolve_one
from jetproof.targets.sweep import Owner
from jetproof.targets.tap import Tap
from jetproof.targets.topology import RunningTarget
from jetproof.tasks import all_of
from jetproof.wire.rules.model import Pass

AT_ONCE = 3
_SERVERS_AT_ONCE = 4
_WORSE = (Verdict.FAIL, Verdict.STALE, Verdict.WARN)


class Outcome(StrEnum):
    """What became of a mutant."""

    CAUGHT = "caught"
    SURVIVED = "survived"
    IDLE = "idle"
    """Its rules never fired."""
    UNTESTED = "untested"
    """No case that can be played names its clauses."""
    UNDECIDED = "error"
    """No case came to a verdict."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One mutant: what became of the cases that name its clauses."""

    mutant: Mutant
    outcome: Outcome
    fired: Mapping[str, int] = field(default_factory=dict)
    caught_by: tuple[Cell, ...] = ()
    played: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class NeverFailed:
    """A case that nothing made fail, and the mutants that tried."""

    case: str
    mutants: tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Mutation(ABC):
    """One campaign, planned: mutants, and the cases that must notice them."""

    library: Library
    targets: Sequence[PlanTarget]
    items: Sequence[Item]
    mutants: Sequence[Mutant]
    options: RunOptions
    at_once: int
    """How many mutants are played side by side."""
    stop: Stop = field(default_factory=Stop)
    trials: Sequence[Trial] = ()
    plain: Sequence[Cell] = ()
    """The cells without any mutant."""

    @abstractmethod
    async def play(self, emit: Callable[[Trial], None], owner: Owner) -> None:
        """Play all of it, until it is done or `stop` says so."""

    @property
    def never_failed(self) -> list[NeverFailed]:
        """The cases that nothing made fail, and which mutants tried."""
        failed = {cell.case for trial in self.trials for cell in trial.caught_by}
        return [
            NeverFailed(item.case.id, tuple(each.id for each in self.mutants if breaks(each, item)))
            for item in self.items
            if item.case.id not in failed
        ]

    @property
    def exit_code(self) -> int:
        """1 if a mutant got away, 3 if the servers gave no verdict."""
        outcomes = {trial.outcome for trial in self.trials}
        undecided = any(cell.verdict is Verdict.ERROR for cell in self.plain)
        if Outcome.UNDECIDED in outcomes or undecided:
            return 3
        return 1 if outcomes & {Outcome.SURVIVED, Outcome.IDLE} else 0


async def plan_mutation(
    library: Library,
    selection: Selection,
    server: str,
    mutants: Sequence[str],
    settings: Settings,
    notify: Callable[[str], None],
) -> ServerMutation:
    """The mutants of one server, those that patterns name or all that concern the selection."""
    items = select_cases(library, selection).items
    hint = "name one release or build that jetproof starts itself"
    target = await resolve_one(server, hint=hint, notify=notify)
    if target.fixed is not None:
        raise JetproofError(f"{server!r} cannot be made wrong", phase="plan", hint=hint)
    return ServerMutation(
        library=library,
        targets=[target],
        items=items,
        mutants=choose(possible(library.mutants, target), items, mutants),
        options=replace(settings, jobs=None).options(),
        at_once=settings.jobs or AT_ONCE,
    )


def possible(mutants: Sequence[Mutant], target: PlanTarget) -> list[Mutant]:
    """The mutants that the target can be: some are ways for the reference layer alone."""
    return [each for each in mutants if not each.for_reference or target.provider == REFERENCE]


def choose(
    mutants: Sequence[Mutant], items: Sequence[Item], patterns: Sequence[str]
) -> list[Mutant]:
    """The mutants that are named, or all that concern the chosen cases."""
    for pattern in patterns:
        if not fnmatch.filter([mutant.id for mutant in mutants], pattern):
            raise JetproofError(
                f"no mutant matches {pattern!r}",
                phase="plan",
                hint=f"there are: {', '.join(mutant.id for mutant in mutants) or 'none'}; those "
                "of the reference layer need a target such as reference:latest",
            )
    if patterns:
        return [
            mutant
            for mutant in mutants
            if any(fnmatch.fnmatchcase(mutant.id, pattern) for pattern in patterns)
        ]
    clauses = {clause for item in items for clause in item.case.clauses}
    # With every case chosen, a mutant that no case concerns is news as well.
    return [mutant for mutant in mutants if clauses & set(mutant.breaks)] or list(mutants)


def breaks(mutant: Mutant, item: Item) -> bool:
    return bool(set(mutant.breaks) & set(item.case.clauses))


@dataclass(slots=True, kw_only=True)
class ServerMutation(Mutation):
    """Mutants of a server: the tap in front of it, or the reference layer, makes it wrong."""

    async def play(self, emit: Callable[[Trial], None], owner: Owner) -> None:
        concerned = [i for i in self.items if any(breaks(each, i) for each in self.mutants)]
        baseline = await self._cells(concerned, owner, no_proxy)
        self.plain = tuple(baseline.values())
        places = asyncio.Semaphore(self.at_once)

        async def one(mutant: Mutant) -> Trial:
            async with places:
                trial = await self._try(mutant, owner, baseline)
            emit(trial)
            return trial

        self.trials = await all_of(*(one(mutant) for mutant in self.mutants))

    async def _try(self, mutant: Mutant, owner: Owner, baseline: Mapping[str, Cell]) -> Trial:
        concerned = [item for item in self.items if breaks(mutant, item)]
        if not concerned:
            return Trial(mutant, Outcome.UNTESTED)
        fired: Counter[str] = Counter()
        cells = await self._cells(concerned, owner, mutant_proxy(mutant, fired), mutant.knobs)
        return judge(mutant, fired, cells, baseline)

    async def _cells(
        self,
        items: Sequence[Item],
        owner: Owner,
        proxy: Proxy,
        knobs: Mapping[str, bool] | None = None,
    ) -> dict[str, Cell]:
        """The cells of these items behind a proxy, by case."""
        if not items or self.stop.reason is not None:
            return {}
        plan = make_plan(self.library, Selected(tuple(items)), self.targets, skip=frozenset())
        wanted = {item.case.id for item in items}
        options = replace(
            self.options,
            run=fresh_run_id(),
            again=False,
            confirm=0,
            cases_at_once=CASES_AT_ONCE,
            servers_at_once=_SERVERS_AT_ONCE,
            owner=owner,
            proxy=proxy,
            knobs=knobs or {},
        )
        collected = LastCells()
        await run(plan, self.library, collected, options, self.stop)
        return {cell.case: cell for cell in collected.cells if cell.case in wanted}


class LastCells:
    """Collects the last attempt of every cell, by name."""

    def __init__(self) -> None:
        self._cells: dict[str, Cell] = {}

    def __call__(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            self._cells[event.cell.name] = event.cell

    @property
    def cells(self) -> list[Cell]:
        """By name, so that two campaigns read alike whatever the order of their cases was."""
        return [self._cells[name] for name in sorted(self._cells)]


def judge(
    mutant: Mutant,
    fired: Mapping[str, int],
    cells: Mapping[str, Cell],
    baseline: Mapping[str, Cell],
) -> Trial:
    """What a mutant's cells say, compared with those of the server as it is."""
    played = tuple(cell for cell in cells.values() if cell.verdict is not Verdict.NOT_APPLICABLE)
    caught = tuple(
        cell for cell in played if cell.case in baseline and catches(baseline[cell.case], cell)
    )
    if caught:
        outcome = Outcome.CAUGHT
    elif not played:
        outcome = Outcome.UNTESTED
    elif not any(fired.values()):
        outcome = Outcome.IDLE
    elif all(cell.verdict is Verdict.ERROR for cell in played):
        outcome = Outcome.UNDECIDED
    else:
        outcome = Outcome.SURVIVED
    return Trial(mutant, outcome, dict(fired), caught, played)


def catches(before: Cell, now: Cell) -> bool:
    """Whether a cell shows that something is wrong which was not wrong without the mutant."""
    if Verdict.ERROR in (before.verdict, now.verdict):
        return False
    if now.verdict in _WORSE:
        return before.verdict is not now.verdict or before.reason != now.reason
    return now.verdict is Verdict.POSITION and before.position != now.position


def mutant_proxy(mutant: Mutant, fired: Counter[str]) -> Proxy:
    """Puts a tap with the mutant's rules before every node; `fired` counts what they did.

    What the reference layer did wrong is counted by the names of its knobs.
    """

    @contextlib.asynccontextmanager
    async def proxy(target: RunningTarget) -> AsyncIterator[Address | None]:
        async with contextlib.AsyncExitStack() as stack:
            taps: dict[str, Tap] = {}
            for name in target.nodes:
                tap = Tap(*target.address(name), rules=mutant.rules)
                taps[name] = await stack.enter_async_context(tap)
            try:
                yield lambda node: (taps[node].host, taps[node].port)
            finally:
                for tap in taps.values():
                    # A rule that only remembers has done nothing to the server.
                    doing = [rule.id for rule in tap.rules if not isinstance(rule.do, Pass)]
                    fired.update({rule: tap.fired.get(rule, 0) for rule in doing})
                if target.reference is not None:
                    fired.update(target.reference.fired)

    return proxy
