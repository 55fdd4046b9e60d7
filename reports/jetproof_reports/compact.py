"""A run's journals as sorted Parquet: the form in which runs are kept and analysed.

No Spark is needed here, and memory stays bounded: journals are read in blocks. A cut-off last line
is left out, and so are rows of a case whose cell was never written. What is not a run, or was
written by another schema, is refused with the folder's name.

    run.parquet      one row, written last: without it the folder is no run
    cells.parquet    one row a verdict and attempt, of a cell or of a schema; `cell_no` names it below
    checks.parquet   one row an expectation
    frames.parquet   one row a frame
    clauses.parquet  the clauses as they read when the run was made
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jetproof.errors import JetproofError
from jetproof.model.identity import ANY, client_name
from jetproof.results import (
    JOURNALS,
    RUN_FILE,
    read_document,
    read_results,
    read_rows,
)
from jetproof.results.rows import (
    CellRow,
    CheckRow,
    ClauseRow,
    FrameRow,
    SchemaRow,
    check_row,
    plain,
    schema_of,
)
from jetproof_reports.columns import arrow_schema
from jetproof_reports.releases import release_key
from jetproof_reports.schemas import SOURCES, VERSION

if TYPE_CHECKING:
    import pyarrow as pa
    from msgspec import Struct

BLOCK_BYTES = 8 * 1024 * 1024
BLOCK_ROWS = 16 * 1024
GROUP_ROWS = 256 * 1024
ORDER = {"checks": ("cell_no", "index"), "frames": ("cell_no", "index")}
_ROWS: dict[str, type[Struct]] = {"checks": CheckRow, "frames": FrameRow}
_SEPARATOR = "\x1f"
_CELL = ("cell", "target", "attempt", "spec_revision")

Row = dict[str, Any]


def compact(run: Path, folder: Path) -> Row:
    """Write the Parquet files of `run` into `folder` (empty, there); the row of `runs`."""
    document = read_document(run)
    _need_journals(run)
    run_id = str(document["run"])
    clauses = [{**plain(row), "run_id": run_id} for row in read_rows(run, ClauseRow)]
    cells = _cells(run, document, clauses)
    counts = {"cells": _write(folder, "cells", cells)}
    counts["clauses"] = _write(folder, "clauses", sorted(clauses, key=_clause_order))
    for name in ("checks", "frames"):
        counts[name] = _stream(run, folder, name, cells)
    row = _run_row(run, document, counts)
    _write(folder, "run", [row])
    return row


@contextlib.contextmanager
def writing(folder: Path) -> Iterator[None]:
    """Failures of the disk as errors that say which folder, and what to do."""
    try:
        yield
    except OSError as error:
        hint = "choose a folder that can be written"
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO):
            hint = "free some space, or choose another folder; what was recorded before is unharmed"
        why = os.strerror(error.errno) if error.errno else error
        raise JetproofError(f"cannot write to {folder}: {why}", phase="write", hint=hint) from error


def source_of(run: Path) -> str:
    """What a run folder holds, as a text: journals only grow, so equal texts are equal runs."""
    sizes = [f"{name} {_size(run / f'{name}.jsonl')}" for name in JOURNALS]
    document = (run / RUN_FILE).read_bytes() if (run / RUN_FILE).is_file() else b""
    return ", ".join([*sizes, hashlib.sha256(document).hexdigest()[:16]])


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0


def _need_journals(run: Path) -> None:
    missing = [name for name in ("cells", "clauses") if not (run / f"{name}.jsonl").is_file()]
    if missing:
        raise JetproofError(
            f"{run} is half a run: it has no {' and no '.join(f'{n}.jsonl' for n in missing)}",
            phase="load",
            hint="copy the whole folder, or finish the run with `jetproof run --resume`",
        )


def _cells(run: Path, document: Mapping[str, object], clauses: Sequence[Row]) -> list[Row]:
    """The rows of `cells`, sorted; their place in the list is their `cell_no`."""
    sentences = {str(row["clause"]): _sentence(row) for row in clauses}
    builds = _builds(document)
    keys: dict[str, int] = {}
    # One run can judge a case by several revisions, so a cell's name alone does not tell it.
    latest: dict[tuple[object, ...], Row] = {}
    of_cases, of_schemas = read_results(run)
    rows = (*map(_of_case, of_cases), *map(_of_schema, of_schemas))
    for row in rows:
        cell = _cell(row, document, sentences, builds, keys)
        latest[tuple(cell[name] for name in _CELL)] = cell
    cells = sorted(latest.values(), key=_cell_order)
    for number, cell in enumerate(cells):
        cell["cell_no"] = number
    return cells


def _of_case(row: CellRow) -> Row:
    return plain(row) | {"position": sorted(row.position.items())}


def _of_schema(row: SchemaRow) -> Row:
    """What was judged of a schema, beside the cells: reports list and compare both."""
    result = schema_of(row)
    return plain(row) | {
        "cell": result.name,
        "case": result.about,
        "suite": result.heading,
        "spec": result.heading,
        "spec_revision": 0,
        "topology": ANY,
        "configuration": ANY,
        "clauses": [],
        "position": sorted(result.observed.items()),
        "case_hash": result.schema_hash,
        "ms": 0.0,
    }


def _violations(run: Path) -> Iterator[Row]:
    """What breaks schemas, as rows of `checks`; older runs have them among their checks."""
    for row in read_rows(run, SchemaRow):
        result = schema_of(row)
        for index, check in enumerate(result.checks, 1):
            yield plain(check_row(row.run, result, index, check))


def _cell(
    row: Mapping[str, Any],
    document: Mapping[str, object],
    sentences: Mapping[str, str],
    builds: Mapping[str, str | None],
    keys: dict[str, int],
) -> Row:
    server, clauses = row["server"], row["clauses"]
    if server not in keys:
        keys[server] = release_key(server)
    library, version = library_of(row.get("client"))
    law = [f"{row['spec']}@{row['spec_revision']}"]
    law += [sentences.get(clause, clause) for clause in sorted(clauses)]
    return {
        **{name: row.get(name) for name in SOURCES["cells"]},
        "run_id": str(document["run"]),
        "release_key": keys[server],
        "library": library,
        "client_key": None if library is None else release_key(version),
        "spec_hash": _hash("\n".join(law)),
        "harness": _harness(document),
        "build": builds.get(row["target"]),
        "run_at": str(document.get("started_at", "")),
    }


def library_of(client: str | None) -> tuple[str | None, str]:
    """`go:nats.go@1.55.0` as the library and its version; the version may be unknown."""
    if not client:
        return None, ""
    name = client_name(client)
    return name.library, name.version


def _libraries(document: Mapping[str, Any]) -> list[Row]:
    """Who the client libraries of a run said they are, and which revisions they claim."""
    return [
        {
            "name": str(one["name"]),
            "parts": ", ".join(f"{name} {version}" for name, version in one["parts"].items()),
            "runtime": str(one["runtime"]),
            "claims": [(str(spec), int(number)) for spec, number in one["claims"].items()],
        }
        for one in document.get("libraries") or ()
    ]


def _harness(document: Mapping[str, object]) -> str:
    """What played and judged: a version, and the hash of its content where the run kept one."""
    told = (document.get("jetproof"), document.get("harness_hash"))
    return " ".join(str(part) for part in told if part)


def _builds(document: Mapping[str, Any]) -> dict[str, str | None]:
    """By target: which build, where a version can have several."""
    targets = document.get("targets") or ()
    return {str(target["target"]): target.get("build") for target in targets}


def _sentence(row: Mapping[str, object]) -> str:
    """What a clause says and whom it binds: when this changes, the specification moved."""
    names = ("clause", "level", "actor", "status", "text", "applies_from", "sentence_hash")
    return json.dumps([row.get(name) for name in names])


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _cell_order(row: Row) -> tuple[object, ...]:
    names = (
        "case", "spec_revision", "topology", "client", "provider", "release_key", "target", "attempt",
    )  # fmt: skip
    return tuple(row[name] if row[name] is not None else "" for name in names)


def _clause_order(row: Row) -> tuple[str, str]:
    return str(row["spec"]), str(row["clause"])


def _run_row(run: Path, document: Mapping[str, Any], counts: Mapping[str, int]) -> Row:
    machine = document.get("machine") or {}
    targets = document.get("targets") or ()
    return {
        "run_id": str(document["run"]),
        "started_at": document.get("started_at"),
        "finished_at": document.get("finished_at"),
        "jetproof": document.get("jetproof"),
        "python": document.get("python"),
        "platform": machine.get("platform"),
        "cores": machine.get("cores"),
        "time_factor": machine.get("time_factor"),
        "suite_hash": document.get("suite_hash"),
        "partial": document.get("partial"),
        "interrupted": bool(document.get("interrupted")) or document.get("finished_at") is None,
        "wall_ms": document.get("wall_ms"),
        "targets": [str(target["target"]) for target in targets],
        "command": " ".join(document.get("command") or ()),
        "folder": run.name,
        "schema_version": VERSION,
        "source": source_of(run),
        "libraries": _libraries(document),
        **counts,
    }


def _write(folder: Path, name: str, rows: Sequence[Row]) -> int:
    import pyarrow as pa

    table = "runs" if name == "run" else name
    schema = arrow_schema(SOURCES[table])
    try:
        data = pa.Table.from_pylist(list(rows), schema=schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise JetproofError(
            f"the {table} of this run are not as expected: {error}",
            phase="load",
            hint="read it with the version of jetproof that wrote it",
        ) from error
    with writer(folder / f"{name}.parquet", schema) as out:
        out.write_table(data, row_group_size=GROUP_ROWS)
    return len(rows)


def _stream(run: Path, folder: Path, name: str, cells: Sequence[Row]) -> int:
    """A large journal, block by block; each row group is sorted by cell."""
    import pyarrow as pa

    schema = arrow_schema(SOURCES[name])
    known = _KnownCells(cells)
    path, written = run / f"{name}.jsonl", 0
    waiting: list[pa.RecordBatch] = []
    with writer(folder / f"{name}.parquet", schema) as out:

        def flush() -> None:
            if waiting:
                table = pa.Table.from_batches(waiting, schema)
                order = [(column, "ascending") for column in ORDER[name]]
                out.write_table(table.sort_by(order), row_group_size=GROUP_ROWS)
                waiting.clear()

        more = _violations(run) if name == "checks" else ()
        for batch in chain(_batches(path, schema), _batch(list(more), schema)):
            kept = known.named(batch, schema)
            written += kept.num_rows
            waiting.append(kept)
            if sum(part.num_rows for part in waiting) >= GROUP_ROWS:
                flush()
        flush()
    return written


def _joined(parts: Iterable[object]) -> str:
    return _SEPARATOR.join("" if part is None else str(part) for part in parts)


class _KnownCells:
    """Gives rows the number, case and server of their cell; rows without a cell fall away."""

    def __init__(self, cells: Sequence[Row]) -> None:
        import pyarrow as pa

        keys = {_joined(cell[name] for name in _CELL): place for place, cell in enumerate(cells)}
        # Rows of older runs do not say the revision.
        brief = {
            _joined([*(cell[name] for name in _CELL[:-1]), None]): place
            for place, cell in enumerate(cells)
        }
        self._keys = pa.array([*keys, *brief], pa.string())
        self._places = pa.array([*keys.values(), *brief.values()], pa.int32())
        self._columns = {
            name: pa.array([cell[name] for cell in cells], kind)
            for name, kind in (
                ("run_id", pa.string()),
                ("cell_no", pa.int32()),
                ("case", pa.string()),
                ("server", pa.string()),
                ("client", pa.string()),
            )
        }

    def named(self, batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
        import pyarrow as pa
        import pyarrow.compute as pc

        parts = [pc.fill_null(pc.cast(batch[name], pa.string()), "") for name in _CELL]
        keys = pc.binary_join_element_wise(*parts, _SEPARATOR)
        found = pc.index_in(keys, value_set=self._keys)
        known = pc.is_valid(found)
        batch, places = batch.filter(known), self._places.take(found.filter(known))
        arrays = [
            self._columns[field.name].take(places)
            if field.name in self._columns
            else batch[field.name]
            for field in schema
        ]
        return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _journal_schema(schema: pa.Schema) -> pa.Schema:
    """What is read of a journal: the name of the cell, in the place of what is known of it."""
    import pyarrow as pa

    of_cell = ("run_id", "cell_no", "case", "server", "client")
    wanted = [field for field in schema if field.name not in of_cell]
    texts, numbers = _CELL[:2], _CELL[2:]
    key = [(name, pa.string()) for name in texts] + [(name, pa.int32()) for name in numbers]
    return pa.schema([*key, *wanted])


def _batch(rows: Sequence[Row], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as they would come from a journal."""
    import pyarrow as pa

    if rows:
        yield pa.RecordBatch.from_pylist(list(rows), schema=_journal_schema(schema))


def _batches(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """The whole lines of a journal, parsed in blocks.

    pyarrow refuses text that is not UTF-8, which older versions wrote. From the first block that it
    refuses, rows are read one by one: slower, and a line that is no row is named by its number."""
    import pyarrow as pa

    taken = 0
    try:
        for batch in _parsed(path, schema):
            taken += batch.num_rows
            yield batch
        return
    except pa.ArrowInvalid as error:
        refused = error
    rows = islice(read_rows(path.parent, _ROWS[path.stem]), taken, None)
    try:
        while block := list(islice(rows, BLOCK_ROWS)):
            yield from _batch([plain(row) for row in block], schema)
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError):
        raise JetproofError(
            f"{path} does not hold rows of {path.stem}: {refused}",
            phase="load",
            hint="the file was changed after the run, or another version wrote it",
        ) from refused


def _parsed(path: Path, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    import pyarrow as pa
    import pyarrow.json as pj

    size = _whole_lines(path)
    if not size:
        return
    fields = _journal_schema(schema)
    options = pj.ParseOptions(explicit_schema=fields, unexpected_field_behavior="ignore")
    reading = pj.ReadOptions(block_size=BLOCK_BYTES)
    with pa.memory_map(str(path)) as mapped:
        lines = pa.BufferReader(mapped.read_buffer(size))
        yield from pj.open_json(lines, read_options=reading, parse_options=options)


def _whole_lines(path: Path) -> int:
    """How many bytes the whole lines take: what follows the last line break was cut off."""
    try:
        size = path.stat().st_size
    except FileNotFoundError:
        return 0
    with path.open("rb") as stream:
        end = size
        while end > 0:
            start = max(0, end - 64 * 1024)
            stream.seek(start)
            place = stream.read(end - start).rfind(b"\n")
            if place >= 0:
                return start + place + 1
            end = start
    return 0


def writer(path: Path, schema: pa.Schema) -> Any:
    """The one place that decides how files are compressed."""
    import pyarrow.parquet as pq

    # Absolute: pyarrow takes a relative path with a colon for a URL.
    return pq.ParquetWriter(path.absolute(), schema, compression="zstd", compression_level=3)
