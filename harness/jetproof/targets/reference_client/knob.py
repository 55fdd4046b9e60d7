"""What a knob is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Knob:
    """One way to be wrong."""

    name: str
    does: str
    breaks: tuple[str, ...]
    revision: str | None = None


def table(*rows: tuple[str, str, str] | tuple[str, str, str, str]) -> tuple[Knob, ...]:
    """Knobs from rows of name, what it does, the clauses it breaks, and the revision if one."""
    return tuple(Knob(row[0], row[1], tuple(row[2].split()), *row[3:]) for row in rows)
