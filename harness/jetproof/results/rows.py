"""Events as rows: the exact shape of what stands in result files and in `--json` documents.

Pure functions. The shapes are published as JSON Schemas in `fixtures/schemas/results`; a change
that an old reader would misread raises `SCHEMA`. Text is kept exactly where it is valid UTF-8;
bytes that are not are kept as base64 next to a readable form.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping

from jetproof.model.clause import Clause
from jetproof.model.identity import cell_id
from jetproof.model.verdict import Cell, Check, FrameRecord, Verdict

SCHEMA = 1
PAYLOAD_BYTES = 64 * 1024
TEXT_CHARACTERS = 16 * 1024

Row = dict[str, object]


def json_default(value: object) -> object:
    """What `json` writes for a value that JSON does not have."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
    return str(value)


def encode(row: Mapping[str, object]) -> bytes:
    """One line of a journal. Pure ASCII, so that no reader can split it at an odd line break."""
    return json.dumps(row, separators=(",", ":"), default=json_default).encode("ascii") + b"\n"


def cell_row(run: str, cell: Cell) -> Row:
    return {
        "run": run,
        "cell": cell.name,
        "case": cell.case,
        "suite": cell.suite,
        "spec": cell.spec,
        "spec_revision": cell.spec_revision,
        "server": cell.server,
        "provider": cell.provider,
        "topology": cell.topology,
        "configuration": cell.configuration,
        "target": cell.target,
        "client": cell.client,
        "attempt": cell.attempt,
        "verdict": cell.verdict.value,
        "ms": round(cell.ms, 3),
        "started_at": cell.started_at,
        "clauses": list(cell.clauses),
        "reason": _text(cell.reason),
        "position": {_text(key): _text(value) for key, value in cell.position.items()},
        "deviation": cell.deviation,
        "kind": cell.kind,
        "severity": cell.severity,
        "upstream": cell.upstream,
        "plays": list(cell.plays),
        "never_right": cell.never_right,
        "case_hash": cell.case_hash,
        "edition": cell.edition,
        "scored": cell.scored,
        "replay": cell.replay,
        "server_log": [_text(line) for line in cell.server_log],
    }


def cell_of(row: Mapping[str, object]) -> Cell:
    """The cell that a row of a journal (whose shape was checked) tells of."""
    known = {name: row[name] for name in _CELL_FIELDS if name in row}
    known["verdict"] = Verdict(str(row["verdict"]))
    for name in ("clauses", "server_log", "plays"):
        value = row.get(name)
        known[name] = tuple(value) if isinstance(value, list) else ()
    known["revision"] = cell_id(str(row["cell"])).revision
    return Cell(**known)  # type: ignore[arg-type]


def check_row(run: str, cell: Cell, index: int, check: Check) -> Row:
    return {
        "run": run,
        "cell": cell.name,
        "spec_revision": cell.spec_revision,
        "target": cell.target,
        "attempt": cell.attempt,
        "index": index,
        "step": check.step,
        "iteration": _text(check.iteration),
        "kind": check.kind,
        "path": check.path,
        "ok": check.ok,
        "expected": _text(check.expected),
        "actual": None if check.ok else value_text(check.actual),
        "fault": None if check.ok else check.fault.value,
        "clause": check.clause,
        "ms": round(check.ms, 3),
    }


def frame_row(run: str, cell: Cell, index: int, frame: FrameRecord) -> Row:
    row: Row = {
        "run": run,
        "cell": cell.name,
        "spec_revision": cell.spec_revision,
        "target": cell.target,
        "attempt": cell.attempt,
        "index": index,
        "ms": round(frame.ms, 3),
        "direction": frame.direction,
        "connection": frame.connection,
        "op": frame.op,
        "subject": _text(frame.subject),
        "reply": _text(frame.reply),
        "status": frame.status,
        "description": _text(frame.description),
        "headers": None if frame.headers is None else [_header(*item) for item in frame.headers],
        "size": len(frame.payload),
        "note": _text(frame.note),
        "step": frame.step,
    }
    row.update(_payload(frame.payload))
    return row


def clause_row(run: str, clause: Clause) -> Row:
    return {
        "run": run,
        "clause": clause.id,
        "spec": clause.spec,
        "section": clause.section,
        "level": clause.level.value,
        "actor": clause.actor.value,
        "status": clause.status.value,
        "text": clause.text,
        "revision_from": clause.revision_from,
        "revision_to": clause.revision_to,
        "applies_from": None if clause.applies_from is None else str(clause.applies_from),
        "sentence_hash": clause.sentence_hash,
        "anchor": clause.anchor,
        "replaces": clause.replaces,
        "contested_with": list(clause.contested_with),
        "note": clause.note,
    }


def value_text(value: object) -> str:
    """A value as JSON text, so that a table needs one type for all of them."""
    return _text(json.dumps(value, ensure_ascii=False, default=json_default))


_CELL_FIELDS = (
    "case", "suite", "spec", "spec_revision", "server", "provider", "topology", "configuration",
    "client", "attempt", "ms", "started_at", "reason", "position", "deviation", "kind",
    "severity", "upstream", "never_right", "case_hash", "target", "replay", "edition", "scored",
)  # fmt: skip


def _text(text: str) -> str:
    """Text that every JSON reader accepts: bytes that were not UTF-8 become `\\xff`."""
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[:TEXT_CHARACTERS]}… ({len(text):,} characters)"
    return text if text.isascii() else _exact(text)[0]


def _exact(text: str) -> tuple[str, bytes | None]:
    """Readable text, and the bytes as they were if the text cannot say them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogateescape" if _only_escapes(text) else "surrogatepass")
        return raw.decode("utf-8", "backslashreplace"), raw
    return text, None


def _only_escapes(text: str) -> bool:
    return all(not 0xD800 <= ord(char) <= 0xDFFF or 0xDC80 <= ord(char) <= 0xDCFF for char in text)


def _header(name: str, value: str) -> Row:
    row: Row = {}
    for key, text in (("name", name), ("value", value)):
        readable, raw = _exact(text)
        row[key] = readable
        if raw is not None:
            row[f"{key}_b64"] = base64.b64encode(raw).decode("ascii")
    return row


def _payload(payload: bytes) -> Row:
    row: Row = {"truncated": len(payload) > PAYLOAD_BYTES}
    kept = payload[:PAYLOAD_BYTES]
    try:
        row["payload"] = kept.decode("utf-8")
    except UnicodeDecodeError as error:
        # A character that the cut itself split does not make the payload binary.
        if row["truncated"] and error.reason == "unexpected end of data":
            row["payload"] = kept[: error.start].decode("utf-8")
        else:
            row["payload_b64"] = base64.b64encode(kept).decode("ascii")
    return row
