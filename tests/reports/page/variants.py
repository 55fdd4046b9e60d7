"""Odd reports: one with several of everything, and one in which every text is an attack."""

from __future__ import annotations

import json

from .samples import FEW, RUN, Case, Row, Tables, of_cases, tables

SCRIPT = "<script>window.owned = 1</script>"
MARKUP = f'"><img src=x onerror="window.owned=2">{SCRIPT}<!--</script><style>*{{display:none}}'
UNSEEN = "\x00\x1b[2J\r\nforged: line\u202eesrever\u200b\u2066\u2028\udcff"
HOSTILE = f"{MARKUP}{UNSEEN} javascript:window.owned=3"
"""Runs a script, ends the block it stands in, hides the page, forges a line, reverses text."""


FRAMES_OF_A_PLAY = 170
"""More than the page keeps of one transcript."""


def several() -> Tables:
    """The small sample, with more than one of everything that a page can show side by side.

    A column of the reference layer; adr-50 in the revisions 7 and 10: the first ten of its cases
    are about both, five sentences are new in revision 10 and three have gone; cells that are in one
    release only.
    """
    made = tables(57, 8)
    newest = FEW[-1]
    twins = sorted({row["case"] for row in made["matrix"] if row["spec"] == "adr-50"})[:10]
    for table in ("cells", "matrix"):
        rows = made[table]
        apart = [
            row | {"provider": "reference", "verdict": "pass", "reason": "", "deviation": None}
            for row in rows
            if row["server"] == newest
        ]
        later = [
            row | {"spec_revision": 10, **_otherwise(row)} for row in rows if row["case"] in twins
        ]
        seen = [
            row
            | {"case": "schemas::pub-ack", "suite": "schemas", "spec": "schemas"}
            | {"spec_revision": 0, "verdict": "pass", "reason": "", "topology": "any"}
            | {"position": {"seen": "4"}, "fingerprint": None, "clauses": []}
            for row in rows
            if row["case"] == twins[0] and row["server"] in ("2.12.0", "2.12.1", "2.14.6")
        ]
        made[table] = [*rows, *apart, *later, *seen]
        for row in apart:
            row |= {"cell": f"{row.get('cell')} reference"} if table == "cells" else {}
    mine = [row for row in made["coverage"] if row["spec"] == "adr-50"]
    for row in mine[:5]:
        row["revision_from"] = 10
    for row in mine[5:8]:
        row["revision_to"] = 9
    return made


def unstable() -> Tables:
    """The small sample, in which two cells failed in one play and in none of two others.

    What the first saw is never right; the second may be the machine's doing."""
    made = tables(57, 8)
    wanted = [row for row in made["cells"] if row["verdict"] == "pass"][:2]
    for place, cell in enumerate(wanted):
        changed = {
            "verdict": "unstable", "reason": "failed in 1 of 3 plays: step commit: got absent",
            "plays": ["fail", "pass", "pass"], "never_right": place == 0, "fingerprint": None,
        }  # fmt: skip
        names = ("case", "server", "topology")
        for row in (*made["cells"], *made["matrix"]):
            if all(row[name] == cell[name] for name in names):
                row |= changed
        keys = ("run_id", "cell_no", "case", "server", "client")
        made["frames"] += [
            {key: cell[key] for key in keys} | frame for frame in _plays(changed["plays"])
        ]
        names = ("cell", "topology", "client", "provider", "spec_revision", *keys)
        made["evidence"].append(
            {name: cell[name] for name in names}
            | {"index": 4, "step": "commit", "iteration": "play 1", "kind": "request"}
            | {"path": "reply.json.batch", "ok": False, "expected": "'$batch'"}
            | {"actual": '"absent"', "ms": 12.5, "fault": "never-right"}
        )
    return made


def _plays(verdicts: list[str]) -> list[Row]:
    """The frames of several plays, below a line each that says which one it is."""
    lines: list[Row] = []
    for number, verdict in enumerate(verdicts, 1):
        how = "first" if number == 1 else "alone"
        words = f"play {number} of {len(verdicts)}, {how}: {verdict}"
        lines.append({"direction": "!", "connection": "harness", "op": "play", "note": words})
        for place in range(FRAMES_OF_A_PLAY):
            subject = f"play{number}.{place}"
            lines.append({"direction": ">", "connection": "c1", "op": "PUB", "subject": subject})
    empty = {
        "subject": "", "reply": "", "status": None, "description": "", "headers": None, "size": 0,
        "truncated": False, "payload": "", "payload_b64": None, "note": "", "step": "commit",
    }  # fmt: skip
    return [
        empty | line | {"index": place, "ms": place * 1.5} for place, line in enumerate(lines, 1)
    ]


def _otherwise(row: Row) -> Row:
    """A verdict that the later revision of the text asks for."""
    flipped = {"pass": "fail", "known": "pass", "fail": "pass"}
    verdict = flipped.get(row["verdict"], row["verdict"])
    reason = "step 1, reply.status: expected 204, got 200" if verdict == "fail" else ""
    return {"verdict": verdict, "reason": reason, "deviation": None}


def hostile() -> Tables:
    """Two releases on which every text of a server's choosing is an attack."""
    behaviours = ((0, "fail", HOSTILE), (1, "fail", HOSTILE + "!"))
    case = Case(0, "adr-50/atomic/start", "hostile", ("A50-000",), 0, behaviours)
    made = of_cases([case], FEW[-2:])
    for cell in (*made["cells"], *made["matrix"]):
        cell["position"] = {HOSTILE: HOSTILE}
    for cell in made["cells"]:
        cell["server_log"] = [HOSTILE, SCRIPT]
    for row in made["evidence"]:
        row |= {"path": HOSTILE, "expected": HOSTILE, "actual": json.dumps(HOSTILE)}
    told = [frame for row in made["fingerprints"] for frame in row["transcript"] or []]
    for frame in (*told, *made["frames"]):
        frame |= {"subject": HOSTILE, "reply": HOSTILE, "payload": HOSTILE * 3, "note": HOSTILE}
        frame |= {"status": 503, "description": HOSTILE}
        frame["headers"] = [{"name": HOSTILE, "value": HOSTILE}]
    made["coverage_fields"][0]["name"] = HOSTILE
    cell = made["cells"][0]
    shared = {name: cell[name] for name in ("case", "topology", "client", "provider")}
    made["positions"] = [
        shared
        | {name: cell[name] for name in ("spec", "spec_revision", "suite", "clauses")}
        | {"name": HOSTILE, "value": HOSTILE, "servers": FEW[-2:]}
    ]
    made["deviations"] = [
        {"deviation": "a50-hostile", "cases": [cell["case"]], "servers": FEW[-2:], "clauses": []}
        | {"reason": HOSTILE, "text": HOSTILE, "does": HOSTILE, "verdicts": {"known": 2}}
    ]
    made["first_change"] = [
        shared
        | {"spec_revision": cell["spec_revision"], "release_key": 1, "what": "position"}
        | {"from_server": FEW[-2], "to_server": FEW[-1]}
        | {"from_value": HOSTILE, "to_value": HOSTILE}
    ]
    made["regressions"] = [
        shared
        | {f"{name}_{side}": HOSTILE for name in ("reason", "position") for side in "ab"}
        | {"kind": "changed-reason", "verdict_a": "fail", "verdict_b": "fail"}
        | {"server_a": FEW[-1], "server_b": FEW[-1], "run_id_a": "older", "run_id_b": RUN}
        | {"side_a": "older", "side_b": RUN}
    ]
    return made
