"""CTRF, the Common Test Report Format (https://ctrf.io): one JSON document that CI tools read.

`status` is what CI understands: fail and stale are `failed`, error is `other`, known and n/a are
`skipped`, everything else is `passed`. `rawStatus` is the verdict. CTRF allows fields of our own
only inside `extra`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from jetproof import __version__
from jetproof.model.verdict import Result
from jetproof.results.digest import digest_document
from jetproof.results.rows import Row, plain
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.report_file import Facts, ReportFile, Status, body, reported, short_reason
from jetproof.sinks.targets import target_rows
from jetproof.sinks.text import visible

SPEC_VERSION = "0.0.0"
_STATUSES = {
    Status.PASSED: "passed",
    Status.FAILED: "failed",
    Status.SKIPPED: "skipped",
    Status.ERROR: "other",
}
_COUNTED = ("passed", "failed", "skipped", "pending", "other")


class Ctrf(ReportFile):
    """The sink for `--ctrf FILE`."""

    label = "CTRF"
    option = "--ctrf"

    def render(self, record: Record, facts: Facts) -> bytes:
        return json.dumps(ctrf_document(record, facts), indent=2).encode("ascii") + b"\n"


def ctrf_document(record: Record, facts: Facts) -> Row:
    """The whole document."""
    return {
        "reportFormat": "CTRF",
        "specVersion": SPEC_VERSION,
        "timestamp": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "generatedBy": "jetproof",
        "results": {
            "tool": {"name": "jetproof", "version": __version__},
            "summary": _summary(record, facts),
            "tests": [_test(outcome, facts) for outcome in record.outcomes],
            "environment": _environment(record),
            "extra": results_extra(record),
        },
    }


def results_extra(record: Record) -> Row:
    """What the run as a whole says beyond CTRF's own fields."""
    return {
        "digest": _shown(plain(digest_document(record.results))),
        "verdicts": {verdict.value: count for verdict, count in record.verdicts.items()},
        "notices": [visible(text, 1000) for text in record.notices],
    }


def _summary(record: Record, facts: Facts) -> Row:
    cells = [outcome.cell for outcome in record.outcomes]
    counts = Counter(_STATUSES[reported(cell).status] for cell in cells)
    started, finished = record.started, record.finished
    now = _milliseconds(datetime.now(UTC))
    start = _milliseconds(datetime.fromisoformat(started.started_at)) if started else now
    return {
        "tests": len(cells),
        **{status: counts[status] for status in _COUNTED},
        "flaky": sum(reported(cell).flaky for cell in cells),
        "suites": len({cell.heading for cell in cells}),
        "start": start,
        "stop": start + round(finished.wall_ms) if finished else max(start, now),
        "extra": {
            "run": visible(started.run) if started else None,
            "exit_code": facts.exit_code() if finished else None,
            "partial": visible(started.partial, 1000) if started else "",
            "interrupted": finished is None or finished.interrupted,
            "planned": record.planned,
            "played": record.played,
        },
    }


def _test(outcome: Outcome, facts: Facts) -> Row:
    cell, shape = outcome.cell, reported(outcome.cell)
    test: Row = {
        "name": visible(cell.name),
        "status": _STATUSES[shape.status],
        "duration": round(cell.ms),
        "rawStatus": cell.verdict.value,
        "suite": [visible(part) for part in cell.heading.split("/")],
        "tags": [visible(clause) for clause in cell.clauses],
        "extra": _test_extra(cell),
    }
    if message := _message(cell):
        test["message"] = message
    if shape.shown:
        test["trace"] = body(outcome)
    if shape.flaky:
        test["flaky"] = True
    if place := facts.places.get(cell.about):
        test |= {"filePath": visible(place[0]), "line": place[1]}
    return test


def _message(cell: Result) -> str:
    if cell.reason or not cell.scored:
        return short_reason(cell)
    return visible("; ".join(f"{key}: {text}" for key, text in cell.observed.items()), 1000)


def _test_extra(cell: Result) -> Row:
    """Axes and references of the cell; what it does not have is left out."""
    facts = {
        "server": cell.server,
        "provider": cell.provider,
        "topology": cell.topology,
        "client": cell.client,
        "spec": f"{cell.spec}@{cell.spec_revision}" if cell.spec else None,
        "replay": cell.replay,
        "deviation": cell.deviation,
        "kind": cell.kind,
        "severity": cell.severity,
        "upstream": cell.upstream,
        "plays": ", ".join(cell.plays),
        "edition": cell.edition,
    }
    extra: Row = {name: visible(value) for name, value in facts.items() if value}
    if cell.edition:
        extra["scored"] = cell.scored
    extra["clauses"] = [visible(clause) for clause in cell.clauses]
    if cell.observed:
        extra["position"] = {visible(k): visible(v, 1000) for k, v in cell.observed.items()}
    return extra


def _environment(record: Record) -> Row:
    rows = target_rows(record, record.started.targets if record.started else ())
    return {
        "appName": "nats-server",
        "appVersion": _joined(row.version or row.target for row in rows),
        "testEnvironment": _joined(row.provider or "" for row in rows),
        "osPlatform": sys.platform,
        "extra": {"targets": [visible(row.target) for row in rows]},
    }


def _joined(values: Iterable[object]) -> str:
    """Each value once, in the order given."""
    return ", ".join(visible(text) for text in dict.fromkeys(map(str, values)) if text)


def _shown(value: object) -> object:
    """The same document with every text as it may be shown."""
    if isinstance(value, str):
        return visible(value, 1000)
    if isinstance(value, dict):
        return {key: _shown(item) for key, item in value.items()}
    return [_shown(item) for item in value] if isinstance(value, list) else value


def _milliseconds(moment: datetime) -> int:
    return round(moment.timestamp() * 1000)
