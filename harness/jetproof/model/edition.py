"""Editions: frozen lists of cases. What an edition does not list is played, shown, and not scored.

An edition is scoring and no part of a cell's identity: the same cell is scored by one edition and not by
another, and nothing about what was played differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

NAME = re.compile(r"\d{4}\.\d{2}(\.\d+)?")
EVERYTHING = "none"
"""What asks for no edition where there would be one by default: every case is scored."""
NEWEST = "latest"


@dataclass(frozen=True, slots=True)
class Edition:
    """The hash of every case that is scored, by the name that the case has today."""

    name: str
    hashes: Mapping[str, str]

    def scores(self, case: str, case_hash: str) -> bool:
        """Whether the case is in the edition, and is still the same case."""
        return self.hashes.get(case) == case_hash

    def standing(self, cases: Mapping[str, str]) -> Standing:
        """What has become of the edition, by the cases that there are today and their hashes."""
        return Standing(
            edition=self.name,
            same=tuple(name for name, its in cases.items() if self.scores(name, its)),
            new=tuple(name for name in cases if name not in self.hashes),
            changed=tuple(name for name, its in cases.items() if self.hashes.get(name, its) != its),
            removed=tuple(name for name in self.hashes if name not in cases),
        )


@dataclass(frozen=True, slots=True)
class Standing:
    """An edition against today's cases."""

    edition: str
    same: tuple[str, ...]
    new: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


def edition_key(name: str) -> tuple[int, ...]:
    """Editions follow each other by it: 2026.11 before 2026.11.1 before 2027.01."""
    return tuple(map(int, name.split(".")))


def in_order(names: Iterable[str]) -> list[str]:
    return sorted(names, key=edition_key)
