"""Cases that differ in a few values only: one case with a `table` becomes one case per row.

This happens to the plain data of a file, before anything else looks at it: what the schema, the
readers and everybody after them see are the cases that were meant. A `$column` that is a whole
value becomes the cell of the row, whatever that is; within a text the cell is inserted. All other
variables stay, for the engine. A part that comes from a row keeps the row's line. `feature` in a row
is no column: the case of that row has it in place of the `feature` of all rows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeGuard

from jetproof.load.mistakes import Mistake
from jetproof.load.scope import VARIABLES
from jetproof.load.yaml_source import Document, Keys, Place
from jetproof.model.template import text_of

_COLUMN = re.compile(r"\$\$|\$(?P<plain>[a-z][a-z0-9_]*)|\$\{(?P<braced>[a-z][a-z0-9_]*)\}")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TAKEN = frozenset({"stream", *VARIABLES})
_OWN = "feature"
"""The key of a case that a row may have for itself."""


def expand_tables(document: Document, mistakes: list[Mistake]) -> Document:
    """The document with one case per row. A case whose table is wrong is left out."""
    data = document.data
    cases = data.get("cases") if isinstance(data, Mapping) else None
    if not isinstance(cases, list) or not any("table" in it for it in cases if _is_map(it)):
        return document
    assert isinstance(data, Mapping)
    place = document.root.parts["cases"]
    found: list[object] = []
    places: dict[str | int, Place] = {}
    respelled = {keys: text for keys, text in document.respelled.items() if keys[:1] != ("cases",)}
    for index, case in enumerate(cases):
        expansion = _Expansion(document, ("cases", index), case, place.parts[index], mistakes)
        for filled, where, spelled in expansion.rows():
            here: Keys = ("cases", len(found))
            respelled |= {(*here, *keys): text for keys, text in spelled.items()}
            places[len(found)] = where
            found.append(filled)
    root = replace(
        document.root, parts={**document.root.parts, "cases": replace(place, parts=places)}
    )
    return replace(document, data={**data, "cases": found}, respelled=respelled, root=root)


class _Expansion:
    """One case of a file, as one or several."""

    def __init__(
        self, document: Document, keys: Keys, case: object, place: Place, mistakes: list[Mistake]
    ) -> None:
        self._file = document.file
        self._case = case
        self._place = place
        self._mistakes = mistakes
        self._spelled = {
            at[len(keys) :]: text
            for at, text in document.respelled.items()
            if at[: len(keys)] == keys
        }
        self._row: Mapping[str, object] = {}
        self._at: Keys = ()
        self._out: dict[Keys, str] = {}
        self._used: set[str] = set()

    def rows(self) -> list[tuple[object, Place, Mapping[Keys, str]]]:
        """Each case with its place and what was written in another way."""
        if not _is_map(self._case) or "table" not in self._case:
            return [(self._case, self._place, self._spelled)]
        before = len(self._mistakes)
        table = self._case["table"]
        columns = self._columns(table)
        if len(self._mistakes) > before:
            return []
        assert isinstance(table, list)
        template = {key: value for key, value in self._case.items() if key != "table"}
        found: list[tuple[object, Place, Mapping[Keys, str]]] = []
        for index, row in enumerate(table):
            self._at, self._out = ("table", index), {}
            self._row = {name: cell for name, cell in row.items() if name != _OWN}
            filled, place = self._filled(template, row)
            line = self._place_of(self._at).line
            named: dict[str | int, Place] = {**place.parts, "case": Place(line)}
            found.append((filled, Place(line, named), self._out))
        for name in sorted(columns - self._used):
            self._tell(("table", 0, name), f"no part of the case uses the column ${name}")
        return found if len(self._mistakes) == before else []

    def _filled(
        self, template: Mapping[str, object], row: Mapping[str, object]
    ) -> tuple[object, Place]:
        """The case of the row, with what the row says about its features."""
        if _OWN not in row:
            return self._fill(template, self._place, (), ())
        at = (*self._at, _OWN)
        shared = {key: value for key, value in template.items() if key != _OWN}
        filled, place = self._fill(shared, self._place, (), ())
        feature, there = self._fill(row[_OWN], self._place_of(at), at, (_OWN,))
        assert _is_map(filled)
        return {**filled, _OWN: feature}, replace(place, parts={**place.parts, _OWN: there})

    def _columns(self, table: object) -> set[str]:
        if not isinstance(table, list) or not table or not all(map(_is_map, table)):
            self._tell(("table",), "table must be a list of rows, each a mapping of columns")
            return set()
        columns = set(table[0]) - {_OWN}
        for index, row in enumerate(table):
            for name in sorted((set(row) - {_OWN}) ^ columns):
                word = "lacks" if name in columns else "alone has"
                self._tell(("table", index), f"the row {word} the column {name!r}")
        for name in sorted(columns):
            if not _NAME.fullmatch(name):
                self._tell(("table", 0, name), f"{name!r} cannot be the name of a variable")
            elif name in _TAKEN:
                self._tell(("table", 0, name), f"${name} has a meaning already: rename the column")
        return columns

    def _fill(self, value: object, place: Place, src: Keys, dst: Keys) -> tuple[object, Place]:
        if isinstance(value, str):
            return self._text(value, place, src, dst)
        if isinstance(value, list):
            items = [
                self._fill(item, place.parts[index], (*src, index), (*dst, index))
                for index, item in enumerate(value)
            ]
            parts: dict[str | int, Place] = {index: it[1] for index, it in enumerate(items)}
            return [item for item, _ in items], replace(place, parts=parts)
        if _is_map(value):
            entries = {
                key: self._fill(item, place.parts[key], (*src, key), (*dst, key))
                for key, item in value.items()
            }
            inner: dict[str | int, Place] = {key: it[1] for key, it in entries.items()}
            return {key: item for key, (item, _) in entries.items()}, replace(place, parts=inner)
        self._keep(src, dst)
        return value, place

    def _text(self, text: str, place: Place, src: Keys, dst: Keys) -> tuple[object, Place]:
        whole = _COLUMN.fullmatch(text)
        name = (whole["plain"] or whole["braced"]) if whole else None
        if name is not None and name in self._row:
            self._used.add(name)
            self._keep((*self._at, name), dst)
            return self._row[name], self._place_of((*self._at, name))

        def insert(found: re.Match[str]) -> str:
            name = found["plain"] or found["braced"]
            if name is None or name not in self._row:
                return found[0]
            self._used.add(name)
            cell = self._row[name]
            if cell is None or isinstance(cell, list | Mapping):
                self._tell(src, f"${name} is not a text or a number: it must be a whole value")
            return text_of(cell)

        self._keep(src, dst)
        return _COLUMN.sub(insert, text), place

    def _keep(self, src: Keys, dst: Keys) -> None:
        for keys, text in self._spelled.items():
            if keys[: len(src)] == src:
                self._out[(*dst, *keys[len(src) :])] = text

    def _place_of(self, keys: Keys) -> Place:
        place = self._place
        for key in keys:
            place = place.parts[key]
        return place

    def _tell(self, keys: Keys, message: str) -> None:
        place = self._place
        for key in keys:
            place = place.parts.get(key, place)
        mistake = Mistake(self._file, place.line, message)
        if mistake not in self._mistakes:
            self._mistakes.append(mistake)


def _is_map(value: object) -> TypeGuard[Mapping[str, object]]:
    return isinstance(value, Mapping)
