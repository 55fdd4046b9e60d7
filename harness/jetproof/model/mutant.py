"""Mutants: named ways for a server to be wrong, each tied to the clauses it breaks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Mutant:
    """One way to be wrong. `rules` are what the tap does to the frames, as plain data.

    `knobs` are what the reference layer does wrong, if it is that which is wrong. A mutant
    `for_reference` says nothing about a release: what its rules change, only that layer says.
    """

    id: str
    about: str
    breaks: tuple[str, ...]
    rules: tuple[Mapping[str, object], ...]
    file: str = ""
    line: int = 0
    knobs: Mapping[str, bool] = field(default_factory=dict)
    for_reference: bool = False
