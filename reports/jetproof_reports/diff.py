"""`jetproof diff A B`: two sides, what differs between them, and which of their inputs moved.

A side is a run folder (or, with a history, the id of a run), and may be narrowed to a release or to a
revision of a specification:

    jetproof-runs/a                the whole run
    jetproof-runs/a@2.12.0         one release of it
    jetproof-runs/a@adr-50@10      the cells judged by that revision

Cells are matched by case, topology, client, release and revision; what both sides chose, or have but
one of, is not matched but compared.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jetproof.errors import JetproofError
from jetproof.model.identity import schema_name
from jetproof.results.changes import between_sides
from jetproof_reports.compact import writing
from jetproof_reports.history import History, KeptRun
from jetproof_reports.questions import rows_of
from jetproof_reports.session import is_local

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_MATCHED = ("server", "provider", "spec_revision", "client")


@dataclass(frozen=True, slots=True)
class Side:
    """One side as it was asked for. `run` is a folder or an id; empty means all of a history."""

    text: str
    run: str
    server: str = ""
    spec: str = ""
    revision: int | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A side that exists: its runs, and the values that its cells have in matched columns."""

    side: Side
    runs: tuple[str, ...]
    values: dict[str, frozenset[Any]]


def parse_side(text: str, *, history: bool = False) -> Side:
    """Read `RUN`, `RUN@2.12.0` or `RUN@adr-50@10`; a folder's own name may have an @ in it."""
    parts = text.split("@")
    for end in range(len(parts), 0, -1):
        run = "@".join(parts[:end])
        if Path(run).is_dir():
            return _narrowed(text, run, parts[end:])
    if history:
        if parts[0] and not _is_selector(parts):
            return _narrowed(text, parts[0], parts[1:])
        return _narrowed(text, "", parts if parts[0] else parts[1:])
    raise JetproofError(
        f"{parts[0]} is no folder",
        phase="plan",
        hint="a side is a run folder, perhaps with @RELEASE or @SPEC@REVISION: runs/a@2.12.0",
    )


def _is_selector(parts: Sequence[str]) -> bool:
    return _is_release(parts[0]) or (len(parts) > 1 and parts[1].isdecimal())


def _is_release(text: str) -> bool:
    from jetproof_reports.releases import UNKNOWN, release_key

    return release_key(text) != UNKNOWN


def _narrowed(text: str, run: str, selectors: Sequence[str]) -> Side:
    server, spec, revision = "", "", None
    rest = list(selectors)
    while rest:
        first = rest.pop(0)
        if rest and rest[0].isdecimal():
            spec, revision = first, int(rest.pop(0))
        elif first and not server:
            server = first
        else:
            raise JetproofError(
                f"{text!r} is not like RUN, RUN@2.12.0 or RUN@adr-50@10", phase="plan"
            )
    return Side(text, run, server, spec, revision)


@dataclass(frozen=True, slots=True)
class Compared:
    """What differs, and for changes on the wire the two transcripts by fingerprint."""

    rows: list[dict[str, Any]]
    transcripts: dict[str, list[dict[str, Any]]]


@contextmanager
def gathered(
    a: Side, b: Side, history: Path | None, master: str | None = None
) -> Iterator[tuple[list[KeptRun], Side, Side]]:
    """The runs that the sides name, readable; the sides, with run ids in place of folders."""
    kept: dict[str, KeptRun] = {}
    folders = [Path(side.run) for side in (a, b) if _is_folder(side)]
    with _scratch(folders, history, master) as place:
        sides = []
        for side in (a, b):
            if _is_folder(side):
                run = History(place).add(Path(side.run))
                runs = [run]
                side = replace(side, run=run.run_id)
            else:
                assert history is not None
                store = History(history)
                runs = [store.get(side.run)] if side.run else store.runs()
            kept |= {run.run_id: run for run in runs}
            sides.append(side)
        yield list(kept.values()), sides[0], sides[1]


def _is_folder(side: Side) -> bool:
    return bool(side.run) and Path(side.run).is_dir()


@contextmanager
def _scratch(folders: Sequence[Path], history: Path | None, master: str | None) -> Iterator[Path]:
    """Where run folders are kept for the time of a diff: if workers of a cluster have to see it,
    in the history or beside the first run folder, which they share; else in a temporary folder."""
    if is_local(master) or not folders:
        with tempfile.TemporaryDirectory(prefix="jetproof-diff-") as made:
            yield Path(made)
    elif history is not None and history.is_dir():
        with History(history).placing() as place:
            yield place
    else:
        beside = folders[0].resolve().parent
        with writing(beside):
            place = Path(tempfile.mkdtemp(prefix="jetproof-diff-", dir=beside))
        try:
            place.chmod(0o755)
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)


def compare(spark: SparkSession, kept: Sequence[KeptRun], a: Side, b: Side) -> Compared:
    """The rows of `regressions` between two sides, worst first, and the transcripts they name."""
    from jetproof_reports.derive import read_derived
    from jetproof_reports.report_tables import steadied

    chosen = choose(a, kept), choose(b, kept)
    made = read_derived(spark, kept, ("cells", "transcripts"))
    with steadied(made["cells"], made["transcripts"]) as cells:
        rows = differences(cells, *chosen)
        return Compared(rows, _transcripts(cells, made["transcripts"], rows))


def differences(cells: DataFrame, a: Chosen, b: Chosen) -> list[dict[str, Any]]:
    """The rows of `regressions` between two parts of the cells, worst first."""
    from pyspark.sql import functions as F

    from jetproof_reports.tables.cells import compared

    keys = matched(a, b)
    parts = [
        compared(_part(cells, side)).withColumn("side", F.lit(number))
        for number, side in enumerate((a, b))
    ]
    rows = rows_of(parts[0].unionByName(parts[1]).toArrow())
    one, other = ([row for row in rows if row["side"] == number] for number in (0, 1))
    return between_sides(one, other, a.side.text, b.side.text, keys)


def matched(a: Chosen, b: Chosen) -> list[str]:
    """By which columns cells of the two sides are the same cell."""
    free = set()
    if a.side.server and b.side.server:
        free |= {"server", "provider"}
    if a.side.spec and b.side.spec:
        free.add("spec_revision")
    for name in _MATCHED:
        one, other = a.values[name], b.values[name]
        if len(one) == 1 and len(other) == 1 and one != other:
            free.add(name)
    if ("server" in free) != ("provider" in free):
        free |= {"server", "provider"}
    if bool(a.side.server) != bool(b.side.server) and "server" not in free:
        wide = b if a.side.server else a
        if len(wide.values["server"]) > 1:
            raise JetproofError(
                f"{wide.side.text} has several releases: {', '.join(sorted(wide.values['server']))}",
                phase="plan",
                hint=f"say which one: {wide.side.text}@RELEASE",
            )
    return [name for name in _MATCHED if name not in free]


def choose(side: Side, kept: Sequence[KeptRun]) -> Chosen:
    """The runs of a side, and what values its cells have: a side without cells is a mistake."""
    import pyarrow.parquet as pq

    runs = [run for run in kept if side.run in ("", run.run_id)]
    names = ["case", "spec", "target", *_MATCHED]
    rows: list[dict[str, Any]] = []
    for run in runs:
        rows += pq.read_table(run.folder / "cells.parquet", columns=names).to_pylist()
    if side.server:
        told = sorted({row["server"] for row in rows})
        rows = [row for row in rows if side.server in (row["server"], row["target"])]
        _must_have(rows, side, f"no release {side.server}", told)
    if side.spec:
        told = sorted({f"{row['spec']}@{row['spec_revision']}" for row in rows})
        rows = [r for r in rows if (r["spec"], r["spec_revision"]) == (side.spec, side.revision)]
        _must_have(rows, side, f"nothing of {side.spec}@{side.revision}", told)
    cells = [row for row in rows if schema_name(row["case"]) is None]
    values = {name: frozenset(row[name] for row in cells) for name in _MATCHED}
    return Chosen(side, tuple(run.run_id for run in runs), values)


def _must_have(rows: Sequence[object], side: Side, what: str, there: Sequence[str]) -> None:
    if not rows:
        raise JetproofError(
            f"{side.text}: {what} in this run", phase="plan", hint=f"it has: {', '.join(there)}"
        )


def _part(cells: DataFrame, chosen: Chosen) -> DataFrame:
    from pyspark.sql import functions as F

    part = cells.where(F.col("run_id").isin(*chosen.runs))
    if chosen.side.server:
        asked = chosen.side.server
        part = part.where((F.col("server") == asked) | (F.col("target") == asked))
    if chosen.side.spec:
        spec = F.col("spec") == chosen.side.spec
        part = part.where(spec & (F.col("spec_revision") == chosen.side.revision))
    return part


def _transcripts(
    cells: DataFrame, transcripts: DataFrame, rows: Sequence[dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    from pyspark.sql import functions as F

    wire = [row for row in rows if row["kind"] == "changed-on-the-wire"]
    wanted = {row[name] for row in wire for name in ("fingerprint_a", "fingerprint_b")}
    if not wanted:
        return {}
    named = cells.where(F.col("fingerprint").isin(*wanted)).select("run_id", "wire", "fingerprint")
    known = transcripts.withColumnRenamed("fingerprint", "wire")
    found = named.join(known, ["run_id", "wire"]).groupBy("fingerprint")
    table = found.agg(
        F.min_by("transcript", F.struct("run_id", "wire")).alias("transcript")
    ).toArrow()
    return {row["fingerprint"]: row["transcript"] for row in table.to_pylist()}
