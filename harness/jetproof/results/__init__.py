"""Reads the folder that a run leaves behind; `sinks.files` writes it.

A run may have been killed at any moment. A last line that was cut off is not an error, and
a case counts as played only if its line in `cells.jsonl` is whole: that line is written last.

    run.json       who, what, versions, suite hash, machine, partial or whole
    clauses.jsonl  the clauses as they read when the run was made
    cells.jsonl    one verdict a line
    checks.jsonl   one judged expectation a line
    frames.jsonl   one frame a line: the transcripts
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from jetproof.errors import JetproofError
from jetproof.model.verdict import Cell, Check, Fault, FrameRecord, Verdict
from jetproof.results.rows import SCHEMA, cell_of

RUN_FILE = "run.json"
JOURNALS = ("clauses", "cells", "checks", "frames")

Key = tuple[str, str, int]
"""What rows of a cell have in common: its name, its target, its attempt."""


@dataclass(frozen=True)  # without slots: what is made of thousands of cells is made once
class Run:
    """A run folder that was read: `cells` in the order in which they were finished."""

    folder: Path
    document: Mapping[str, object]
    cells: tuple[Cell, ...]

    @property
    def id(self) -> str:
        return str(self.document["run"])

    @cached_property
    def latest(self) -> tuple[Cell, ...]:
        """The last attempt of every cell."""
        by_name = {(cell.name, cell.target): cell for cell in self.cells}
        return tuple(by_name.values())

    @cached_property
    def completed(self) -> frozenset[str]:
        """Names of the cells that have a verdict; `error` is none: such a cell is played again."""
        return frozenset(cell.name for cell in self.latest if cell.verdict is not Verdict.ERROR)

    @cached_property
    def attempts(self) -> dict[str, int]:
        """How often each cell was played so far."""
        return {cell.name: cell.attempt for cell in self.latest}

    def checks(self) -> Iterator[tuple[Key, Check]]:
        for row in read_journal(self.folder, "checks"):
            yield row_key(row), _check_of(row)

    def frames(self) -> Iterator[tuple[Key, FrameRecord]]:
        for row in read_journal(self.folder, "frames"):
            yield row_key(row), frame_of(row)


def read_run(folder: Path) -> Run:
    """Read a run folder, whole or cut off."""
    document = read_document(folder)
    return Run(folder, document, tuple(cell_of(row) for row in read_journal(folder, "cells")))


def latest_cells(runs: Iterable[Run]) -> list[Cell]:
    """Of every cell the newest row over all runs; one judged by another revision is another cell."""
    latest: dict[tuple[str, int, str], Cell] = {}
    for run in sorted(runs, key=lambda run: (str(run.document.get("started_at", "")), run.id)):
        for cell in run.latest:
            latest[cell.name, cell.spec_revision, cell.target] = cell
    return list(latest.values())


def read_document(folder: Path) -> dict[str, object]:
    """`run.json`, if it is one that this version understands."""
    path = folder / RUN_FILE
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise JetproofError(
            f"{folder} is not a run folder: it has no {RUN_FILE}",
            phase="load",
            hint="name the folder that `jetproof run` printed in its last line",
        ) from error
    except (OSError, ValueError) as error:
        raise JetproofError(f"cannot read {path}: {error}", phase="load") from error
    if not isinstance(document, dict) or "run" not in document:
        raise JetproofError(f"{path} does not describe a run", phase="load")
    if document.get("schema") != SCHEMA:
        raise JetproofError(
            f"{path} has the schema {document.get('schema')}, this version reads {SCHEMA}",
            phase="load",
            hint="read it with the version of jetproof that wrote it",
        )
    return document


def read_journal(folder: Path, name: str) -> Iterator[dict[str, object]]:
    """The rows of one journal; a last line without its line break is left out."""
    path = folder / f"{name}.jsonl"
    try:
        stream = path.open("rb")
    except FileNotFoundError:
        return
    except OSError as error:
        raise JetproofError(f"cannot read {path}: {error}", phase="load") from error
    with stream:
        for number, line in enumerate(stream, 1):
            if not line.endswith(b"\n"):
                return
            try:
                row = json.loads(line)
            except ValueError as error:
                raise _broken(path, number) from error
            if not isinstance(row, dict):
                raise _broken(path, number)
            yield row


def row_key(row: Mapping[str, object]) -> Key:
    """The cell that a row belongs to."""
    attempt = row.get("attempt")
    return str(row["cell"]), str(row.get("target", "")), attempt if isinstance(attempt, int) else 1


def _broken(path: Path, number: int) -> JetproofError:
    return JetproofError(
        f"{path}:{number}: not a JSON object",
        phase="load",
        hint="the file was changed after the run; only its last line may be incomplete",
    )


def _check_of(row: Mapping[str, object]) -> Check:
    actual = row.get("actual")
    return Check(
        step=str(row["step"]),
        kind=str(row["kind"]),
        path=str(row["path"]),
        ok=bool(row["ok"]),
        expected=str(row["expected"]),
        actual=_value(actual) if isinstance(actual, str) else None,
        iteration=str(row.get("iteration", "")),
        ms=_number(row.get("ms")),
        fault=Fault(str(row.get("fault") or Fault.NEVER_RIGHT)),
    )


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:  # cut because it was long
        return text


def frame_of(row: Mapping[str, object]) -> FrameRecord:
    headers, status = row.get("headers"), row.get("status")
    if isinstance(row.get("payload_b64"), str):
        payload = base64.b64decode(str(row["payload_b64"]))
    else:
        payload = str(row.get("payload", "")).encode("utf-8")
    return FrameRecord(
        ms=_number(row.get("ms")),
        direction=str(row["direction"]),
        connection=str(row["connection"]),
        op=str(row["op"]),
        subject=str(row.get("subject", "")),
        reply=str(row.get("reply", "")),
        status=status if isinstance(status, int) else None,
        description=str(row.get("description", "")),
        headers=tuple((str(item["name"]), str(item["value"])) for item in headers)
        if isinstance(headers, list)
        else None,
        payload=payload,
        note=str(row.get("note", "")),
        step=str(row.get("step", "")),
    )


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
