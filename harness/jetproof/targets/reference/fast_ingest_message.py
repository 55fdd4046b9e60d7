"""One message of fast ingest, as its headers say (ADR-50 revision 7)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final, Self

from jetproof.wire.frames import Pub

BATCH_ID: Final = "Nats-Fast-Batch-Id"
SEQUENCE: Final = "Nats-Batch-Sequence"
COMMIT: Final = "Nats-Batch-Commit"
GAP: Final = "Nats-Batch-Gap"
FLOW: Final = "Nats-Flow"
LAST_MSG_ID: Final = "Nats-Expected-Last-Msg-Id"
LAST_SEQUENCE: Final = "Nats-Expected-Last-Sequence"
LAST_SUBJECT_SEQUENCE: Final = "Nats-Expected-Last-Subject-Sequence"
_ATOMIC: Final = "Nats-Batch-Id"
_NUMBER = re.compile(r"[1-9][0-9]{0,17}")
_RATE = re.compile(rf"({_NUMBER.pattern})(B?)")


class Commit(Enum):
    """What a message says of the end of its batch."""

    NO = "no"
    STORED = "1"
    NOT_STORED = "eob"
    NONSENSE = "nonsense"


@dataclass(frozen=True, slots=True)
class Rate:
    """How often a batch is acknowledged: every so many messages, or every so many bytes."""

    every: int
    in_bytes: bool = False

    @classmethod
    def read(cls, text: str) -> Self | None:
        """`10` or `1024B`; None for anything else."""
        found = _RATE.fullmatch(text)
        return None if found is None else cls(int(found[1]), bool(found[2]))

    def told(self) -> dict[str, int]:
        """As a BatchFlowAck has it."""
        return {"bytes" if self.in_bytes else "messages": self.every}


@dataclass(frozen=True, slots=True)
class Message:
    """What counts of a message; `sequence` is None if it is missing or none."""

    batch: str
    sequence: int | None
    subject: str = ""
    reply: str | None = None
    size: int = 0
    commit: Commit = Commit.NO
    gap: str | None = None
    flow: str | None = None
    expects: frozenset[str] = frozenset()
    """Which of the headers about an expected state it has."""

    @classmethod
    def read(cls, frame: Pub) -> Self | None:
        """The message that a client publishes; None if it is no message of fast ingest."""
        headers = frame.headers
        batch = None if headers is None else headers.get(BATCH_ID)
        if headers is None or batch is None or headers.get(_ATOMIC) is not None:
            return None
        number = headers.get(SEQUENCE)
        return cls(
            batch,
            int(number) if number is not None and _NUMBER.fullmatch(number) else None,
            frame.subject,
            frame.reply,
            len(frame.payload),
            _commit(headers.get(COMMIT)),
            headers.get(GAP),
            headers.get(FLOW),
            frozenset(
                name
                for name in (LAST_MSG_ID, LAST_SEQUENCE, LAST_SUBJECT_SEQUENCE)
                if headers.get(name) is not None
            ),
        )


def _commit(value: str | None) -> Commit:
    if value is None:
        return Commit.NO
    known = {commit.value: commit for commit in (Commit.STORED, Commit.NOT_STORED)}
    return known.get(value, Commit.NONSENSE)
