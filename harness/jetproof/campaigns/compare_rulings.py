"""What the plays of one case on two sides come to: pure functions of what was observed.

A check that head breaks and base does not makes head worse, if head breaks it in two plays and base in
none. A position has changed if it is the same in all plays of each side, and not the same on both. What
shows in one play only is reported apart (`once`), and decides nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from jetproof.campaigns.wire_differences import Change, Place, Signature
from jetproof.events import CaseFinished, SchemaJudged
from jetproof.model.verdict import Cell, Check, Result, Verdict

CaseKey = str
Broken = tuple[str, ...]
_DECIDED = (Verdict.FAIL, Verdict.WARN)


class Kind(StrEnum):
    """What a difference means for head, the worst first."""

    WORSE = "worse"
    UNDECIDED = "undecided"
    BETTER = "better"
    CHANGED = "changed"
    ONCE = "once"


@dataclass(frozen=True, slots=True)
class Observation:
    """One play of one case on one side: its cell, and the checks that it broke."""

    cell: Result
    broken: Mapping[Broken, Check]
    folder: Path

    @property
    def judged(self) -> bool:
        return self.cell.verdict is not Verdict.ERROR


@dataclass(frozen=True, slots=True)
class Difference:
    """A case that is not the same on both sides. The cells are those of the first judged play."""

    key: CaseKey
    kind: Kind
    base: Result
    head: Result
    new: tuple[Check, ...] = ()
    """Checks that head breaks and base does not."""
    gone: tuple[Check, ...] = ()
    """Checks that base breaks and head does not."""
    moved: tuple[tuple[Check, Check], ...] = ()
    """Checks that both break, each in its own way."""
    positions: tuple[tuple[str, str, str], ...] = ()
    """Name, on base, on head."""
    plays: int = 1
    """How often it was played on the side that was played less."""
    known: str = ""
    """What the ledger says about the side that is wrong, if it knows this."""

    @property
    def confirmed(self) -> bool:
        return self.plays > 1


@dataclass(frozen=True, slots=True)
class OneSided:
    """Cases that apply to one side only, for one reason."""

    side: str
    reason: str
    keys: tuple[CaseKey, ...]


@dataclass(frozen=True, slots=True)
class WireChange:
    """A field that differs on the wire, with one example."""

    signature: Signature
    cases: tuple[CaseKey, ...]
    example: CaseKey
    step: str
    change: Change
    confirmed: bool = True
    several: bool = field(default=False)
    """Whether the values are not the same in all cases."""


def broken_of(event: CaseFinished | SchemaJudged) -> dict[Broken, Check]:
    """The checks that a cell breaks; of a schema its violations, whatever case showed them."""
    of_schema = isinstance(event, SchemaJudged)
    checks = event.result.checks if isinstance(event, SchemaJudged) else event.checks
    found: dict[Broken, Check] = {}
    for check in checks:
        if not check.ok:
            where = str(check.actual) if of_schema else check.iteration
            found.setdefault((check.step, where, check.kind, check.path), check)
    return found


def suspect(base: Sequence[Observation], head: Sequence[Observation]) -> int | None:
    """Whether a case differs after its first plays, and how urgent that is (0 first)."""
    if _one_sided(base, head):
        return None
    found = ruled("", base, head)
    if found is None:
        return None
    if any(not one[-1].judged for one in (base, head)) or found.new:
        return 0
    return 1 if found.gone or found.moved else 2


def ruled(
    key: CaseKey, base: Sequence[Observation], head: Sequence[Observation]
) -> Difference | None:
    """What all plays of a case come to; None if both sides are the same."""
    if _one_sided(base, head):
        return None
    judged = [one for one in base if one.judged], [one for one in head if one.judged]
    if not judged[0] or not judged[1]:
        return _without_verdict(key, base, head, judged)
    plays = min(map(len, judged))
    judged = _by_chance_alike(*judged)
    new = _only(judged[1], judged[0])
    gone = _only(judged[0], judged[1])
    moved = _moved(*judged)
    positions = _positions(*judged)
    cells = judged[0][0].cell, judged[1][0].cell
    sure = [_repeated(found, side) for found, side in ((new, judged[1]), (gone, judged[0]))]
    if plays == 1:
        sure = [new, gone]
    if sure[0]:
        kind, new, gone = Kind.WORSE, *sure
    elif sure[1]:
        kind, new, gone = Kind.BETTER, *sure
    elif moved or positions:
        kind, new, gone = Kind.CHANGED, *sure
    elif new or gone:
        kind = Kind.ONCE
    else:
        return None
    checks = tuple(new.values()), tuple(gone.values())
    return Difference(key, kind, *cells, *checks, moved, positions, plays)


def one_sided(
    base: Mapping[CaseKey, Sequence[Observation]], head: Mapping[CaseKey, Sequence[Observation]]
) -> list[OneSided]:
    """The cases that apply to one side only, by side and reason."""
    found: dict[tuple[str, str], list[CaseKey]] = {}
    for key in sorted(base.keys() & head.keys()):
        if _one_sided(base[key], head[key]):
            lacking, side = (base, "head") if _not_applicable(base[key]) else (head, "base")
            found.setdefault((side, lacking[key][0].cell.reason), []).append(key)
    ordered = sorted(found.items(), key=lambda item: (item[0][0], -len(item[1])))
    return [OneSided(side, reason, tuple(keys)) for (side, reason), keys in ordered]


def wire_changes(
    first: Mapping[CaseKey, Mapping[Place, Change]],
    confirmed: Mapping[CaseKey, Mapping[Place, Change]],
) -> tuple[list[WireChange], int]:
    """Fields that differ on the wire, and how many were not steady on one side.

    `confirmed` holds the cases that were played again. A field is confirmed if it stayed different in most
    of the cases that were played again for it."""
    cases: dict[Signature, dict[CaseKey, tuple[Place, Change]]] = {}
    for key, across in first.items():
        seen = confirmed.get(key, across)
        for place, change in seen.items():
            cases.setdefault(place.signature, {}).setdefault(key, (place, change))
    tried = Counter(one for key in confirmed for one in _signatures(first, key))
    stayed = Counter(one for key in confirmed for one in _signatures(confirmed, key))
    sure = {one for one, count in tried.items() if 2 * stayed[one] > count}
    found, unsteady = [], tried.keys() - sure
    for signature, members in cases.items():
        if signature in unsteady:
            continue
        shown = next((key for key in members if signature in _signatures(confirmed, key)), "")
        example = shown or next(iter(members))
        place, change = members[example]
        found.append(
            WireChange(
                signature,
                tuple(sorted(members)),
                example,
                place.step,
                change,
                confirmed=signature in sure,
                several=len({change for _, change in members.values()}) > 1,
            )
        )
    found.sort(key=lambda one: (not one.confirmed, -len(one.cases), one.signature))
    return found, len(unsteady)


def _signatures(found: Mapping[CaseKey, Mapping[Place, Change]], key: CaseKey) -> set[Signature]:
    return {place.signature for place in found.get(key, ())}


def _not_applicable(plays: Sequence[Observation]) -> bool:
    return any(one.cell.verdict is Verdict.NOT_APPLICABLE for one in plays)


def _one_sided(base: Sequence[Observation], head: Sequence[Observation]) -> bool:
    return _not_applicable(base) != _not_applicable(head)


def _without_verdict(
    key: CaseKey,
    base: Sequence[Observation],
    head: Sequence[Observation],
    judged: tuple[Sequence[Observation], Sequence[Observation]],
) -> Difference:
    """Some side never gave a verdict. If that is head alone, several times, head is worse."""
    plays = min(len(judged[0]), len(head))
    worse = bool(judged[0]) and plays > 1
    one = (judged[0] or base)[0].cell
    return Difference(key, Kind.WORSE if worse else Kind.UNDECIDED, one, head[-1].cell, plays=plays)


def _decided(one: Observation) -> Mapping[Broken, Check]:
    return one.broken if one.cell.verdict in _DECIDED else {}


def _by_chance_alike(
    base: Sequence[Observation], head: Sequence[Observation]
) -> tuple[list[Observation], list[Observation]]:
    """The plays without the iteration of a loop where chance decides which one breaks a check."""
    loose = {
        place
        for side in (base, head)
        for place in {_loosely(broken) for one in side for broken in one.broken}
        if len({_at(one, place) for one in side}) > 1
    }

    def loosened(one: Observation) -> Observation:
        found: dict[Broken, Check] = {}
        for broken, check in one.broken.items():
            key = _loosely(broken)
            found.setdefault(key if key in loose else broken, check)
        return replace(one, broken=found)

    return [loosened(one) for one in base], [loosened(one) for one in head]


def _loosely(broken: Broken) -> Broken:
    step, _, *rest = broken
    return (step, "", *rest)


def _at(one: Observation, place: Broken) -> frozenset[Broken]:
    return frozenset(broken for broken in one.broken if _loosely(broken) == place)


def _only(side: Sequence[Observation], other: Sequence[Observation]) -> dict[Broken, Check]:
    """The checks that one side breaks in some play, and the other in none."""
    theirs = {broken for one in other for broken in _decided(one)}
    found: dict[Broken, Check] = {}
    for one in side:
        for broken, check in _decided(one).items():
            if broken not in theirs:
                found.setdefault(broken, check)
    return found


def _repeated(found: Mapping[Broken, Check], side: Sequence[Observation]) -> dict[Broken, Check]:
    """Those checks that were broken in two plays or more."""

    counts = Counter(broken for one in side for broken in _decided(one))
    return {broken: check for broken, check in found.items() if counts[broken] > 1}


def _moved(
    base: Sequence[Observation], head: Sequence[Observation]
) -> tuple[tuple[Check, Check], ...]:
    """Checks that both sides break in every play, each with a value of its own."""
    found = []
    for broken, check in _decided(base[0]).items():
        values = [
            {str(one.broken[broken].actual) if broken in _decided(one) else None for one in side}
            for side in (base, head)
        ]
        if all(len(each) == 1 and None not in each for each in values) and values[0] != values[1]:
            found.append((check, head[0].broken[broken]))
    return tuple(found)


def _positions(
    base: Sequence[Observation], head: Sequence[Observation]
) -> tuple[tuple[str, str, str], ...]:
    positions = [
        [one.cell.position for one in side if isinstance(one.cell, Cell)] for side in (base, head)
    ]
    names = sorted({name for side in positions for position in side for name in position})
    found = []
    for name in names:
        values = [{position.get(name, "none") for position in side} for side in positions]
        if all(len(each) == 1 for each in values) and values[0] != values[1]:
            found.append((name, *values[0], *values[1]))
    return tuple(found)  # type: ignore[arg-type]
