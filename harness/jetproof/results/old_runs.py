"""Runs of older versions: how their rows are read as rows of today.

Until rows of schemas had a journal of their own (`schemas.jsonl`), what was judged of a schema was
the cell of a made-up case `schemas::pub-ack`, and what broke it were checks of that cell.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from jetproof.model.identity import schema_name
from jetproof.results.rows import CellRow, CheckRow, SchemaRow, ViolationRow


def judges_a_schema(row: CellRow) -> bool:
    """Whether a row of `cells.jsonl` is about a schema, and not about a case."""
    return row.suite == "schemas" and schema_name(row.case) is not None


def schema_rows(cells: Sequence[CellRow], checks: Iterable[CheckRow]) -> list[SchemaRow]:
    """The rows of schemas that these cells stand for; `checks` is read only if one is broken."""
    broken: dict[tuple[str, str, int], list[ViolationRow]] = {
        (cell.cell, cell.target, cell.attempt): [] for cell in cells if cell.reason
    }
    for check in checks if broken else ():
        found = broken.get((check.cell, check.target, check.attempt))
        if found is not None and not check.ok and check.actual is not None:
            found.append(ViolationRow(check.path, _plain(check.actual), check.iteration))
    return [_schema_row(cell, broken) for cell in cells]


def _schema_row(
    cell: CellRow, broken: Mapping[tuple[str, str, int], Sequence[ViolationRow]]
) -> SchemaRow:
    seen = cell.position.get("seen", "0")
    unknown = cell.position.get("unknown-fields", "")
    return SchemaRow(
        run=cell.run,
        schema=schema_name(cell.case) or cell.case,
        spec=None,
        spec_revision=None,
        server=cell.server,
        provider=cell.provider,
        target=cell.target,
        attempt=cell.attempt,
        verdict=cell.verdict,
        seen=int(seen) if seen.isdecimal() else 0,
        broken=None,
        unknown_fields=tuple(unknown.split(", ")) if unknown else (),
        violations=tuple(broken.get((cell.cell, cell.target, cell.attempt), ())),
        first_broken=None,
        started_at=cell.started_at,
        reason=cell.reason,
        deviation=cell.deviation,
        kind=cell.kind,
        severity=cell.severity,
        upstream=cell.upstream,
        never_right=cell.never_right,
        schema_hash=cell.case_hash,
        edition=cell.edition,
        scored=cell.scored,
        replay=cell.replay,
    )


def _plain(actual: str) -> str:
    """What a check saw is JSON text; of a schema it was a sentence."""
    try:
        value = json.loads(actual)
    except ValueError:
        return actual
    return value if isinstance(value, str) else actual
