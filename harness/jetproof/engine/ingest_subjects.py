"""What the reply subject of a fast ingest message says about it (ADR-50 since revision 10).

<prefix>.<id>.<flow>.<gap mode>.<sequence>.<operation>.$FI
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

APPEND: Final = 1
END: Final = 3
PING: Final = 4

_END_OF_SUBJECT: Final = ".$FI"


@dataclass(frozen=True, slots=True)
class IngestSubject:
    """A reply subject of fast ingest. `batch` is all of it that the messages of a batch share."""

    batch: str
    flow: int
    gap: str
    sequence: int
    operation: int


def is_fast(subject: str) -> bool:
    """Whether a reply subject asks for fast ingest, well-formed or not."""
    return subject.endswith(_END_OF_SUBJECT)


def ingest_subject(subject: str) -> IngestSubject | None:
    """What a reply subject says, or None if it is none of fast ingest."""
    if not is_fast(subject):
        return None
    parts = subject.rsplit(".", 5)
    if len(parts) < 6 or not all(part.isdecimal() for part in (parts[1], parts[3], parts[4])):
        return None
    return IngestSubject(parts[0], int(parts[1]), parts[2], int(parts[3]), int(parts[4]))


def channel(reply: str) -> str:
    """What a reply subject is remembered by.

    A batch of fast ingest may append a hundred thousand messages, each with a reply subject of its
    own: they are remembered as one.
    """
    return reply.rsplit(".", 3)[0] if reply.endswith(f".{APPEND}{_END_OF_SUBJECT}") else reply
