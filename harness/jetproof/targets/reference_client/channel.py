"""The control channel of fast ingest, in the two forms that revisions of ADR-50 gave it.

Both say the same: which batch, which message, what to do. Revision 10 says it in the reply subject,
revision 7 in headers; the answers differ as well. What is heard has one form for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from jetproof.targets.reference_client.errors import ClientError, api_error, invalid
from jetproof.targets.reference_client.publishing import Outgoing


class Operation(IntEnum):
    """What a message is to its batch; the numbers are those of revision 10."""

    START = 0
    APPEND = 1
    COMMIT = 2
    END = 3
    PING = 4


@dataclass(frozen=True, slots=True)
class Acked:
    """Everything up to `sequence` is acknowledged; `every` so many messages an ack follows."""

    sequence: int
    every: int


@dataclass(frozen=True, slots=True)
class Gap:
    """Messages from `first` up to the one before `sequence` were lost."""

    first: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Failed:
    """The message of this sequence failed a check."""

    sequence: int
    error: ClientError


@dataclass(frozen=True, slots=True)
class Refused:
    """The batch is refused, or over."""

    error: ClientError


@dataclass(frozen=True, slots=True)
class Final:
    """The PubAck that ends the batch."""

    document: Mapping[str, Any]


Heard = Acked | Gap | Failed | Refused | Final


class Channel(Protocol):
    """One form of the control channel."""

    @property
    def subscription(self) -> str:
        """What to subscribe to for the life of the batch."""

    @property
    def fails_at_gaps(self) -> bool: ...

    @property
    def has_ping(self) -> bool: ...

    def dressed(
        self, message: Outgoing, sequence: int, operation: Operation
    ) -> tuple[Outgoing, str]:
        """The message as it is sent, and its reply subject."""

    def heard(self, document: Mapping[str, Any]) -> tuple[Heard, ...]:
        """What it says; nothing, if it is none of what is known."""


@dataclass(frozen=True, slots=True)
class ReplySubjects:
    """Revision 10: `<prefix>.<id>.<flow>.<gap>.<sequence>.<operation>.$FI`."""

    prefix: str
    batch_id: str
    flow: int
    gap: str

    @property
    def subscription(self) -> str:
        return f"{self.prefix}.{self.batch_id}.>"

    @property
    def fails_at_gaps(self) -> bool:
        return self.gap == "fail"

    @property
    def has_ping(self) -> bool:
        return True

    def dressed(
        self, message: Outgoing, sequence: int, operation: Operation
    ) -> tuple[Outgoing, str]:
        return message, self.reply(sequence, operation)

    def reply(self, sequence: int, operation: Operation) -> str:
        head = f"{self.prefix}.{self.batch_id}.{self.flow}.{self.gap}"
        return f"{head}.{sequence}.{int(operation)}.$FI"

    def heard(self, document: Mapping[str, Any]) -> tuple[Heard, ...]:
        match document.get("type"):
            case "ack":
                return (Acked(int(document["seq"]), int(document["msgs"])),)
            case "gap":
                return (Gap(int(document["last_seq"]), int(document["seq"])),)
            case "err":
                return (Failed(int(document["seq"]), api_error(document["error"])),)
            case None:
                return _ending(document)
            case _:
                return ()


class HeaderForm:
    """Revision 7: headers on the messages, and one inbox as the reply subject of all."""

    def __init__(self, prefix: str, batch_id: str, flow: int, gap: str | None) -> None:
        self.subscription = prefix
        self.fails_at_gaps = gap != "ok"
        self.has_ping = False
        self._batch_id = batch_id
        self._flow = flow
        self._gap = gap
        self._every = flow
        self._subjects: set[str] = set()

    def dressed(
        self, message: Outgoing, sequence: int, operation: Operation
    ) -> tuple[Outgoing, str]:
        self.check(message, sequence)
        self._subjects.add(message.subject)
        items = [("Nats-Fast-Batch-Id", self._batch_id), self.numbered(sequence)]
        if sequence == 1:
            items += self.opening()
        if operation in (Operation.COMMIT, Operation.END):
            items.append(("Nats-Batch-Commit", "1" if operation is Operation.COMMIT else "eob"))
        return message.having(*items), self.reply(sequence)

    def check(self, message: Outgoing, sequence: int) -> None:
        names = {name for name, _ in message.items}
        if sequence > 1 and "Nats-Expected-Last-Sequence" in names:
            raise invalid("only the first message of a batch can expect a last sequence")
        expects = "Nats-Expected-Last-Subject-Sequence" in names
        if expects and message.subject in self._subjects:
            raise invalid(f"the batch has written to {message.subject} before")

    def numbered(self, sequence: int) -> tuple[str, str]:
        return "Nats-Batch-Sequence", str(sequence)

    def opening(self) -> list[tuple[str, str]]:
        """What only the first message says."""
        gap = [] if self._gap is None else [("Nats-Batch-Gap", self._gap)]
        return [("Nats-Flow", str(self._flow)), *gap]

    def reply(self, sequence: int) -> str:
        return self.subscription

    def heard(self, document: Mapping[str, Any]) -> tuple[Heard, ...]:
        if document.get("error") or document.get("batch"):
            return _ending(document)
        self._every = int(document.get("messages") or self._every)
        sequence = int(document.get("seq") or 0)
        acked = Acked(sequence, self._every)
        last = int(document.get("last_seq") or 0)
        return (Gap(last + 1, sequence), acked) if last else (acked,)


def _ending(document: Mapping[str, Any]) -> tuple[Heard, ...]:
    if document.get("error"):
        return (Refused(api_error(document["error"])),)
    return (Final(document),) if "stream" in document else ()
