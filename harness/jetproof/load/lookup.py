"""Finds what people name: specifications and their revisions, clauses, cases of a clause."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.model.clause import Clause, Spec


def find_revision(library: Library, name: str, revision: int | None) -> tuple[Spec, int]:
    """A specification and one of its revisions; None is its default revision."""
    spec = library.specs.get(name)
    if spec is None:
        raise JetproofError(
            f"no specification {name}", phase="load", hint=f"there are: {', '.join(library.specs)}"
        )
    if revision is None:
        return spec, spec.revision
    if revision not in spec.revisions:
        raise JetproofError(
            f"{name} has no revision {revision}",
            phase="load",
            hint=f"it has: {', '.join(map(str, spec.revisions))}",
        )
    return spec, revision


def find_clauses(library: Library, patterns: Sequence[str]) -> list[Clause]:
    """The clauses that ids, globs or specifications name, in the order of the catalogue."""
    every = [clause for spec in library.specs.values() for clause in spec.clauses.values()]
    if not patterns:
        return every
    chosen: set[str] = set()
    for pattern in patterns:
        found = {
            clause.id
            for clause in every
            if fnmatchcase(clause.id, pattern) or clause.spec == pattern
        }
        if not found:
            raise JetproofError(
                f"no clause matches {pattern!r}",
                phase="plan",
                hint=f"a pattern is a clause id, a glob, or one of: {', '.join(library.specs)}",
            )
        chosen |= found
    return [clause for clause in every if clause.id in chosen]


def cases_by_clause(library: Library) -> dict[str, list[str]]:
    """The ids of the cases that name each clause."""
    found: dict[str, list[str]] = {}
    for case in library.cases_for(clients=None):
        for clause in case.clauses:
            found.setdefault(clause, []).append(case.id)
    return found
