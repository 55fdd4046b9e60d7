"""Which cases are played on which target, why not, and which of them may share a server.

Planning is pure: it starts nothing and asks nobody. A target comes in with its version known, so
that `n/a` is decided here, with the proof in its reason.
"""

from __future__ import annotations

import fnmatch
import hashlib
import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.model.case import Case
from jetproof.model.claims import held_revision, is_held_to
from jetproof.model.clause import Actor
from jetproof.model.client import operations
from jetproof.model.edition import Edition
from jetproof.model.identity import CellId, client_name
from jetproof.model.topology import TOPOLOGIES
from jetproof.model.versions import Version

LINK_IN_CONTAINERS = "the link between two containers cannot be cut"


@dataclass(frozen=True, slots=True)
class Selection:
    """What was asked for on the command line; empty means everything."""

    patterns: tuple[str, ...] = ()
    clauses: tuple[str, ...] = ()
    specs: tuple[tuple[str, int | None], ...] = ()
    shard: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PlanTarget:
    """A target whose version is known. `fixed` is why it cannot be configured, if it cannot.

    `newer` and `older` are releases of other lines, for stores that one release writes and another
    opens."""

    name: str
    version: Version
    provider: str
    fixed: str | None = None
    newer: Version | None = None
    older: Version | None = None

    def release(self, name: str) -> Version | Literal["own"] | None:
        """What a case means by the name of a release; None if there is none."""
        match name:
            case "target":
                return "own"
            case "newer":
                return self.newer
            case "older":
                return self.older
            case _:
                return Version.parse(name)

    build: str = ""
    """What tells its build from others of one version: a hash of the binary, or a commit."""
    binary: Path | None = None
    """Where the server is, if it was built or found for this run."""
    speaks: tuple[str, ...] | None = None
    """All that it answers for, specifications or parts of suites, if that is not everything: what
    the reference layer speaks, where there is one."""


@dataclass(frozen=True, slots=True)
class PlanClient:
    """A client library whose adapter has said who it is.

    `name` is what `--client` takes, with the version that was found. `missing` is why it cannot be
    played at all, if it cannot: a toolchain that is not there. `broken` is why nothing can be said of
    it: its adapter is no adapter."""

    name: str
    library: str = ""
    version: str = ""
    capabilities: frozenset[str] = frozenset()
    claims: Mapping[str, int] = field(default_factory=dict)
    missing: str | None = None
    broken: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One cell to be: a case, and the revision of its specification that it is judged by."""

    case: Case
    revision: int
    client: PlanClient | None = None
    asked: bool = False
    """Whether this very case or revision was asked for: it is played though nobody speaks its form."""
    edition: str | None = None
    """The edition that it is scored by, if there is one."""
    scored: bool = True
    """False if that edition does not list the case, or lists it as it was before it changed."""

    @property
    def revision_name(self) -> str:
        """The revision by name, where it is another than the one that the case is about."""
        return "" if self.revision == self.case.revision else f"{self.case.spec}@{self.revision}"


@dataclass(frozen=True, slots=True)
class Group:
    """Items that share one server (or cluster)."""

    target: PlanTarget
    configuration: str
    topology: str
    items: tuple[Item, ...]
    alone: bool = False
    client: PlanClient | None = None

    @property
    def weight(self) -> int:
        """So many server processes."""
        return len(TOPOLOGIES[self.topology].nodes)

    @property
    def release(self) -> Version | None:
        """What the servers start with, if it is another release than the target."""
        named = next(iter(self.items)).case.given.release if self.alone else None
        release = None if named is None else self.target.release(named)
        return release if isinstance(release, Version) else None

    @property
    def accounts(self) -> tuple[str, ...]:
        """The accounts its cases ask for, and one for each case that wants its own."""
        named = {
            given.account
            for item in self.items
            for given in item.case.given.connections.values()
            if given.account
        }
        own = {
            own_account(item.case, item.revision)
            for item in self.items
            if item.case.given.isolation == "account"
        }
        return tuple(sorted(named | own))


@dataclass(frozen=True, slots=True)
class NotApplicable:
    item: Item
    target: PlanTarget
    reason: str


@dataclass(frozen=True, slots=True)
class Plan:
    targets: tuple[PlanTarget, ...]
    groups: tuple[Group, ...]
    not_applicable: tuple[NotApplicable, ...]
    partial: str = ""

    @property
    def cells(self) -> int:
        return sum(len(group.items) for group in self.groups) + len(self.not_applicable)


@dataclass(frozen=True, slots=True)
class Selected:
    """The items asked for, and why they are not everything (empty if they are)."""

    items: tuple[Item, ...]
    partial: str = field(default="")


def own_account(case: Case, revision: int) -> str:
    """The name of the account that belongs to one case alone, judged by one revision."""
    name = hashlib.sha256(case.id.encode()).hexdigest()[:16]  # two cases may have one hash
    return f"OWN_{name}" + ("" if revision == case.revision else f"_{revision}")


def select(library: Library, selection: Selection, cases: Sequence[Case] | None = None) -> Selected:
    """The cases that the selection names; a pattern that names none is a mistake."""
    pool = tuple(library.cases if cases is None else cases)
    chosen = _by_pattern(pool, selection.patterns)
    if selection.clauses:
        chosen = _by_clause(library, chosen, selection.clauses)
    items = _by_spec(library, chosen, selection.specs)
    reasons = []
    if len(chosen) < len(pool):
        reasons.append(f"{len(chosen)} of {len(pool)} cases were selected")
    if selection.specs:
        asked = (name if number is None else f"{name}@{number}" for name, number in selection.specs)
        reasons.append(f"only {', '.join(asked)}")
    if selection.shard:
        index, count = selection.shard
        items = items[index - 1 :: count]
        reasons.append(f"shard {index}/{count}")
    return Selected(tuple(items), "; ".join(reasons))


def scored_by(library: Library, items: Iterable[Item], edition: Edition | None) -> tuple[Item, ...]:
    """The items, each scored or not by an edition. Cases of a file elsewhere are always scored: somebody
    else keeps them, and named them."""
    if edition is None:
        return tuple(items)
    return tuple(
        replace(
            item,
            edition=edition.name,
            scored=item.case.id not in library.ids or edition.scores(item.case.id, item.case.hash),
        )
        for item in items
    )


def named_exactly(selected: Selected) -> Selected:
    """The same items, each asked for by itself: played whether or not the target speaks their form."""
    return replace(selected, items=tuple(replace(item, asked=True) for item in selected.items))


def make_plan(
    library: Library,
    selected: Selected,
    targets: Sequence[PlanTarget],
    *,
    skip: frozenset[str],
    apart: frozenset[str] = frozenset(),
) -> Plan:
    """Groups for every target. `skip` holds names of cells that a resumed run already has.

    `apart` names targets on which every case has servers of its own."""
    groups: list[Group] = []
    dropped: list[NotApplicable] = []
    for target in targets:
        playable = []
        for item in selected.items:
            if name_of(item, target) in skip:
                continue
            reason = why_not(library, item, target)
            if reason is None:
                playable.append(item)
            else:
                dropped.append(NotApplicable(item, target, reason))
        groups.extend(_group(target, playable, apart=target.name in apart))
    groups.sort(key=lambda group: -max(item.case.budget for item in group.items))
    return Plan(tuple(targets), tuple(groups), tuple(dropped), selected.partial)


def name_of(item: Item, target: PlanTarget) -> str:
    """The name that the cell will have."""
    client = client_name(item.client.name) if item.client else None
    topology = item.case.given.topology
    return str(
        CellId(
            item.case.id, str(target.version), topology, target.provider, client, item.revision_name
        )
    )


def replay_command(library: Library, item: Item, target: PlanTarget) -> str:
    """What plays the cell again. A case that the library does not have is found by its file."""
    case, words = item.case, ["jetproof", "replay"]
    words.append(case.id if case.id in library.ids else f"{case.file}::{case.name}")
    words += ["--server", target.name]
    if item.client is not None:
        words += ["--client", item.client.name]
    if item.revision_name:
        words += ["--spec", item.revision_name]
    return shlex.join(words)


def why_not(library: Library, item: Item, target: PlanTarget) -> str | None:
    """The proof that a case does not apply to a target, or None if it does."""
    case = item.case
    if item.client is not None and (reason := _why_not_client(library, item, item.client)):
        return reason
    if target.speaks is not None and not any(matches(case, name) for name in target.speaks):
        return (
            f"the reference layer answers for {', '.join(target.speaks)}; "
            "other cases are judged on releases"
        )
    if reason := _why_not_spoken(library, item, target):
        return reason
    for clause in library.clauses_of(case):
        if reason := clause.why_not(target.version):
            return reason
    head = library.configurations[case.given.configuration]
    if refused := head.refused_by(target.version):
        return refused
    for name in sorted(case.releases):
        if target.release(name) is None:
            line = "a later" if name == "newer" else "an earlier"
            return f"no release of {line} line than {target.version} is known"
    if target.provider == "container" and case.actions & {"cut", "mend"}:
        return LINK_IN_CONTAINERS
    if target.fixed is None:
        return None
    if case.given.configuration != "default":
        return f"{target.fixed}: it cannot be given the configuration {case.given.configuration}"
    if case.given.topology != "single":
        return f"{target.fixed}: it cannot be given the topology {case.given.topology}"
    if case.given.isolation == "server":
        return f"{target.fixed}: the case needs a server of its own"
    if case.given.isolation == "account" or any(
        given.account for given in case.given.connections.values()
    ):
        return f"{target.fixed}: the case needs accounts of its own"
    return None


def _why_not_spoken(library: Library, item: Item, target: PlanTarget) -> str | None:
    """The proof that a release does not speak the wire form that a case is about.

    A case for a library is about the library; the reference layer answers for what it speaks."""
    if item.client is not None or item.asked or target.speaks is not None:
        return None
    clauses = library.clauses_of(item.case)
    reasons = (form.why_not(clauses, item.revision, target.version) for form in library.forms)
    return next(filter(None, reasons), None)


def _why_not_client(library: Library, item: Item, client: PlanClient) -> str | None:
    """The proof that a case does not apply to a client library, or None if it does."""
    if client.missing is not None:
        return client.missing
    case = item.case
    lacking = sorted(operations(tuple(case.all_steps())) - client.capabilities)
    if lacking:
        return f"{client.library} has no {', '.join(lacking)}"
    if not all(clause.holds_in(item.revision) for clause in library.clauses_of(case)):
        claimed = client.claims.get(case.spec)
        said = "claims no revision" if claimed is None else f"claims revision {claimed}"
        return f"{case.spec} revision {case.revision} only, and {client.library} {said}"
    return None


def client_items(library: Library, cases: Iterable[Case], client: PlanClient) -> tuple[Item, ...]:
    """Each case by the revision that the library claims, or else by the default revision.

    What holds in neither is planned all the same, and does not apply."""
    items = []
    for case in cases:
        spec = library.specs[case.spec]
        asked = (held_revision(client.claims, case.spec, spec.revision), spec.revision)
        clauses = library.clauses_of(case)
        held = [number for number in asked if all(clause.holds_in(number) for clause in clauses)]
        items.append(Item(case, held[0] if held else asked[0], client))
    return tuple(items)


def is_claimed(library: Library, client: PlanClient, spec: str, revision: int) -> bool:
    """Whether a library is held to this revision: the one it claims, or else the default."""
    return is_held_to(client.claims, spec, library.specs[spec].revision, revision)


def _group(target: PlanTarget, items: Iterable[Item], *, apart: bool) -> list[Group]:
    # A new case may kill its server: what is scored has servers of its own.
    shared: dict[tuple[str, str, str, bool], list[Item]] = defaultdict(list)
    groups: list[Group] = []
    for item in items:
        given, client = item.case.given, item.client
        if apart or given.isolation == "server":
            groups.append(Group(target, given.configuration, given.topology, (item,), True, client))
        else:
            name = client.name if client else ""
            shared[given.configuration, given.topology, name, item.scored].append(item)
    for (configuration, topology, _, _), members in shared.items():
        groups.append(
            Group(target, configuration, topology, tuple(members), client=members[0].client)
        )
    return groups


def _by_pattern(pool: Sequence[Case], patterns: Sequence[str]) -> tuple[Case, ...]:
    if not patterns:
        return tuple(pool)
    chosen: dict[str, Case] = {}
    for pattern in patterns:
        found = [case for case in pool if matches(case, pattern)]
        if not found:
            raise JetproofError(
                f"no case matches {pattern!r}",
                phase="plan",
                hint="jetproof list prints every case; a pattern is a case id, the beginning of a "
                "suite's name, or a glob such as 'adr-50/atomic/*::gap*'",
            )
        chosen.update((case.id, case) for case in found)
    return tuple(case for case in pool if case.id in chosen)


def matches(case: Case, pattern: str) -> bool:
    """Whether a pattern of the command line names this case."""
    pattern = pattern.rstrip("/")
    return (
        case.id == pattern
        or case.suite == pattern
        or case.suite.startswith(f"{pattern}/")
        or fnmatch.fnmatchcase(case.id, pattern)
        or fnmatch.fnmatchcase(case.suite, pattern)
    )


def _by_clause(library: Library, cases: Sequence[Case], wanted: Sequence[str]) -> tuple[Case, ...]:
    known = [clause for spec in library.specs.values() for clause in spec.clauses]
    ids: set[str] = set()
    for pattern in wanted:
        found = fnmatch.filter(known, pattern)
        if not found:
            raise JetproofError(
                f"no clause matches {pattern!r}",
                phase="plan",
                hint="jetproof clauses prints every clause",
            )
        ids.update(found)
    chosen = tuple(case for case in cases if ids & set(case.clauses))
    if not chosen:
        clauses = [library.clause(clause) for clause in sorted(ids)]
        why = (
            "it binds clients, and no client case tests it"
            if all(clause.actor is Actor.CLIENT for clause in clauses)
            else "jetproof clauses shows which cases test which clause"
        )
        raise JetproofError(f"no case tests {', '.join(sorted(ids))}", phase="plan", hint=why)
    return chosen


def _by_spec(
    library: Library, cases: Sequence[Case], wanted: Sequence[tuple[str, int | None]]
) -> list[Item]:
    if not wanted:
        return [Item(case, case.revision) for case in cases]
    items: list[Item] = []
    for name, revision in wanted:
        spec = library.specs.get(name)
        if spec is None:
            raise JetproofError(
                f"no specification {name!r}",
                phase="plan",
                hint=f"there are: {', '.join(sorted(library.specs))}",
            )
        if revision is not None and revision not in spec.revisions:
            raise JetproofError(
                f"{name} has no revision {revision}",
                phase="plan",
                hint=f"it has: {', '.join(str(number) for number in spec.revisions)}",
            )
        for case in cases:
            if case.spec != name:
                continue
            judged_by = case.revision if revision is None else revision
            if all(clause.holds_in(judged_by) for clause in library.clauses_of(case)):
                items.append(Item(case, judged_by, asked=revision is not None))
    return items
