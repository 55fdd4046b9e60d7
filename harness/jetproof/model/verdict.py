"""Verdicts and the evidence behind them: checks, frames, cells."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from jetproof.model.identity import (
    ANY,
    REFERENCE,
    SCHEMAS,
    CellId,
    client_name,
    schema_key,
)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Ruling:
    """What a cell and the result of a schema have in common: the target, the verdict, and why."""

    server: str
    provider: str
    verdict: Verdict
    target: str = ""
    attempt: int = 1
    started_at: str = ""
    reason: str = ""
    deviation: str | None = None
    kind: str | None = None
    """Of the ledger entry that explains it: why the target differs from the text."""
    severity: str | None = None
    upstream: str | None = None
    never_right: bool = False
    """Some play broke a check that no conforming target breaks, on whatever machine."""
    replay: str = ""
    edition: str | None = None
    """The edition that the run was scored by, if it was scored by one."""
    scored: bool = True
    """False if that edition does not list it as it is: then its verdict is shown, and no more."""

    @property
    def fails(self) -> bool:
        """Whether it makes a run fail (exit code 1)."""
        red = self.verdict.nonconforming or (self.verdict is Verdict.UNSTABLE and self.never_right)
        return red and self.scored

    @property
    def undecided(self) -> bool:
        """Whether a run has no verdict because of it (exit code 3)."""
        return self.verdict is Verdict.ERROR and self.scored


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell(_Ruling):
    """The verdict of one case on one target."""

    case: str
    suite: str
    spec: str
    spec_revision: int
    topology: str
    configuration: str
    clauses: tuple[str, ...]
    client: str | None = None
    ms: float = 0.0
    position: Mapping[str, str] = field(default_factory=dict)
    plays: tuple[str, ...] = ()
    """The verdict of each play, where it was played again to confirm a failure."""
    case_hash: str = ""
    server_log: tuple[str, ...] = ()
    revision: str = ""
    """The revision that was asked for (adr-50@10), if it is not the one that the case is about."""

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
    def about(self) -> str:
        """What ledgers and editions call it, whatever the target is."""
        return self.case

    @property
    def heading(self) -> str:
        """Under which reports list it."""
        return self.suite

    @property
    def observed(self) -> Mapping[str, str]:
        """What was seen that decides nothing."""
        return self.position

    @property
    def library(self) -> str | None:
        """The client library, in whatever version."""
        return client_name(self.client).library if self.client else None

    @property
    def stands_apart(self) -> bool:
        """Whether it shows the reference layer or client, which are nobody's conformance."""
        return REFERENCE in (self.provider, self.library)


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which messages break a schema, and the case that showed it first."""

    path: str
    message: str
    case: str


def schema_checks(schema: str, violations: Iterable[Violation]) -> tuple[Check, ...]:
    """Violations as failed checks, which a ledger can explain."""
    return tuple(
        Check(
            step=schema,
            kind="schema",
            path=one.path or "document",
            ok=False,
            expected=f"valid by {schema}",
            actual=one.message,
            iteration=one.case,
        )
        for one in violations
    )


@dataclass(frozen=True, slots=True)
class BrokenMessage:
    """A message that does not fit its schema, as it was on the wire."""

    case: str
    subject: str
    payload: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class SchemaResult(_Ruling):
    """The verdict on all messages of one kind that a target sent in a run, by their schema.

    What only cells have (clauses, a client, time) is empty here, so that reports can list both."""

    schema: str
    spec: str | None = None
    """The specification that the schema is about, and the revision that the target speaks."""
    spec_revision: int | None = None
    seen: int
    broken: int | None = 0
    """How many of them do not fit it; None if the run is of a version that did not keep that."""
    unknown_fields: tuple[str, ...] = ()
    """Fields that the schema does not name."""
    violations: tuple[Violation, ...] = ()
    first_broken: BrokenMessage | None = None
    schema_hash: str = ""

    @property
    def id(self) -> CellId:
        return CellId(self.about, self.server, ANY, self.provider, attempt=self.attempt)

    @property
    def name(self) -> str:
        """Its name everywhere, as a cell has one."""
        return str(self.id)

    @property
    def about(self) -> str:
        """What ledgers and editions call it, whatever the target is."""
        return schema_key(self.schema)

    @property
    def heading(self) -> str:
        """Under which reports list it."""
        return SCHEMAS

    @property
    def observed(self) -> Mapping[str, str]:
        """What was seen that decides nothing."""
        unknown = {"unknown-fields": ", ".join(self.unknown_fields)} if self.unknown_fields else {}
        return {"seen": str(self.seen), **unknown}

    @property
    def checks(self) -> tuple[Check, ...]:
        """What breaks the schema, as reports of cells show it."""
        return schema_checks(self.schema, self.violations)

    @property
    def topology(self) -> str:
        return ANY

    @property
    def client(self) -> None:
        return None

    @property
    def library(self) -> None:
        return None

    @property
    def clauses(self) -> tuple[str, ...]:
        return ()

    @property
    def plays(self) -> tuple[str, ...]:
        return ()

    @property
    def server_log(self) -> tuple[str, ...]:
        return ()

    @property
    def ms(self) -> float:
        return 0.0

    @property
    def stands_apart(self) -> bool:
        """Whether it shows the reference layer, which is nobody's conformance."""
        return self.provider == REFERENCE


Result = Cell | SchemaResult
"""Whatever has a verdict: both kinds fail a run, and both are listed in reports."""


def exit_code(results: Iterable[Result]) -> int:
    """0 conforms, 1 does not, 3 no verdict for some result (3 wins over 1)."""
    code = 0
    for one in results:
        if one.undecided:
            return 3
        code = 1 if one.fails else code
    return code
