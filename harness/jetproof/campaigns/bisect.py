"""Finds the first release in which a case has another verdict: plays it on few releases.

Binary search assumes one change between the two ends. A verdict that changes and changes back looks
like no change, and of several changes one is found: `jetproof matrix` with the case shows them all.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.campaigns.selecting import select_one
from jetproof.engine.run import RunOptions, Stop, run
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice
from jetproof.load.library import Library
from jetproof.model.verdict import Cell, Verdict
from jetproof.plan import PlanTarget, Selected, Selection, make_plan, why_not
from jetproof.targets.go_versions import candidates
from jetproof.targets.redaction import without_passwords
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted

Ask = Callable[[int], Awaitable[Hashable]]
Notify = Callable[[str], None]


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


def answer(cell: Cell) -> Hashable:
    """What counts as another verdict: where a position is all there is, another position."""
    positions = sorted(cell.position.items()) if cell.verdict is Verdict.POSITION else ()
    return (cell.verdict, tuple(positions))


def one_case(library: Library, pattern: str) -> Selected:
    """The one case that a pattern names."""
    return select_one(library, Selection((pattern,)), purpose="bisect looks at one")


@dataclass(frozen=True, slots=True)
class Releases:
    """Where to look: the releases to which the case applies, oldest first, and the others."""

    targets: tuple[PlanTarget, ...]
    left_out: tuple[tuple[PlanTarget, str], ...] = ()


async def releases_to_search(
    library: Library,
    selected: Selected,
    servers: Sequence[str],
    *,
    against: str | None,
    with_candidates: bool,
    notify: Notify,
) -> Releases:
    """The releases to look at; where the case does not apply, there is nothing to compare."""
    targets = await resolve(servers or ["*"], notify=notify, ahead=False)
    base: PlanTarget | None = None
    if against is not None:
        bases = await resolve([against], notify=notify, ahead=False)
        if len(bases) != 1:
            raise JetproofError(
                f"--against {against} names {len(bases)} releases",
                phase="plan",
                hint="name one, such as 2.12.0",
            )
        base = bases[0]
        targets = [base, *(target for target in targets if target.version > base.version)]
    if with_candidates:
        targets += await _candidates(targets, notify)
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
    return Releases(applies, left_out)


async def _candidates(targets: Sequence[PlanTarget], notify: Notify) -> list[PlanTarget]:
    """The release candidates between the oldest and the newest of the targets, as targets."""
    versions = [target.version for target in targets]
    named = await asyncio.to_thread(candidates, min(versions), max(versions))
    added = [f"go:{version}" for version in named if version not in versions]
    if not added:
        notify(f"there is no release candidate between {min(versions)} and {max(versions)}")
        return []
    return await resolve(added, notify=notify, ahead=False)


@dataclass(slots=True)
class CasePlayer:
    """Plays the one case that a search is about, wherever the search wants it played."""

    library: Library
    selected: Selected
    options: RunOptions
    notify: Notify
    signal: int | None = None

    @property
    def case(self) -> str:
        return self.selected.items[0].case.id

    async def play(self, target: PlanTarget) -> Cell:
        """Play the case on one target; Unanswered if a person interrupts."""
        plan = make_plan(self.library, self.selected, [target], skip=frozenset())
        interrupts = Interrupts(Stop(), notify=self.notify)
        found: list[Cell] = []

        def emit(event: Event) -> None:
            event = without_passwords(event)
            if isinstance(event, CaseFinished) and event.cell.case == self.case:
                found.append(event.cell)
            elif isinstance(event, Notice):
                self.notify(event.text)

        async with attended(interrupts) as owner:
            options = replace(self.options, owner=owner)
            await run(plan, self.library, emit, options, interrupts.stop)
        if not found:
            self.signal = interrupts.exit_code
            raise Unanswered
        return found[-1]


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """A search begins: the case, and the releases to look at."""

    case: str
    releases: Releases


@dataclass(frozen=True, slots=True)
class SearchPlayed:
    """The case was played on one release."""

    cell: Cell


SearchEvent = SearchStarted | SearchPlayed | Notice


@dataclass(frozen=True, slots=True)
class Bisected:
    """What a search found, and everything that it played, by the number of the release."""

    run: str
    case: str
    releases: Releases
    cells: Mapping[int, Cell]
    found: int | None = None
    """The number of the first release with another verdict."""
    answered: bool = True
    signal: int | None = None

    @property
    def first_other(self) -> Cell | None:
        return None if self.found is None else self.cells[self.found]

    @property
    def last_same(self) -> Cell | None:
        return None if self.found is None else self.cells[self.found - 1]

    @property
    def changed_between(self) -> tuple[Cell, Cell] | None:
        """The last cell like the first and the first unlike it, as far as an unanswered search got."""
        good = {n: cell for n, cell in self.cells.items() if cell.verdict is not Verdict.ERROR}
        if 0 not in good or len(self.releases.targets) - 1 not in good:
            return None
        usual = answer(good[0])
        same = max(number for number, cell in good.items() if answer(cell) == usual)
        other = [number for number, cell in good.items() if answer(cell) != usual]
        return (good[same], good[min(other)]) if other else None

    @property
    def exit_code(self) -> int:
        """0 if the question was answered, 3 if some verdict is missing."""
        return 0 if self.answered else self.signal or 3


@dataclass(slots=True)
class _Search:
    player: CasePlayer
    targets: Sequence[PlanTarget]
    emit: Callable[[SearchEvent], None]
    cells: dict[int, Cell] = field(default_factory=dict)

    async def ask(self, number: int) -> Hashable:
        """Play the case on one release; what it says there."""
        cell = self.cells[number] = await self.player.play(self.targets[number])
        self.emit(SearchPlayed(cell))
        if cell.verdict is Verdict.ERROR:
            raise Unanswered
        return answer(cell)


async def bisect(
    library: Library,
    selected: Selected,
    releases: Releases,
    options: RunOptions,
    emit: Callable[[SearchEvent], None],
) -> Bisected:
    """Search the releases for the first one on which the selected case has another verdict."""
    player = CasePlayer(library, selected, options, lambda text: emit(Notice(text)))
    search = _Search(player, releases.targets, emit)
    emit(SearchStarted(player.case, releases))
    answered, found = True, None
    try:
        found = await first_other(len(releases.targets), search.ask)
    except Unanswered:
        answered = False
    return Bisected(
        options.run, player.case, releases, search.cells, found, answered, player.signal
    )
