"""Clauses: one normative sentence each, with what it binds and since when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

from jetproof.model.versions import Version


class Level(StrEnum):
    MUST = "must"
    SHOULD = "should"
    MAY = "may"


class Status(StrEnum):
    """Whether the text decides: a silent or contested sentence yields positions, not failures."""

    NORMATIVE = "normative"
    SILENT = "silent"
    CONTESTED = "contested"


class Actor(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Reworded:
    """Where a sentence stands from a later revision on, which says the same in other words."""

    revision: int
    anchor: str
    sentence_hash: str


@dataclass(frozen=True, slots=True)
class Clause:
    id: str
    spec: str
    section: str
    level: Level
    actor: Actor
    status: Status
    text: str
    revision_from: int | None
    revision_to: int | None
    applies_from: Version | None
    sentence_hash: str | None
    anchor: str | None = None
    replaces: str | None = None
    contested_with: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    """The clauses of other texts that it follows from."""
    note: str | None = None
    reworded: tuple[Reworded, ...] = ()
    """Oldest first."""
    applies_to: Version | None = None
    """The last server version that the text means, where it says so itself."""

    def why_not(self, version: Version) -> str | None:
        """Why the sentence is not about a server of this version, or None if it is."""
        if self.applies_from is not None and version.base < self.applies_from:
            return f"{self.id} applies from {self.applies_from}, this server is {version}"
        if self.applies_to is not None and version.base > self.applies_to:
            return f"{self.id} applies up to {self.applies_to}, this server is {version}"
        return None

    @property
    def decides(self) -> bool:
        """Whether breaking it is a failure or a warning, and not just a position."""
        return self.status is Status.NORMATIVE and self.level is not Level.MAY

    def holds_in(self, revision: int) -> bool:
        return (self.revision_from is None or self.revision_from <= revision) and (
            self.revision_to is None or revision <= self.revision_to
        )

    def as_in(self, revision: int) -> Self:
        """The clause with the place and the fingerprint that its sentence has in a revision."""
        later = [place for place in self.reworded if place.revision <= revision]
        if not later:
            return self
        return replace(self, anchor=later[-1].anchor, sentence_hash=later[-1].sentence_hash)


@dataclass(frozen=True, slots=True)
class Revision:
    """One row of a specification's history; what its text does not give is None."""

    number: int
    date: str | None = None
    server: str | None = None
    api_level: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class NoClause:
    """A sentence that sounds normative and has no clause of its own, and why."""

    anchor: str
    sentence_hash: str
    why: str
    clauses: tuple[str, ...] = ()
    """The clauses that say what it says."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One specification: its clauses and the default revision."""

    id: str
    title: str
    revision: int
    revisions: tuple[int, ...]
    clauses: Mapping[str, Clause]
    file: str = ""
    history: tuple[Revision, ...] = ()
    no_clause: tuple[NoClause, ...] = ()
    titles: tuple[str, ...] = ()
    """Headings that texts of it have, besides `title`."""
    note: str = ""
    """What a reader must know who looks for the text."""

    def is_called(self, title: str) -> bool:
        """Whether a text with this heading may be a text of this specification."""
        known = {" ".join(name.split()).casefold() for name in (self.title, *self.titles)}
        return " ".join(title.split()).casefold() in known


class Stakes(StrEnum):
    """What a mismatch comes to in a case of some clauses."""

    FAIL = "fail"
    WARN = "warn"
    POSITION = "position"


def stakes(clauses: Sequence[Clause]) -> Stakes:
    """The strongest clause decides. The result of a schema has no clauses: then everything is a failure."""
    deciding = [clause for clause in clauses if clause.decides]
    if clauses and not deciding:
        return Stakes.POSITION
    if clauses and all(clause.level is Level.SHOULD for clause in deciding):
        return Stakes.WARN
    return Stakes.FAIL
