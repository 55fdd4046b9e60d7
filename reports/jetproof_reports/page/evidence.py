"""What stands behind a cell, filed by suite, so that opening a cell unpacks little.

Equal lines of transcripts are kept once a suite. A transcript is a list of line numbers; one that
was seen in many releases is kept once, under its fingerprint.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from jetproof.model.identity import case_id
from jetproof_reports.plain import Plain, Pool, Row, Tables, number, rows_of, text, texts

Key = tuple[Any, ...]

LINE = (
    "step", "dir", "connection", "op", "subject", "reply", "status", "description", "headers",
    "payload", "note",
)  # fmt: skip
RAW_FIRST, RAW_LAST = 120, 40
PLAY = "play"
"""The line above each play of a cell that was played several times."""


@dataclass(slots=True)
class _Suite:
    lines: Pool = field(default_factory=Pool)
    transcripts: dict[str, list[int]] = field(default_factory=dict)
    raw: dict[str, list[list[Any]]] = field(default_factory=dict)
    checks: dict[str, list[list[Any]]] = field(default_factory=dict)
    logs: dict[str, list[str]] = field(default_factory=dict)

    def plain(self) -> Plain:
        return {
            "lines": [_listed(line) for line in self.lines.values],
            "transcripts": self.transcripts,
            "raw": self.raw,
            "checks": self.checks,
            "logs": self.logs,
        }


def evidence_of(
    tables: Tables,
    numbers: Mapping[Key, int],
    suites: list[str],
    fingerprints: Pool,
    cells: Mapping[Key, Row],
) -> list[Plain]:
    """One block a suite, in the order of `suites`."""
    blocks = {suite: _Suite() for suite in suites}
    _transcripts(tables, blocks, fingerprints)
    by_number = {(row.get("run_id"), row.get("cell_no")): key for key, row in cells.items()}
    _checks(tables, blocks, numbers, by_number, cells)
    _raw(tables, blocks, numbers, by_number)
    for key, row in cells.items():
        log = texts(row.get("server_log"))
        if log and key in numbers:
            blocks[_suite(key)].logs[str(numbers[key])] = log
    return [blocks[suite].plain() for suite in suites]


def _transcripts(tables: Tables, blocks: Mapping[str, _Suite], fingerprints: Pool) -> None:
    told = {
        text(row["fingerprint"]): row["transcript"]
        for row in rows_of(tables, "fingerprints")
        if row.get("fingerprint") and row.get("transcript")
    }
    for row in tables["matrix"]:
        mark = text(row.get("fingerprint"))
        if not mark or mark not in told or mark not in fingerprints:
            continue
        block = blocks[text(row.get("suite")) or case_id(text(row.get("case"))).suite]
        name = str(fingerprints.add(mark))
        if name not in block.transcripts:
            block.transcripts[name] = [block.lines.add(_line(line)) for line in told[mark]]


def _line(line: Row) -> Key:
    values: list[Any] = []
    for name in LINE:
        if name == "headers":
            values.append(_headers(line.get(name)))
        elif name == "status":
            values.append(line.get(name))
        else:
            values.append(text(line.get(name)))
    return tuple(values)


def _listed(line: Key) -> list[Any]:
    """A line as JSON has it, without tuples."""
    return [[list(pair) for pair in value] if isinstance(value, tuple) else value for value in line]


def _headers(headers: object) -> Key | None:
    if not isinstance(headers, Iterable):
        return None
    return tuple((text(header["name"]), text(header["value"])) for header in headers)


def _checks(
    tables: Tables,
    blocks: Mapping[str, _Suite],
    numbers: Mapping[Key, int],
    by_number: Mapping[Key, Key],
    cells: Mapping[Key, Row],
) -> None:
    """Expectations that did not hold; those that did are many and say nothing."""
    by_name = {(row.get("run_id"), row.get("cell")): key for key, row in cells.items()}
    for row in _in_order(rows_of(tables, "evidence") or rows_of(tables, "checks")):
        run = row.get("run_id")
        key = by_number.get((run, row.get("cell_no"))) or by_name.get((run, row.get("cell")))
        if key is None or key not in numbers or row.get("ok"):
            continue
        told: list[Any] = [text(row.get(name)) for name in ("step", "iteration", "kind", "path")]
        told += [text(row.get("expected")), row.get("actual")]
        blocks[_suite(key)].checks.setdefault(str(numbers[key]), []).append(told)


def _raw(
    tables: Tables,
    blocks: Mapping[str, _Suite],
    numbers: Mapping[Key, int],
    by_number: Mapping[Key, Key],
) -> None:
    """The frames as they were, with their times, for the cells whose frames were given."""
    frames: dict[Key, list[Row]] = {}
    for row in _in_order(rows_of(tables, "frames")):
        key = by_number.get((row.get("run_id"), row.get("cell_no")))
        if key is not None and key in numbers:
            frames.setdefault(key, []).append(row)
    for key, rows in frames.items():
        block = blocks[_suite(key)]
        kept = [row for play in _plays(rows) for row in _abridged(play)]
        block.raw[str(numbers[key])] = [
            [block.lines.add(_line(_as_line(row))), number(row.get("ms"))] for row in kept
        ]


def _plays(rows: list[Row]) -> Iterator[list[Row]]:
    """The frames by play: the frames of an unstable cell are those of all its plays."""
    starts = [place for place, row in enumerate(rows) if row.get("op") == PLAY]
    for first, last in pairwise([0, *(place for place in starts if place), len(rows)]):
        yield rows[first:last]


def _abridged(rows: list[Row]) -> list[Row]:
    missing = len(rows) - RAW_FIRST - RAW_LAST
    if missing <= 1:
        return rows
    gap = {"direction": "!", "op": "gap", "note": f"{missing} more frames"}
    return [*rows[:RAW_FIRST], gap, *rows[-RAW_LAST:]]


def _as_line(frame: Row) -> Row:
    payload = frame.get("payload")
    if payload is None:
        coded = frame.get("payload_b64")
        payload = f"base64:{coded}" if coded else ""
    return {**frame, "dir": frame.get("direction"), "payload": payload}


def _in_order(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: row.get("index") or 0)


def _suite(key: Key) -> str:
    return case_id(str(key[0])).suite
