"""The error-code table: which code and which text a release gives for a JetStream error.

`fixtures/errors.yaml` lists the errors. The number and its `code` are what a case asserts; the text
of an error changes between releases, so it is looked up here, and one that differs is a position.
A release that the table does not know inherits the newest text before it.

An entry also says how the error is brought about: the `case` that provokes it, or `why_not`. What a
revision of a specification says with the number, where no release does, is `specified`: cases that
are judged by that revision are held to it, and a reference layer speaks it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.data import fixtures_dir
from jetproof.load.mistakes import LoadError, Mistake, choices
from jetproof.load.yaml_source import Keys, read_yaml
from jetproof.model.versions import Version, VersionError

_PLACEHOLDER = re.compile(r"\{[a-z_]+\}")
_KEYS = frozenset(
    {"err_code", "http", "name", "since", "description", "case", "why_not", "specified"}
)
_SPECIFIED_KEYS = frozenset({"spec", "revisions", "http", "description", "case"})

Law = tuple[str, int]
"""A specification and the revision of it that a case is judged by."""


@dataclass(frozen=True, slots=True)
class Specified:
    """What a specification says with an error's number, in these revisions."""

    spec: str
    revisions: tuple[int, ...]
    http: int
    description: str
    case: str | None = None


@dataclass(frozen=True, slots=True)
class ErrorEntry:
    """One error as one release says it. `description` has {placeholders} for what varies.

    `case` is the case that provokes it on a server, `why_not` the reason why none can.
    """

    code: int
    http: int
    name: str
    description: str
    description_pattern: re.Pattern[str]
    since: Version | None = None
    case: str | None = None
    why_not: str | None = None
    specified: tuple[Specified, ...] = ()

    def cases(self) -> tuple[str, ...]:
        """Every case that the entry names: on a release, or where a revision is spoken."""
        named = (self.case, *(said.case for said in self.specified))
        return tuple(case for case in named if case is not None)


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
    _lines: Mapping[int, int]
    file: str

    @classmethod
    def load(cls, path: Path | None = None, name: str | None = None) -> ErrorTable:
        """Read the table, by default the one that Jetproof carries; tell every mistake in it.

        `name` is what mistakes call the file; its path unless given.
        """
        file = fixtures_dir() / "errors.yaml" if path is None else path
        name = name or ("fixtures/errors.yaml" if path is None else str(path))
        mistakes: list[Mistake] = []
        rows: dict[int, tuple[_Row, ...]] = {}
        lines: dict[int, int] = {}
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
                    lines[code] = document.line_of(("errors", number))
                except _Wrong as wrong:
                    line = document.line_of(wrong.keys)
                    mistakes.append(Mistake(name, line, wrong.message))
        if mistakes:
            raise LoadError(mistakes)
        return cls(rows, lines, name)

    @property
    def codes(self) -> tuple[int, ...]:
        """All error numbers, in order."""
        return tuple(sorted(self._rows))

    @property
    def entries(self) -> tuple[ErrorEntry, ...]:
        """All errors in order, each as the newest release says it."""
        return tuple(self._rows[code][-1].entry for code in self.codes)

    def line_of(self, err_code: int) -> int:
        """Where an error stands in the file."""
        return self._lines[err_code]

    def specified(self, err_code: int, spec: str, revision: int) -> Specified | None:
        """What a revision of a specification says with a number, if the table has it."""
        for entry in (row.entry for row in self._rows.get(err_code, ())):
            for said in entry.specified:
                if said.spec == spec and revision in said.revisions:
                    return said
        return None

    def lookup(
        self, err_code: int, version: Version | str, law: Law | None = None
    ) -> ErrorEntry | None:
        """Return the error as that release says it, or None for a number that is not listed.

        Where the law says something else with the number, the entry is what the law says.
        """
        rows = self._rows.get(err_code)
        if rows is None:
            return None
        release = (Version.parse(version) if isinstance(version, str) else version).base
        fitting = [row for row in rows if row.start is None or row.start <= release]
        entry = (fitting[-1] if fitting else rows[0]).entry
        said = None if law is None else self.specified(err_code, *law)
        if said is None:
            return entry
        text = said.description
        return replace(entry, http=said.http, description=text, description_pattern=_pattern(text))

    def matches_description(
        self, err_code: int, version: Version | str, text: str, law: Law | None = None
    ) -> bool:
        """Whether the text is what that release, or the law, says; False for an unknown number."""
        entry = self.lookup(err_code, version, law)
        return entry is not None and entry.description_pattern.fullmatch(text) is not None


def _read(item: object, keys: Keys) -> tuple[int, tuple[_Row, ...]]:
    if not isinstance(item, Mapping):
        raise _Wrong(keys, "an error has err_code, http, name and description")
    code, http = (_number(item, name, keys) for name in ("err_code", "http"))
    _only(item, _KEYS, keys)
    name = _text(item, "name", keys)
    since = _version(item, "since", keys)
    case, why_not = (_optional(item, key, keys) for key in ("case", "why_not"))
    if case is not None and why_not is not None:
        raise _Wrong((*keys, "why_not"), "an error has a case, or a reason why not, not both")
    said = _specified(item, keys)
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
        entry = ErrorEntry(code, http, name, text, _pattern(text), since, case, why_not, said)
        rows.append(_Row(start, entry))
    if not rows:
        raise _Wrong((*keys, "description"), "an error needs at least one description")
    return code, tuple(rows)


def _specified(item: Mapping[str, object], keys: Keys) -> tuple[Specified, ...]:
    listed = item.get("specified", [])
    if not isinstance(listed, list):
        raise _Wrong(
            (*keys, "specified"), "specified is a list of {spec, revisions, http, description}"
        )
    found: list[Specified] = []
    for number, row in enumerate(listed):
        place = (*keys, "specified", number)
        if not isinstance(row, Mapping):
            raise _Wrong(place, "what revisions say is {spec, revisions, http, description}")
        _only(row, _SPECIFIED_KEYS, place)
        found.append(
            Specified(
                spec=_text(row, "spec", place),
                revisions=_numbers(row, "revisions", place),
                http=_number(row, "http", place),
                description=_text(row, "description", place),
                case=_optional(row, "case", place),
            )
        )
    return tuple(found)


def _only(item: Mapping[str, object], known: frozenset[str], keys: Keys) -> None:
    for key in item:
        if key not in known:
            raise _Wrong((*keys, key), f"unknown key {key!r}; {choices(key, sorted(known))}")


def _optional(item: Mapping[str, object], name: str, keys: Keys) -> str | None:
    return _text(item, name, keys) if name in item else None


def _number(item: Mapping[str, object], name: str, keys: Keys) -> int:
    value = item.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise _Wrong((*keys, name), f"{name} is a number, not {value!r}")
    return value


def _numbers(item: Mapping[str, object], name: str, keys: Keys) -> tuple[int, ...]:
    value = item.get(name)
    if not isinstance(value, list) or not value:
        raise _Wrong((*keys, name), f"{name} is a list of numbers, not {value!r}")
    return tuple(_number({name: number}, name, keys) for number in value)


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
