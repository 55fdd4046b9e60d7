"""Fast ingest as arithmetic: which sequences are acknowledged, and when a publisher has to wait."""

from __future__ import annotations

from typing import Final

from jetproof.targets.reference_client.conduct import Conduct

DEFAULT_FLOW: Final = 100
DEFAULT_OUTSTANDING: Final = 2
MOST_OUTSTANDING: Final = 3


class Flow:
    """What was sent, what is acknowledged, and how much may be outstanding.

    An acknowledgement of a sequence stands for all before it; acknowledgements are outstanding by
    the flow that was told last.
    """

    def __init__(self, outstanding: int, conduct: Conduct | None = None) -> None:
        self.outstanding = outstanding
        self.sent = 0
        self.acked = 0
        self.every = 0
        """Messages for each acknowledgement, as the server said last; 0 before it said anything."""
        self._acks = 0
        self._wrong = (conduct or Conduct()).wrong

    def acknowledged(self, sequence: int, every: int) -> None:
        """A BatchFlowAck: everything up to the sequence is acknowledged, and this is the flow."""
        self._acks += 1
        if sequence > self.sent and self._wrong("future-acks-ignored"):
            return
        if self.every and sequence > self.acked + self.every and self._wrong("acks-in-order-only"):
            return
        if not self.every or every == self.every or not self._wrong("flow-never-changes"):
            self.every = every
        if sequence > self.acked and self._wrong("acks-counted-not-tracked"):
            self.acked = min(sequence, self.acked + self.every)
            return
        if sequence and sequence == self.acked and self._wrong("doubled-acks-count-twice"):
            self.acked += self.every
            return
        if sequence < self.acked and self._wrong("late-acks-take-back"):
            self.acked = sequence
            return
        self.acked = max(self.acked, sequence)

    def gap(self, sequence: int) -> None:
        """A BatchFlowGap: it says nothing about what is stored or allowed."""
        if self._wrong("gap-taken-for-an-ack"):
            self.acked = max(self.acked, sequence)

    @property
    def must_wait(self) -> bool:
        """Whether the next message has to wait for an acknowledgement."""
        if self.sent == 0:
            return False
        if not self.every:
            return not self._wrong("pours-before-the-answer")
        if self.sent > self.acked and self._wrong("waits-for-each-ack"):
            return True
        due = self.acked + self.every * self.outstanding <= self.sent
        return due and not self._wrong("never-waits")
