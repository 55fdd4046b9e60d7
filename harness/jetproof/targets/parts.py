"""The parts of a reading: which class plays each of them."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Parts:
    """Names the class of every object that a reading makes, so that a subclass can stand in for it."""

    def part(self, role: type[T]) -> type[T]:
        """The class to make objects of: the role itself. `targets.faults` puts subclasses there."""
        return role
