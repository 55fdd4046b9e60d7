"""Finds every mistake in case files, catalogues, ledgers and editions, and starts nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.load.library import load_cases, load_library
from jetproof.load.mistakes import LoadError, Mistake


@dataclass(frozen=True, slots=True)
class Validation:
    """What there is, and what is wrong with it."""

    cases: int = 0
    clauses: int = 0
    editions: int = 0
    mistakes: tuple[Mistake, ...] = ()


def validate(files: Sequence[Path]) -> Validation:
    """Read all suites, and case files elsewhere. Those are read only if the suites have no mistake."""
    try:
        library = load_library()
    except LoadError as error:
        return Validation(mistakes=tuple(error.mistakes))
    cases = len(library.cases) + len(library.client_cases)
    mistakes: tuple[Mistake, ...] = ()
    if files:
        try:
            cases += len(load_cases(list(files), library))
        except LoadError as error:
            mistakes = tuple(error.mistakes)
    clauses = sum(len(spec.clauses) for spec in library.specs.values())
    return Validation(cases, clauses, len(library.editions), mistakes)
