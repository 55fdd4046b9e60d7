"""The document that `jetproof run --json` prints; its schema is `fixtures/schemas/cli/run.json`."""

from __future__ import annotations

from collections.abc import Callable

from jetproof.events import Event
from jetproof.model.verdict import EXPLAINED, Cell, Result, exit_code
from jetproof.results.digest import digest_document
from jetproof.results.rows import SCHEMA, Row, cell_row, plain, schema_row, value_text
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.targets import target_rows


class Document:
    """The sink for `--json`: collects, and gives the document when the run is over."""

    def __init__(self) -> None:
        self._record = Record()

    def handle(self, event: Event) -> None:
        self._record.handle(event)

    def close(self) -> None:
        """Nothing is held."""

    def build(
        self,
        *,
        results: str | None,
        code: int | None = None,
        more: Callable[[Cell], Row] | None = None,
        counts: Callable[[Result], bool] = lambda _: True,
    ) -> Row:
        """The document; `code` overrides what the verdicts alone would give, `more` adds to cells.

        The digest is about the results that `counts` lets through."""
        record = self._record
        started, finished, slowest = record.started, record.finished, record.slowest
        return {
            "schema": SCHEMA,
            "run": started.run if started else None,
            "started_at": started.started_at if started else None,
            "targets": target_rows(record, started.targets if started else ()),
            "digest": digest_document([one for one in record.results if counts(one)]),
            "verdicts": {verdict.value: count for verdict, count in record.verdicts.items()},
            "cells": [
                _cell(outcome, outcome.cell) | (more(outcome.cell) if more else {})
                for outcome in record.outcomes
                if isinstance(outcome.cell, Cell)
            ],
            "schemas": [
                {"name": one.name, **_without_run(plain(schema_row("", one)))}
                for one in record.schemas
            ],
            "wall_ms": round(finished.wall_ms, 3) if finished else None,
            "slowest_case_ms": round(slowest.ms, 3) if slowest else 0.0,
            "time_factor": started.time_factor if started else None,
            "suite_hash": started.suite_hash if started else None,
            "partial": started.partial if started else "",
            "interrupted": finished is None or finished.interrupted,
            "notices": list(record.notices),
            "results": results,
            "exit_code": exit_code(record.results) if code is None else code,
        }


def _cell(outcome: Outcome, cell: Cell) -> Row:
    row = _without_run(plain(cell_row("", cell)))
    row = {"name": row.pop("cell"), **row}
    if cell.verdict in EXPLAINED:
        row["mismatches"] = [
            {
                "step": check.step,
                "iteration": check.iteration,
                "kind": check.kind,
                "path": check.path,
                "expected": check.expected,
                "actual": value_text(check.actual),
            }
            for check in outcome.failed
        ]
    return row


def _without_run(row: Row) -> Row:
    return {name: value for name, value in row.items() if name != "run"}
