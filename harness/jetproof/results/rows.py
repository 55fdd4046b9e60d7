"""The rows of result files, each kind declared once.

Writing, reading, the JSON Schemas in `fixtures/schemas/results` (`results.schemas` generates them)
and the columns of reports all follow from these types. A field with a default is one that older
runs lack. A change that an old reader would misread raises `SCHEMA`.

Text is kept exactly where it is valid UTF-8; bytes that are not are kept as base64 next to a
readable form.
"""

from __future__ import annotations

import base64
import json
import re
from typing import Annotated, Literal, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.identity import cell_id
from jetproof.model.ledger import Kind, Severity
from jetproof.model.verdict import (
    BrokenMessage,
    Cell,
    Check,
    Fault,
    FrameRecord,
    Question,
    QuestionEnd,
    Result,
    SchemaResult,
    Verdict,
    Violation,
)

SCHEMA = 1
PAYLOAD_BYTES = 64 * 1024
TEXT_CHARACTERS = 16 * 1024

Row = dict[str, object]
"""A part of a `--json` document."""

Name = Annotated[str, Meta(min_length=1)]
Count = Annotated[int, Meta(ge=0)]
Number = Annotated[int, Meta(ge=1)]
Milliseconds = Annotated[float, Meta(ge=0)]

RunId = Annotated[Name, Meta(description="The run's id.")]
CellName = Annotated[
    Name, Meta(description="The cell's full name: case @server topology [client].")
]
Target = Annotated[
    str,
    Meta(
        description="The target as it was asked for: 2.15.1, container:2.14.6, path:./nats-server."
    ),
]
Attempt = Annotated[
    Number, Meta(description="1 for the first play; a retry is a further row, never an overwrite.")
]
OfCell = Annotated[
    Count,
    Meta(
        description="The revision of the cell: a run can judge one case by several. "
        "Runs before it was kept lack it."
    ),
]
Index = Annotated[Number, Meta(description="Position in the cell's list.")]
Server = Annotated[str, Meta(description="The release that was played against.")]
Reason = Annotated[str, Meta(description="Why the verdict is what it is; empty for a plain pass.")]
DeviationId = Annotated[str | None, Meta(description="The ledger's entry that says so.")]
LedgerKind = Annotated[
    Kind | None, Meta(description="Why the target differs from the text, by the ledger entry.")
]
LedgerSeverity = Annotated[
    Severity | None, Meta(description="What that means for a user, by the ledger entry.")
]
Upstream = Annotated[str | None, Meta(description="Where the server or library project tracks it.")]
NeverRight = Annotated[
    bool,
    Meta(
        description="Some play broke a check that no conforming target breaks, on whatever machine."
    ),
]
EditionName = Annotated[
    str | None,
    Meta(description="The edition that the run was scored by; null if every case is scored."),
]
Replay = Annotated[str, Meta(description="The command that plays this cell again.")]
Exact = Annotated[str, Meta(description="The exact bytes, if they are not UTF-8.")]


class CellFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a row of `cells.jsonl`, and a cell in a document, say about a cell besides its name."""

    case: Annotated[str, Meta(description="suite::case", pattern="^.+::.+$")]
    suite: str
    spec: str
    spec_revision: Annotated[
        Count,
        Meta(description="The revision of the specification that the cell is judged by."),
    ]
    server: Server
    provider: str
    topology: str
    configuration: str
    target: Target
    client: Annotated[
        str | None, Meta(description="The client library under test; null on the server plane.")
    ]
    attempt: Attempt
    verdict: Verdict
    ms: Annotated[Milliseconds, Meta(description="How long the case took.")]
    started_at: Annotated[str, Meta(description="UTC, ISO 8601; empty if the case was not played.")]
    clauses: Annotated[tuple[str, ...], Meta(description="The clauses that the case tests.")]
    reason: Reason
    position: Annotated[
        dict[str, str],
        Meta(description="What the target does where the text does not decide, by name."),
    ]
    deviation: DeviationId
    kind: LedgerKind = None
    severity: LedgerSeverity = None
    upstream: Upstream = None
    plays: Annotated[
        tuple[str, ...],
        Meta(description="The verdict of each play, where a red cell was played again."),
    ] = ()
    never_right: NeverRight = False
    case_hash: Annotated[
        str,
        Meta(description="Hash of what the case does and expects: equal hashes are the same case."),
    ]
    edition: EditionName = None
    scored: Annotated[
        bool,
        Meta(
            description="Whether the cell counts: false if the edition does not list the case "
            "as it is."
        ),
    ] = True
    replay: Replay
    server_log: Annotated[
        tuple[str, ...],
        Meta(description="The last lines of the server's log, for cells that need them."),
    ]


class CellRow(CellFacts, frozen=True, kw_only=True, gc=False):
    """One verdict: one case on one target. Written last, so the case's checks and frames are there."""

    run: RunId
    cell: CellName


class CheckRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One expectation, judged."""

    run: RunId
    cell: CellName
    spec_revision: OfCell | UnsetType = UNSET
    target: Target
    attempt: Attempt
    index: Index
    step: Annotated[str, Meta(description="The step's label, or its address in the case.")]
    iteration: Annotated[str, Meta(description="Where in which loop; empty outside loops.")]
    kind: str
    path: Annotated[str, Meta(description="What was looked at.")]
    ok: bool
    expected: Annotated[str, Meta(description="In words.")]
    actual: Annotated[
        str | None, Meta(description="What was seen, as JSON text; null if the check holds.")
    ]
    fault: Annotated[
        Fault | None,
        Meta(description="What a failed check proves if it is seen once; null where it holds."),
    ] = None
    clause: Annotated[
        str | None,
        Meta(
            description="The promise that it is about; null if it is about the clauses of its "
            "case. Runs before promises lack it."
        ),
    ] = None
    ms: Annotated[Milliseconds, Meta(description="When, since the case's start.")]


class HeaderRow(msgspec.Struct, frozen=True, gc=False):
    """One header of a frame."""

    name: str
    value: str
    name_b64: Exact | UnsetType = UNSET
    value_b64: Exact | UnsetType = UNSET


class FrameRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One frame of a transcript, as it was on the wire."""

    run: RunId
    cell: CellName
    spec_revision: OfCell | UnsetType = UNSET
    target: Target
    attempt: Attempt
    index: Index
    ms: Annotated[Milliseconds, Meta(description="Since the case's start.")]
    direction: Annotated[
        Literal[">", "<", "!"],
        Meta(description="To the server, from it, or an event that is no frame."),
    ]
    connection: str
    op: str
    subject: str
    reply: str
    status: Annotated[Count | None, Meta(description="From the header line.")]
    description: str
    headers: Annotated[
        tuple[HeaderRow, ...] | None,
        Meta(
            description="In wire order, names repeated as sent; null if there was no header block."
        ),
    ]
    size: Annotated[Count, Meta(description="Bytes of the payload on the wire.")]
    note: str
    step: Annotated[str, Meta(description="The step in which it came.")]
    truncated: Annotated[bool, Meta(description="Whether the payload below is only its beginning.")]
    payload: Annotated[str, Meta(description="If it is UTF-8.")] | UnsetType = UNSET
    payload_b64: Annotated[str, Meta(description="If it is not.")] | UnsetType = UNSET


class QuestionRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Something that the engine asked a server for its own sake while a case was played."""

    run: RunId
    cell: CellName
    spec_revision: OfCell
    target: Target
    attempt: Attempt
    index: Index
    after: Annotated[
        Count, Meta(description="How many frames of the cell's transcript came before it.")
    ]
    ms: Annotated[Milliseconds, Meta(description="When it was asked, since the case's start.")]
    ended_ms: Annotated[Milliseconds, Meta(description="When it ended.")]
    connection: str
    subject: Annotated[str, Meta(description="PING where it was no message.")]
    headers: tuple[HeaderRow, ...] | None
    payload: str | UnsetType = UNSET
    payload_b64: Exact | UnsetType = UNSET
    end: Annotated[
        QuestionEnd,
        Meta(description="How it ended; abandoned: the engine did not wait any longer."),
    ]
    status: Annotated[Count | None, Meta(description="From the header line of the answer.")]
    answer_headers: tuple[HeaderRow, ...] | None
    answer: str | UnsetType = UNSET
    answer_b64: Exact | UnsetType = UNSET
    step: Annotated[str, Meta(description="The step in which it was asked.")]


class ClauseRow(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One clause as it read when the run was made."""

    run: RunId
    clause: str
    spec: str
    section: str
    level: Level
    actor: Actor
    status: Status
    text: str
    revision_from: Count | None
    revision_to: Count | None
    applies_from: Annotated[str | None, Meta(description="A server release.")]
    sentence_hash: str | None
    anchor: str | None
    replaces: str | None
    contested_with: tuple[str, ...]
    note: str | None


class ViolationRow(msgspec.Struct, frozen=True, gc=False):
    """One way in which messages break the schema."""

    path: Annotated[str, Meta(description="Where in the message.")]
    message: Annotated[str, Meta(description="What is wrong there.")]
    case: Annotated[str, Meta(description="The case that showed it first.")]


class BrokenMessageRow(msgspec.Struct, frozen=True, gc=False):
    """A message that does not fit its schema, or the beginning of a long one."""

    case: str
    subject: str
    payload: Annotated[str, Meta(description="If it is UTF-8.")] | UnsetType = UNSET
    payload_b64: Annotated[str, Meta(description="If it is not.")] | UnsetType = UNSET


class SchemaFacts(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """What a row of `schemas.jsonl`, and an entry in a document, say about a schema."""

    schema: Annotated[
        Name, Meta(description="The schema's name below fixtures/schemas/wire: pub-ack.")
    ]
    spec: Annotated[
        str | None,
        Meta(
            description="The specification whose revisions give the schema other forms; null if "
            "it has one form."
        ),
    ]
    spec_revision: Annotated[
        Count | None, Meta(description="The revision of it that the target speaks.")
    ]
    server: Server
    provider: str
    target: Target
    attempt: Attempt
    verdict: Verdict
    seen: Annotated[Count, Meta(description="How many such messages came.")]
    broken: Annotated[
        Count | None,
        Meta(
            description="How many of them do not fit the schema; null in runs before it was kept."
        ),
    ]
    unknown_fields: Annotated[
        tuple[str, ...], Meta(description="Fields that the schema does not name.")
    ]
    violations: Annotated[
        tuple[ViolationRow, ...],
        Meta(description="The ways in which messages do not fit it, the first of them."),
    ]
    first_broken: Annotated[
        BrokenMessageRow | None, Meta(description="The first message that does not fit it.")
    ]
    started_at: Annotated[str, Meta(description="When it was judged; UTC, ISO 8601.")]
    reason: Reason
    deviation: DeviationId
    kind: LedgerKind
    severity: LedgerSeverity
    upstream: Upstream
    never_right: NeverRight
    schema_hash: Annotated[
        str,
        Meta(
            description="Hash of what the schema demands; empty if the run was scored by no edition."
        ),
    ]
    edition: EditionName
    scored: Annotated[
        bool,
        Meta(
            description="Whether it counts: false if the edition does not list the schema as it "
            "is, or only cases that are not scored showed what is wrong."
        ),
    ]
    replay: Annotated[str, Meta(description="The command that plays what was played.")]


class SchemaRow(SchemaFacts, frozen=True, kw_only=True, gc=False):
    """What all messages of one kind that a target sent in a run say about it, by their schema."""

    run: RunId


Journal = TypeVar("Journal", bound=msgspec.Struct)

_ENCODER = msgspec.json.Encoder()
_BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")


def json_default(value: object) -> object:
    """What `json` writes for a value that JSON does not have."""
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "backslashreplace")
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=repr) if isinstance(value, (set, frozenset)) else list(value)
    if isinstance(value, msgspec.Struct):
        return msgspec.to_builtins(value)
    return str(value)


def plain(row: msgspec.Struct) -> Row:
    """A row as a part of a document."""
    document = _lists(msgspec.to_builtins(row))
    assert isinstance(document, dict)
    return document


def _lists(value: object) -> object:
    """The same with lists for tuples, as JSON reads back."""
    if isinstance(value, dict):
        return {name: _lists(item) for name, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, (list, tuple)) else value


def encode(row: object) -> bytes:
    """One line of a journal. Pure ASCII, so that no reader can split it at an odd line break."""
    try:
        line = _ENCODER.encode(row)
    except UnicodeEncodeError:  # names that a hostile server gave, of bytes that are not UTF-8
        line = json.dumps(msgspec.to_builtins(row), separators=(",", ":")).encode("ascii")
    if not line.isascii():
        line = _BEYOND_ASCII.sub(_escaped, line)
    return line + b"\n"


def _escaped(found: re.Match[bytes]) -> bytes:
    return json.dumps(found.group().decode("utf-8"))[1:-1].encode("ascii")


# -- cells ---------------------------------------------------------------------------------------


def cell_row(run: str, cell: Cell) -> CellRow:
    return CellRow(
        run=run,
        cell=cell.name,
        case=cell.case,
        suite=cell.suite,
        spec=cell.spec,
        spec_revision=cell.spec_revision,
        server=cell.server,
        provider=cell.provider,
        topology=cell.topology,
        configuration=cell.configuration,
        target=cell.target,
        client=cell.client,
        attempt=cell.attempt,
        verdict=cell.verdict,
        ms=round(cell.ms, 3),
        started_at=cell.started_at,
        clauses=cell.clauses,
        reason=_text(cell.reason),
        position={_text(key): _text(value) for key, value in cell.position.items()},
        deviation=cell.deviation,
        kind=Kind(cell.kind) if cell.kind else None,
        severity=Severity(cell.severity) if cell.severity else None,
        upstream=cell.upstream,
        plays=cell.plays,
        never_right=cell.never_right,
        case_hash=cell.case_hash,
        edition=cell.edition,
        scored=cell.scored,
        replay=cell.replay,
        server_log=tuple(map(_text, cell.server_log)),
    )


def cell_of(row: CellRow) -> Cell:
    """The cell that a row of a journal tells of."""
    known = {name: getattr(row, name) for name in CellFacts.__struct_fields__}
    return Cell(**known, revision=cell_id(row.cell).revision)


# -- schemas -------------------------------------------------------------------------------------


def schema_row(run: str, result: SchemaResult) -> SchemaRow:
    broken = result.first_broken
    return SchemaRow(
        run=run,
        schema=result.schema,
        spec=result.spec,
        spec_revision=result.spec_revision,
        server=result.server,
        provider=result.provider,
        target=result.target,
        attempt=result.attempt,
        verdict=result.verdict,
        seen=result.seen,
        broken=result.broken,
        unknown_fields=tuple(map(_text, result.unknown_fields)),
        violations=tuple(
            ViolationRow(_text(one.path), _text(one.message), one.case) for one in result.violations
        ),
        first_broken=None
        if broken is None
        else BrokenMessageRow(broken.case, _text(broken.subject), *_payload(broken.payload)),
        started_at=result.started_at,
        reason=_text(result.reason),
        deviation=result.deviation,
        kind=Kind(result.kind) if result.kind else None,
        severity=Severity(result.severity) if result.severity else None,
        upstream=result.upstream,
        never_right=result.never_right,
        schema_hash=result.schema_hash,
        edition=result.edition,
        scored=result.scored,
        replay=result.replay,
    )


_OF_SCHEMA = tuple(
    name for name in SchemaFacts.__struct_fields__ if name not in ("violations", "first_broken")
)


def schema_of(row: SchemaRow) -> SchemaResult:
    """The result that a row of a journal tells of."""
    known = {name: getattr(row, name) for name in _OF_SCHEMA}
    broken = row.first_broken
    return SchemaResult(
        **known,
        violations=tuple(Violation(one.path, one.message, one.case) for one in row.violations),
        first_broken=None
        if broken is None
        else BrokenMessage(broken.case, broken.subject, _bytes(broken.payload, broken.payload_b64)),
    )


# -- checks, frames, questions, clauses ----------------------------------------------------------


def check_row(run: str, of: Result, index: int, check: Check) -> CheckRow:
    return CheckRow(
        run=run,
        cell=of.name,
        spec_revision=of.spec_revision if isinstance(of, Cell) else 0,
        target=of.target,
        attempt=of.attempt,
        index=index,
        step=check.step,
        iteration=_text(check.iteration),
        kind=check.kind,
        path=check.path,
        ok=check.ok,
        expected=_text(check.expected),
        actual=None if check.ok else value_text(check.actual),
        fault=None if check.ok else check.fault,
        clause=check.clause,
        ms=round(check.ms, 3),
    )


def check_of(row: CheckRow) -> Check:
    return Check(
        step=row.step,
        kind=row.kind,
        path=row.path,
        ok=row.ok,
        expected=row.expected,
        actual=None if row.actual is None else _value(row.actual),
        iteration=row.iteration,
        ms=row.ms,
        fault=row.fault or Fault.NEVER_RIGHT,
        clause=row.clause,
    )


def frame_row(run: str, cell: Cell, index: int, frame: FrameRecord) -> FrameRow:
    payload, payload_b64 = _payload(frame.payload)
    return FrameRow(
        run=run,
        cell=cell.name,
        spec_revision=cell.spec_revision,
        target=cell.target,
        attempt=cell.attempt,
        index=index,
        ms=round(frame.ms, 3),
        direction=frame.direction,  # type: ignore[arg-type]
        connection=frame.connection,
        op=frame.op,
        subject=_text(frame.subject),
        reply=_text(frame.reply),
        status=frame.status,
        description=_text(frame.description),
        headers=_headers(frame.headers),
        size=len(frame.payload),
        note=_text(frame.note),
        step=frame.step,
        truncated=len(frame.payload) > PAYLOAD_BYTES,
        payload=payload,
        payload_b64=payload_b64,
    )


def frame_of(row: FrameRow) -> FrameRecord:
    return FrameRecord(
        ms=row.ms,
        direction=row.direction,
        connection=row.connection,
        op=row.op,
        subject=row.subject,
        reply=row.reply,
        status=row.status,
        description=row.description,
        headers=_items(row.headers),
        payload=_bytes(row.payload, row.payload_b64),
        note=row.note,
        step=row.step,
    )


def question_row(run: str, cell: Cell, index: int, question: Question) -> QuestionRow:
    payload, payload_b64 = _payload(question.payload)
    answer, answer_b64 = _payload(question.answer)
    return QuestionRow(
        run=run,
        cell=cell.name,
        spec_revision=cell.spec_revision,
        target=cell.target,
        attempt=cell.attempt,
        index=index,
        after=question.after,
        ms=round(question.ms, 3),
        ended_ms=round(question.ended_ms, 3),
        connection=question.connection,
        subject=_text(question.subject),
        headers=_headers(question.headers),
        payload=payload,
        payload_b64=payload_b64,
        end=question.end,
        status=question.status,
        answer_headers=_headers(question.answer_headers),
        answer=answer,
        answer_b64=answer_b64,
        step=question.step,
    )


def question_of(row: QuestionRow) -> Question:
    return Question(
        after=row.after,
        ms=row.ms,
        ended_ms=row.ended_ms,
        connection=row.connection,
        subject=row.subject,
        headers=_items(row.headers),
        payload=_bytes(row.payload, row.payload_b64),
        end=row.end,
        status=row.status,
        answer_headers=_items(row.answer_headers),
        answer=_bytes(row.answer, row.answer_b64),
        step=row.step,
    )


def clause_row(run: str, clause: Clause) -> ClauseRow:
    return ClauseRow(
        run=run,
        clause=clause.id,
        spec=clause.spec,
        section=clause.section,
        level=clause.level,
        actor=clause.actor,
        status=clause.status,
        text=clause.text,
        revision_from=clause.revision_from,
        revision_to=clause.revision_to,
        applies_from=None if clause.applies_from is None else str(clause.applies_from),
        sentence_hash=clause.sentence_hash,
        anchor=clause.anchor,
        replaces=clause.replaces,
        contested_with=tuple(clause.contested_with),
        note=clause.note,
    )


# -- text and bytes ------------------------------------------------------------------------------


def value_text(value: object) -> str:
    """A value as JSON text, so that a table needs one type for all of them."""
    return _text(json.dumps(value, ensure_ascii=False, default=json_default))


def _value(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:  # cut because it was long
        return text


def _text(text: str) -> str:
    """Text that every JSON reader accepts: bytes that were not UTF-8 become `\\xff`."""
    if len(text) > TEXT_CHARACTERS:
        text = f"{text[:TEXT_CHARACTERS]}… ({len(text):,} characters)"
    return text if text.isascii() else _exact(text)[0]


def _exact(text: str) -> tuple[str, bytes | None]:
    """Readable text, and the bytes as they were if the text cannot say them."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raw = text.encode("utf-8", "surrogateescape" if _only_escapes(text) else "surrogatepass")
        return raw.decode("utf-8", "backslashreplace"), raw
    return text, None


def readable(value: object) -> object:
    """A value of JSON with the text that a row holds: older versions wrote some fields unescaped."""
    match value:
        case str():
            return value if value.isascii() else _exact(value)[0]
        case list():
            return [readable(item) for item in value]
        case dict():
            return {readable(name): readable(item) for name, item in value.items()}
    return value


def _only_escapes(text: str) -> bool:
    return all(not 0xD800 <= ord(char) <= 0xDFFF or 0xDC80 <= ord(char) <= 0xDCFF for char in text)


def _headers(items: tuple[tuple[str, str], ...] | None) -> tuple[HeaderRow, ...] | None:
    return None if items is None else tuple(_header(*one) for one in items)


def _items(headers: tuple[HeaderRow, ...] | None) -> tuple[tuple[str, str], ...] | None:
    return None if headers is None else tuple((one.name, one.value) for one in headers)


def _header(name: str, value: str) -> HeaderRow:
    (named, name_raw), (valued, value_raw) = _exact(name), _exact(value)
    return HeaderRow(named, valued, _base64(name_raw), _base64(value_raw))


def _payload(payload: bytes) -> tuple[str | UnsetType, str | UnsetType]:
    """A payload as text, or as base64 if it is not UTF-8."""
    kept = payload[:PAYLOAD_BYTES]
    try:
        return kept.decode("utf-8"), UNSET
    except UnicodeDecodeError as error:
        # A character that the cut itself split does not make the payload binary.
        if len(payload) > PAYLOAD_BYTES and error.reason == "unexpected end of data":
            return kept[: error.start].decode("utf-8"), UNSET
        return UNSET, _base64(kept)


def _bytes(text: str | UnsetType, encoded: str | UnsetType) -> bytes:
    if encoded is not UNSET:
        return base64.b64decode(encoded)
    return b"" if text is UNSET else text.encode("utf-8")


def _base64(raw: bytes | None) -> str | UnsetType:
    return UNSET if raw is None else base64.b64encode(raw).decode("ascii")
