"""The control channel of fast ingest, in the two forms that revisions of ADR-50 gave it.

Both say the same: which batch, which message, what to do. Revision 10 says it in the reply subject,
revision 7 in headers; the answers differ as well. What is heard has one form for both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Protocol

from jetproof.targets.reference_client.conduct import Conduct
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
    conduct: Conduct

    @property
    def subscription(self) -> str:
        wrong = self.conduct.wrong
        if wrong("channel-too-wide"):
            return f"{self.prefix}.>"
        if wrong("channel-shared"):
            return f"{self.prefix.rpartition('.')[0]}.>"
        if wrong("channel-for-each-message"):
            return self._reply(1, Operation.START)
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
        return message, self._reply(sequence, operation)

    def _reply(self, sequence: int, operation: Operation) -> str:
        wrong = self.conduct.wrong
        if sequence > 2 and wrong("ingest-sequence-skips"):
            sequence += 1
        if sequence > 1 and wrong("replies-not-unique"):
            sequence = 1
        if operation is Operation.APPEND and wrong("appends-as-start"):
            operation = Operation.START
        gap = "" if wrong("reply-without-gap-mode") else f".{self.gap}"
        head = f"{self.prefix}.{self.batch_id}.{self.flow}{gap}"
        if wrong("reply-outside-the-inbox"):
            head = f"{self.prefix}x.{self.batch_id}.{self.flow}{gap}"
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
                if isinstance(document.get("seq"), int) and self.conduct.wrong(
                    "unknown-messages-taken-for-acks"
                ):
                    return (Acked(int(document["seq"]), self.flow),)
                return ()


class HeaderForm:
    """Revision 7: headers on the messages, and one inbox as the reply subject of all."""

    def __init__(
        self, prefix: str, batch_id: str, flow: int, gap: str | None, conduct: Conduct
    ) -> None:
        self.subscription = prefix
        self.fails_at_gaps = gap != "ok"
        self.has_ping = False
        self._batch_id = batch_id
        self._flow = flow
        self._gap = gap
        self._every = flow
        self._subjects: set[str] = set()
        self._wrong = conduct.wrong

    def dressed(
        self, message: Outgoing, sequence: int, operation: Operation
    ) -> tuple[Outgoing, str]:
        self._check(message, sequence)
        self._subjects.add(message.subject)
        items = [("Nats-Fast-Batch-Id", self._batch_id)]
        if sequence > 2 and self._wrong("ingest-sequence-skips"):
            sequence += 1
        items.append(("Nats-Batch-Sequence", str(sequence)))
        if sequence == 1:
            if not self._wrong("starts-without-flow"):
                items.append(("Nats-Flow", str(self._flow)))
            if self._gap is not None and not self._wrong("gap-mode-unsent"):
                items.append(("Nats-Batch-Gap", self._gap))
        if operation in (Operation.COMMIT, Operation.END):
            items.append(("Nats-Batch-Commit", "1" if operation is Operation.COMMIT else "eob"))
        reply = self.subscription
        if sequence > 1 and self._wrong("reply-outside-the-inbox"):
            reply += "x"
        return message.having(*items), reply

    def _check(self, message: Outgoing, sequence: int) -> None:
        names = {name for name, _ in message.items}
        if self._wrong("later-expectations-sent"):
            return
        if sequence > 1 and "Nats-Expected-Last-Sequence" in names:
            raise invalid("only the first message of a batch can expect a last sequence")
        expects = "Nats-Expected-Last-Subject-Sequence" in names
        if expects and message.subject in self._subjects:
            raise invalid(f"the batch has written to {message.subject} before")

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
