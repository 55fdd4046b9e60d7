"""What the sinks share that write one report file for CI: when, where, and what a verdict means.

A report file is proven writable before anything starts. It is written as a whole when the run is
over, or interrupted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Self

from jetproof.errors import JetproofError
from jetproof.events import Event
from jetproof.model.verdict import Result, Verdict
from jetproof.sinks.console.evidence import log_explains, mismatch_table, transcript
from jetproof.sinks.console.lines import Layout, plain
from jetproof.sinks.files import replace_file
from jetproof.sinks.record import Outcome, Record
from jetproof.sinks.text import visible, visible_lines


class Status(StrEnum):
    """What CI systems distinguish."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Reported:
    """How a verdict appears in a report file. `shown`: with its evidence. `kind`: why skipped."""

    status: Status
    shown: bool = False
    kind: str = ""
    flaky: bool = False


REPORTED = {
    Verdict.PASS: Reported(Status.PASSED),
    Verdict.WARN: Reported(Status.PASSED, shown=True),
    Verdict.POSITION: Reported(Status.PASSED, shown=True),
    Verdict.FAIL: Reported(Status.FAILED, shown=True),
    Verdict.STALE: Reported(Status.FAILED, shown=True),
    Verdict.UNSTABLE: Reported(Status.PASSED, shown=True, flaky=True),
    Verdict.ERROR: Reported(Status.ERROR, shown=True),
    Verdict.KNOWN: Reported(Status.SKIPPED, kind="known deviation"),
    Verdict.NOT_APPLICABLE: Reported(Status.SKIPPED, kind="not applicable"),
}


NOT_SCORED = Reported(Status.SKIPPED, kind="not scored")


def reported(cell: Result) -> Reported:
    """How this cell appears in a report file. An unstable cell that fails the run is a failure; what
    no edition scores is neither passed nor failed."""
    if not cell.scored:
        return NOT_SCORED
    if cell.verdict is Verdict.UNSTABLE and cell.fails:
        return REPORTED[Verdict.FAIL]
    return REPORTED[cell.verdict]


@dataclass(frozen=True, slots=True)
class Facts:
    """What a report file needs and events do not carry."""

    places: Mapping[str, tuple[str, int]] = field(default_factory=dict)
    """File and line of each case, by the case's id."""
    exit_code: Callable[[], int | None] = lambda: None
    """The exit code of the command; called when the run has ended."""


class ReportFile(ABC):
    """A sink that writes one file at the end."""

    label: ClassVar[str]
    option: ClassVar[str]

    def __init__(self, path: Path, facts: Facts | None = None) -> None:
        self._path = path
        self._facts = facts or Facts()
        self._record = Record()
        self._written = False

    @classmethod
    def create(cls, path: Path, facts: Facts | None = None) -> Self:
        """Prove now that the file can be written, with the report of an empty run."""
        sink = cls(path, facts)
        sink._write()
        return sink

    def handle(self, event: Event) -> None:
        self._record.handle(event)

    def close(self) -> None:
        """Write the file, whatever was played."""
        if not self._written:
            self._written = True
            self._write()

    @abstractmethod
    def render(self, record: Record, facts: Facts) -> bytes:
        """The whole file."""

    def _write(self) -> None:
        data = self.render(self._record, self._facts)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(self._path, data)
        except OSError as error:
            raise JetproofError(
                f"cannot write the {self.label} file {self._path}: {error.strerror or error}",
                phase="write",
                hint=f"choose another place with {self.option}",
            ) from error


def short_reason(cell: Result) -> str:
    """The reason on one line; of a cell that is not scored, with its verdict."""
    if cell.scored:
        return visible(cell.reason, 1000)
    told = f"not scored by edition {cell.edition}: {cell.verdict}"
    return visible(f"{told}: {cell.reason}" if cell.reason else told, 1000)


def body(outcome: Outcome) -> str:
    """Expected against actual, the last frames, the server's log: what a CI page shows."""
    cell, layout = outcome.cell, Layout(width=120)
    lines = [visible(cell.reason, 4000)] if cell.reason else []
    lines += [f"{visible(key)}: {visible(text, 1000)}" for key, text in cell.observed.items()]
    if outcome.failed:
        lines += ["", *plain(mismatch_table(outcome.failed, layout))]
    if outcome.frames:
        lines += ["", "last frames", *plain(transcript(outcome.frames, layout))]
    if cell.server_log and log_explains(outcome):
        lines += ["", "server log", *(f"    {visible(line, 300)}" for line in cell.server_log)]
    if cell.replay:
        lines += ["", f"replay it: {visible(cell.replay)}"]
    return visible_lines("\n".join(lines))
