"""What differs between two revisions of a specification, and what releases do of it.

A clause that holds in the one revision and not in the other was added or removed; if one replaces
the other (perhaps over a clause that held only in between), it was changed. What releases do comes
from runs. A cell tells something of a clause only if it was judged by a revision in which the clause
holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from jetproof.model.clause import Clause, Revision, Spec
from jetproof.model.identity import REFERENCE
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.versions import Version, VersionError

_NO_POSITION = (Verdict.NOT_APPLICABLE, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Change:
    """A clause of the first revision, and the one that says it otherwise in the second."""

    before: Clause
    after: Clause


@dataclass(frozen=True, slots=True)
class Revised:
    """Two revisions compared: `between` are those after the earlier up to the later."""

    spec: Spec
    a: int
    b: int
    between: tuple[Revision, ...]
    added: tuple[Clause, ...]
    removed: tuple[Clause, ...]
    changed: tuple[Change, ...]
    kept: tuple[Clause, ...]

    @property
    def open(self) -> tuple[Clause, ...]:
        """The clauses of either revision on which a release takes a position."""
        return tuple(
            clause
            for clause in self.spec.clauses.values()
            if not clause.decides and (clause.holds_in(self.a) or clause.holds_in(self.b))
        )


@dataclass(frozen=True, slots=True)
class Release:
    """A server as reports name it; what the reference layer shows is no release's doing."""

    server: str
    provider: str

    @property
    def order(self) -> tuple[int, str, int, Version | str]:
        """By provider, plain releases before all others and the reference layer after them; of one
        provider the oldest first, and a server without a version last."""
        place = {"embedded": 0, REFERENCE: 2}.get(self.provider, 1)
        try:
            return place, self.provider, 0, Version.parse(self.server)
        except VersionError:
            return place, self.provider, 1, self.server

    def __str__(self) -> str:
        return self.server if self.provider == "embedded" else f"{self.provider}:{self.server}"


Verdicts = Mapping[str, Mapping[Release, Counter[str]]]
"""By clause and release: how often which verdict."""


@dataclass(frozen=True, slots=True)
class Stance:
    """Neighbouring releases with one position."""

    releases: tuple[Release, ...]
    position: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Positions:
    """One case about an open clause: the positions of the releases, the oldest first."""

    clause: Clause
    case: str
    topology: str
    provider: str
    revision: int
    stances: tuple[Stance, ...]

    @property
    def changed(self) -> bool:
        return len(self.stances) > 1

    @property
    def moved(self) -> frozenset[str]:
        """The names in a position that have several values."""
        names = {name for stance in self.stances for name in stance.position}
        return frozenset(
            name
            for name in names
            if len({stance.position.get(name) for stance in self.stances}) > 1
        )


def compare_revisions(spec: Spec, a: int, b: int) -> Revised:
    """The clauses of revision `b` against those of revision `a`."""
    every = spec.clauses.values()
    only_a = [clause for clause in every if clause.holds_in(a) and not clause.holds_in(b)]
    only_b = [clause for clause in every if clause.holds_in(b) and not clause.holds_in(a)]
    changed = tuple(
        Change(before, after)
        for after in only_b
        for before in only_a
        if _follows(spec, after, before) or _follows(spec, before, after)
    )
    befores = {change.before.id for change in changed}
    afters = {change.after.id for change in changed}
    early, late = sorted((a, b))
    return Revised(
        spec=spec,
        a=a,
        b=b,
        between=tuple(one for one in spec.history if early < one.number <= late),
        added=tuple(clause for clause in only_b if clause.id not in afters),
        removed=tuple(clause for clause in only_a if clause.id not in befores),
        changed=changed,
        kept=tuple(clause for clause in every if clause.holds_in(a) and clause.holds_in(b)),
    )


def _follows(spec: Spec, late: Clause, early: Clause) -> bool:
    """Whether `late` replaces `early`, perhaps over others."""
    seen: set[str] = set()
    name = late.replaces
    while name is not None and name not in seen:
        if name == early.id:
            return True
        seen.add(name)
        name = spec.clauses[name].replaces if name in spec.clauses else None
    return False


def verdicts_of(spec: Spec, cells: Iterable[Cell]) -> Verdicts:
    """What the cells say of every clause of a specification.

    That the reference layer does not answer for a case says nothing of its clauses.
    """
    found: dict[str, dict[Release, Counter[str]]] = {}
    for cell in cells:
        if cell.provider == REFERENCE and cell.verdict is Verdict.NOT_APPLICABLE:
            continue
        for name in cell.clauses:
            if _speaks_of(spec, cell, name):
                by_release = found.setdefault(name, {})
                release = Release(cell.server, cell.provider)
                by_release.setdefault(release, Counter())[cell.verdict.value] += 1
    return found


def positions_of(spec: Spec, clauses: Iterable[Clause], cells: Iterable[Cell]) -> list[Positions]:
    """The positions on open clauses, in the order of the clauses, then of the cases."""
    wanted = {clause.id for clause in clauses}
    found: dict[tuple[str, str, str, str, int], dict[Release, Mapping[str, str]]] = {}
    for cell in cells:
        if not cell.position or cell.verdict in _NO_POSITION:
            continue
        for name in cell.clauses:
            if name in wanted and _speaks_of(spec, cell, name):
                key = (name, cell.case, cell.topology, cell.provider, cell.spec_revision)
                release = Release(cell.server, cell.provider)
                found.setdefault(key, {})[release] = cell.position
    order = {name: place for place, name in enumerate(spec.clauses)}
    return [
        Positions(spec.clauses[key[0]], *key[1:], stances=_stances(taken))
        for key, taken in sorted(found.items(), key=lambda item: (order[item[0][0]], *item[0][1:]))
    ]


def grouped(
    told: Mapping[Release, str], every: Sequence[Release]
) -> list[tuple[list[Release], str]]:
    """Neighbours among all releases of which the same is told, the oldest first."""
    groups: list[tuple[list[Release], str]] = []
    last = -2
    for place, release in enumerate(every):
        if release not in told:
            continue
        if groups and place == last + 1 and _alike(groups[-1], release, told[release]):
            groups[-1][0].append(release)
        else:
            groups.append(([release], told[release]))
        last = place
    return groups


def releases_of(cells: Iterable[Cell], spec: Spec) -> list[Release]:
    """Every release at hand that played a case of the specification: by provider, oldest first."""
    every = {Release(cell.server, cell.provider) for cell in cells if cell.spec == spec.id}
    return sorted(every, key=lambda release: release.order)


def _alike(group: tuple[list[Release], str], release: Release, text: str) -> bool:
    return group[1] == text and group[0][-1].provider == release.provider


def speaks_of(clause: Clause, spec: str, revision: int) -> bool:
    """Whether a cell of a case that names the clause, judged by this revision, says something of it.

    A case of another specification may name the clause; its revision says nothing of this."""
    return spec != clause.spec or clause.holds_in(revision)


def _speaks_of(spec: Spec, cell: Cell, name: str) -> bool:
    clause = spec.clauses.get(name)
    return clause is not None and speaks_of(clause, cell.spec, cell.spec_revision)


def _stances(taken: Mapping[Release, Mapping[str, str]]) -> tuple[Stance, ...]:
    stances: list[Stance] = []
    for release in sorted(taken, key=lambda release: release.order):
        if stances and dict(stances[-1].position) == dict(taken[release]):
            stances[-1] = Stance((*stances[-1].releases, release), stances[-1].position)
        else:
            stances.append(Stance((release,), taken[release]))
    return tuple(stances)
