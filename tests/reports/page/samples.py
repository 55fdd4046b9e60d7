"""Tables as a report has them, made up: verdicts, reasons and transcripts of a believable history.

    tables(57, 8)      a suite of today on eight releases
    tables(600, 32)    what the page has to bear

The same arguments give the same rows. `variants` has odd ones made of these.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from dataclasses import dataclass
from typing import Any

from jetproof_reports.releases import release_key

Row = dict[str, Any]
Tables = dict[str, list[Row]]

RELEASES = [
    *(f"2.10.{patch}" for patch in (25, 26)),
    *(f"2.11.{patch}" for patch in range(12)),
    *(f"2.12.{patch}" for patch in range(9)),
    *(f"2.14.{patch}" for patch in range(7)),
    *(f"2.15.{patch}" for patch in range(2)),
]
FEW = ["2.11.11", "2.12.0", "2.12.1", "2.12.2", "2.12.8", "2.14.0", "2.14.6", "2.15.1"]

SUITES = (
    *(f"adr-50/atomic/{name}" for name in ("append", "checks", "commit", "limits", "start")),
    *(f"adr-50/fast-ingest/rev-7/{name}" for name in ("acks", "flow", "gaps")),
    *(f"adr-31/{name}" for name in ("batch", "multi-last", "up-to-seq")),
    *(f"adr-37/{name}" for name in ("fetch", "ordered", "pull")),
    *("adr-53/read-after-write", "model/streams", "model/consumers", "model/acks"),
)
SUBJECTS = ("gap", "first-message", "commit", "member", "reply", "header", "sequence", "advisory")
VERBS = ("rejects", "is-stored", "gets", "is-refused", "keeps", "is-told", "survives", "counts")
OBJECTS = ("the-batch", "an-empty-reply", "a-restart", "the-last-sequence", "nothing", "twice")
SEED = 29
"""With it, every verdict is among the cells of 57 cases on 8 releases."""
MARKS = {"kind": "bug", "severity": "loss", "upstream": "https://example.com/nats/issues/7"}
"""What the ledger says of its one entry."""
RUN = "20260102T030405Z-0a1b2c"


@dataclass(frozen=True, slots=True)
class Case:
    """One made-up case and how releases take it."""

    number: int
    suite: str
    name: str
    clauses: tuple[str, ...]
    since: int
    """Place of the first release that it applies to."""
    behaviours: tuple[tuple[int, str, str], ...]
    """From which release on, which verdict, which reason; the wire changes with each."""

    @property
    def id(self) -> str:
        return f"{self.suite}::{self.name}"

    @property
    def spec(self) -> str:
        return self.suite.partition("/")[0]

    @property
    def revision(self) -> int:
        return {"adr-50": 7, "adr-31": 2}.get(self.spec, 1)

    @property
    def topology(self) -> str:
        return "cluster-3" if self.number % 9 == 4 else "single"

    def at(self, release: int) -> tuple[str, str, int]:
        """Verdict, reason and number of the behaviour."""
        if release < self.since:
            return "n/a", f"{self.clauses[0]} applies from a later release", -1
        found = [index for index, (first, _, _) in enumerate(self.behaviours) if first <= release]
        _, verdict, reason = self.behaviours[found[-1]]
        return verdict, reason, found[-1]


def tables(cases: int = 57, releases: int = 8, seed: int = SEED) -> Tables:
    """Every table of a report."""
    servers = FEW if releases == len(FEW) else RELEASES[-releases:]
    made = make_cases(cases, len(servers), random.Random(seed))
    return of_cases(made, servers)


def make_cases(count: int, releases: int, chance: random.Random) -> list[Case]:
    made = []
    for number in range(count):
        suite = SUITES[number * len(SUITES) // count]
        name = "-".join((chance.choice(SUBJECTS), chance.choice(VERBS), chance.choice(OBJECTS)))
        spec = suite.split("/")[0].replace("adr-", "A").upper()
        clauses = tuple(f"{spec}-{(number * 2 + more) % 180:03}" for more in range(1 + number % 3))
        since = 0 if chance.random() < 0.6 else chance.randrange(releases // 2)
        first = since
        behaviours = []
        for _ in range(1 + (chance.random() < 0.35) + (chance.random() < 0.15)):
            behaviours.append((first, *_verdict(chance)))
            first += 1 + chance.randrange(max(1, releases // 3))
        made.append(Case(number, suite, f"{name}-{number}", clauses, since, tuple(behaviours)))
    return made


def _verdict(chance: random.Random) -> tuple[str, str]:
    draw = chance.random()
    if draw < 0.80:
        return "pass", ""
    if draw < 0.87:
        return "position", ""
    if draw < 0.94:
        return "known", "a50-example: The release counts from the opening of the batch."
    if draw < 0.97:
        return "fail", "step commit, reply.json.batch: expected '$batch', got absent"
    return chance.choice(
        [
            ("warn", "step reply, reply.status: expected 204, got 200"),
            ("stale", "a50-example: the ledger says it fails, and it does not"),
            ("error", "step given: the stream has no leader"),
        ]
    )


def of_cases(cases: list[Case], servers: list[str]) -> Tables:
    made: Tables = {
        name: []
        for name in (
            "cells", "matrix", "regressions", "fingerprints", "latency", "evidence", "flakiness",
            "first_change", "frames", "trends",
        )
    }  # fmt: skip
    shown: set[str] = set()
    for case in cases:
        before: Row | None = None
        for release, server in enumerate(servers):
            cell = _cell(case, release, server, len(made["cells"]) + 1)
            made["cells"].append(cell)
            _add(made, case, release, cell, shown)
            if before is not None:
                made["first_change"] += _changes(before, cell)
            before = cell if cell["verdict"] not in ("n/a", "error") else before
    made["flakiness"] = [_flaky(cell) for cell in made["cells"][:: max(1, len(made["cells"]) // 5)]]
    made["runs"] = [_run(servers, len(made["cells"]))]
    made["trends"] = trends_of(made["cells"])
    return made | _seen(cases, servers, made["cells"])


def _cell(case: Case, release: int, server: str, number: int) -> Row:
    verdict, reason, behaviour = case.at(release)
    mark = hashlib.sha256(f"{case.id} {behaviour}".encode()).hexdigest()[:16]
    axes = f"@{server} {case.topology}"
    return {
        "run_id": RUN, "cell_no": number, "cell": f"{case.id} {axes}", "case": case.id,
        "suite": case.suite, "spec": case.spec, "spec_revision": case.revision, "server": server,
        "release_key": release_key(server), "provider": "embedded", "topology": case.topology,
        "configuration": "default", "target": server, "client": None, "library": None,
        "client_key": None, "attempt": 1, "verdict": verdict, "reason": reason,
        "ms": 0.0 if behaviour < 0 else 20 + (case.number * 37 + release * 11) % 900 / 7,
        "started_at": "2026-01-02T03:04:06.000Z", "clauses": list(case.clauses),
        "position": {"reply": ["empty", "error 10176", "silence"][behaviour % 3]}
        if verdict == "position"
        else {},
        "deviation": "a50-example" if verdict in ("known", "stale") else None,
        "case_hash": hashlib.sha256(case.id.encode()).hexdigest()[:16], "spec_hash": "5eed",
        "harness": "0.1.0", "build": server, "run_at": "2026-01-02T03:04:05.000Z",
        "replay": f"jetproof replay {case.id} --server {server}",
        "server_log": [f"n1: [{number}] [INF] line {line} of the log" for line in range(30)]
        if verdict in ("fail", "error", "stale")
        else [],
        "fingerprint": mark if behaviour >= 0 else None, "wire": mark, "runs": 1, "stable": None,
        **(MARKS if verdict in ("known", "stale") else dict.fromkeys(MARKS)),
        "plays": ["fail", "fail"] if verdict == "fail" else [], "never_right": verdict == "fail",
        "schema": None,
        "edition": None, "scored": True,
    }  # fmt: skip


def _add(made: Tables, case: Case, release: int, cell: Row, shown: set[str]) -> None:
    """The rows of the other tables that one cell brings."""
    picked = (
        "case", "suite", "spec", "spec_revision", "topology", "client", "server", "release_key",
        "provider", "verdict", "reason", "position", "deviation", "fingerprint", "case_hash",
        "run_id", "attempt", "ms", "kind", "severity", "upstream", "plays", "never_right",
        "edition", "scored",
    )  # fmt: skip
    made["matrix"].append({name: cell[name] for name in picked})
    mark = cell["fingerprint"]
    if mark is not None:
        keys = (
            "case", "topology", "client", "server", "release_key", "provider", "spec_revision",
            "case_hash", "fingerprint", "runs", "stable",
        )  # fmt: skip
        first = mark not in shown
        shown.add(mark)
        transcript = transcript_of(case, case.at(release)[2]) if first else None
        row = {name: cell[name] for name in keys}
        made["fingerprints"].append(row | {"transcript": transcript})
        for measure, step in (("reply", "1"), ("reply", "commit"), ("judged", "commit")):
            base = 1 + (case.number * 13 + release * 7 + len(step)) % 50
            made["latency"].append(
                {
                    "measure": measure, "case": case.id, "step": step, "server": cell["server"],
                    "client": None, "n": 3, "p50": base / 3, "p90": base / 2, "p99": float(base),
                    "max": base * 1.5, "exact": True,
                }
            )  # fmt: skip
    if cell["verdict"] in ("fail", "known", "warn"):
        names = ("cell", "topology", "client", "provider", "spec_revision", "run_id", "cell_no")
        made["evidence"].append(
            {name: cell[name] for name in (*names, "case", "server")}
            | {
                "index": 4, "step": "commit", "iteration": "", "kind": "request",
                "path": "reply.json.batch", "ok": False, "expected": "'$batch'",
                "actual": '"absent"', "ms": 12.5, "fault": "never-right", "clause": None,
            }
        )  # fmt: skip

    if cell["verdict"] == "fail":
        made["frames"] += _frames(cell, transcript_of(case, case.at(release)[2]))


def _frames(cell: Row, lines: list[Row]) -> list[Row]:
    """The frames of a failing cell as they were, with ids and times."""
    keys = ("run_id", "cell_no", "case", "server", "client")
    names = ("connection", "op", "subject", "reply", "status", "description", "note", "step")
    return [
        {key: cell[key] for key in keys}
        | {name: told[name] for name in names}
        | {
            "index": place, "ms": place * 1.25, "direction": told["dir"],
            "subject": told["subject"].replace("<id>", "jp0a1b2c3d4e5f"),
            "headers": told["headers"], "size": len(told["payload"]), "truncated": False,
            "payload": told["payload"], "payload_b64": None,
        }
        for place, told in enumerate(lines, 1)
    ]  # fmt: skip


def transcript_of(case: Case, behaviour: int) -> list[Row]:
    """Set-up, a handful of requests with their replies, an advisory at the end."""
    subject = "stream_<id>"
    create = {"name": subject, "subjects": [f"{subject}.>"], "allow_atomic": True}
    api, made = f"$JS.API.STREAM.CREATE.{subject}", {"config": create, "ts": "<time>"}
    lines = [
        line("given", ">", "PUB", api, "<inbox>", json.dumps(create)),
        line("given", "<", "MSG", "<inbox>", payload=json.dumps(made)),
    ]
    steps = 2 + case.number % 9
    for number in range(1, steps + 1):
        last = number == steps
        headers = [("Nats-Batch-Id", "batch_<id>"), ("Nats-Batch-Sequence", str(number))]
        if last:
            headers.append(("Nats-Batch-Commit", "1"))
        step = "commit" if last else str(number)
        sent = line(step, ">", "HPUB", f"{subject}.{number}", "<inbox>", f"payload {case.number}")
        sent["headers"] = [{"name": name, "value": value} for name, value in headers]
        lines.append(sent)
        ack = {"stream": subject, "seq": steps, "batch": "batch_<id>", "count": steps}
        if behaviour:
            ack |= {"val": behaviour, "case": case.number}
        lines.append(line(step, "<", "MSG", "<inbox>", payload=json.dumps(ack) if last else ""))
    if case.number % 4 == 0:
        body = json.dumps({"type": "batch_abandoned", "id": "<nuid>", "reason": "timeout"})
        subject = f"$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED.{subject}"
        lines.append(line("", "<", "MSG", subject, payload=body) | {"connection": "observer"})
    if case.number % 7 == 0:
        event = line("commit", "!", "stepdown") | {"connection": "harness", "note": "<node> led"}
        lines.insert(3, event)
    return lines


def line(
    step: str, way: str, op: str, subject: str = "", reply: str = "", payload: str = ""
) -> Row:
    return {
        "step": step, "dir": way, "connection": "main", "op": op, "subject": subject,
        "reply": reply, "status": None, "description": "", "headers": None, "payload": payload,
        "note": "",
    }  # fmt: skip


def _changes(before: Row, cell: Row) -> list[Row]:
    if cell["verdict"] in ("n/a", "error") or before["verdict"] in ("n/a", "error"):
        return []
    keys = ("case", "spec_revision", "topology", "client", "provider", "release_key")
    shared = {name: cell[name] for name in keys}
    shared |= {"from_server": before["server"], "to_server": cell["server"]}
    shared |= {"from_client": None, "to_client": None}
    return [
        shared | {"what": what, "from_value": str(before[what]), "to_value": str(cell[what])}
        for what in ("verdict", "position", "fingerprint")
        if before[what] != cell[what]
    ]


def _flaky(cell: Row) -> Row:
    keys = ("case", "server", "provider", "topology", "client", "case_hash")
    verdicts = {"pass": 2, "fail": 1}
    return {name: cell[name] for name in keys} | {
        "runs": 3, "plays": 3, "verdicts": verdicts, "flaky": True
    }  # fmt: skip


def _run(servers: list[str], cells: int) -> Row:
    return {
        "run_id": RUN, "started_at": "2026-01-02T03:04:05.000Z",
        "finished_at": "2026-01-02T03:09:05.000Z", "jetproof": "0.1.0", "python": "3.11.7",
        "platform": "Linux", "cores": 2, "time_factor": 1.0, "suite_hash": "0123456789abcdef",
        "partial": "", "interrupted": False, "wall_ms": 300_000.0, "targets": servers,
        "command": "jetproof matrix", "folder": "run", "cells": cells, "checks": cells * 4,
        "frames": cells * 20, "clauses": 180, "schema_version": 1, "source": "", "libraries": [],
    }  # fmt: skip


OLDER = (
    ("20251230T030405Z-0a1b2a", "2025-12-30T03:04:05.000Z", lambda cells: cells[::3]),
    (
        "20260101T030405Z-0a1b2b",
        "2026-01-01T03:04:05.000Z",
        lambda cells: cells[: -len(cells) // 9],
    ),
)
"""Runs before the newest one, and which of its cells they had."""


def trends_of(cells: list[Row]) -> list[Row]:
    """Cells by run, specification, release and verdict, of this run and two smaller ones before."""
    runs = [*OLDER, (RUN, "2026-01-02T03:04:05.000Z", lambda all_of_them: all_of_them)]
    return [
        {
            "run_id": run, "started_at": started, "spec": spec, "server": server,
            "provider": "embedded", "client": None, "verdict": verdict, "cells": count,
        }
        for run, started, part in runs
        for (spec, server, verdict), count in sorted(
            Counter((c["spec"], c["server"], c["verdict"]) for c in part(cells)).items()
        )
    ]  # fmt: skip


def _seen(cases: list[Case], servers: list[str], cells: list[Row]) -> Tables:
    """Tables over the whole: coverage, what was on the wire, positions, deviations."""
    by_clause: dict[str, list[Case]] = {}
    for case in cases:
        for clause in case.clauses:
            by_clause.setdefault(clause, []).append(case)
    specs = sorted({(case.spec, case.clauses[0].rpartition("-")[0]) for case in cases})
    clauses = [(spec, f"{short}-{n:03}") for spec, short in specs for n in range(180)]
    verdicts: dict[str, Counter[str]] = {}
    for cell in cells:
        for clause in cell["clauses"]:
            verdicts.setdefault(clause, Counter())[cell["verdict"]] += 1
    coverage = [
        {
            "spec": spec, "clause": clause, "section": "Server Behavior",
            "level": ("must", "must", "should", "may")[place % 4],
            "status": "silent" if place % 11 == 3 else "normative",
            "actor": ("server", "server", "client", "both")[place % 4],
            "text": f"When a message has the header of sentence {place}, the server says so.",
            "applies_from": "2.12.0", "revision_from": 1, "revision_to": None, "replaces": None,
            "cases": sorted(case.id for case in by_clause.get(clause, [])),
            "servers_run": len(servers) if clause in by_clause else 0, "clients": [],
            "verdicts": dict(verdicts.get(clause, {})), "covered": clause in by_clause,
            "reference": place % 17 == 5,
        }
        for place, (spec, clause) in enumerate(clauses)
    ]  # fmt: skip
    positions: dict[tuple[str, str], Row] = {}
    for cell in cells:
        for name, value in cell["position"].items():
            keys = ("spec", "spec_revision", "suite", "case", "topology", "client", "provider")
            new = {key: cell[key] for key in keys} | {
                "name": name, "value": value, "clauses": cell["clauses"], "servers": []
            }  # fmt: skip
            positions.setdefault((cell["case"], value), new)["servers"].append(cell["server"])
    known = [cell for cell in cells if cell["deviation"]]
    return {
        "coverage": coverage,
        "coverage_errors": [
            {"err_code": 10170 + n, "servers": servers[n % 5 :], "cases": [cases[n].id], "count": n}
            for n in range(min(20, len(cases)))
        ],
        "coverage_schemas": [
            {"schema": name, "seen": 40, "invalid": n, "servers": servers, "verdicts": {"pass": 8}}
            for n, name in enumerate(("pub-ack", "error-reply", "stream-info"))
        ],
        "coverage_fields": [
            {"where": where, "name": name, "servers": servers[n:], "count": 40 + n}
            for n, (where, name) in enumerate((("header", "Nats-Stream"), ("json", "batch")))
        ],
        "positions": list(positions.values()),
        "deviations": [
            {
                "deviation": "a50-example", "library": None, "clients": [],
                "cases": sorted({cell["case"] for cell in known}),
                "servers": [name for name in servers if any(c["server"] == name for c in known)],
                "clauses": ["A50-000"], "reason": "a50-example: It counts from the opening.",
                "text": "A batch is abandoned after ten seconds without a message.",
                "does": "It counts from the opening.",
                "verdicts": dict(Counter(cell["verdict"] for cell in known)), **MARKS,
                "first_server": known[0]["server"], "last_server": known[-1]["server"],
            }
        ]
        if known
        else [],
    }  # fmt: skip
