"""A report with client libraries: four of them and the reference client, on two releases.

LOST       a case that nats-py fails, and nobody else
KNOWN      a case that nats.go fails as its ledger says
OPEN       a question on which libraries differ
AGREED     one on which they do not
CLAIMED    a case judged by the revision that a library claims; nats.js claims another, and fails
HOSTILE    (only in `hostile`) every word of a library is an attack
"""

from __future__ import annotations

import hashlib
from typing import Any

from jetproof_reports.releases import release_key

from . import samples
from .samples import Row, Tables, line
from .variants import HOSTILE as ATTACK

SERVERS = ("2.14.6", "2.15.1")
GO, JS, PY, RUST, WITNESS = (
    "go:nats.go@1.55.0", "js:nats.js@3.4.0", "python:nats-py@2.16.0", "rust:async-nats@0.51.0",
    "reference@0.1.0",
)  # fmt: skip
CLIENTS = (GO, JS, PY, RUST, WITNESS)
SUITE = "adr-37/client/consume"
LOST, KNOWN, OPEN, AGREED, CLAIMED, HOSTILE = (
    f"{SUITE}::{name}"
    for name in ("lost", "known", "open-question", "agreed", "claimed", "hostile")
)
CLAIMS = {GO: 3, JS: 1, PY: 3, RUST: 3}
LAW = 0
REASON = "step asked, wire.json.idle_heartbeat: expected gt 0, got absent"


def libraries(cases: tuple[str, ...] = (LOST, KNOWN, OPEN, AGREED, CLAIMED)) -> Tables:
    """The small sample of releases, and client libraries besides."""
    made = samples.tables(57, 8)
    cells = [
        _cell(case, client, server, number)
        for number, (case, client, server) in enumerate(
            ((case, client, server) for case in cases for client in CLIENTS for server in SERVERS),
            len(made["cells"]) + 1,
        )
    ]
    made["cells"] += cells
    made["matrix"] += cells
    made["runs"][0]["libraries"] = [
        {
            "name": client,
            "parts": "its part 1.0",
            "runtime": "its runtime",
            "claims": [("adr-37", of)],
        }
        for client, of in CLAIMS.items()
    ]
    made["revisions"] = [
        {"spec": "adr-37", "revision": number, "date": None, "server": None, "api_level": None}
        | {"note": "", "in_force": number == LAW}
        for number in (0, 1, 3)
    ]
    made["coverage"].append(_question())
    shown: set[str] = set()
    for cell in cells:
        _behind(made, cell, shown)
    known = [cell for cell in cells if cell["deviation"]]
    made["deviations"].append(
        {
            "deviation": "a37-known", "library": "go:nats.go", "clients": [GO], "cases": [KNOWN],
            "servers": list(SERVERS), "clauses": ["A37-C1"], "reason": "a37-known: It gives up.",
            "text": "It tries again.", "does": "It gives up.", "verdicts": {"known": len(known)},
            "kind": "bug", "severity": "protocol", "upstream": None,
            "first_server": SERVERS[0], "last_server": SERVERS[-1],
        }
    )  # fmt: skip
    made["positions"] += [
        {name: cell[name] for name in ("spec", "spec_revision", "suite", "case", "topology")}
        | {"client": cell["client"], "provider": "embedded", "name": name, "value": value}
        | {"clauses": cell["clauses"], "servers": [cell["server"]]}
        for cell in cells
        for name, value in cell["position"].items()
    ]
    return made


def many() -> Tables:
    """What a gate of all libraries may grow to."""
    return libraries(tuple(f"{SUITE}::case-{number:03}" for number in range(500)))


def hostile() -> Tables:
    """Every word that a library or its adapter chose is an attack."""
    made = libraries((HOSTILE,))
    mine = [row for row in made["cells"] if row["client"]]
    for row in mine:
        row |= {"reason": ATTACK, "position": {ATTACK: ATTACK}, "server_log": [ATTACK]}
    made["deviations"][-1] |= {"does": ATTACK, "text": ATTACK, "cases": [HOSTILE]}
    told = [one for row in made["fingerprints"] if row["client"] for one in row["transcript"] or []]
    theirs = {row["cell_no"] for row in mine}
    for frame in (*told, *(row for row in made["frames"] if row["cell_no"] in theirs)):
        if frame["connection"] == "adapter":
            calls = {"call": f'{{"op": "{ATTACK}", {ATTACK}', "answer": f"{ATTACK}: {ATTACK}"}
            frame["note"] = calls.get(frame["op"], f"{ATTACK} {ATTACK}")
        else:
            frame |= {"subject": ATTACK, "reply": ATTACK, "payload": ATTACK * 3}
            frame |= {"note": f"dropped by {ATTACK}"}
    for row in made["evidence"]:
        row |= {"path": ATTACK, "expected": ATTACK, "actual": ATTACK}
    made["runs"][0]["libraries"] = [
        {"name": client, "parts": ATTACK, "runtime": ATTACK, "claims": [("adr-37", 3)]}
        for client in CLIENTS
    ]
    return made


def _cell(case: str, client: str, server: str, number: int) -> Row:
    verdict, more = _verdict(case, client)
    revision = CLAIMS.get(client, 3) if case != CLAIMED else LAW if client == JS else 3
    mark = hashlib.sha256(f"{case} {client}".encode()).hexdigest()[:16]
    library, _, version = client.rpartition("@")
    return {
        "run_id": samples.RUN, "cell_no": number, "cell": name_of(case, client, server),
        "case": case, "suite": SUITE, "spec": "adr-37", "spec_revision": revision,
        "server": server, "release_key": release_key(server), "provider": "embedded",
        "topology": "single", "configuration": "default", "target": server, "client": client,
        "library": library, "client_key": release_key(version), "attempt": 1, "verdict": verdict,
        "reason": "", "ms": 12.0, "started_at": "2026-01-02T03:04:06.000Z", "clauses": ["A37-C1"],
        "position": {}, "deviation": None, "case_hash": "cafe", "spec_hash": "5eed",
        "harness": "0.1.0", "build": server, "run_at": "2026-01-02T03:04:05.000Z",
        "replay": f"jetproof replay {case} --server {server} --client {client}",
        "server_log": ["n1: [1] [INF] a line of the log"] if verdict == "fail" else [],
        "fingerprint": None if verdict == "n/a" else mark, "wire": mark, "runs": 1, "stable": None,
        "kind": "bug" if verdict == "known" else None, "upstream": None, "plays": [],
        "severity": "protocol" if verdict == "known" else None, "never_right": False,
        "schema": None,
        "edition": None, "scored": True,
        **more,
    }  # fmt: skip


def _verdict(case: str, client: str) -> tuple[str, Row]:
    library = client.partition("@")[0]
    if case == HOSTILE:
        return ("known", {"deviation": "a37-known"}) if client == GO else ("fail", {})
    if client == RUST and case != LOST:
        return "n/a", {"reason": "async-nats has no consume"}
    if (case, client) == (LOST, PY):
        return "fail", {"reason": f"{REASON} (the reference client: pass)"}
    if (case, client) == (CLAIMED, JS):
        return "fail", {"reason": "step asked, wire: expected a message, got no reply"}
    if (case, client) == (KNOWN, GO):
        return "known", {"deviation": "a37-known", "reason": "a37-known: It gives up."}
    if case == OPEN:
        value = {"go:nats.go": "ok", "python:nats-py": "error Lost"}.get(library, "ok")
        return "position", {"position": {"after-the-end": value}}
    if case == AGREED:
        return "position", {"position": {"at-once": "yes"}}
    return "pass", {}


def name_of(case: str, client: str, server: str) -> str:
    """The cell's name, as the page and the harness have it."""
    return f"{case} @{server} single {client}"


def _question() -> Row:
    return {
        "spec": "adr-37", "clause": "A37-C1", "section": "Clients", "level": "must",
        "status": "silent", "actor": "client", "text": "What a library does after the end.",
        "applies_from": None, "revision_from": 0, "revision_to": None, "replaces": None,
        "cases": [LOST, OPEN], "servers_run": 2, "clients": [GO, JS, PY],
        "verdicts": {"pass": 4, "fail": 2}, "covered": True, "reference": True,
    }  # fmt: skip


def _behind(made: Tables, cell: Row, shown: set[str]) -> None:
    """Transcript, expectations that did not hold, and frames of one cell."""
    if cell["fingerprint"] is None:
        return
    lines = transcript(cell["verdict"])
    first = cell["fingerprint"] not in shown
    shown.add(cell["fingerprint"])
    keys = ("case", "topology", "client", "server", "release_key", "provider", "spec_revision",
            "case_hash", "fingerprint", "runs", "stable")  # fmt: skip
    made["fingerprints"].append(
        {name: cell[name] for name in keys} | {"transcript": lines if first else None}
    )
    if cell["verdict"] not in ("fail", "known"):
        return
    made["frames"] += samples._frames(cell, lines)
    names = ("cell", "topology", "client", "provider", "spec_revision", "run_id", "cell_no")
    made["evidence"].append(
        {name: cell[name] for name in (*names, "case", "server")}
        | {
            "index": 4, "step": "asked", "iteration": "", "kind": "wire",
            "path": "wire.json.idle_heartbeat", "ok": False, "expected": "gt 0",
            "actual": '{"absent": true}', "ms": 12.5,
        }
    )  # fmt: skip


def transcript(verdict: str) -> list[Row]:
    """The application calls, the library asks, the tap loses the question and answers it itself."""

    def of(connection: str, told: Row, **more: Any) -> Row:
        return told | {"connection": connection, **more}

    asks = line("asked", ">", "PUB", "$JS.API.CONSUMER.MSG.NEXT.s.c", "<inbox>", '{"batch":1}')
    return [
        line("given", ">", "PUB", "$JS.API.STREAM.CREATE.s", "<inbox>", "{}"),
        line("given", "<", "MSG", "<inbox>", payload='{"type":"stream_create_response"}'),
        of("tap", line("tap", "!", "rules")),
        of("adapter", line("asked", "!", "call"), note='{"op": "fetch", "of": "c", "n": 1}'),
        of("client", line("asked", ">", "SUB", "<inbox>")),
        of("client", asks, note="dropped by lost"),
        of("client", line("asked", "<", "HMSG", "<inbox>"), note="made by lost", status=408),
        of("client", line("asked", "<", "MSG", "s.a", payload="m1"), note="changed by other"),
        of("adapter", line("asked", "!", "event"), note='notice c {"error": {"type": "Lost"}}'),
        of("adapter", line("asked", "!", "answer"), note=f'fetch: {{"ok": {{}}, "was": "{verdict}"}}'),
    ]  # fmt: skip
