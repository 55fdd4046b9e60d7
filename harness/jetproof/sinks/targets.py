"""The targets of a run as rows: what was asked for, what it turned out to be, what was started."""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.events import TargetStarted
from jetproof.results.documents.common import RunServer, RunTarget
from jetproof.sinks.record import Record


def target_rows(record: Record, names: Sequence[str]) -> list[RunTarget]:
    """One row per target, in the order asked for, with every server that was started for it."""
    seen = [*names, *(event.target for event in record.servers)]
    return [_target_row(record, name) for name in dict.fromkeys(seen)]


def _target_row(record: Record, name: str) -> RunTarget:
    version = provider = build = None
    servers: list[RunServer] = []
    for event in record.servers:
        if event.target != name:
            continue
        cases = start_ms = failed = None
        if isinstance(event, TargetStarted):
            version, provider, build = event.version, event.provider, event.build or None
            cases, start_ms = event.cases, round(event.ms, 3)
        else:
            failed = event.reason
        servers.append(
            RunServer(
                topology=event.topology,
                configuration=event.configuration,
                cases=cases,
                start_ms=start_ms,
                failed=failed,
            )
        )
    if version is None:  # nothing was started: its cells know
        for outcome in record.outcomes:
            if outcome.cell.target == name:
                version, provider = outcome.cell.server, outcome.cell.provider
                break
    return RunTarget(target=name, provider=provider, version=version, build=build, servers=servers)
