"""Positions side by side: what each server, or each library, does where a text is silent.

A point is one question that a case asks, such as `adding-after-an-error: messages-sent`. Who
answers is a library where one was played, else a server. A library that does the same on every
server stands there once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jetproof.model.identity import REFERENCE, case_id
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.digest import releases
from jetproof.results.revisions import Release

_NO_POSITION = (Verdict.NOT_APPLICABLE, Verdict.ERROR)


def odd_answer(votes: Mapping[str, int]) -> str | None:
    """The answer that one alone gives while at least two others agree with each other."""
    if len(votes) != 2:
        return None
    (few, one), (_, many) = sorted(votes.items(), key=lambda vote: vote[1])
    return few if one == 1 and many > 1 else None


def usual_answer(votes: Mapping[str, int]) -> str | None:
    """The answer that more give than any other."""
    most = max(votes.values(), default=0)
    first = [value for value, count in votes.items() if count == most]
    return first[0] if len(first) == 1 else None


def taken(cells: Iterable[Cell]) -> Iterator[tuple[Cell, str, str]]:
    """Every position that was taken: the cell, the question and the answer."""
    for cell in cells:
        if cell.verdict not in _NO_POSITION:
            for name, value in cell.position.items():
                yield cell, name, value


def position_rows(cells: Iterable[Cell]) -> list[dict[str, object]]:
    """The table `positions`: one row per answer, with the releases that give it, the oldest first."""
    found: dict[tuple[object, ...], list[Cell]] = {}
    for cell, name, value in taken(cells):
        found.setdefault((*(getattr(cell, key) for key in _KEY), name, value), []).append(cell)
    return [
        {
            **dict(zip((*_KEY, "name", "value"), key, strict=True)),
            "clauses": list(min(cell.clauses for cell in mine)),
            "servers": list(releases(cell.server for cell in mine)),
        }
        for key, mine in found.items()
    ]


def questions(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the table `positions` by question: each answer once, with who gives it.

    What the reference layer does stands apart. `odd` marks an answer that one release alone gives."""
    found: dict[tuple[object, ...], dict[str, Any]] = {}
    for row in rows:
        apart = row["provider"] == REFERENCE
        key = tuple(row[name] for name in ("case", "spec_revision", "topology", "client", "name"))
        one = found.setdefault((*key, apart), {**row, "values": {}})
        by = {"provider": row["provider"], "servers": list(row["servers"])}
        one["values"].setdefault(row["value"], []).append(by)
    for one in found.values():
        given = one["values"]
        odd = odd_answer({value: sum(len(by["servers"]) for by in given[value]) for value in given})
        one["values"] = [
            {"value": value, "by": by, "odd": value == odd} for value, by in given.items()
        ]
    return list(found.values())


_KEY = ("spec", "spec_revision", "suite", "case", "topology", "client", "provider")


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
        odd = odd_answer(Counter(self.told.values()))
        return None if odd is None else next(who for who in self.told if self.told[who] == odd)

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
    for cell, name, value in taken(cells):
        if not cell.stands_apart:
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
