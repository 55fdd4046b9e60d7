"""Fast ingest as arithmetic: which sequences are acknowledged, and when a publisher has to wait."""

from __future__ import annotations

from typing import Final

DEFAULT_FLOW: Final = 100
DEFAULT_OUTSTANDING: Final = 2
MOST_OUTSTANDING: Final = 3


class Flow:
    """What was sent, what is acknowledged, and how much may be outstanding.

    An acknowledgement of a sequence stands for all before it; acknowledgements are outstanding by
    the flow that was told last.
    """

    def __init__(self, outstanding: int) -> None:
        self.outstanding = outstanding
        self.sent = 0
        self.acked = 0
        self.every = 0
        """Messages for each acknowledgement, as the server said last; 0 before it said anything."""

    def acknowledged(self, sequence: int, every: int) -> None:
        """A BatchFlowAck: everything up to the sequence is acknowledged, and this is the flow."""
        self.every = every
        self.acked = max(self.acked, sequence)

    def gap(self, sequence: int) -> None:
        """A BatchFlowGap: it says nothing about what is stored or allowed."""

    @property
    def must_wait(self) -> bool:
        """Whether the next message has to wait for an acknowledgement."""
        if not self.every:
            return self.sent > 0
        return self.acked + self.every * self.outstanding <= self.sent
