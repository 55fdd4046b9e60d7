"""What reading rules is made of: a reader that goes on after a mistake, so that all are found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jetproof.model.matcher import TYPES, Matcher, MatcherError, parse_matcher
from jetproof.model.matching import PathError, parse_path
from jetproof.model.template import TemplateError, Value, parse_value

Path = tuple[str | int, ...]


class RuleError(ValueError):
    """Rules that cannot be read: every mistake as (path within the data, what is wrong)."""

    def __init__(self, mistakes: Iterable[tuple[Path, str]]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__(
            "; ".join(f"{'.'.join(map(str, path))}: {text}" for path, text in self.mistakes)
        )


class Reader:
    """Notes every mistake with its path; a part that has one is left out or empty."""

    def __init__(self) -> None:
        self.mistakes: list[tuple[Path, str]] = []

    def wrong(self, path: Path, text: str) -> None:
        self.mistakes.append((path, text))

    def mapping(self, raw: object, path: Path, known: Iterable[str] | None) -> Mapping[str, Any]:
        if not isinstance(raw, Mapping):
            self.wrong(path, f"a mapping is needed, not {raw!r}")
            return {}
        if known is None:
            return raw
        known = sorted(known)
        for key in raw:
            if key not in known:
                self.wrong((*path, str(key)), f"unknown; there are: {', '.join(known)}")
        return {key: value for key, value in raw.items() if key in known}

    def matcher(self, raw: object, path: Path) -> Matcher:
        try:
            matcher = parse_matcher(raw)
            _check(matcher)
        except (MatcherError, TemplateError) as error:
            self.wrong(path, str(error))
            return Matcher(())
        return matcher

    def value(self, raw: object, path: Path) -> Value:
        try:
            return parse_value(raw)
        except TemplateError as error:
            self.wrong(path, str(error))
            return None

    def path(self, text: str, path: Path) -> None:
        try:
            parse_path(text)
        except PathError as error:
            self.wrong(path, str(error))

    def choice(self, raw: object, known: Sequence[str], path: Path) -> str:
        if raw not in known:
            self.wrong(path, f"{' or '.join(known)}, not {raw!r}")
        return str(raw)

    def flag(self, given: Mapping[str, Any], key: str, path: Path) -> bool:
        if not isinstance(given.get(key, False), bool):
            self.wrong((*path, key), f"true or false, not {given[key]!r}")
        return given.get(key) is True


def _check(matcher: Matcher) -> None:
    """Finds what would otherwise fail only when the first frame comes by."""
    for name, argument in matcher.tests:
        if isinstance(argument, Matcher):
            _check(argument)
        elif name == "match" and isinstance(argument, str):
            try:
                re.compile(argument)
            except re.error as error:
                raise MatcherError(f"{argument!r} is not a regular expression: {error}") from None
        elif name == "type" and argument not in TYPES:
            raise MatcherError(f"{argument!r} is no type; there are: {', '.join(TYPES)}")
