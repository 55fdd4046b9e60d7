"""Tables that answer questions about the newest cells, for a report and for `jetproof diff`.

Spark reduces a history to the newest row of each cell. Their number is bounded by cases and targets, and
the page needs every one of them. Questions about them are asked here, of the functions in
`jetproof.results` that commands ask as well.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from jetproof.model.identity import schema_name
from jetproof.model.verdict import Cell
from jetproof.results import changes
from jetproof.results.coverage import clauses_in_force, covered_clauses
from jetproof.results.positions import position_rows
from jetproof_reports.columns import arrow_schema
from jetproof_reports.history import KeptRun
from jetproof_reports.newest import cell_of
from jetproof_reports.schemas import REPORT

if TYPE_CHECKING:
    import pyarrow as pa

Rows = list[dict[str, Any]]

RECENT = "recent"
"""The rows of the newest two runs of a cell, where they differ. It is no table of a report."""


def answered(collected: Mapping[str, pa.Table], kept: Sequence[KeptRun]) -> dict[str, pa.Table]:
    """The tables that Spark made of the kept runs, and those that are made of them."""
    latest = rows_of(collected["cells"])
    cells = [cell_of(row) for row in latest if schema_name(row["case"]) is None]
    recent = rows_of(collected[RECENT]) if RECENT in collected else []
    made: dict[str, Callable[[], Rows]] = {
        "regressions": lambda: [
            *changes.between_releases(latest),
            *changes.between_runs(recent),
            *changes.between_revisions(latest),
            *changes.between_versions(latest),
        ],
        "first_change": lambda: [
            *changes.first_changes(latest),
            *changes.first_changes_of_libraries(latest),
        ],
        "coverage": lambda: coverage_rows(clauses_of(kept), cells),
        "positions": lambda: position_rows(cells),
    }
    return {
        **{name: table for name, table in collected.items() if name != RECENT},
        "matrix": collected["cells"].select(list(REPORT["matrix"])),
        **{name: table_of(name, rows()) for name, rows in made.items()},
    }


def clauses_of(kept: Sequence[KeptRun]) -> list[Mapping[str, Any]]:
    """The clauses that count, of kept runs from the oldest to the newest."""
    import pyarrow.parquet as pq

    files = (run.folder / "clauses.parquet" for run in reversed(kept))
    return list(clauses_in_force(pq.read_table(file).to_pylist() for file in files).values())


def coverage_rows(clauses: Sequence[Mapping[str, Any]], cells: Sequence[Cell]) -> Rows:
    """The table `coverage`: one row per clause; untested ones are there, without cases."""
    found = covered_clauses(clauses, cells)
    return [{**row, **found[row["clause"]].document()} for row in clauses]


def table_of(name: str, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows as a table of a report, with the types of its columns."""
    import pyarrow as pa

    return pa.Table.from_pylist(list(rows), arrow_schema(REPORT[name]))


def rows_of(table: pa.Table) -> Rows:
    """Plain rows; Arrow gives maps as lists of pairs."""
    import pyarrow as pa

    rows: Rows = table.to_pylist()
    for field in table.schema:
        if pa.types.is_map(field.type):
            for row in rows:
                row[field.name] = dict(row[field.name] or ())
    return rows
