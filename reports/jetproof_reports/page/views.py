"""The rows of the views beside the matrix, with what they need and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jetproof.model.clause import Clause
from jetproof.results.positions import questions
from jetproof_reports.page.libraries import is_witness
from jetproof_reports.page.revisions import unspoken
from jetproof_reports.plain import (
    Plain,
    Pool,
    Row,
    Tables,
    https,
    number,
    pairs,
    rows_of,
    text,
    texts,
)

SLOWEST = 400
"""How many steps the latency view shows; a matrix has hundreds of thousands."""

CHANGES = 20_000
RUNS = 60
"""How many runs the trends reach back."""

GIVEN = "given"
LIBRARIES = ", libraries"
REFERENCE = "reference"
"""The provider whose cells stand apart: they count as no release's conformance."""

_COVERAGE = (
    "clause", "spec", "section", "level", "status", "actor", "text", "applies_from",
    "revision_from", "revision_to", "replaces", "servers_run", "covered", "reference",
)  # fmt: skip
_REVISION = ("spec", "revision", "date", "server", "api_level", "note")
_FLAKY = ("case", "server", "provider", "topology", "client", "runs", "plays", "flaky")
_BETWEEN_RUNS = (
    "case", "topology", "client", "kind", "server_b", "provider_b", "run_id_a", "run_id_b",
    "verdict_a", "verdict_b", "reason_a", "reason_b", "position_a", "position_b",
)  # fmt: skip
_FIRST_CHANGE = (
    "case", "spec_revision", "topology", "client", "provider", "what", "from_server", "to_server",
    "from_client", "to_client", "release_key", "from_value", "to_value",
)  # fmt: skip


def tables_of(tables: Tables, clauses: Mapping[str, Clause]) -> Plain:
    """One entry a view; a table that the report lacks is `None`, so that the view can say so."""
    return {
        "coverage": _made(tables, "coverage", _coverage),
        "revisions": _made(tables, "revisions", _revision),
        "errors": _made(tables, "coverage_errors", _errors),
        "schemas": _made(tables, "coverage_schemas", _schemas),
        "fields": _made(tables, "coverage_fields", _fields),
        "flakiness": _made(tables, "flakiness", _flaky),
        "latency": _latency(tables) if "latency" in tables else None,
        "deviations": _made(tables, "deviations", _deviation),
        "positions": _positions(tables, clauses) if "positions" in tables else None,
        "first_change": _first_change(tables) if "first_change" in tables else None,
        "between_runs": _between_runs(tables) if "regressions" in tables else None,
        "trends": _trends(tables) if "trends" in tables else None,
    }


def _made(tables: Tables, name: str, make: Any) -> list[Plain] | None:
    if name not in tables:
        return None
    return [make(row) for row in rows_of(tables, name)]


def _coverage(row: Row) -> Plain:
    return {
        **{name: row.get(name) for name in _COVERAGE},
        "cases": texts(row.get("cases")),
        "clients": texts(row.get("clients")),
        "verdicts": dict(pairs(row.get("verdicts"))),
    }


def _revision(row: Row) -> Plain:
    return {name: row.get(name) for name in _REVISION}


def _errors(row: Row) -> Plain:
    return {
        "code": row.get("err_code"),
        "servers": texts(row.get("servers")),
        "cases": texts(row.get("cases")),
        "count": row.get("count"),
    }


def _schemas(row: Row) -> Plain:
    return {
        "schema": text(row.get("schema")),
        "seen": row.get("seen"),
        "invalid": row.get("invalid"),
        "servers": texts(row.get("servers")),
        "verdicts": dict(pairs(row.get("verdicts"))),
    }


def _fields(row: Row) -> Plain:
    return {
        "where": text(row.get("where")),
        "name": text(row.get("name")),
        "servers": texts(row.get("servers")),
        "count": row.get("count"),
    }


def _flaky(row: Row) -> Plain:
    return {
        **{name: row.get(name) for name in _FLAKY},
        "verdicts": dict(pairs(row.get("verdicts"))),
    }


def _deviation(row: Row) -> Plain:
    return {
        "id": text(row.get("deviation")),
        "library": row.get("library"),
        "clients": texts(row.get("clients")),
        "says": text(row.get("text")),
        "does": text(row.get("does")) or text(row.get("reason")),
        "cases": texts(row.get("cases")),
        "servers": texts(row.get("servers")),
        "clauses": texts(row.get("clauses")),
        "verdicts": dict(pairs(row.get("verdicts"))),
        **{name: row.get(name) for name in ("kind", "severity")},
        "upstream": https(row.get("upstream")),
    }


def _positions(tables: Tables, clauses: Mapping[str, Clause]) -> list[Plain]:
    return [
        {
            **{name: one.get(name) for name in ("spec", "case", "topology", "client", "provider")},
            "revision": one["spec_revision"],
            "name": one["name"],
            "clauses": texts(one.get("clauses")),
            "unspoken": unspoken(clauses, one, texts(one.get("clauses"))),
            "values": one["values"],
        }
        for one in questions(rows_of(tables, "positions"))
    ]


def _first_change(tables: Tables) -> Plain:
    """Newest release first; a fingerprint's value says nothing to a reader and is left out."""
    rows = sorted(
        rows_of(tables, "first_change"),
        key=lambda row: (-(row.get("release_key") or 0), text(row.get("case"))),
    )
    told = []
    for row in rows[:CHANGES]:
        entry = {name: row.get(name) for name in _FIRST_CHANGE if name != "release_key"}
        if row.get("what") == "fingerprint":
            entry["from_value"] = entry["to_value"] = None
        told.append(entry)
    return {"rows": told, "total": len(rows)}


def _between_runs(tables: Tables) -> list[Plain]:
    """Of `regressions`, what two runs of a release differ in: the page compares releases itself."""
    return [
        {name: row.get(name) for name in _BETWEEN_RUNS}
        for row in rows_of(tables, "regressions")
        if (row.get("side_a"), row.get("side_b")) == (row.get("run_id_a"), row.get("run_id_b"))
        and "@" not in text(row.get("side_a"))  # two revisions: `adr-50@7`
    ]


def _trends(tables: Tables) -> Plain:
    """Cells by run, specification, release and verdict; names stand once, rows hold numbers."""
    rows = [
        row
        for row in rows_of(tables, "trends")
        if row.get("provider") != REFERENCE and not is_witness(text(row.get("client")))
    ]
    runs = sorted({(text(row.get("started_at")), text(row.get("run_id"))) for row in rows})
    place = {run: index for index, (_, run) in enumerate(runs[-RUNS:])}
    kept = [row for row in rows if text(row.get("run_id")) in place]
    specs, servers, verdicts = Pool(), Pool(), Pool()
    told = [
        [
            place[text(row.get("run_id"))],
            # What libraries do of a specification is another line than what releases do.
            specs.add(text(row.get("spec")) + (LIBRARIES if row.get("client") else "")),
            servers.add(text(row.get("server"))),
            verdicts.add(text(row.get("verdict"))),
            row.get("cells") or 0,
        ]
        for row in kept
    ]
    return {
        "runs": [{"run_id": run, "started_at": started} for started, run in runs[-RUNS:]],
        "total": len(runs),
        "specs": specs.values,
        "servers": servers.values,
        "verdicts": verdicts.values,
        "rows": told,
    }


def _latency(tables: Tables) -> Plain:
    """The slowest steps, each with its percentiles by release."""
    matrix = {(row.get("release_key") or 0, text(row.get("server"))) for row in tables["matrix"]}
    servers = [server for _, server in sorted(matrix)]
    place = {server: index for index, server in enumerate(dict.fromkeys(servers))}
    groups: dict[tuple[str, ...], dict[int, Row]] = {}
    for row in rows_of(tables, "latency"):
        # Set-up is the same in every case, and would crowd out what the cases ask for.
        if text(row.get("server")) in place and row.get("step") != GIVEN:
            names = ("measure", "case", "step", "client")
            key = tuple(text(row.get(name)) for name in names)
            groups.setdefault(key, {})[place[text(row.get("server"))]] = row
    slowest = sorted(groups.items(), key=lambda item: (-_worst(item[1]), item[0]))
    return {
        "servers": list(place),
        "total": len(groups),
        "exact": all(row.get("exact", True) for row in rows_of(tables, "latency")),
        "groups": [
            {
                "measure": measure,
                "case": case,
                "step": step,
                "client": client,
                "n": [by_server.get(at, {}).get("n") for at in range(len(place))],
                **{
                    name: [number(by_server.get(at, {}).get(name)) for at in range(len(place))]
                    for name in ("p50", "p90", "p99", "max")
                },
            }
            for (measure, case, step, client), by_server in _spread(slowest)
        ],
    }


def _spread(slowest: list[Any]) -> list[Any]:
    """The slowest of each measure, so that one does not crowd out the other."""
    measures = {key[0] for key, _ in slowest}
    share = SLOWEST // max(1, len(measures))
    kept = []
    for measure in sorted(measures):
        kept += [item for item in slowest if item[0][0] == measure][:share]
    return kept


def _worst(by_server: dict[int, Row]) -> float:
    return max((float(row.get("p50") or 0) for row in by_server.values()), default=0.0)
