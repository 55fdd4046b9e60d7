"""Making a page that grew too large smaller: what is shortened first is what is read least."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jetproof_reports.page.evidence import LINE
from jetproof_reports.plain import Plain

_PAYLOAD, _OP = LINE.index("payload"), LINE.index("op")


@dataclass(frozen=True, slots=True)
class Trim:
    payload: int
    """Characters of a payload."""
    lines: int
    """Lines of a transcript: two thirds from its beginning, the rest from its end."""
    log: int
    """Lines of a server log, from its end."""
    raw: bool = True

    @property
    def told(self) -> str:
        frames = "" if self.raw else ", frames with their times are left out"
        return (
            f"To keep this page small, payloads are cut at {self.payload} characters, transcripts "
            f"at {self.lines} lines and server logs at {self.log}{frames}. "
            "The run's own files have all."
        )


TRIMS = (
    Trim(payload=800, lines=120, log=40),
    Trim(payload=300, lines=60, log=20, raw=False),
    Trim(payload=120, lines=24, log=8, raw=False),
)


def trimmed(document: Mapping[str, Any], trim: Trim) -> Plain:
    """The document with less evidence, and a note that says so; the one given stays as it is."""
    head = {**document["head"], "left_out": [trim.told]}
    # Cells without a fingerprint, as unstable ones, have no transcript but their frames.
    marks = head["cells"]["fingerprint"]
    alone = {str(number) for number, mark in enumerate(marks) if not mark}
    evidence = [_block(block, trim, alone) for block in document["evidence"]]
    return {**document, "head": head, "evidence": evidence}


def _block(block: Plain, trim: Trim, alone: set[str]) -> Plain:
    lines = copy.copy(block["lines"])
    made = {
        "transcripts": {
            mark: _shorter(numbers, lines, trim.lines)
            for mark, numbers in block["transcripts"].items()
        },
        "raw": {cell: frames for cell, frames in block["raw"].items() if trim.raw or cell in alone},
        "checks": block["checks"],
        "logs": {cell: log[-trim.log :] for cell, log in block["logs"].items()},
    }
    return {"lines": _used(lines, made, trim), **made}


def _shorter(numbers: list[int], lines: list[list[Any]], most: int) -> list[int]:
    if len(numbers) <= most + 1:
        return numbers
    first = most * 2 // 3
    last = most - first
    gap: list[Any] = [""] * len(LINE)
    gap[LINE.index("dir")], gap[_OP] = "!", "gap"
    gap[LINE.index("status")] = gap[LINE.index("headers")] = None
    gap[LINE.index("note")] = f"{len(numbers) - most} more frames"
    lines.append(gap)
    return [*numbers[:first], len(lines) - 1, *numbers[-last:]]


def _used(lines: list[list[Any]], made: Plain, trim: Trim) -> list[list[Any]]:
    """The lines with shorter payloads; those that no transcript shows any more are emptied."""
    shown = {number for numbers in made["transcripts"].values() for number in numbers}
    shown.update(number for entries in made["raw"].values() for number, _ in entries)
    return [
        _line(line, trim.payload) if number in shown else [] for number, line in enumerate(lines)
    ]


def _line(line: list[Any], most: int) -> list[Any]:
    payload = line[_PAYLOAD]
    if len(payload) <= most:
        return line
    return [*line[:_PAYLOAD], f"{payload[:most]}…", *line[_PAYLOAD + 1 :]]
