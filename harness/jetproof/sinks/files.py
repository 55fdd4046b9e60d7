"""Writes the folder of a run: plain files that survive the loss of the process.

Journals only grow. A finished case is written at once, its frames first, then its checks, then
its cell: whoever finds the cell's line finds the rest. `run.json` is replaced as a whole. Resuming
takes back at most the rows of the one case that was being written when the process was lost.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import platform
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from types import TracebackType

from jetproof import __version__
from jetproof.data import harness_hash
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, RunFinished, RunStarted, SchemaJudged, ServerCode
from jetproof.model.verdict import Cell, Result
from jetproof.results import JOURNALS, RUN_FILE, SCHEMAS, Run, read_journal, row_key
from jetproof.results.rows import (
    SCHEMA,
    Row,
    cell_row,
    check_row,
    clause_row,
    encode,
    frame_row,
    json_default,
    plain,
    question_row,
    schema_row,
)
from jetproof.results.run_targets import merge_targets
from jetproof.results.server_code import JOURNAL as SERVER_CODE
from jetproof.sinks.record import Record
from jetproof.sinks.server_code import keep as keep_code
from jetproof.sinks.targets import target_rows

DEFAULT_PARENT = "jetproof-runs"
_PROBE_BYTES = 64 * 1024
ROWS_AT_ONCE = 1000


class RunFolder:
    """The sink that writes a run folder. Use as a context manager, or call `close`."""

    def __init__(
        self,
        folder: Path,
        request: Mapping[str, object],
        earlier: Run | None,
        libraries: Sequence[Row] = (),
    ) -> None:
        self.folder = folder
        self._request = dict(request)
        self._libraries = list(libraries)
        self._earlier = earlier
        self._record = Record(keep_frames=0)
        self._document: Row = dict(earlier.document) if earlier else {}
        self._open: dict[str, int] = {}

    @classmethod
    def create(
        cls,
        folder: Path,
        request: Mapping[str, object] | None = None,
        libraries: Sequence[Row] = (),
    ) -> RunFolder:
        """A new, empty run folder; it is proved now that it can be written.

        `libraries` says who the client libraries are that the run judges."""
        with _writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            if any((folder / name).exists() for name in _file_names()):
                raise JetproofError(
                    f"{folder} holds another run",
                    phase="write",
                    hint=f"choose another --out, or finish that run with --resume {folder}",
                )
            return cls(folder, request or {}, None, libraries)._begin()

    @classmethod
    def resume(cls, earlier: Run) -> RunFolder:
        """An existing run folder, to go on with."""
        with _writing(earlier.folder):
            return cls(earlier.folder, _mapping(earlier.document.get("request")), earlier)._begin()

    def handle(self, event: Event) -> None:
        """Write what the event tells. A write that fails raises once, with phase `write`."""
        if isinstance(event, (CaseFinished, SchemaJudged)) and event.earlier:
            return  # the folder has it
        self._record.handle(event)
        with _writing(self.folder):
            match event:
                case RunStarted():
                    self._start(event)
                case CaseFinished():
                    self._case(event)
                case SchemaJudged():
                    run = str(self._document.get("run", ""))
                    self._append(SCHEMAS, (schema_row(run, event.result),))
                case ServerCode():
                    self._code(event)
                case RunFinished():
                    self._finish(event)
                case _:
                    pass

    def close(self) -> None:
        """Let go of the files. A run that never finished stays marked as unfinished."""
        for descriptor in self._open.values():
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._open.clear()

    def __enter__(self) -> RunFolder:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _begin(self) -> RunFolder:
        try:
            # The cells' journal is also the lock: two processes must not write one run.
            self._open["cells"] = self._journal("cells")
            try:
                fcntl.flock(self._open["cells"], fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise JetproofError(
                    f"another process is writing {self.folder}",
                    phase="write",
                    hint="wait until it is done, or choose another --out",
                ) from error
            _probe(self.folder)
            if self._earlier is not None:
                recover(self.folder)
            for name in JOURNALS:
                if name not in self._open:
                    self._open[name] = self._journal(name)
        except BaseException:
            self.close()
            raise
        return self

    def _journal(self, name: str) -> int:
        path = self.folder / f"{name}.jsonl"
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)

    def _append(self, name: str, rows: Iterable[object]) -> None:
        left = iter(rows)
        while some := list(islice(left, ROWS_AT_ONCE)):
            data = memoryview(b"".join(map(encode, some)))
            while data:
                data = data[os.write(self._open[name], data) :]

    def _start(self, event: RunStarted) -> None:
        if self._earlier is None:
            self._document = {
                "schema": SCHEMA,
                "run": event.run,
                "started_at": event.started_at,
                "finished_at": None,
                "command": list(event.command),
                "request": self._request,
                "jetproof": __version__,
                "harness_hash": harness_hash(),
                "python": platform.python_version(),
                "machine": {
                    "cores": os.cpu_count() or 1,
                    "platform": platform.platform(),
                    "time_factor": event.time_factor,
                },
                "suite_hash": event.suite_hash,
                "partial": event.partial,
                "resumed": [],
            }
            if self._libraries:
                self._document["libraries"] = self._libraries
            self._append("clauses", (clause_row(event.run, clause) for clause in event.clauses))
        else:
            again = {"at": event.started_at, "command": list(event.command)}
            resumed = self._document.get("resumed")
            self._document |= {
                "finished_at": None,
                "resumed": [*(resumed if isinstance(resumed, list) else ()), again],
            }
        self._document |= {
            "targets": self._targets(event.targets),
            "interrupted": False,
            "verdicts": {},
            "cells": 0,
            "schemas": 0,
            "not_scored": 0,
            "wall_ms": None,
            "slowest_case_ms": None,
        }
        self._write_document()

    def _case(self, event: CaseFinished) -> None:
        run, cell = str(self._document.get("run", "")), event.cell
        frames = enumerate(event.frames, 1)
        checks = enumerate(event.checks, 1)
        questions = enumerate(event.questions, 1)
        self._append(
            "questions", (question_row(run, cell, number, asked) for number, asked in questions)
        )
        self._append("frames", (frame_row(run, cell, number, frame) for number, frame in frames))
        self._append("checks", (check_row(run, cell, number, check) for number, check in checks))
        self._append("cells", (cell_row(run, cell),))

    def _code(self, event: ServerCode) -> None:
        row = keep_code(self.folder, str(self._document.get("run", "")), event)
        if SERVER_CODE not in self._open:
            self._open[SERVER_CODE] = self._journal(SERVER_CODE)
        self._append(SERVER_CODE, (row,))

    def _finish(self, event: RunFinished) -> None:
        played = [outcome.cell for outcome in self._record.outcomes]
        results = _merge(self._earlier.results if self._earlier else (), played)
        cells = [one for one in results if isinstance(one, Cell)]
        earlier = self._earlier.document if self._earlier else {}
        earlier_wall = earlier.get("wall_ms")
        started = self._record.started
        verdicts: dict[str, int] = {}
        for one in results:
            if one.scored:
                verdicts[one.verdict.value] = verdicts.get(one.verdict.value, 0) + 1
        self._document |= {
            "finished_at": f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S.%f}"[:-3] + "Z",
            "targets": merge_targets(
                [earlier.get("targets"), self._targets(started.targets if started else ())]
            ),
            "interrupted": event.interrupted,
            "verdicts": verdicts,
            "cells": len(cells),
            "schemas": len(results) - len(cells),
            "not_scored": sum(not one.scored for one in results),
            "wall_ms": round(
                event.wall_ms + (earlier_wall if isinstance(earlier_wall, (int, float)) else 0), 3
            ),
            "slowest_case_ms": round(max((cell.ms for cell in cells), default=0.0), 3),
        }
        self._write_document()

    def _targets(self, names: Sequence[str]) -> list[Row]:
        return [plain(row) for row in target_rows(self._record, names)]

    def _write_document(self) -> None:
        text = json.dumps(self._document, indent=2) + "\n"
        replace_file(self.folder / RUN_FILE, text.encode("ascii"))


def write_document(path: Path, document: Mapping[str, object]) -> None:
    """Put one JSON document into a file; a write that fails raises with phase `write`."""
    with _writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(document, indent=2, default=json_default) + "\n"
        replace_file(path, text.encode("ascii"))


def write_text(path: Path, text: str) -> None:
    """Put one text into a file; a write that fails raises with phase `write`."""
    with _writing(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8"))


def replace_file(path: Path, data: bytes) -> None:
    """Put a whole file in place of another, so that a reader never sees half of one."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            stream.write(data)
            # mkstemp makes files for the owner alone; results are ordinary files.
            os.fchmod(stream.fileno(), 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def recover(folder: Path) -> None:
    """Cut what a lost process left unfinished: half a line, and rows whose cell never came."""
    for name in (*JOURNALS, SERVER_CODE):
        path = folder / f"{name}.jsonl"
        with contextlib.suppress(FileNotFoundError):
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(path, whole)
    finished = {row_key(row) for row in read_journal(folder, "cells")}
    for name in ("checks", "frames", "questions"):
        path, end, kept = folder / f"{name}.jsonl", 0, 0
        with contextlib.suppress(FileNotFoundError), path.open("rb") as lines:
            for line, row in zip(lines, read_journal(folder, name), strict=False):
                end += len(line)
                # Cases are written one after the other: only the last one can be unfinished.
                kept = end if row_key(row) in finished else kept
            if kept < end:
                os.truncate(path, kept)


def _probe(folder: Path) -> None:
    with tempfile.TemporaryFile(dir=folder) as stream:
        stream.write(b"\0" * _PROBE_BYTES)
        stream.flush()


@contextlib.contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        hint = "free some space, or choose another folder with --out"
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST):
            hint = "choose a folder that can be written with --out"
        raise JetproofError(
            f"cannot write the results to {folder}: {error.strerror or error}",
            phase="write",
            hint=hint,
        ) from error


def _merge(earlier: Iterable[Result], played: Iterable[Result]) -> Sequence[Result]:
    return tuple({(one.name, one.target): one for one in (*earlier, *played)}.values())


def _file_names() -> tuple[str, ...]:
    return (RUN_FILE, *(f"{name}.jsonl" for name in JOURNALS))


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}
