"""Two revisions of a specification: what changed, and what cases and releases say of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jetproof.errors import JetproofError
from jetproof.load.library import Library
from jetproof.load.lookup import cases_by_clause, find_revision
from jetproof.results import Run, latest_cells
from jetproof.results.revisions import (
    Positions,
    Release,
    Revised,
    Verdicts,
    compare_revisions,
    positions_of,
    releases_of,
    verdicts_of,
)

Asked = tuple[str, int | None]
"""A specification, and one of its revisions or None for the default."""


@dataclass(frozen=True, slots=True)
class SpecComparison:
    """The comparison, and what cases and runs say of its clauses."""

    revised: Revised
    cases: Mapping[str, Sequence[str]]
    """By clause, the ids of its cases."""
    releases: Sequence[Release]
    verdicts: Verdicts
    positions: Sequence[Positions]


def compare_spec(library: Library, a: Asked, b: Asked, runs: Sequence[Run]) -> SpecComparison:
    """Compare two revisions of one specification; the runs say what releases do."""
    (spec, first), (other, second) = find_revision(library, *a), find_revision(library, *b)
    if spec is not other:
        raise JetproofError(
            f"{spec.id} and {other.id} are two specifications",
            phase="plan",
            hint=f"name two revisions of one: {spec.id}@{first} {spec.id}@{spec.revisions[-1]}",
        )
    cells = latest_cells(runs)
    revised = compare_revisions(spec, first, second)
    return SpecComparison(
        revised=revised,
        cases=cases_by_clause(library),
        releases=releases_of(cells, spec),
        verdicts=verdicts_of(spec, cells),
        positions=positions_of(spec, revised.open, cells),
    )
