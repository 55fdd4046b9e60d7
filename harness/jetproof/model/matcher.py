"""Matchers: what a value must be like. A scalar or a list is equality, a mapping holds operators.

The set is small and closed. JSON documents and headers are addressed by path, so a mapping in a
matcher's place never means "an object that looks like this" (`equals` says that).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jetproof.model import template
from jetproof.model.template import Value

OPERATORS = (
    "equals", "not", "exists", "absent", "type", "match", "contains", "length",
    "gt", "gte", "lt", "lte", "in", "values", "hex", "base64", "instant",
)  # fmt: skip
WITH_A_MATCHER = ("not", "length", "base64")


@dataclass(frozen=True, slots=True)
class Matcher:
    """Operators that must all hold."""

    tests: tuple[tuple[str, Value | Matcher], ...]

    def names(self) -> Iterator[str]:
        for _, argument in self.tests:
            if isinstance(argument, Matcher):
                yield from argument.names()
            else:
                yield from template.names(argument)


class MatcherError(ValueError):
    """A matcher that cannot be read."""


def parse_matcher(raw: object) -> Matcher:
    """Reads a matcher as it stands in a case file."""
    if not isinstance(raw, Mapping) or set(raw) == {"text", "times"}:
        return Matcher((("equals", template.parse_value(raw)),))
    tests: list[tuple[str, Value | Matcher]] = []
    for key, argument in raw.items():
        if key not in OPERATORS:
            raise MatcherError(f"unknown matcher {key!r}; there are: {', '.join(OPERATORS)}")
        if key in WITH_A_MATCHER:
            tests.append((key, parse_matcher(argument)))
        else:
            tests.append((key, template.parse_value(argument)))
    if not tests:
        raise MatcherError("a matcher needs an operator")
    return Matcher(tuple(tests))
