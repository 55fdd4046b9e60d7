"""Reading parts of a case that occur everywhere: texts, values, matchers, paths, durations.

A part that cannot be read is reported with its line, and reading goes on: all mistakes of a file come
in one go. A `Reader` is given its source and the names that there are; the readers of larger parts are
given a `Reader`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from jetproof.load.yaml_source import Document, Keys
from jetproof.model import template
from jetproof.model.matcher import WITH_A_MATCHER, Matcher, MatcherError, parse_matcher
from jetproof.model.matching import PathError, parse_path
from jetproof.model.template import Template, TemplateError, Value, parse_text, parse_value

Raw = Mapping[str, object]

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m)")
_NUMBER = re.compile(r"-?\d+")


def seconds(text: object) -> float:
    """`300ms`, `1.5s` or `2m` in seconds; the form has been checked before."""
    found = _DURATION.fullmatch(str(text))
    if found is None:
        raise ValueError(f"{text!r} is not a duration such as 300ms, 1.5s or 2m")
    return round(float(found[1]) * _UNITS[found[2]], 6)


class Source(Protocol):
    """What is read: where each part stands, how it was written, and where mistakes go."""

    def line(self, keys: Keys) -> int: ...

    def mistake(self, keys: Keys, message: str) -> None: ...

    def respelled(self, keys: Keys) -> tuple[str, object] | None:
        """What was written, and what it is read as, where the two look different."""


class Names(Protocol):
    """The variables that a value may name."""

    def knows(self, variable: str) -> bool: ...

    def variable(self, name: str, line: int) -> None:
        """A variable that is not known is used in this line."""


class FileSource:
    """A document of a file; mistakes are reported with their lines."""

    def __init__(self, document: Document, report: Callable[[int, str], None]) -> None:
        self._document = document
        self._report = report

    def line(self, keys: Keys) -> int:
        return self._document.line_of(keys)

    def mistake(self, keys: Keys, message: str) -> None:
        self._report(self.line(keys), message)

    def respelled(self, keys: Keys) -> tuple[str, object] | None:
        written = self._document.respelled.get(keys)
        if written is None:
            return None
        value = self._document.data
        for key in keys:
            value = value[key]  # type: ignore[index]
        return written, value


class DataSource:
    """Data that a program made: mistakes are collected with their keys."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[Keys, str]] = []

    def line(self, keys: Keys) -> int:
        return 0

    def mistake(self, keys: Keys, message: str) -> None:
        self.mistakes.append((keys, message))

    def respelled(self, keys: Keys) -> tuple[str, object] | None:
        return None


class AnyNames:
    """Every variable may be named: what it is, only the moment shows at which it is used."""

    def knows(self, variable: str) -> bool:
        return True

    def variable(self, name: str, line: int) -> None:
        return None


class Reader:
    """Reads parts of one source, each named by its keys."""

    def __init__(self, source: Source, names: Names) -> None:
        self._source = source
        self._names = names
        self.line = source.line
        self.mistake = source.mistake

    def naming(self, names: Names) -> Reader:
        """The same source, read with other names."""
        return Reader(self._source, names)

    def exclusive(self, keys: Keys, raw: Raw, one: Iterable[str], others: Iterable[str]) -> None:
        """Reports keys that make no sense together."""
        for first in one:
            for second in others:
                if first != second and first in raw and second in raw:
                    self.mistake((*keys, second), f"{first} and {second} exclude each other")
                    return

    def value(self, keys: Keys, raw: object) -> Value:
        """A value that may hold variables."""
        try:
            value = parse_value(raw)
        except TemplateError:
            self._tell_templates(keys, raw)
            return ""
        if any(not self._names.knows(name) for name in template.names(value)):
            self._tell_variables(keys, raw)
        return value

    def sent(self, keys: Keys, raw: object) -> Value:
        """A value that goes onto the wire as text: what was written must be what is sent."""
        self._as_written(keys)
        return self.value(keys, raw)

    def matcher(self, keys: Keys, raw: object, *, of_text: bool = False) -> Matcher:
        """What a value must be like; `of_text` if the value has no type, such as a header's."""
        if of_text:
            self._as_written(keys)
        try:
            matcher = parse_matcher(raw)
        except TemplateError:
            self._tell_templates(keys, raw)
            return Matcher(())
        except MatcherError as error:
            self.mistake(keys, str(error))
            return Matcher(())
        if any(not self._names.knows(name) for name in matcher.names()):
            self._tell_variables(keys, raw)
        if isinstance(raw, Mapping):
            self._check_operators(keys, raw)
        return matcher

    def matchers(self, keys: Keys, raw: object, *, paths: bool) -> dict[str, Matcher]:
        """Matchers by JSON path, or by the name of a header."""
        found: dict[str, Matcher] = {}
        for name, inner in as_map(raw).items():
            if paths:
                self.path((*keys, name), name)
            found[name] = self.matcher((*keys, name), inner, of_text=not paths)
        return found

    def path(self, keys: Keys, text: str) -> str:
        try:
            parse_path(text)
        except PathError as error:
            self.mistake(keys, str(error))
        return text

    def sources(self, keys: Keys, raw: object) -> dict[str, str]:
        """Names with where each is read from: json.seq, header.Name, status."""
        found: dict[str, str] = {}
        for name, source in as_map(raw).items():
            found[name] = str(source)
            if found[name].startswith("json."):
                self.path((*keys, name), found[name].removeprefix("json."))
        return found

    def _as_written(self, keys: Keys) -> None:
        if (found := self._source.respelled(keys)) is not None:
            written, value = found
            self.mistake(
                keys,
                f"{written} is read as {template.text_of(value)}: "
                "write it so, or put it in quotes to keep it as it is",
            )

    def _tell_templates(self, keys: Keys, raw: object) -> None:
        for place, text in _texts(keys, raw):
            try:
                parse_text(text)
            except TemplateError as error:
                self.mistake(place, str(error))

    def _tell_variables(self, keys: Keys, raw: object) -> None:
        for place, text in _texts(keys, raw):
            for name in dict.fromkeys(template.names(parse_text(text))):
                self._names.variable(name, self.line(place))

    def _check_operators(self, keys: Keys, raw: Raw) -> None:
        for name, argument in raw.items():
            here = (*keys, name)
            if name in WITH_A_MATCHER and isinstance(argument, Mapping):
                self._check_operators(here, argument)
                continue
            if not isinstance(argument, str) or isinstance(text := parse_text(argument), Template):
                continue
            if name == "match":
                try:
                    re.compile(text)
                except re.error as error:
                    self.mistake(here, f"match {argument!r} is no regular expression: {error}")
            elif name in ("gt", "gte", "lt", "lte") and not _NUMBER.fullmatch(text):
                self.mistake(here, f"{name} must be a number or a variable, not {argument!r}")


def as_map(raw: object) -> Raw:
    return raw if isinstance(raw, Mapping) else {}


def as_text(raw: object) -> str | None:
    return raw if isinstance(raw, str) else None


def duration_in(raw: Raw, key: str) -> float | None:
    """The duration at a key in seconds, if it is given."""
    return seconds(raw[key]) if key in raw else None


def _texts(keys: Keys, raw: object) -> Iterator[tuple[Keys, str]]:
    """Every text inside, the keys of mappings included, with its place."""
    if isinstance(raw, str):
        yield keys, raw
    elif isinstance(raw, Mapping):
        for key, inner in raw.items():
            yield (*keys, key), key
            yield from _texts((*keys, key), inner)
    elif isinstance(raw, list):
        for index, inner in enumerate(raw):
            yield from _texts((*keys, index), inner)
