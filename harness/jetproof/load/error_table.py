"""The error-code table, `fixtures/errors.yaml`: read, with every mistake in it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from jetproof.data import fixtures_dir
from jetproof.load.mistakes import LoadError, Mistake, choices
from jetproof.load.yaml_source import Keys, read_yaml
from jetproof.model.error_table import ErrorEntry, ErrorRow, ErrorTable, Specified
from jetproof.model.versions import Version, VersionError

_KEYS = frozenset(
    {"err_code", "http", "name", "since", "description", "case", "why_not", "specified"}
)
_SPECIFIED_KEYS = frozenset({"spec", "revisions", "http", "description", "case"})


class _Wrong(Exception):
    """An entry that cannot be used, and the keys of the place."""

    def __init__(self, keys: Keys, message: str) -> None:
        super().__init__(message)
        self.keys = keys
        self.message = message


def read_error_table(path: Path | None = None, name: str | None = None) -> ErrorTable:
    """The table, by default the one that Jetproof carries; a LoadError with every mistake in it.

    `name` is what mistakes call the file; its path unless given.
    """
    file = fixtures_dir() / "errors.yaml" if path is None else path
    name = name or ("fixtures/errors.yaml" if path is None else str(path))
    mistakes: list[Mistake] = []
    rows: dict[int, tuple[ErrorRow, ...]] = {}
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
    return ErrorTable(rows, lines, name)


def _read(item: object, keys: Keys) -> tuple[int, tuple[ErrorRow, ...]]:
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
    rows: list[ErrorRow] = []
    for number, row in enumerate(listed):
        place = (*keys, "description", *([number] if listed is given else []))
        if not isinstance(row, Mapping):
            raise _Wrong(place, "a text by release is {from, description}")
        start = _version(row, "from", place)
        if len(listed) > 1 and (start is None or (rows and start <= (rows[-1].start or start))):
            raise _Wrong(place, "texts by release need a `from` each, oldest first")
        text = _text(row, "description", place)
        entry = ErrorEntry(code, http, name, text, since, case, why_not, said)
        rows.append(ErrorRow(start, entry))
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
