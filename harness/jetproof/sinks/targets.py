"""The targets of a run as rows: what was asked for, what it turned out to be, what was started."""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.events import TargetStarted
from jetproof.results.rows import Row
from jetproof.sinks.record import Record


def target_rows(record: Record, names: Sequence[str]) -> list[Row]:
    """One row a target, in the order asked for, with every server that was started for it."""
    seen = [*names, *(event.target for event in record.servers)]
    return [_target_row(record, name) for name in dict.fromkeys(seen)]


def _target_row(record: Record, name: str) -> Row:
    version = provider = build = None
    servers: list[Row] = []
    for event in record.servers:
        if event.target != name:
            continue
        row: Row = {"topology": event.topology, "configuration": event.configuration}
        if isinstance(event, TargetStarted):
            version, provider, build = event.version, event.provider, event.build or None
            row |= {"cases": event.cases, "start_ms": round(event.ms, 3), "failed": None}
        else:
            row |= {"cases": None, "start_ms": None, "failed": event.reason}
        servers.append(row)
    if version is None:  # nothing was started: its cells know
        for outcome in record.outcomes:
            if outcome.cell.target == name:
                version, provider = outcome.cell.server, outcome.cell.provider
                break
    found: Row = {"target": name, "provider": provider, "version": version, "build": build}
    return found | {"servers": servers}
