"""Reading rows that may lack columns, and writing many equal values once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from jetproof.errors import JetproofError

Row = Mapping[str, Any]
Tables = Mapping[str, list[dict[str, Any]]]
Plain = dict[str, Any]
"""What JSON can say."""


def rows_of(tables: Tables, name: str) -> list[dict[str, Any]]:
    """A table's rows; a report without the table has none."""
    return tables.get(name) or []


def text(value: object) -> str:
    return "" if value is None else str(value)


def https(link: object) -> str | None:
    """A link that a reader may follow: nothing but https."""
    return link if isinstance(link, str) and link.startswith("https://") else None


def texts(value: object) -> list[str]:
    return [str(item) for item in value] if isinstance(value, Iterable) else []


def pairs(value: object) -> list[tuple[str, Any]]:
    """A map's entries in order of their names, whether it came as a dict or as pairs."""
    if isinstance(value, Mapping):
        items: Iterable[Any] = value.items()
    else:
        items = value if isinstance(value, Iterable) else ()
    return sorted((str(key), item) for key, item in items)


def number(value: object) -> int | float | None:
    """A measured number with three digits that count: the page shows no more."""
    if not isinstance(value, (int, float)) or isinstance(value, bool) or not math.isfinite(value):
        return None
    if value == 0:
        return 0
    digits = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, digits)
    return int(rounded) if digits <= 0 or rounded == int(rounded) else rounded


def needed(row: Row, name: str, table: str) -> Any:
    """A column without which a row says nothing."""
    value = row.get(name)
    if value is None:
        raise JetproofError(
            f"the page was asked to show a row of `{table}` that has no `{name}`",
            phase="write",
            hint="give it rows with the columns of jetproof_reports.schemas",
        )
    return value


class Pool:
    """Values by number: each is kept once, in the order in which it was first met."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._numbers: dict[object, int] = {}

    def __contains__(self, value: object) -> bool:
        return value in self._numbers

    def add(self, value: Any) -> int:
        """The number of a value that can be hashed."""
        found = self._numbers.get(value)
        if found is None:
            found = self._numbers[value] = len(self.values)
            self.values.append(value)
        return found
