"""Joins the shards of a run: folders in, one run folder out, nothing played.

Rows are copied as they are, under the id of the joined run. What two folders played both stays as
two attempts. The result of a schema is about all messages of a run, so that those of the shards
are summed up. The new folder appears as a whole, or not at all.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.campaigns.merge_checks import Coverage, coverage, same_run
from jetproof.errors import JetproofError
from jetproof.model.verdict import Cell, Result, SchemaResult, Verdict, exit_code
from jetproof.results import (
    CELLS,
    CLAUSES,
    JOURNALS,
    QUESTIONS,
    RUN_FILE,
    SCHEMAS,
    Key,
    Run,
    read_journal,
    read_run,
    row_key,
)
from jetproof.results.rows import Row, cell_row, encode, schema_row
from jetproof.results.run_targets import merge_targets
from jetproof.results.server_code import FOLDER as CODE_FOLDER
from jetproof.results.server_code import JOURNAL as CODE_JOURNAL

_SEVERITY = (
    Verdict.ERROR, Verdict.FAIL, Verdict.STALE, Verdict.UNSTABLE, Verdict.WARN, Verdict.KNOWN
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Merged:
    """The run folder that shards became."""

    folder: Path
    joined: Joined
    document: Row
    """Its `run.json`."""
    covered: Coverage

    @property
    def exit_code(self) -> int:
        """That of the run which the shards make together."""
        return exit_code(self.joined.results)


def merge(folders: Sequence[Path], out: Path) -> Merged:
    """Join the folders of shards into one."""
    shards = [read_run(folder) for folder in folders]
    same_run(shards)
    shards.sort(key=lambda run: str(run.document.get("started_at")))
    covered = coverage(shards)
    joined = Joined.of(shards)
    document = joined.document(covered)
    write_folder(out, joined, document)
    return Merged(out, joined, document, covered)


@dataclass(frozen=True, slots=True)
class Joined:
    """The cells of all shards with the attempts that they are now.

    `attempts` maps a shard's number and a key there to the attempt here. Results of schemas are one
    row each, however many shards they come from.
    """

    id: str
    shards: tuple[Run, ...]
    cells: tuple[Cell, ...]
    schemas: tuple[SchemaResult, ...]
    attempts: Mapping[tuple[int, Key], int]
    again: int

    @classmethod
    def of(cls, shards: Sequence[Run]) -> Joined:
        played: dict[tuple[str, str], int] = {}
        attempts: dict[tuple[int, Key], int] = {}
        cells: list[Cell] = []
        sums: dict[tuple[str, str], list[SchemaResult]] = {}
        for number, run in enumerate(shards):
            for cell in run.cells:
                name = (cell.name, cell.target)
                played[name] = played.get(name, 0) + 1
                attempts[number, (*name, cell.attempt)] = played[name]
                cells.append(replace(cell, attempt=played[name]))
            for result in run.latest_schemas:
                sums.setdefault((result.name, result.target), []).append(result)
        return cls(
            id=joined_id(shards),
            shards=tuple(shards),
            cells=tuple(cells),
            schemas=tuple(_summed(parts) for parts in sums.values()),
            attempts=attempts,
            again=sum(count > 1 for count in played.values()),
        )

    @property
    def latest(self) -> tuple[Cell, ...]:
        """The last attempt of every cell."""
        return tuple({(cell.name, cell.target): cell for cell in self.cells}.values())

    @property
    def results(self) -> tuple[Result, ...]:
        """Everything that has a verdict."""
        return (*self.latest, *self.schemas)

    @property
    def verdicts(self) -> dict[Verdict, int]:
        counts = dict.fromkeys(Verdict, 0)
        for one in self.results:
            counts[one.verdict] += 1
        return counts

    def lines(self, journal: str) -> Iterator[bytes]:
        """The lines of one journal of the joined run."""
        if journal == CLAUSES:
            for row in read_journal(self.shards[0].folder, journal):
                yield encode({**row, "run": self.id})
        elif journal == CELLS:
            for cell in self.cells:
                yield encode(cell_row(self.id, cell))
        elif journal == SCHEMAS:
            for result in self.schemas:
                yield encode(schema_row(self.id, result))
        else:
            yield from self._evidence(journal)

    def _evidence(self, journal: str) -> Iterator[bytes]:
        """Checks, frames or questions. Those of a case whose cell was never written belong to nothing."""
        for number, run in enumerate(self.shards):
            for line, row in _journal(run, journal):
                key = row_key(row)
                attempt = self.attempts.get((number, key))
                if attempt is None:
                    continue
                if attempt == key[2] and line.startswith(_head(run.id)):
                    # Transcripts are long: a line that changes in its first word is not built anew.
                    yield _head(self.id) + line[len(_head(run.id)) :]
                    continue
                yield encode({**row, "run": self.id, "attempt": attempt})

    def document(self, covered: Coverage) -> Row:
        """`run.json` of the joined run."""
        first = dict(self.shards[0].document)
        documents = [run.document for run in self.shards]
        ends = [document.get("finished_at") for document in documents]
        walls = [_number(document.get("wall_ms")) for document in documents]
        request = {**_mapping(first.get("request")), "shard": None, "merged": covered.rows}
        machines = [_mapping(document.get("machine")) for document in documents]
        factor = max(_number(machine.get("time_factor")) for machine in machines)
        return {
            **first,
            "run": self.id,
            "started_at": min(str(document.get("started_at")) for document in documents),
            "finished_at": None if None in ends else max(map(str, ends)),
            "request": request,
            "machine": {**machines[0], "time_factor": factor},
            "targets": merge_targets(document.get("targets") for document in documents),
            "partial": covered.partial,
            "interrupted": any(bool(document.get("interrupted")) for document in documents),
            "resumed": [
                entry for document in documents for entry in _list(document.get("resumed"))
            ],
            "verdicts": {verdict.value: n for verdict, n in self.verdicts.items() if n},
            "cells": len(self.latest),
            "schemas": len(self.schemas),
            "not_scored": sum(not one.scored for one in self.results),
            "wall_ms": max(walls),
            "slowest_case_ms": round(max((cell.ms for cell in self.latest), default=0.0), 3),
        }


def joined_id(shards: Sequence[Run]) -> str:
    """The same shards always make the same run: joining them again replaces it, in a history."""
    ids = sorted(run.id for run in shards)
    digest = hashlib.sha256("\n".join(ids).encode()).hexdigest()
    return f"{ids[0].partition('-')[0]}-{digest[:6]}"


def write_folder(folder: Path, joined: Joined, document: Row) -> None:
    """Write everything beside the folder, then put it in place."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise JetproofError(
            f"{folder} is not empty", phase="write", hint="choose another folder with --out"
        )
    scratch: Path | None = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        for name in JOURNALS:
            with (scratch / f"{name}.jsonl").open("wb") as stream:
                stream.writelines(joined.lines(name))
        _join_server_code(joined, scratch)
        (scratch / RUN_FILE).write_text(json.dumps(document, indent=2) + "\n", encoding="ascii")
        scratch.chmod(0o755)  # mkdtemp makes folders for the owner alone
        os.replace(scratch, folder)
    except OSError as error:
        raise JetproofError(
            f"cannot write the joined run to {folder}: {error.strerror or error}",
            phase="write",
            hint="the shards are as they were; free some space, or choose another --out",
        ) from error
    finally:
        if scratch is not None and scratch.exists():
            shutil.rmtree(scratch, ignore_errors=True)


def _join_server_code(joined: Joined, to: Path) -> None:
    """Put what servers with coverage recorded in all shards into one folder."""
    rows = []
    for shard in joined.shards:
        rows += [{**row, "run": joined.id} for row in read_journal(shard.folder, CODE_JOURNAL)]
        if (shard.folder / CODE_FOLDER).is_dir():
            shutil.copytree(shard.folder / CODE_FOLDER, to / CODE_FOLDER, dirs_exist_ok=True)
    if rows:
        (to / f"{CODE_JOURNAL}.jsonl").write_bytes(b"".join(map(encode, rows)))


def _journal(run: Run, name: str) -> Iterator[tuple[bytes, Row]]:
    """Every whole line of a journal, as it stands and as it reads; older runs lack questions."""
    path = run.folder / f"{name}.jsonl"
    if name == QUESTIONS and not path.is_file():
        return
    with path.open("rb") as lines:
        yield from zip(lines, read_journal(run.folder, name), strict=False)


def _head(run: str) -> bytes:
    """How every row of a run begins."""
    return encode({"run": run})[:-2] + b","


def _summed(parts: Sequence[SchemaResult]) -> SchemaResult:
    """One result out of those of the shards: the worst verdict, everything seen."""
    worst = min(parts, key=lambda one: (not one.fails, _rank(one.verdict)))
    violations = {(found.path, found.message): found for one in parts for found in one.violations}
    broken = [one.broken for one in parts if one.broken is not None]
    return replace(
        worst,
        seen=sum(one.seen for one in parts),
        broken=sum(broken) if len(broken) == len(parts) else None,
        unknown_fields=tuple(sorted({name for one in parts for name in one.unknown_fields})),
        violations=tuple(violations.values()),
        first_broken=next((one.first_broken for one in parts if one.first_broken), None),
        attempt=1,
    )


def _rank(verdict: Verdict) -> int:
    return _SEVERITY.index(verdict) if verdict in _SEVERITY else len(_SEVERITY)


def _mapping(value: object) -> dict[str, object]:
    return dict(value) if isinstance(value, dict) else {}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
