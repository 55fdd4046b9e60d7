"""Cells of planned items: what a plan knows of a cell, and what a ruling adds."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.engine.verdicts import Ruling
from jetproof.load.library import Library
from jetproof.model.verdict import Cell
from jetproof.plan import Item, PlanTarget, name_of, replay_command


def cell_of(
    library: Library,
    item: Item,
    target: PlanTarget,
    ruling: Ruling,
    attempts: Mapping[str, int],
    **more: object,
) -> Cell:
    """The cell of an item on a target. `attempts` counts earlier plays in a resumed run."""
    case = item.case
    entry = ruling.entry
    facts: dict[str, object] = {
        "case": case.id,
        "suite": case.suite,
        "spec": case.spec,
        "spec_revision": item.revision,
        "server": str(target.version),
        "provider": target.provider,
        "topology": case.given.topology,
        "configuration": case.given.configuration,
        "verdict": ruling.verdict,
        "clauses": case.clauses,
        "attempt": attempts.get(name_of(item, target), 0) + 1,
        "reason": ruling.reason,
        "deviation": entry.id if entry else None,
        "kind": entry.kind.value if entry else None,
        "severity": entry.severity.value if entry else None,
        "upstream": entry.upstream if entry else None,
        "case_hash": case.hash,
        "target": target.name,
        "replay": replay_command(library, item, target),
        "revision": item.revision_name,
        "client": item.client.name if item.client else None,
        "edition": item.edition,
        "scored": item.scored,
    }
    return Cell(**(facts | more))  # type: ignore[arg-type]
