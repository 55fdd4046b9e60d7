"""Mutants: named ways for a server to be wrong, each tied to the clauses it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to be wrong. `rules` are what the tap does to the frames, as plain data."""

    id: str
    about: str
    breaks: tuple[str, ...]
    rules: tuple[Mapping[str, object], ...]
    file: str = ""
    line: int = 0
