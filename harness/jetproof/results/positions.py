"""Positions side by side: what each server, or each library, does where a text is silent.

A point is one question that a case asks, such as `adding-after-an-error: messages-sent`. Who
answers is a library where one was played, else a server. A library that does the same on every
server stands there once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from jetproof.model.identity import case_id
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.revisions import Release

_NO_POSITION = (Verdict.NOT_APPLICABLE, Verdict.ERROR)


@dataclass(frozen=True, slots=True)
class Point:
    """A question of a case, and what each answers."""

    suite: str
    case: str
    topology: str
    name: str
    clauses: tuple[str, ...]
    told: Mapping[str, str]

    @property
    def differs(self) -> bool:
        return len(set(self.told.values())) > 1

    @property
    def odd(self) -> str | None:
        """The one that answers alone while at least two others agree with each other."""
        by_value: dict[str, list[str]] = {}
        for who, value in self.told.items():
            by_value.setdefault(value, []).append(who)
        sizes = sorted(map(len, by_value.values()))
        if len(sizes) != 2 or sizes[0] != 1 or sizes[1] < 2:
            return None
        return next(those[0] for those in by_value.values() if len(those) == 1)

    @property
    def title(self) -> str:
        """The question without its suite."""
        there = "" if self.topology == "single" else f" ({self.topology})"
        return f"{case_id(self.case).own}{there}: {self.name}"


_Key = tuple[str, str, str, str]
_Who = tuple[str | None, Release]


def points(cells: Iterable[Cell]) -> list[Point]:
    """Every point of the cells in their order; the reference is nobody's answer."""
    found: dict[_Key, dict[_Who, str]] = {}
    clauses: dict[_Key, tuple[str, ...]] = {}
    for cell in cells:
        if cell.verdict in _NO_POSITION or not cell.clauses or cell.stands_apart:
            continue  # the cell of a schema has no clauses, and counts what it saw
        for name, value in cell.position.items():
            key = (cell.suite, cell.case, cell.topology, name)
            found.setdefault(key, {})[cell.client, Release(cell.server, cell.provider)] = value
            clauses[key] = cell.clauses
    return [
        Point(*key, clauses=clauses[key], told=_by_name(told))
        for key, told in sorted(found.items())
    ]


def everybody(found: Iterable[Point]) -> list[str]:
    """All that answer any of the points."""
    return sorted({who for point in found for who in point.told}, key=_order)


def _by_name(told: Mapping[_Who, str]) -> dict[str, str]:
    values: dict[str | None, set[str]] = {}
    for (client, _), value in told.items():
        values.setdefault(client, set()).add(value)
    named: dict[str, str] = {}
    for (client, server), value in sorted(told.items(), key=lambda item: item[0][1].order):
        if client is None:
            named[str(server)] = value
        else:
            named[client if len(values[client]) == 1 else f"{client} on {server}"] = value
    return named


def _order(who: str) -> tuple[int, object]:
    """Servers as reports sort them, before libraries by name."""
    if ":" in who:
        return 1, who
    return 0, Release(who, "embedded").order
