"""What a case did and saw, read from its transcript: publications, deliveries, acks, API requests.

Everything here is derived from frames alone. Nothing is sent, and nothing is judged.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jetproof.engine.ack_subjects import Delivered, delivered_by
from jetproof.engine.documents import read_json
from jetproof.engine.ingest_subjects import is_fast
from jetproof.engine.play import BATCH_COMMIT, BATCH_ID, BATCH_SEQUENCE, FAST_BATCH_ID
from jetproof.model.verdict import FrameRecord

_COMMITS = ("1", "eob")


@dataclass(frozen=True, slots=True)
class Publication:
    """A message that the case sent to a subject that is not the server's own."""

    at: int
    subject: str
    headers: tuple[tuple[str, str], ...]
    payload: bytes
    reply: str
    answer: Mapping[str, object] | None
    """The JSON object that answered it, if one did."""
    answered: bool

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    @property
    def fast(self) -> bool:
        """Whether it belongs to fast ingest, which is acknowledged later and by other messages."""
        return is_fast(self.reply) or self.header(FAST_BATCH_ID) is not None


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """A message that a PubAck says is stored, and where."""

    stream: str
    seq: int
    message: Publication


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message that a consumer delivered to the case."""

    at: int
    said: Delivered


@dataclass(frozen=True, slots=True)
class AnsweredAck:
    """An ack that asked for an answer and got one: the server has taken it."""

    at: int
    """Where the answer is in the transcript."""
    said: Delivered


@dataclass(frozen=True, slots=True)
class History:
    publications: Sequence[Publication] = ()
    deliveries: Sequence[Delivery] = ()
    answered_acks: Sequence[AnsweredAck] = ()
    api: Sequence[str] = ()
    """The subjects of API requests, in order."""
    actions: frozenset[str] = frozenset()
    """What was done to servers."""
    replies: frozenset[str] = frozenset()
    """The subjects to which the case asked for answers."""
    highest: Mapping[str, int] = field(default_factory=dict)
    """By stream: the highest sequence that any answer to a publication names."""

    def asked(self, *operations: str, of: str) -> bool:
        """Whether one of these API operations was requested of a stream or consumer."""
        return any(
            f".{operation}.{of}." in f"{subject}."
            for subject in self.api
            for operation in operations
        )

    def acknowledged(self) -> list[Acknowledged]:
        """Every message that an answer says is stored, members of atomic batches included."""
        found: list[Acknowledged] = []
        members: dict[str, list[Publication]] = defaultdict(list)
        for message in self.publications:
            batch = message.header(BATCH_ID)
            if message.fast:
                continue
            if batch is not None:
                members[batch].append(message)
            ack = _stored_at(message.answer)
            if ack is None:
                continue
            if batch is None:
                found.append(Acknowledged(*ack, message))
            else:
                found.extend(_batch_members(batch, members[batch], message, *ack))
        return found


def read_history(frames: Iterable[FrameRecord]) -> History:
    """One pass over a transcript."""
    answers: dict[str, list[tuple[int, FrameRecord]]] = defaultdict(list)
    sent: list[tuple[int, FrameRecord]] = []
    deliveries: list[Delivery] = []
    replies: dict[str, int] = defaultdict(int)
    actions: set[str] = set()
    for at, frame in enumerate(frames):
        if frame.direction == "!":
            actions.add(frame.op)
        elif frame.direction == ">":
            sent.append((at, frame))
            replies[frame.reply] += 1
        else:
            answers[frame.subject].append((at, frame))
            said = delivered_by(frame.reply)
            if said is not None:
                deliveries.append(Delivery(at, said))
    publications: list[Publication] = []
    acks: list[AnsweredAck] = []
    api: list[str] = []
    highest: dict[str, int] = defaultdict(int)
    for at, frame in sent:
        came = answers.get(frame.reply, [])[: replies[frame.reply]] if frame.reply else []
        # Where several messages share a reply subject, no answer belongs to one of them.
        answer = came[0] if came and replies[frame.reply] == 1 else None
        if _is_api(frame.subject):
            api.append(frame.subject)
        elif (acked := delivered_by(frame.subject)) is not None:
            if answer is not None and _is_ack(frame.payload) and answer[1].status is None:
                acks.append(AnsweredAck(answer[0], acked))
        elif not frame.subject.startswith("$"):
            document = None if answer is None else read_json(answer[1].payload)
            documents = [read_json(one.payload) for _, one in came]
            for each in documents:
                if (stored := _stored_at(each)) is not None:
                    highest[stored[0]] = max(highest[stored[0]], stored[1])
            # An answer that cannot be read may have been any.
            read = [
                one
                for (_, one), each in zip(came, documents, strict=True)
                if not one.payload or isinstance(each, Mapping)
            ]
            publications.append(
                Publication(
                    at,
                    frame.subject,
                    frame.headers or (),
                    frame.payload,
                    frame.reply,
                    document if isinstance(document, Mapping) else None,
                    len(read) >= replies[frame.reply],
                )
            )
    return History(
        publications, deliveries, acks, api, frozenset(actions), frozenset(replies), highest
    )


def _batch_members(
    batch: str, members: Sequence[Publication], commit: Publication, stream: str, last: int
) -> list[Acknowledged]:
    """The members of a committed batch, if the case sent each of them exactly once."""
    said = commit.answer or {}
    size = said.get("count")
    if commit.header(BATCH_COMMIT) not in _COMMITS or said.get("batch") != batch:
        return []
    numbers = [message.header(BATCH_SEQUENCE) for message in members]
    if commit.header(BATCH_COMMIT) == "eob":
        numbers, members = numbers[:-1], members[:-1]
    if not isinstance(size, int) or numbers != [str(number) for number in range(1, size + 1)]:
        return []
    return [
        Acknowledged(stream, last - size + number, message)
        for number, message in enumerate(members, 1)
    ]


def _stored_at(answer: object) -> tuple[str, int] | None:
    """Where a PubAck says that the message is; a duplicate was stored before, and not now."""
    if not isinstance(answer, Mapping) or "error" in answer or answer.get("duplicate"):
        return None
    stream, seq = answer.get("stream"), answer.get("seq")
    return (stream, seq) if isinstance(stream, str) and isinstance(seq, int) and seq > 0 else None


def _is_api(subject: str) -> bool:
    return subject.startswith("$JS.") and ".API." in f"{subject}."


def _is_ack(payload: bytes) -> bool:
    return payload in (b"", b"+ACK")
