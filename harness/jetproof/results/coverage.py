"""What runs cover: sentences, error codes, schemas, and messages that nobody described.

`covered_clauses` says for the command and for a report which sentences are tested. What only the
reference layer showed proves nothing about a release and is told apart.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from jetproof.model.verdict import Cell, Verdict
from jetproof.results import (
    Key,
    Run,
    latest_cells,
    latest_schemas,
    read_journal,
    read_rows,
    row_key,
)
from jetproof.results.controls import Vacuity
from jetproof.results.rows import ClauseRow, plain

CLIENT = "client"
"""The connection of a client library, as its tap sees it."""
ERROR_CODE = r'"err_code":\s*([0-9]+)'
"""Finds JetStream error codes in a payload; Spark asks it as well."""
_ERROR_CODE = re.compile(ERROR_CODE)
_UNDECIDED = (Verdict.NOT_APPLICABLE, Verdict.ERROR)
_TOLD = ("$JS.EVENT.", "$SYS.")
_MESSAGES = ("API.DIRECT.GET.", "API.CONSUMER.MSG.NEXT.")
"""Requests that are answered with messages of a stream, whatever is in them."""


class State(StrEnum):
    """How far a clause is tested, the best of its cells."""

    JUDGED = "judged"
    KNOWN = "known"
    POSITION = "position"
    REFERENCE = "reference"
    VACUOUS = "vacuous"
    NOT_APPLICABLE = "n/a"
    NOT_PLAYED = "not-played"
    UNTESTED = "untested"


_SHOWN = {
    Verdict.PASS: State.JUDGED,
    Verdict.FAIL: State.JUDGED,
    Verdict.WARN: State.JUDGED,
    Verdict.STALE: State.JUDGED,
    Verdict.UNSTABLE: State.JUDGED,
    Verdict.KNOWN: State.KNOWN,
    Verdict.POSITION: State.POSITION,
    Verdict.NOT_APPLICABLE: State.NOT_APPLICABLE,
    Verdict.ERROR: State.NOT_PLAYED,
}


class Described(Protocol):
    """Tells the schema of a message; `engine.wire_schemas` does."""

    def classify(self, subject: str, asked: str | None, document: object) -> str | None: ...


@dataclass(slots=True)
class ClauseCoverage:
    """One sentence: `cases` are those that ran to a verdict, `named_by` all that there are."""

    clause: str
    spec: str
    section: str
    level: str
    actor: str
    status: str
    text: str
    named_by: tuple[str, ...] = ()
    cases: set[str] = field(default_factory=set)
    servers: set[str] = field(default_factory=set)
    clients: set[str] = field(default_factory=set)
    verdicts: Counter[str] = field(default_factory=Counter)
    reference: Counter[str] = field(default_factory=Counter)
    states: set[State] = field(default_factory=set)

    @property
    def state(self) -> State:
        if not self.named_by and not self.states:
            return State.UNTESTED
        best = [state for state in State if state in self.states]
        return best[0] if best else State.NOT_PLAYED

    @property
    def for_servers(self) -> bool:
        """Whether a server can keep or break it; what binds clients waits for a client."""
        return self.actor != "client"

    def count(self, cell: Cell, *, vacuous: bool = False) -> None:
        """Takes a cell in. One that is vacuous is kept apart from those that show something."""
        verdict = State.VACUOUS.value if vacuous else cell.verdict.value
        if cell.stands_apart:
            if cell.verdict not in _UNDECIDED:
                self.states.add(State.VACUOUS if vacuous else State.REFERENCE)
                self.reference[verdict] += 1
                self.cases.add(cell.case)
            return
        self.states.add(State.VACUOUS if vacuous else _SHOWN[cell.verdict])
        if cell.verdict not in _UNDECIDED:
            self.cases.add(cell.case)
            self.servers.add(cell.server)
            self.verdicts[verdict] += 1
            if cell.client:
                self.clients.add(cell.client)

    def document(self) -> dict[str, object]:
        """What a report shows of it."""
        return {
            "cases": sorted(self.cases),
            "servers_run": len(self.servers),
            "clients": sorted(self.clients),
            "verdicts": dict(self.verdicts),
            "covered": bool(self.verdicts),
            "reference": bool(self.reference),
        }


@dataclass(slots=True)
class CodeSeen:
    """One JetStream error code, as targets sent it."""

    code: int
    count: int = 0
    servers: set[str] = field(default_factory=set)
    cases: set[str] = field(default_factory=set)
    reference: int = 0


@dataclass(frozen=True, slots=True)
class VacuousCell:
    """A cell that shows nothing about the feature that its case is about."""

    cell: Cell
    why: str


@dataclass(slots=True)
class Coverage:
    """All of it, over any number of runs."""

    clauses: dict[str, ClauseCoverage]
    codes: dict[int, CodeSeen] = field(default_factory=dict)
    schemas: Counter[str] = field(default_factory=Counter)
    undescribed: Counter[str] = field(default_factory=Counter)
    vacuous: list[VacuousCell] = field(default_factory=list)
    controls: Counter[str] = field(default_factory=Counter)
    """Controls of the runs' cells, by what they came to."""

    @property
    def without_cases(self) -> list[ClauseCoverage]:
        """Sentences for servers that no case names."""
        return [one for one in self.clauses.values() if one.for_servers and not one.named_by]


def clause_rows(runs: Sequence[Run]) -> dict[str, Mapping[str, object]]:
    """The clauses of runs, as they read in the newest of them."""
    newest_first = sorted(
        runs, key=lambda run: (str(run.document.get("started_at", "")), run.id), reverse=True
    )
    return clauses_in_force(map(plain, read_rows(run.folder, ClauseRow)) for run in newest_first)


def clauses_in_force(
    newest_first: Iterable[Iterable[Mapping[str, object]]],
) -> dict[str, Mapping[str, object]]:
    """The rows of clauses that count, of the catalogues of several runs.

    The newest run that knows a specification decides which sentences it has, and how they read."""
    found: dict[str, Mapping[str, object]] = {}
    known: set[str] = set()
    for rows in newest_first:
        fresh = [row for row in rows if row["spec"] not in known]
        found |= {str(row["clause"]): row for row in fresh}
        known |= {str(row["spec"]) for row in fresh}
    return found


def covered_clauses(
    clauses: Iterable[Mapping[str, object]],
    cells: Iterable[Cell],
    is_vacuous: Callable[[Cell], bool] = lambda _: False,
) -> dict[str, ClauseCoverage]:
    """What cells, the newest of each, show of these clauses (rows as in `clauses.jsonl`)."""
    found = {str(row["clause"]): _covered(row) for row in clauses}
    for cell in cells:
        names = [name for name in cell.clauses if name in found] if cell.scored else ()
        vacuous = bool(names) and is_vacuous(cell)
        for name in names:
            found[name].count(cell, vacuous=vacuous)
    return found


def coverage(
    clauses: Iterable[Mapping[str, object]],
    named_by: Mapping[str, Sequence[str]],
    runs: Sequence[Run],
    schemas: Described,
    vacuity: Vacuity | None = None,
) -> Coverage:
    """What these runs show of these clauses (rows as in `clauses.jsonl`).

    Without `vacuity`, a pass counts whether or not the case needs the feature that it is about."""
    judges = vacuity or Vacuity()
    cells = latest_cells(runs)
    found = Coverage({})
    for result in latest_schemas(runs):
        found.schemas[result.schema] += result.seen
    for cell in cells:
        why = judges.why(cell)
        if why is not None:
            found.vacuous.append(VacuousCell(cell, why))
    vacuous = {id(one.cell) for one in found.vacuous}
    found.clauses = covered_clauses(clauses, cells, lambda cell: id(cell) in vacuous)
    for one in found.clauses.values():
        one.named_by = tuple(named_by.get(one.clause, ()))
    found.controls.update(one.outcome.value for one in judges.standing)
    for run in runs:
        _see_frames(found, run, schemas)
    return found


def _covered(row: Mapping[str, object]) -> ClauseCoverage:
    return ClauseCoverage(
        clause=str(row["clause"]),
        spec=str(row["spec"]),
        section=str(row["section"]),
        level=str(row["level"]),
        actor=str(row["actor"]),
        status=str(row["status"]),
        text=str(row["text"]),
    )


def _see_frames(found: Coverage, run: Run, schemas: Described) -> None:
    cells: dict[Key, Cell] = {(cell.name, cell.target, cell.attempt): cell for cell in run.cells}
    asked: dict[str, str] = {}
    for key, row in _rows(run):
        if row["direction"] == ">":
            if row.get("reply"):
                asked[str(row["reply"])] = str(row["subject"])
            continue
        payload = row.get("payload")
        cell = cells.get(key)
        if row["direction"] != "<" or cell is None or not isinstance(payload, str):
            continue
        if row.get("connection") == CLIENT and row.get("note"):
            continue  # the tap made it, or made it otherwise
        if '"err_code"' in payload:
            for code in set(_ERROR_CODE.findall(payload)):
                _see_code(found, int(code), cell)
        if payload.startswith("{") and not row.get("truncated"):
            subject = str(row["subject"])
            if told := _undescribed(subject, asked.get(subject), payload, schemas):
                found.undescribed[told] += 1


def _rows(run: Run) -> Iterator[tuple[Key, dict[str, object]]]:
    for row in read_journal(run.folder, "frames"):
        yield row_key(row), row


def _see_code(found: Coverage, number: int, cell: Cell) -> None:
    code = found.codes.setdefault(number, CodeSeen(number))
    code.cases.add(cell.case)
    if cell.stands_apart:
        code.reference += 1
    else:
        code.count += 1
        code.servers.add(cell.server)


def _undescribed(subject: str, asked: str | None, payload: str, schemas: Described) -> str | None:
    """The kind of a JetStream reply, advisory or metric that no schema describes."""
    is_reply = asked is not None and asked.startswith("$JS.") and ".API." in asked
    if is_reply and any(part in str(asked) for part in _MESSAGES):
        return None
    if not is_reply and not subject.startswith(_TOLD):
        return None
    try:
        document = json.loads(payload)
    except ValueError:
        return None
    if schemas.classify(subject, asked, document) is not None:
        return None
    kind = document.get("type") if isinstance(document, dict) else None
    return str(kind) if kind else f"a reply to {_call(asked)}" if asked else subject


def _call(subject: str) -> str:
    """An API subject without the names in it: `$JS.API.STREAM.INFO`."""
    return ".".join(part for part in subject.split(".") if part.isupper() or part == "$JS")
