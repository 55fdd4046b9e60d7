"""What the engine tells. It prints nothing and knows no file format: sinks subscribe to these."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from jetproof.model.clause import Clause
from jetproof.model.verdict import Cell, Check, FrameRecord, Question, SchemaResult, Verdict

INTERRUPTED = "interrupted"
"""Why a run ended early if a person or a CI system ended it."""


@dataclass(frozen=True, slots=True)
class RunStarted:
    run: str
    started_at: str
    targets: tuple[str, ...]
    cells: int
    time_factor: float
    suite_hash: str
    clauses: tuple[Clause, ...]
    partial: str = ""  # why the run does not cover everything, empty when it does
    command: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetStarted:
    target: str
    version: str
    provider: str
    topology: str
    configuration: str
    cases: int
    ms: float
    build: str = ""  # hash of the binary or commit, where two of one version can differ


@dataclass(frozen=True, slots=True)
class TargetFailed:
    """A target that could not start, or died; its cases are `error`."""

    target: str
    topology: str
    configuration: str
    reason: str
    log: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetStopped:
    target: str
    topology: str
    configuration: str


@dataclass(frozen=True, slots=True)
class ServerCode:
    """What one server of a group recorded of its own code: files of Go's coverage, to be copied now.

    `cases` were played on it, `lives` is how often it was started."""

    target: str
    build: str
    topology: str
    configuration: str
    node: str
    cases: tuple[str, ...]
    lives: int
    files: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class CaseStarted:
    case: str
    target: str


@dataclass(frozen=True, slots=True)
class CaseHeld:
    """A red case is played again before it is reported."""

    case: str
    target: str


@dataclass(frozen=True, slots=True)
class CaseFinished:
    """A cell with its evidence. `earlier`: a part of the run that was resumed has played it."""

    cell: Cell
    checks: Sequence[Check] = ()
    frames: Sequence[FrameRecord] = ()
    questions: Sequence[Question] = ()
    """What the engine itself asked while the case was played."""
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class SchemaJudged:
    """When all cases have ended: what all messages of one kind say about a target.

    `earlier`: a part of the run that was resumed has judged it."""

    result: SchemaResult
    earlier: bool = False


@dataclass(frozen=True, slots=True)
class Notice:
    """Something a person should know: a lane that is not covered, a server kept alive."""

    text: str


@dataclass(frozen=True, slots=True)
class RunFinished:
    run: str
    verdicts: dict[Verdict, int] = field(default_factory=dict)
    wall_ms: float = 0.0
    slowest_case_ms: float = 0.0
    interrupted: bool = False


Event = (
    RunStarted | TargetStarted | TargetFailed | TargetStopped | ServerCode | CaseStarted
    | CaseHeld | CaseFinished | SchemaJudged | Notice | RunFinished
)  # fmt: skip
Emit = Callable[[Event], None]
