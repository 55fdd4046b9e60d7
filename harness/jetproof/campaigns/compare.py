"""`compare`: plays one selection on two targets, base and head, side by side, and finds what differs.

No ledger is needed: base is the measure. Each difference is confirmed before it is reported: the case is
played again, alone, on fresh servers of both sides; one that makes head worse and does not show then is
played once more among its neighbours. `compare_rulings` says what the plays come to.

    1 all         every case, both sides at the same time
    2 apart       cases without a verdict, a few per server: one that takes its server down is found here
    3 alone       cases that differ, each on a server of its own
    4 neighbours  what made head worse in 1 and did not in 3
    5 once more   cases that are the only ones to show a difference on the wire: chance repeats itself
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Protocol

from jetproof.campaigns.agreement import Agreement, agreements, explained
from jetproof.campaigns.compare_rulings import (
    CaseKey,
    Difference,
    Kind,
    Observation,
    OneSided,
    WireChange,
    broken_of,
    one_sided,
    ruled,
    suspect,
    wire_changes,
)
from jetproof.campaigns.libraries import Judged, pools
from jetproof.campaigns.transcripts import Transcripts
from jetproof.campaigns.wire_differences import (
    Change,
    Place,
    Signature,
    differences,
    mark_of,
    neutral,
    stable,
)
from jetproof.campaigns.writing import UNWRITTEN, Writer
from jetproof.engine.client_pool import ClientPool
from jetproof.engine.run import RunOptions, Stop, fresh_run_id, run
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, SchemaJudged, TargetFailed, TargetStarted
from jetproof.load.library import Library
from jetproof.model.identity import client_name
from jetproof.model.topology import TOPOLOGIES
from jetproof.model.verdict import Cell, FrameRecord, Verdict
from jetproof.plan import Group, Item, Plan, PlanTarget, Selected, make_plan
from jetproof.targets.sweep import Owner
from jetproof.tasks import all_of

ALL, APART, ALONE = "1-all", "2-apart", "3-alone"
NEIGHBOURS, ONCE_MORE = "4-neighbours", "5-once-more"
APART_CASES: Final = 25
SUSPECTS_MOST: Final = 60
"""So many cases that differ in verdict or position are played again."""
WIRE_MOST: Final = 40
"""So many cases are played again for what differs on the wire alone."""
SAMPLES: Final = 2
"""Cases per field that differs."""
ONCE_MORE_MOST: Final = 20
ADAPTERS: Final = 8
"""Of each library at the same time."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: what is played, and how. `judged`: a library is compared, not the server."""

    name: str
    label: str
    target: PlanTarget
    items: tuple[Item, ...]
    options: RunOptions
    judged: Judged | None = None

    @property
    def client(self) -> str | None:
        """The library's name, if one is compared."""
        return self.judged.plan.name if self.judged else None

    @property
    def versions(self) -> tuple[str, ...]:
        """What it may call itself on the wire."""
        library = client_name(self.client).version if self.client else ""
        return (str(self.target.version), library)

    def key(self, item: Item) -> CaseKey:
        """What tells a case from others on both sides: versions of a library may claim other texts."""
        if self.client or not item.revision_name:
            return item.case.id
        return f"{item.case.id} {item.revision_name}"


class Listener(Protocol):
    """Who is kept informed."""

    def round(self, how: str, cells: int) -> None: ...

    def handle(self, side: str, event: Event) -> None: ...


@dataclass(slots=True)
class _Played:
    """What one side has given so far."""

    observations: dict[CaseKey, list[Observation]] = field(default_factory=dict)
    transcripts: dict[Path, Transcripts] = field(default_factory=dict)
    marks: dict[CaseKey, str] = field(default_factory=dict)
    builds: set[str] = field(default_factory=set)
    started: bool = False
    log: tuple[str, ...] = ()

    def unjudged(self) -> set[CaseKey]:
        return {
            key
            for key, plays in self.observations.items()
            if all(one.cell.verdict is Verdict.ERROR for one in plays)
        }


@dataclass(slots=True)
class Compare:
    """Plays both sides. The results are there when `play` is done."""

    library: Library
    sides: tuple[Side, Side]
    id: str = ""
    request: Mapping[str, object] = field(default_factory=dict)
    """What the `run.json` of each part keeps of what was asked for."""
    partial: str = ""
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What a person should know about the two sides."""
    stop: Stop = field(default_factory=Stop)
    failures: list[JetproofError] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    wire: list[WireChange] = field(default_factory=list)
    one_sided: list[OneSided] = field(default_factory=list)
    agreement: list[Agreement] = field(default_factory=list)
    unsteady: int = 0
    """Fields that differed between base and head, and between plays of one side as well."""
    compared: int = 0
    complete: bool = False
    _played: tuple[_Played, _Played] = field(default_factory=lambda: (_Played(), _Played()))

    @property
    def of_client(self) -> bool:
        return self.sides[0].client is not None

    def log(self, side: int) -> tuple[str, ...]:
        """What a server that did not start said last."""
        return self._played[side].log

    def started(self, side: int) -> bool:
        return self._played[side].started

    def builds(self, side: int) -> list[str]:
        return sorted(self._played[side].builds)

    def of_kind(self, kind: Kind) -> list[Difference]:
        return [one for one in self.differences if one.kind is kind]

    @property
    def worse(self) -> bool:
        return bool(self.of_kind(Kind.WORSE))

    def exit_code(self, fail_on: str) -> int:
        """What is proven worse is worse, whatever else got no verdict."""
        if not self.complete or not self.started(0):
            return 3
        failing = self.worse or not self.started(1)
        if fail_on != "worse":
            failing = failing or bool(self.of_kind(Kind.CHANGED))
        if fail_on == "wire":
            failing = failing or any(one.confirmed for one in self.wire)
        if failing:
            return 1
        return 3 if self.of_kind(Kind.UNDECIDED) else 0

    async def play(
        self, open_run: Callable[[str, str], tuple[Writer, Path]], owner: Owner, listener: Listener
    ) -> None:
        """Play all rounds. `open_run` opens the folder of a round and side."""
        async with contextlib.AsyncExitStack() as stack:
            ready = {}
            for side in self.sides:
                judged, factor = [side.judged] if side.judged else [], side.options.time_factor
                ready[side.name] = await stack.enter_async_context(pools(judged, factor, ADAPTERS))
            await self._play(_Rounds(self, open_run, owner, listener, ready))

    async def _play(self, rounds: _Rounds) -> None:
        await rounds.play(ALL, [self._keys(side) for side in self.sides])
        if self._ended():
            return
        dead = not all(played.started for played in self._played)
        missing = [played.unjudged() for played in self._played]
        # A server that does not start is tried once more, and not for every case.
        await rounds.play(APART, [sorted(keys)[:1] for keys in missing] if dead else missing)
        if self._ended():
            return
        if not all(played.started for played in self._played):
            self.complete = True
            return
        wire = self._wire_first()
        again = self._suspects(wire)
        await rounds.play(ALONE, [again, again])
        if self._ended():
            return
        unseen = {one.key for one in self._ruled() if one.kind is Kind.ONCE and one.new}
        await rounds.play(NEIGHBOURS, [unseen, unseen])
        if self._ended():
            return
        only = set(sorted(self._only_witnesses(wire))[:ONCE_MORE_MOST])
        await rounds.play(ONCE_MORE, [only, only])
        if self._ended():
            return
        self.differences = [explained(one, self.library.deviations) for one in self._ruled()]
        self.one_sided = one_sided(*(played.observations for played in self._played))
        self.wire, self.unsteady = wire_changes(wire, self._confirmed(wire))
        base, head = (played.observations for played in self._played)
        self.agreement = agreements(base, head, self.differences)
        self.compared = sum(key in head for key in base) - sum(
            len(one.keys) for one in self.one_sided
        )
        self.complete = True

    def _keys(self, side: Side) -> set[CaseKey]:
        return {side.key(item) for item in side.items}

    def _ended(self) -> bool:
        return self.stop.reason is not None or bool(self.failures)

    def _ruled(self) -> list[Difference]:
        base, head = (played.observations for played in self._played)
        found = (ruled(key, base[key], head[key]) for key in sorted(base.keys() & head.keys()))
        return [one for one in found if one is not None]

    # -- which cases are played again -----------------------------------------------------------

    def _suspects(self, wire: Mapping[CaseKey, Mapping[Place, Change]]) -> set[CaseKey]:
        base, head = (played.observations for played in self._played)
        ranked = []
        for key in sorted(base.keys() & head.keys()):
            rank = suspect(base[key], head[key])
            if rank is not None:
                ranked += [(rank, name) for name in self._to_play(key)]
        chosen = dict.fromkeys(name for _, name in sorted(ranked)).keys()
        keep = set(list(chosen)[:SUSPECTS_MOST])
        weights = {
            self.sides[0].key(item): len(TOPOLOGIES[item.case.given.topology].nodes)
            for item in self.sides[0].items
        }
        return keep | _samples(wire, keep, weights)

    def _to_play(self, key: CaseKey) -> list[CaseKey]:
        """The cases to play for a result: that of a schema is about messages of several cases."""
        found = []
        for played in self._played:
            for one in played.observations[key]:
                if isinstance(one.cell, Cell):
                    return [key]
                found += [check.iteration for check in one.broken.values()]
        return list(dict.fromkeys(found))

    # -- the wire -------------------------------------------------------------------------------

    def _wire_first(self) -> dict[CaseKey, dict[Place, Change]]:
        """What differs on the wire after one play of each side."""
        for side, played in zip(self.sides, self._played, strict=True):
            keys = {
                (one.cell.name, one.cell.target): key
                for key, plays in played.observations.items()
                for one in plays
            }
            for transcripts in played.transcripts.values():
                for (name, target, _), frames in transcripts.scan():
                    key = keys.get((name, target))
                    if key is not None:
                        frames = neutral(frames, side.versions)
                        played.marks[key] = mark_of(frames, of_client=self.of_client)
        base, head = self._played
        found: dict[CaseKey, dict[Place, Change]] = {}
        for key in sorted(base.marks.keys() & head.marks.keys()):
            if base.marks[key] == head.marks[key]:
                continue
            if not all(self._plays(side, key) for side in (0, 1)):
                continue
            across = differences(
                self._frames(0, key, 0), self._frames(1, key, 0), of_client=self.of_client
            )
            if across:
                found[key] = across
        return found

    def _only_witnesses(self, first: Mapping[CaseKey, Mapping[Place, Change]]) -> set[CaseKey]:
        """Cases that alone stand for a field."""
        confirmed = self._confirmed(first)
        witnesses: dict[Signature, set[CaseKey]] = {}
        for key, across in confirmed.items():
            for place in across:
                witnesses.setdefault(place.signature, set()).add(key)
        return {key for keys in witnesses.values() if len(keys) == 1 for key in keys}

    def _confirmed(
        self, first: Mapping[CaseKey, Mapping[Place, Change]]
    ) -> dict[CaseKey, dict[Place, Change]]:
        """What differs in every play of the cases that were played again."""
        confirmed: dict[CaseKey, dict[Place, Change]] = {}
        for key, across in first.items():
            plays = min(len(self._plays(side, key)) for side in (0, 1))
            if plays < 2:
                continue
            one, other = (
                [self._frames(side, key, play) for play in range(plays)] for side in (0, 1)
            )
            of_client = self.of_client
            later = [
                differences(a, b, of_client=of_client)
                for a, b in zip(one[1:], other[1:], strict=True)
            ]
            within = [
                differences(frames[0], later_frames, of_client=of_client)
                for frames in (one, other)
                for later_frames in frames[1:]
            ]
            confirmed[key] = stable([dict(across), *later], within)
        return confirmed

    def _plays(self, side: int, key: CaseKey) -> list[Observation]:
        """The plays whose transcripts can be compared."""
        no_verdict = (Verdict.ERROR, Verdict.NOT_APPLICABLE)
        plays = self._played[side].observations.get(key, [])
        return [one for one in plays if one.cell.verdict not in no_verdict]

    def _frames(self, side: int, key: CaseKey, play: int) -> Sequence[FrameRecord]:
        played = self._played[side]
        one = self._plays(side, key)[play]
        transcripts = played.transcripts[one.folder]
        frames = transcripts.frames((one.cell.name, one.cell.target, one.cell.attempt))
        return neutral(frames, self.sides[side].versions)


@dataclass(slots=True)
class _Rounds:
    """Plays rounds, both sides at the same time."""

    compare: Compare
    open_run: Callable[[str, str], tuple[Writer, Path]]
    owner: Owner
    listener: Listener
    adapters: Mapping[str, Mapping[str, ClientPool]]
    """By side: the adapters of its library."""

    async def play(self, how: str, keys: Sequence[Collection[CaseKey]]) -> None:
        if not any(keys):
            return
        plans = [
            self._plan(side, how, wanted)
            for side, wanted in zip(self.compare.sides, keys, strict=True)
        ]
        self.listener.round(how, sum(plan.cells for plan in plans))
        both = zip(self.compare.sides, self.compare._played, plans, strict=True)
        await all_of(*(self._side(how, *one) for one in both if one[2].cells))

    def _plan(self, side: Side, how: str, wanted: Collection[CaseKey]) -> Plan:
        items = [item for item in side.items if how == NEIGHBOURS or side.key(item) in wanted]
        selected = Selected(tuple(items), "" if how == ALL else "cases of a comparison")
        plan = make_plan(self.compare.library, selected, [side.target], skip=frozenset())
        match how:
            case "1-all":
                return plan
            case "4-neighbours":
                groups = tuple(
                    group
                    for group in plan.groups
                    if any(side.key(item) in wanted for item in group.items)
                )
            case _:
                most = APART_CASES if how == APART else 1
                groups = tuple(part for group in plan.groups for part in _parts(group, most))
        return replace(plan, groups=groups, not_applicable=())

    async def _side(self, how: str, side: Side, played: _Played, plan: Plan) -> None:
        compare = self.compare
        try:
            writer, folder = self.open_run(how, side.name)
        except JetproofError as error:
            compare.failures.append(error)
            compare.stop.now(UNWRITTEN)
            return
        transcripts = played.transcripts.setdefault(folder, Transcripts(folder))
        keys = {item.case.id: side.key(item) for item in side.items}

        def emit(event: Event) -> None:
            writer(event)
            if writer.failures and compare.stop.reason is None:
                compare.stop.now(UNWRITTEN)
            match event:
                case TargetStarted(build=build):
                    played.started = True
                    played.builds.add(build)
                case TargetFailed(log=log):
                    played.log = log or played.log
                case CaseFinished(cell=cell):
                    key = keys.get(cell.case, cell.case)
                    revision = f" {cell.revision}" if cell.revision and side.client is None else ""
                    key = f"{cell.case}{revision}" if revision else key
                    one = Observation(cell, broken_of(event), folder)
                    played.observations.setdefault(key, []).append(one)
                case SchemaJudged(result=result):
                    one = Observation(result, broken_of(event), folder)
                    played.observations.setdefault(result.about, []).append(one)
                case _:
                    pass
            self.listener.handle(side.name, event)

        options = replace(
            side.options,
            run=fresh_run_id(),
            owner=self.owner,
            libraries=self.adapters[side.name],
            confirm=0,
        )
        try:
            await run(plan, replace(compare.library, deviations=()), emit, options, compare.stop)
        finally:
            writer.close()
        compare.failures.extend(writer.failures)
        if how != ALL and not compare.stop.reason:
            for _ in transcripts.scan():  # notes the places
                pass


def _parts(group: Group, most: int) -> Iterator[Group]:
    for start in range(0, len(group.items), most):
        yield replace(group, items=group.items[start : start + most])


def _samples(
    wire: Mapping[CaseKey, Mapping[Place, Change]],
    anyway: Collection[CaseKey],
    weights: Mapping[CaseKey, int],
) -> set[CaseKey]:
    """A few cases for each field that differs: those with the most such fields per server first."""
    covered: dict[Signature, int] = {}
    signatures = {key: {place.signature for place in across} for key, across in wire.items()}

    def cover(key: CaseKey) -> None:
        for one in signatures[key]:
            covered[one] = covered.get(one, 0) + 1

    for key in anyway:
        if key in signatures:
            cover(key)
    chosen: set[CaseKey] = set()
    while len(chosen) < WIRE_MOST:
        worth = {
            key: sum(covered.get(one, 0) < SAMPLES for one in found) / weights.get(key, 1)
            for key, found in signatures.items()
            if key not in chosen and key not in anyway
        }
        best = max(worth, key=lambda key: worth[key], default=None)
        if best is None or not worth[best]:
            break
        chosen.add(best)
        cover(best)
    return chosen
