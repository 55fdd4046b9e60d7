"""The error-code table: which code and which text a release gives for a JetStream error.

`fixtures/errors.yaml` lists the errors. The number and its `code` are what a case asserts; the text
of an error changes between releases, so it is looked up here, and one that differs is a position.
A release that the table does not know inherits the newest text before it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from jetproof.data import fixtures_dir
from jetproof.load.mistakes import LoadError, Mistake
from jetproof.load.nodes import Keys, read_yaml
from jetproof.model.versions import Version, VersionError

_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """One error as one release says it. `description` has {placeholders} for what varies."""

    code: int
    http: int
    name: str
    description: str
    description_pattern: re.Pattern[str]
    since: Version | None = None
    provoked: bool = True


@dataclass(frozen=True, slots=True)
class _Row:
    start: Version | None
    entry: ErrorEntry


class _Wrong(Exception):
    """An entry that cannot be used, and the keys of the place."""

    def __init__(self, keys: Keys, message: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.message = message


@dataclass(frozen=True, slots=True)
class ErrorTable:
    """All errors of all releases."""

    _rows: Mapping[int, tuple[_Row, ...]]

    @classmethod
    def load(cls, path: Path | None = None) -> ErrorTable:
        """Read the table, by default the one that Jetproof carries; tell every mistake in it."""
        file = fixtures_dir() / "errors.yaml" if path is None else path
        name = "fixtures/errors.yaml" if path is None else str(path)
        mistakes: list[Mistake] = []
        rows: dict[int, tuple[_Row, ...]] = {}
        document = read_yaml(file, name, mistakes)
        if document is not None:
            listed = document.data.get("errors") if isinstance(document.data, Mapping) else None
            if not isinstance(listed, list):
                mistakes.append(Mistake(name, 1, "a table of errors begins with `errors:`"))
                listed = []
            for number, item in enumerate(listed):
                try:
                    code, entries = _read(item, ("errors", number))
                    if code in rows:
                        raise _Wrong(("errors", number), f"err_code {code} is listed twice")
                    rows[code] = entries
                except _Wrong as wrong:
                    line = document.line_of(wrong.keys)
                    mistakes.append(Mistake(name, line, wrong.message))
        if mistakes:
            raise LoadError(mistakes)
        return cls(rows)

    @property
    def codes(self) -> tuple[int, ...]:
        """All error numbers, in order."""
        return tuple(sorted(self._rows))

    def lookup(self, err_code: int, version: Version | str) -> ErrorEntry | None:
        """Return the error as that release says it, or None for a number that is not listed."""
        rows = self._rows.get(err_code)
        if rows is None:
            return None
        release = (Version.parse(version) if isinstance(version, str) else version).base
        fitting = [row for row in rows if row.start is None or row.start <= release]
        return (fitting[-1] if fitting else rows[0]).entry

    def matches_description(self, err_code: int, version: Version | str, text: str) -> bool:
        """Whether the text is what that release says; False for a number that is not listed."""
        entry = self.lookup(err_code, version)
        return entry is not None and entry.description_pattern.fullmatch(text) is not None


def _read(item: object, keys: Keys) -> tuple[int, tuple[_Row, ...]]:
    if not isinstance(item, Mapping):
        raise _Wrong(keys, "an error has err_code, http, name and description")
    code, http = (_number(item, name, keys) for name in ("err_code", "http"))
    name = _text(item, "name", keys)
    since = _version(item, "since", keys)
    given = item.get("description")
    listed = given if isinstance(given, list) else [{"description": given}]
    rows: list[_Row] = []
    for number, row in enumerate(listed):
        place = (*keys, "description", *([number] if listed is given else []))
        if not isinstance(row, Mapping):
            raise _Wrong(place, "a text by release is {from, description}")
        start = _version(row, "from", place)
        if len(listed) > 1 and (start is None or (rows and start <= (rows[-1].start or start))):
            raise _Wrong(place, "texts by release need a `from` each, oldest first")
        text = _text(row, "description", place)
        provoked = item.get("provoked", True) is True
        entry = ErrorEntry(code, http, name, text, _pattern(text), since, provoked)
        rows.append(_Row(start, entry))
    if not rows:
        raise _Wrong((*keys, "description"), "an error needs at least one description")
    return code, tuple(rows)


def _number(item: Mapping[str, object], name: str, keys: Keys) -> int:
    value = item.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Wrong((*keys, name), f"{name} is a number, not {value!r}")
    return value


def _text(item: Mapping[str, object], name: str, keys: Keys) -> str:
    value = item.get(name)
    if not isinstance(value, str):
        raise _Wrong((*keys, name), f"{name} is a text, not {value!r}")
    return value


def _version(item: Mapping[str, object], name: str, keys: Keys) -> Version | None:
    if name not in item:
        return None
    try:
        return Version.parse(_text(item, name, keys))
    except VersionError as error:
        raise _Wrong((*keys, name), str(error)) from error


def _pattern(template: str) -> re.Pattern[str]:
    """`wrong last sequence: {seq}` matches that text with anything, even nothing, for {seq}."""
    return re.compile(
        ".*".join(re.escape(part) for part in _PLACEHOLDER.split(template)), re.DOTALL
    )
