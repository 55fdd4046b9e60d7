"""How far two sides agree, suite by suite, and what the ledger says about where they do not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.compare_rulings import CaseKey, Difference, Kind, Observation
from jetproof.model.ledger import Deviation
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.versions import Version, VersionError

_OF_VERDICT = (Kind.WORSE, Kind.UNDECIDED, Kind.BETTER)


@dataclass(frozen=True, slots=True)
class Agreement:
    """One suite: the cells that apply to both sides, and on how many of them both say the same."""

    suite: str
    cells: int
    same_verdict: int
    positions: int
    """Positions that some cell of the suite states, on either side."""
    same_positions: int


def agreements(
    base: Mapping[CaseKey, Sequence[Observation]],
    head: Mapping[CaseKey, Sequence[Observation]],
    differences: Iterable[Difference],
) -> list[Agreement]:
    """One row per suite. What showed once and not again is no disagreement."""
    apart = {one.key: one for one in differences}
    rows: dict[str, Agreement] = {}
    for key in sorted(base.keys() & head.keys()):
        plays = [*base[key], *head[key]]
        if any(one.cell.verdict is Verdict.NOT_APPLICABLE for one in plays):
            continue
        suite, found = plays[0].cell.heading, apart.get(key)
        before = rows.get(suite, Agreement(suite, 0, 0, 0, 0))
        cells = (one.cell for one in plays)
        total = len({name for one in cells if isinstance(one, Cell) for name in one.position})
        rows[suite] = replace(
            before,
            cells=before.cells + 1,
            same_verdict=before.same_verdict + (not _verdict_differs(found)),
            positions=before.positions + total,
            same_positions=before.same_positions + total - len(found.positions if found else ()),
        )
    return [rows[suite] for suite in sorted(rows)]


def _verdict_differs(found: Difference | None) -> bool:
    return found is not None and (found.kind in _OF_VERDICT or bool(found.moved))


def explained(one: Difference, deviations: Iterable[Deviation]) -> Difference:
    """The difference, with the entry of the ledger that knows it of the side that is wrong."""
    cell, checks = {
        Kind.WORSE: (one.head, one.new),
        Kind.BETTER: (one.base, one.gone),
    }.get(one.kind, (one.head, ()))
    if not checks or cell.client is not None:
        return one
    try:
        version = Version.parse(cell.server)
    except VersionError:
        return one
    place = cell.about, version, cell.topology, cell.provider
    known = next((it for it in deviations if it.covers(*place) and it.explains(checks)), None)
    return one if known is None else replace(one, known=f"{known.id}: {known.does}")
