"""Verdicts and the evidence behind them: checks, frames, cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from jetproof.model.identity import REFERENCE, CellId, client_name


class Verdict(StrEnum):
    PASS = "pass"
    FAIL = "fail"
    WARN = "warn"
    POSITION = "position"
    KNOWN = "known"
    STALE = "stale"
    UNSTABLE = "unstable"
    NOT_APPLICABLE = "n/a"
    ERROR = "error"

    @property
    def nonconforming(self) -> bool:
        return self in (Verdict.FAIL, Verdict.STALE)


EXPLAINED: Final = (
    Verdict.UNSTABLE,
    Verdict.FAIL,
    Verdict.STALE,
    Verdict.ERROR,
    Verdict.WARN,
)
"""The verdicts that people are shown the reasons of."""


class Fault(StrEnum):
    """What a failed check proves, if it is seen only once.

    NEVER_RIGHT: no conforming target does this, on whatever machine: a malformed reply, a wrong
    value, an extra or reordered message, a state that settled wrong. TIMING: a slow machine looks
    the same: nothing arrived in time, or a timer was early by less than clocks can tell.
    """

    NEVER_RIGHT = "never-right"
    TIMING = "timing"


ALIVE: Final = "PRM-015"
"""The promise that no request ends a server; the server's log explains how it is broken."""


@dataclass(frozen=True, slots=True)
class Check:
    """One expectation judged. `actual` is given only when it differs."""

    step: str
    kind: str
    path: str
    ok: bool
    expected: str
    actual: object = None
    iteration: str = ""
    ms: float = 0.0
    fault: Fault = Fault.NEVER_RIGHT
    clause: str | None = None
    """The promise that it is about, if it is not about the clauses of its case."""


@dataclass(frozen=True, slots=True)
class FrameRecord:
    """One frame of a case's transcript, as it was on the wire."""

    ms: float
    direction: str  # ">" to the server, "<" from it, "!" an event of the harness or the connection
    connection: str
    op: str
    subject: str = ""
    reply: str = ""
    status: int | None = None
    description: str = ""
    headers: tuple[tuple[str, str], ...] | None = None
    payload: bytes = b""
    note: str = ""
    step: str = ""


class QuestionEnd(StrEnum):
    """How a question of the engine's own ended. ABANDONED: the engine did not wait any longer."""

    ANSWERED = "answered"
    TIMEOUT = "timeout"
    LOST = "lost"
    ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True)
class Question:
    """Something that the engine asked a server for its own sake while a case was played."""

    after: int  # how many frames of the transcript came before it
    ms: float
    ended_ms: float
    connection: str
    subject: str  # PING where it was no message
    headers: tuple[tuple[str, str], ...] | None = None
    payload: bytes = b""
    end: QuestionEnd = QuestionEnd.ANSWERED
    status: int | None = None
    answer_headers: tuple[tuple[str, str], ...] | None = None
    answer: bytes = b""
    step: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """The verdict of one case on one target: the row everything else is made of."""

    case: str
    suite: str
    spec: str
    spec_revision: int
    server: str
    provider: str
    topology: str
    configuration: str
    verdict: Verdict
    clauses: tuple[str, ...]
    client: str | None = None
    attempt: int = 1
    ms: float = 0.0
    started_at: str = ""
    reason: str = ""
    position: Mapping[str, str] = field(default_factory=dict)
    deviation: str | None = None
    kind: str | None = None
    """Of the ledger entry that explains it: why the target differs from the text."""
    severity: str | None = None
    upstream: str | None = None
    plays: tuple[str, ...] = ()
    """The verdict of each play, where it was played again to confirm a failure."""
    never_right: bool = False
    """Some play broke a check that no conforming target breaks, on whatever machine."""
    case_hash: str = ""
    target: str = ""
    replay: str = ""
    server_log: tuple[str, ...] = ()
    revision: str = ""
    """The revision that was asked for (adr-50@10), if it is not the one that the case is about."""
    edition: str | None = None
    """The edition that the run was scored by, if it was scored by one."""
    scored: bool = True
    """False if that edition does not list the case as it is: then its verdict is shown, and no more."""

    @property
    def fails(self) -> bool:
        """Whether it makes a run fail (exit code 1)."""
        red = self.verdict.nonconforming or (self.verdict is Verdict.UNSTABLE and self.never_right)
        return red and self.scored

    @property
    def undecided(self) -> bool:
        """Whether a run has no verdict because of it (exit code 3)."""
        return self.verdict is Verdict.ERROR and self.scored

    @property
    def id(self) -> CellId:
        library = client_name(self.client) if self.client else None
        return CellId(
            self.case,
            self.server,
            self.topology,
            self.provider,
            library,
            self.revision,
            attempt=self.attempt,
        )

    @property
    def name(self) -> str:
        """The cell's name everywhere: console, JUnit, files, URL."""
        return str(self.id)

    @property
    def library(self) -> str | None:
        """The client library, in whatever version."""
        return client_name(self.client).library if self.client else None

    @property
    def stands_apart(self) -> bool:
        """Whether it shows the reference layer or client, which are nobody's conformance."""
        return REFERENCE in (self.provider, self.library)


def exit_code(cells: Iterable[Cell]) -> int:
    """0 conforms, 1 does not, 3 no verdict for some cell (3 wins over 1)."""
    code = 0
    for cell in cells:
        if cell.undecided:
            return 3
        code = 1 if cell.fails else code
    return code
