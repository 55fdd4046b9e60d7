"""Moments by name: when a step began, or when a message came."""

from __future__ import annotations

from jetproof.model.template import UnknownVariable


class UnknownMark(UnknownVariable):
    """A moment that a message was to mark, and the message did not come."""

    def __str__(self) -> str:
        return f"no message arrived for the mark {self.name}"


class Marks(dict[str, float]):
    """Moments on the monotonic clock."""

    def __missing__(self, name: str) -> float:
        raise UnknownMark(name)
