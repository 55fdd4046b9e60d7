"""Reads the folder that a run leaves behind; `sinks.files` writes it.

A run may have been killed at any moment. A last line that was cut off is not an error, and
a case counts as played only if its line in `cells.jsonl` is whole: that line is written last.

    run.json         who, what, versions, suite hash, machine, partial or whole
    clauses.jsonl    the clauses as they read when the run was made
    cells.jsonl      one verdict per line: one case on one target
    checks.jsonl     one judged expectation per line
    frames.jsonl     one frame per line: the transcripts
    questions.jsonl  one question per line that the engine asked besides; older runs lack the file
    schemas.jsonl    one verdict per line: all messages of one kind that a target sent
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import msgspec

from jetproof.errors import JetproofError
from jetproof.model.verdict import Cell, Check, FrameRecord, Question, Result, SchemaResult, Verdict
from jetproof.results.old_runs import judges_a_schema, schema_rows
from jetproof.results.rows import (
    SCHEMA,
    CellRow,
    CheckRow,
    ClauseRow,
    FrameRow,
    Journal,
    QuestionRow,
    SchemaRow,
    cell_of,
    check_of,
    frame_of,
    question_of,
    readable,
    schema_of,
)

RUN_FILE = "run.json"
CLAUSES, CELLS, CHECKS, FRAMES, SCHEMAS = "clauses", "cells", "checks", "frames", "schemas"
QUESTIONS = "questions"
JOURNALS = (CLAUSES, CELLS, CHECKS, FRAMES, QUESTIONS, SCHEMAS)
_NAMES: dict[type, str] = {
    ClauseRow: CLAUSES,
    CellRow: CELLS,
    CheckRow: CHECKS,
    FrameRow: FRAMES,
    QuestionRow: QUESTIONS,
    SchemaRow: SCHEMAS,
}
_SURROGATE = re.compile(rb"\\u[dD]")
"""In a line of a journal: the beginning of an escape that may stand for a lone surrogate."""

Key = tuple[str, str, int]
"""What rows of a cell have in common: its name, its target, its attempt."""


@dataclass(frozen=True)  # without slots: what is made of thousands of cells is made once
class Run:
    """A run folder that was read: `cells` in the order in which they were finished."""

    folder: Path
    document: Mapping[str, object]
    cells: tuple[Cell, ...]
    schemas: tuple[SchemaResult, ...] = ()

    @property
    def id(self) -> str:
        return str(self.document["run"])

    @cached_property
    def latest(self) -> tuple[Cell, ...]:
        """The last attempt of every cell."""
        by_name = {(cell.name, cell.target): cell for cell in self.cells}
        return tuple(by_name.values())

    @cached_property
    def latest_schemas(self) -> tuple[SchemaResult, ...]:
        """The last result of every schema and target."""
        by_name = {(one.name, one.target): one for one in self.schemas}
        return tuple(by_name.values())

    @property
    def results(self) -> tuple[Result, ...]:
        """Everything that has a verdict, the last attempt of each."""
        return (*self.latest, *self.latest_schemas)

    @cached_property
    def completed(self) -> frozenset[str]:
        """Names of the cells that have a verdict; `error` is none: such a cell is played again."""
        return frozenset(cell.name for cell in self.latest if cell.verdict is not Verdict.ERROR)

    @cached_property
    def attempts(self) -> dict[str, int]:
        """How often each cell was played so far."""
        return {cell.name: cell.attempt for cell in self.latest}

    def checks(self) -> Iterator[tuple[Key, Check]]:
        for row in read_rows(self.folder, CheckRow):
            yield key_of(row), check_of(row)

    def frames(self) -> Iterator[tuple[Key, FrameRecord]]:
        for row in read_rows(self.folder, FrameRow):
            yield key_of(row), frame_of(row)

    def questions(self) -> Iterator[tuple[Key, Question]]:
        for row in read_rows(self.folder, QuestionRow):
            yield key_of(row), question_of(row)


def read_run(folder: Path) -> Run:
    """Read a run folder, whole or cut off."""
    document = read_document(folder)
    cells, schemas = read_results(folder)
    return Run(folder, document, tuple(map(cell_of, cells)), tuple(map(schema_of, schemas)))


def read_results(folder: Path) -> tuple[list[CellRow], list[SchemaRow]]:
    """Every row that holds a verdict: of cells, and of schemas."""
    rows = list(read_rows(folder, CellRow))
    old = [row for row in rows if judges_a_schema(row)]
    cells = [row for row in rows if not judges_a_schema(row)] if old else rows
    schemas = schema_rows(old, read_rows(folder, CheckRow))
    return cells, [*schemas, *read_rows(folder, SchemaRow)]


def latest_cells(runs: Iterable[Run]) -> list[Cell]:
    """Of every cell the newest row over all runs; one judged by another revision is another cell."""
    latest: dict[tuple[str, int, str], Cell] = {}
    for run in by_age(runs):
        for cell in run.latest:
            latest[cell.name, cell.spec_revision, cell.target] = cell
    return list(latest.values())


def latest_schemas(runs: Iterable[Run]) -> list[SchemaResult]:
    """Of every schema and target the newest result over all runs."""
    return list(
        {(one.name, one.target): one for run in by_age(runs) for one in run.schemas}.values()
    )


def by_age(runs: Iterable[Run]) -> list[Run]:
    """The oldest first."""
    return sorted(runs, key=lambda run: (str(run.document.get("started_at", "")), run.id))


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


def read_rows(folder: Path, kind: type[Journal], name: str = "") -> Iterator[Journal]:
    """The rows of the journal of that kind; a last line without its line break is left out.

    `name` is that of a journal which some runs have."""
    path = folder / f"{name or _NAMES[kind]}.jsonl"
    decoder = msgspec.json.Decoder(kind)
    for number, line in _lines(path):
        try:
            try:
                row = decoder.decode(line)
            except msgspec.ValidationError:
                raise
            except msgspec.DecodeError:
                row = msgspec.convert(_object(path, number, line), kind)
        except msgspec.ValidationError as error:
            _object(path, number, line)
            raise JetproofError(
                f"{path}:{number}: not a row of {path.stem}: {error}",
                phase="load",
                hint="the file was changed after the run, or another version wrote it",
            ) from error
        yield row


def read_journal(folder: Path, name: str) -> Iterator[dict[str, object]]:
    """The rows of one journal as they are; a last line without its line break is left out."""
    path = folder / f"{name}.jsonl"
    for number, line in _lines(path):
        yield _object(path, number, line)


def _object(path: Path, number: int, line: bytes) -> dict[str, object]:
    """A line as it is, but for text that is not UTF-8: it is escaped, as rows of today have it."""
    try:
        row = json.loads(line)
    except ValueError as error:
        raise _broken(path, number) from error
    if not isinstance(row, dict):
        raise _broken(path, number)
    if _SURROGATE.search(line):
        row = {name: readable(value) for name, value in row.items()}
    return row


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """The whole lines of a journal, with their numbers."""
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
            yield number, line


def key_of(row: CellRow | CheckRow | FrameRow | QuestionRow) -> Key:
    """The cell that a row belongs to."""
    return row.cell, row.target, row.attempt


def row_key(row: Mapping[str, object]) -> Key:
    """The same of a row that was read as it is."""
    attempt = row.get("attempt")
    return str(row["cell"]), str(row.get("target", "")), attempt if isinstance(attempt, int) else 1


def _broken(path: Path, number: int) -> JetproofError:
    return JetproofError(
        f"{path}:{number}: not a JSON object",
        phase="load",
        hint="the file was changed after the run; only its last line may be incomplete",
    )
