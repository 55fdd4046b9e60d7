"""The document that `run`, `matrix` and `gate` print with `--json` (`results.documents.playing`)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import UNSET

from jetproof.events import Event
from jetproof.model.verdict import EXPLAINED, Cell, Result, SchemaResult, exit_code
from jetproof.results.digest import digest_document
from jetproof.results.documents.playing import (
    GateCell,
    RunCell,
    RunDocument,
    RunMismatch,
    RunSchema,
    verdict_counts,
)
from jetproof.results.rows import CellFacts, SchemaFacts, cell_row, schema_row, value_text
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
        counted: Callable[[Cell], bool] | None = None,
        counts: Callable[[Result], bool] = lambda _: True,
    ) -> RunDocument:
        """The document; `code` overrides what the verdicts alone would give.

        The digest is about the results that `counts` lets through. `counted` makes the cells those
        of a gate, which say whether the exit code counts them."""
        record = self._record
        started, finished, slowest = record.started, record.finished, record.slowest
        return RunDocument(
            schema=1,
            run=started.run if started else None,
            started_at=started.started_at if started else None,
            targets=target_rows(record, started.targets if started else ()),
            digest=digest_document([one for one in record.results if counts(one)]),
            verdicts=verdict_counts(record.verdicts),
            cells=tuple(
                _cell(outcome, outcome.cell, counted)
                for outcome in record.outcomes
                if isinstance(outcome.cell, Cell)
            ),
            schemas=[_schema(one) for one in record.schemas],
            wall_ms=round(finished.wall_ms, 3) if finished else None,
            slowest_case_ms=round(slowest.ms, 3) if slowest else 0.0,
            time_factor=started.time_factor if started else None,
            suite_hash=started.suite_hash if started else None,
            partial=started.partial if started else "",
            interrupted=finished is None or finished.interrupted,
            notices=list(record.notices),
            results=results,
            exit_code=exit_code(record.results) if code is None else code,
        )


def _cell(outcome: Outcome, cell: Cell, counted: Callable[[Cell], bool] | None) -> RunCell:
    row = cell_row("", cell)
    facts = {name: getattr(row, name) for name in CellFacts.__struct_fields__}
    mismatches = _mismatches(outcome) if cell.verdict in EXPLAINED else UNSET
    if counted is None:
        return RunCell(**facts, name=row.cell, mismatches=mismatches)
    return GateCell(**facts, name=row.cell, mismatches=mismatches, counts=counted(cell))


def _mismatches(outcome: Outcome) -> list[RunMismatch]:
    return [
        RunMismatch(
            step=check.step,
            iteration=check.iteration,
            kind=check.kind,
            path=check.path,
            expected=check.expected,
            actual=value_text(check.actual),
        )
        for check in outcome.failed
    ]


def _schema(result: SchemaResult) -> RunSchema:
    row = schema_row("", result)
    facts = {name: getattr(row, name) for name in SchemaFacts.__struct_fields__}
    return RunSchema(**facts, name=result.name)
