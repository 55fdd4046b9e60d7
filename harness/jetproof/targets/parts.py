"""The parts of a reading: which class plays each of them."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


class Parts:
    """Every object of the reading is made of a class that it names, so that a subclass can stand in."""

    def part(self, role: type[T]) -> type[T]:
        """The class to make objects of: the role itself. `targets.faults` puts subclasses there."""
        return role
