"""Rows of the table `cells` as cells of the harness, which is what its questions are asked of."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.model.identity import case_id, client_name
from jetproof.model.verdict import Cell, Verdict
from jetproof_reports.plain import Row, pairs, text, texts

Known = Mapping[tuple[str | None, str], Row]


def is_scored(row: Row) -> bool:
    """Whether a cell counts: an edition may leave it out."""
    return row.get("scored") is not False


def cell_of(row: Row, known: Known | None = None) -> Cell:
    """A row of the tables as a cell. Older runs do not say of what kind a deviation is: `known`,
    the rows of `deviations`, does."""
    client, deviation = row.get("client"), row.get("deviation")
    marks = row
    if deviation and row.get("kind") is None:
        marks = (known or {}).get((_library(client), deviation), {})
    case = text(row.get("case"))
    return Cell(
        case=case,
        suite=text(row.get("suite")) or case_id(case).suite,
        spec=text(row.get("spec")),
        spec_revision=row.get("spec_revision") or 0,
        server=text(row.get("server")),
        provider=text(row.get("provider")) or "embedded",
        topology=text(row.get("topology")),
        configuration=text(row.get("configuration")),
        verdict=Verdict(text(row.get("verdict"))),
        clauses=tuple(texts(row.get("clauses"))),
        client=client or None,
        reason=text(row.get("reason")),
        position={name: text(value) for name, value in pairs(row.get("position"))},
        deviation=deviation or None,
        plays=tuple(texts(row.get("plays"))),
        never_right=bool(row.get("never_right")),
        edition=row.get("edition") or None,
        scored=is_scored(row),
        target=text(row.get("target")),
        kind=marks.get("kind"),
        severity=marks.get("severity"),
        upstream=marks.get("upstream"),
    )


def _library(client: str | None) -> str | None:
    return client_name(client).library if client else None
