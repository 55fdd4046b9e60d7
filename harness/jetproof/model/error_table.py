"""The error-code table: which code and which text a release gives for a JetStream error.

The number and its `code` are what a case asserts; the text of an error changes between releases, so it is
looked up here. A release that the table does not know inherits the newest text before it.

An entry also says how the error is brought about: the `case` that provokes it, or `why_not`. What a
revision of a specification says with the number, where no release does, is `specified`: cases that
are judged by that revision are held to it, and a reference layer speaks it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from jetproof.model.versions import Version

Revision = tuple[str, int]
"""A specification and the revision of it that a case is judged by."""


@dataclass(frozen=True, slots=True)
class Specified:
    """What a specification says with an error's number, in these revisions."""

    spec: str
    revisions: tuple[int, ...]
    http: int
    description: str
    case: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """One error as one release says it. `description` has {placeholders} for what varies.

    `case` is the case that provokes it on a server, `why_not` the reason why none can.
    """

    code: int
    http: int
    name: str
    description: str
    since: Version | None = None
    case: str | None = None
    why_not: str | None = None
    specified: tuple[Specified, ...] = ()

    def cases(self) -> tuple[str, ...]:
        """Every case that the entry names: on a release, or where a revision is spoken."""
        named = (self.case, *(said.case for said in self.specified))
        return tuple(case for case in named if case is not None)


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """An error from one release on; without a `start` from the first."""

    start: Version | None
    entry: ErrorEntry


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """All errors of all releases: `rows` per number, the oldest first, and the line of each."""

    rows: Mapping[int, tuple[ErrorRow, ...]]
    lines: Mapping[int, int]
    file: str

    @property
    def codes(self) -> tuple[int, ...]:
        """All error numbers, in order."""
        return tuple(sorted(self.rows))

    @property
    def entries(self) -> tuple[ErrorEntry, ...]:
        """All errors in order, each as the newest release says it."""
        return tuple(self.rows[code][-1].entry for code in self.codes)

    def line_of(self, err_code: int) -> int:
        """Where an error stands in the file."""
        return self.lines[err_code]

    def specified(self, err_code: int, spec: str, revision: int) -> Specified | None:
        """What a revision of a specification says with a number, if the table has it."""
        for entry in (row.entry for row in self.rows.get(err_code, ())):
            for said in entry.specified:
                if said.spec == spec and revision in said.revisions:
                    return said
        return None

    def lookup(
        self, err_code: int, version: Version | str, revision: Revision | None = None
    ) -> ErrorEntry | None:
        """Return the error as that release says it, or None for a number that is not listed.

        Where the revision says something else with the number, the entry is what the revision says.
        """
        rows = self.rows.get(err_code)
        if rows is None:
            return None
        release = (Version.parse(version) if isinstance(version, str) else version).base
        fitting = [row for row in rows if row.start is None or row.start <= release]
        entry = (fitting[-1] if fitting else rows[0]).entry
        said = None if revision is None else self.specified(err_code, *revision)
        if said is None:
            return entry
        return replace(entry, http=said.http, description=said.description)
