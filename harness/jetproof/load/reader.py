"""Reading parts of a case that occur everywhere: texts, values, matchers, paths, durations.

A part that cannot be read is told with its line, and reading goes on: all mistakes of a file come
in one go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from jetproof.load.scope import Scope
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


class Reader:
    """Reads parts of one document, each named by its keys."""

    def __init__(self, document: Document, scope: Scope) -> None:
        self.document = document
        self.scope = scope

    def line(self, keys: Keys) -> int:
        return self.document.line_of(keys)

    def mistake(self, keys: Keys, message: str) -> None:
        self.scope.report(self.line(keys), message)

    def exclusive(self, keys: Keys, raw: Raw, one: Iterable[str], others: Iterable[str]) -> None:
        """Tells keys that make no sense together."""
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
        if any(not self.scope.knows(name) for name in template.names(value)):
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
        if any(not self.scope.knows(name) for name in matcher.names()):
            self._tell_variables(keys, raw)
        if isinstance(raw, Mapping):
            self._check_operators(keys, raw)
        return matcher

    def matchers(self, keys: Keys, raw: object, *, paths: bool) -> dict[str, Matcher]:
        """Matchers by JSON path, or by the name of a header."""
        found: dict[str, Matcher] = {}
        for name, inner in _mapping(raw).items():
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
        for name, source in _mapping(raw).items():
            found[name] = str(source)
            if found[name].startswith("json."):
                self.path((*keys, name), found[name].removeprefix("json."))
        return found

    def _as_written(self, keys: Keys) -> None:
        written = self.document.respelled.get(keys)
        if written is not None:
            value = self._at(keys)
            self.mistake(
                keys,
                f"{written} is read as {template.text_of(value)}: "
                "write it so, or put it in quotes to keep it as it is",
            )

    def _at(self, keys: Keys) -> object:
        value = self.document.data
        for key in keys:
            value = value[key]  # type: ignore[index]
        return value

    def _tell_templates(self, keys: Keys, raw: object) -> None:
        for place, text in _texts(keys, raw):
            try:
                parse_text(text)
            except TemplateError as error:
                self.mistake(place, str(error))

    def _tell_variables(self, keys: Keys, raw: object) -> None:
        for place, text in _texts(keys, raw):
            for name in dict.fromkeys(template.names(parse_text(text))):
                self.scope.variable(name, self.line(place))

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


def _mapping(raw: object) -> Raw:
    return raw if isinstance(raw, Mapping) else {}


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
