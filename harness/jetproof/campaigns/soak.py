"""`soak`: plays one plan again and again, and finds the cells that are not the same in every round.

Each round is a run of its own on fresh servers. Per cell and round only its outcome stays in
memory; the evidence of each round lies in the round's folder, and what belongs to the cells that
flip is read back from there (`details`).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from jetproof import clock
from jetproof.campaigns.alignment import Pair, aligned
from jetproof.campaigns.load import Load, LoadReport, check_cores
from jetproof.campaigns.request import DEFAULT_TARGETS, Request, Settings
from jetproof.campaigns.selecting import select_cases
from jetproof.campaigns.writing import UNWRITTEN, Writer
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice, SchemaJudged
from jetproof.load.library import Library
from jetproof.model.verdict import Check, FrameRecord, Result, SchemaResult, Verdict
from jetproof.plan import Plan, make_plan
from jetproof.results import read_run
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted
from jetproof.targets.sweep import Owner

LEAST_ROUNDS = 2
_REPLAYED = "is played again"
_CELLS_AT_ONCE = 50

CellKey = tuple[str, str]
"""A cell's name and its target, as result files have them."""


class Listener(Protocol):
    """Who is kept informed while rounds are played."""

    def start(self) -> None: ...

    def handle(self, event: Event) -> None: ...

    def round(self, done: Round) -> None: ...


@dataclass(frozen=True, slots=True)
class SoakOptions:
    """How to play: `load` is the number of cores that are kept busy."""

    rounds: int
    run: RunOptions
    load: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What makes a cell the same in two rounds."""

    verdict: Verdict
    deviation: str | None = None
    position: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Seen:
    """What one round made of a cell; `failed` is a digest of which checks failed."""

    outcome: Outcome
    failed: str


@dataclass(frozen=True, slots=True)
class Round:
    """One complete round. `flips` counts the cells that flipped up to and including it."""

    number: int
    run: str
    seconds: float
    verdicts: Mapping[Verdict, int]
    replayed: int
    flips: int
    load: LoadReport | None


@dataclass(frozen=True, slots=True)
class Flip:
    """A cell that was not the same in every round; None: it was missing in that round."""

    cell: str
    target: str
    heading: str
    seen: tuple[Outcome | None, ...]
    of_schema: bool = False

    @property
    def outcomes(self) -> list[tuple[Outcome | None, list[int]]]:
        """Each outcome with its rounds, the most frequent first."""
        rounds: dict[Outcome | None, list[int]] = {}
        for number, outcome in enumerate(self.seen, 1):
            rounds.setdefault(outcome, []).append(number)
        return sorted(rounds.items(), key=lambda item: (-len(item[1]), item[1][0]))


@dataclass(frozen=True, slots=True)
class Side:
    """One outcome of a flip, with the evidence of the first round that had it."""

    outcome: Outcome | None
    rounds: tuple[int, ...]
    cell: Result | None = None
    failed: tuple[Check, ...] = ()
    pairs: tuple[Pair, ...] = ()
    """The frames of the most frequent outcome beside those of this one; empty for the former."""

    @property
    def round(self) -> int:
        return self.rounds[0]


@dataclass(frozen=True, slots=True)
class Detail:
    """A flip with its evidence: one side per outcome, the most frequent first."""

    flip: Flip
    sides: tuple[Side, ...]


def check_rounds(rounds: int) -> None:
    if rounds < LEAST_ROUNDS:
        raise JetproofError(
            f"a soak needs at least {LEAST_ROUNDS} rounds, and --rounds is {rounds}",
            phase="plan",
            hint="one round has nothing to compare: jetproof run plays a selection once",
        )


async def plan_soak(
    library: Library,
    request: Request,
    settings: Settings,
    *,
    rounds: int,
    load: int | None,
    notify: Callable[[str], None],
) -> Soak:
    """What a request asks for, to be played `rounds` times. `notify` hears of builds."""
    check_rounds(rounds)
    if load is not None:
        check_cores(load)
    selected = select_cases(library, request.selection)
    targets = await resolve(request.servers or DEFAULT_TARGETS, notify=notify)
    request = replace(request, servers=tuple(target.name for target in targets))
    plan = make_plan(library, selected, targets, skip=frozenset())
    # A flip is what it looks for: nothing is confirmed.
    options = replace(settings.options(), confirm=0)
    return Soak(plan, library, SoakOptions(rounds, options, load), request.document())


@dataclass(slots=True)
class Soak:
    """Plays the rounds. `rounds`, `flips` and `drifting` are about the complete ones only."""

    plan: Plan
    library: Library
    options: SoakOptions
    request: Mapping[str, object] = field(default_factory=dict)
    """What the `run.json` of each round keeps of what was asked for."""
    stop: Stop = field(default_factory=Stop)
    rounds: list[Round] = field(default_factory=list)
    failures: list[JetproofError] = field(default_factory=list)
    _seen: dict[CellKey, list[Seen | None]] = field(default_factory=dict)
    _headings: dict[CellKey, str] = field(default_factory=dict)
    _schemas: set[CellKey] = field(default_factory=set)

    async def play(
        self, open_round: Callable[[int], Writer], owner: Owner, listener: Listener
    ) -> None:
        """Play round after round until all are done, `stop` says so, or a write fails."""
        check_rounds(self.options.rounds)
        for number in range(1, self.options.rounds + 1):
            writer = self._opened(open_round, number)
            if writer is None:
                return
            if number == 1:
                listener.start()
            try:
                done = await self._round(number, writer, owner, listener)
            finally:
                writer.close()
            self.failures.extend(writer.failures)
            if done is None or self.failures or self.stop.reason is not None:
                return
            self.rounds.append(done)
            listener.round(done)

    @property
    def compared(self) -> int:
        """How many cells there are to compare, those of schemas included."""
        return len(self._seen)

    @property
    def undecided(self) -> bool:
        """Whether some cell got no verdict in some round."""
        return any(each.verdicts.get(Verdict.ERROR) for each in self.rounds)

    @property
    def exit_code(self) -> int:
        """3 wins over 1, as everywhere."""
        if self.undecided:
            return 3
        return 1 if self.flips else 0

    @property
    def flips(self) -> list[Flip]:
        """The cells whose outcome was not the same in every round, by name."""
        found = []
        for key in sorted(self._seen):
            outcomes = tuple(one.outcome if one else None for one in self._seen[key])
            differing = set(outcomes)
            of_schema = key in self._schemas
            if of_schema:
                differing.discard(None)  # whether a rare message came says nothing about its form
            if len(differing) > 1:
                found.append(Flip(*key, self._headings[key], outcomes, of_schema))
        return found

    @property
    def drifting(self) -> list[str]:
        """Cells with one outcome in all rounds whose failed checks were not always the same."""
        found = []
        for (name, _), rounds in sorted(self._seen.items(), key=lambda item: item[0]):
            seen = {one for one in rounds if one is not None}
            if None not in rounds and len(seen) > 1 and len({one.outcome for one in seen}) == 1:
                found.append(name)
        return found

    def _opened(self, open_round: Callable[[int], Writer], number: int) -> Writer | None:
        """The place for a round. If there is none for a later round, the earlier ones still count."""
        try:
            return open_round(number)
        except JetproofError as error:
            if not self.rounds:
                raise
            self.failures.append(error)
            return None

    async def _round(
        self, number: int, writer: Writer, owner: Owner, listener: Listener
    ) -> Round | None:
        began = clock.now()
        seen: dict[CellKey, tuple[str, Seen]] = {}
        replayed = 0

        def emit(event: Event) -> None:
            nonlocal replayed
            writer(event)
            if writer.failures and self.stop.reason is None:
                self.stop.now(UNWRITTEN)
            if isinstance(event, (CaseFinished, SchemaJudged)):
                one = event.cell if isinstance(event, CaseFinished) else event.result
                key = (one.name, redacted(one.target))
                seen[key] = (one.heading, seen_of(event))
                if isinstance(event, SchemaJudged):
                    self._schemas.add(key)
            elif isinstance(event, Notice) and _REPLAYED in event.text:
                replayed += 1
            listener.handle(event)

        options = replace(
            self.options.run,
            run=fresh_run_id(),
            owner=owner,
        )
        async with self._loaded(owner) as load:
            ended = await run(self.plan, self.library, emit, options, self.stop)
        if ended.interrupted or writer.failures:
            return None
        self._keep(number, seen)
        return Round(
            number=number,
            run=options.run,
            seconds=round(clock.now() - began, 3),
            verdicts=Counter(one.outcome.verdict for _, one in seen.values()),
            replayed=replayed,
            flips=len(self.flips),
            load=load.report if load else None,
        )

    def _loaded(self, owner: Owner) -> Load | contextlib.nullcontext[None]:
        if self.options.load is None:
            return contextlib.nullcontext()
        return Load(self.options.load, owner.folder)

    def _keep(self, number: int, seen: Mapping[CellKey, tuple[str, Seen]]) -> None:
        for key, (heading, _) in seen.items():
            self._headings[key] = heading
            self._seen.setdefault(key, [None] * (number - 1))
        for key, rounds in self._seen.items():
            one = seen[key][1] if key in seen else None
            # Rounds that are alike share one object: a long soak stays small.
            rounds.append(rounds[-1] if rounds and rounds[-1] == one else one)


def seen_of(event: CaseFinished | SchemaJudged) -> Seen:
    """What is kept of a cell, or of a schema; how many messages came is left out."""
    one: Result
    checks: Sequence[Check]
    position: tuple[tuple[str, str], ...] = ()
    if isinstance(event, SchemaJudged):
        one, checks = event.result, event.result.checks
    else:
        one, checks = event.cell, event.checks
        position = tuple(sorted(event.cell.position.items()))
    failed = hashlib.sha256()
    for check in checks:
        if not check.ok:
            place = (check.step, check.iteration, check.kind, check.path)
            failed.update(repr(place).encode("utf-8", "surrogatepass"))
    return Seen(Outcome(one.verdict, one.deviation, position), failed.hexdigest()[:16])


def details(flips: Sequence[Flip], folder_of: Callable[[int], Path]) -> Iterator[Detail]:
    """The flips with their evidence, read back from the folders of the rounds, a few at a time."""
    for start in range(0, len(flips), _CELLS_AT_ONCE):
        some = flips[start : start + _CELLS_AT_ONCE]
        wanted: dict[int, set[CellKey]] = {}
        for flip in some:
            for outcome, rounds in flip.outcomes:
                if outcome is not None:
                    wanted.setdefault(rounds[0], set()).add((flip.cell, flip.target))
        read = {number: _evidence(folder_of(number), keys) for number, keys in wanted.items()}
        for flip in some:
            yield _detail(flip, read)


@dataclass(slots=True)
class _Evidence:
    cell: Result | None = None
    failed: list[Check] = field(default_factory=list)
    frames: list[FrameRecord] = field(default_factory=list)


def _evidence(folder: Path, keys: set[CellKey]) -> dict[CellKey, _Evidence]:
    """What a round's folder holds about these cells, of the last attempt at each."""
    played = read_run(folder)
    found = {
        (one.name, one.target): _Evidence(
            one, list(one.checks) if isinstance(one, SchemaResult) else []
        )
        for one in played.results
        if (one.name, one.target) in keys
    }
    attempts = {key: one.cell.attempt for key, one in found.items() if one.cell is not None}
    for (name, target, attempt), check in played.checks():
        if attempts.get((name, target)) == attempt and not check.ok:
            found[name, target].failed.append(check)
    for (name, target, attempt), frame in played.frames():
        if attempts.get((name, target)) == attempt:
            found[name, target].frames.append(frame)
    return found


def _detail(flip: Flip, read: Mapping[int, Mapping[CellKey, _Evidence]]) -> Detail:
    sides: list[Side] = []
    usual: _Evidence | None = None
    for outcome, rounds in flip.outcomes:
        nothing = _Evidence()
        one = read.get(rounds[0], {}).get((flip.cell, flip.target), nothing) if outcome else nothing
        pairs: Sequence[Pair] = ()
        if one is not nothing and usual is not None:
            pairs = aligned(usual.frames, one.frames)
        elif one is not nothing:
            usual = one
        sides.append(Side(outcome, tuple(rounds), one.cell, tuple(one.failed), tuple(pairs)))
    return Detail(flip, tuple(sides))
