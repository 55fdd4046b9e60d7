"""What a consume has asked for and not yet processed: pure arithmetic.

The sums are what ADR-37 wants tracked. They are kept pull by pull, oldest first, because a status
that ends a pull without saying what was left of it (404, 409 Leadership Change, 503) can only be
accounted for that way; a server serves pull requests in the order in which they came.
"""

from __future__ import annotations

from dataclasses import dataclass

LARGE_BATCH = 1_000_000
"""What is asked for in messages where bytes are the limit: no batch would mean one message."""


@dataclass(slots=True)
class Pull:
    """One pull request: what of it is still to come, and when the client gives it up."""

    messages: int
    bytes: int
    until: float = float("inf")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a consume buffers, and from when it asks for more.

    Either `messages` or `bytes` is limited; the other is 0. `low` is the number of messages or bytes
    still pending at which a refill is due, and `refill` a fixed size for it (only the draft has one).
    """

    messages: int
    bytes: int
    low: int
    refill: int = 0

    @property
    def by_bytes(self) -> bool:
        return self.bytes > 0

    @property
    def most(self) -> int:
        return self.bytes or self.messages


class Pending:
    """The pull requests under way, and their sums."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pulls: list[Pull] = []
        self.begun = False
        """Whether there was a pull request."""

    @property
    def messages(self) -> int:
        return sum(pull.messages for pull in self.pulls)

    @property
    def bytes(self) -> int:
        return sum(pull.bytes for pull in self.pulls)

    @property
    def amount(self) -> int:
        """The sum that is limited."""
        return self.bytes if self.limits.by_bytes else self.messages

    def wanted(self) -> Pull | None:
        """The pull request that is due, if one is."""
        if not self.due():
            return None
        size = self.size()
        return Pull(LARGE_BATCH, size) if self.limits.by_bytes else Pull(size, 0)

    def due(self) -> bool:
        """Whether no more is pending than the threshold."""
        return self.amount <= self.limits.low

    def size(self) -> int:
        """How much a pull request asks for: what is missing, or the fixed size of the draft."""
        missing = self.limits.most - self.amount
        return min(self.limits.refill, missing) if self.amount and self.limits.refill else missing

    def asked(self, pull: Pull) -> None:
        """A pull request was published: it is added to what is pending."""
        self.begun = True
        self.pulls.append(pull)

    def processed(self, size: int) -> None:
        """A user message was processed: one message, and its size, are taken off."""
        self._take(1, size if self.limits.by_bytes else 0)

    def ended(self, messages: int, bytes: int) -> None:
        """A pull request ended with this much of it left, as its pending headers say."""
        for pull in self.pulls:
            if (pull.messages, pull.bytes) == (messages, bytes):
                self.pulls.remove(pull)
                return
        self._take(messages, bytes if self.limits.by_bytes else 0)

    def ended_unsaid(self) -> None:
        """A pull request ended without a word about what was left: it was the oldest."""
        if self.pulls:
            del self.pulls[0]

    def overdue(self, now: float) -> bool:
        """Takes off what the client no longer waits for; says whether there was any."""
        before = len(self.pulls)
        self.pulls = [pull for pull in self.pulls if pull.until > now]
        return len(self.pulls) < before

    def forget(self) -> None:
        """Nothing is pending any more: the connection was lost, or nothing was heard."""
        self.pulls.clear()

    def next_deadline(self) -> float:
        return min((pull.until for pull in self.pulls), default=float("inf"))

    def _take(self, messages: int, bytes: int) -> None:
        for pull in self.pulls:
            off = min(messages, pull.messages)
            pull.messages -= off
            messages -= off
            off = min(bytes, pull.bytes)
            pull.bytes -= off
            bytes -= off
        by_bytes = self.limits.by_bytes
        self.pulls = [pull for pull in self.pulls if (pull.bytes if by_bytes else pull.messages)]
