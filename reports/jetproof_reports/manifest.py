"""The commit record of a derived table: from which run it was made, and how many rows it has.

    run_id=…/derived-6/cells/
      part-….parquet
      _manifest.json      written last; the folder gets its name after that

A table without a manifest does not exist. Nor does one whose files have other row counts than its
manifest, or that was made from another state of the run: the next report derives it anew. No Spark is
needed here: the counts are in the footers of the Parquet files.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jetproof.errors import JetproofError
from jetproof_reports.history import KeptRun
from jetproof_reports.schemas import VERSION

FORMAT = 1
FILE = "_manifest.json"
"""Spark and pyarrow skip names that begin with an underscore."""
COUNTED = ("cells", "checks", "frames", "clauses")


def write_manifest(part: Path, run: KeptRun, derived: str, table: str, rows: int) -> None:
    """Record that `part` is whole. The file is there with all of its content, or not at all."""
    new = part / f"{FILE}.new"
    with new.open("w", encoding="utf-8") as stream:
        json.dump({**_identity(run, derived, table), "rows": rows}, stream, indent=2)
        stream.write("\n")
        stream.flush()
        os.fsync(stream.fileno())
    new.replace(part / FILE)


def fault(part: Path, run: KeptRun, derived: str, table: str) -> str:
    """Why the derived table in this folder cannot be used; empty if it can."""
    document = _read(part)
    if document is None:
        return "it has no manifest"
    for name, expected in _identity(run, derived, table).items():
        if document.get(name) != expected:
            return f"its manifest has {name} {document.get(name)!r}, expected {expected!r}"
    try:
        found = rows_in(part)
    except JetproofError as error:
        return error.message
    expected = document.get("rows")
    if found != expected:
        return f"it has {found} rows, its manifest has {expected}"
    return uneven(run, table, found)


def uneven(run: KeptRun, table: str, found: int) -> str:
    """Every cell of a run is in its derived table `cells`; other tables have no number to expect."""
    cells = run.row.get("cells")
    if table != "cells" or cells in (None, found):
        return ""
    return f"it has {found} rows, the run has {cells} cells"


def rows_in(place: Path) -> int:
    """How many rows a Parquet file, or the files of a folder, have; zero if there is no folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    files = [path for path in place.glob("*.parquet") if path.name[0] not in "._"]
    rows = 0
    for path in [place] if place.suffix == ".parquet" else files:
        try:
            rows += pq.read_metadata(path.absolute()).num_rows
        except (pa.ArrowInvalid, OSError) as error:
            raise JetproofError(f"cannot read {path}: {error}", phase="load") from error
    return rows


def need_sources(run: KeptRun) -> None:
    """The files of a run have the rows that its row of `runs` names: else refuse the run."""
    for name in COUNTED:
        path, expected = run.folder / f"{name}.parquet", run.row.get(name)
        found = rows_in(path)
        if expected not in (None, found):
            raise JetproofError(
                f"{run.folder} is damaged: {path.name} has {found} rows, the run has {expected}",
                phase="load",
                hint="remove that folder and add the run again",
            )


def _identity(run: KeptRun, derived: str, table: str) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "derived": derived,
        "schema_version": VERSION,
        "table": table,
        "runs": [run.run_id],
        "source": run.row.get("source"),
        "counts": {name: run.row.get(name) for name in COUNTED},
    }


def _read(part: Path) -> Mapping[str, Any] | None:
    try:
        document = json.loads((part / FILE).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return document if isinstance(document, dict) else None
