"""Text with variables: `$name`, `${name + 1}`, and what a value looks like once they are known.

A variable is `$` plus a lower-case name. `$JS`, `$KV`, `$SYS` and every other `$` that is not
followed by a lower-case letter or a brace are literal, and `$$` is one dollar sign. Arithmetic
needs braces, so that `$batch-1` is always text: the batch id, a hyphen and a one.
A text that is one variable or one expression keeps the type of its value.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

Scalar = str | int | float | bool | None
Env = Mapping[str, Scalar]

_NAME = r"[a-z][a-z0-9_]*"
_TOKEN = re.compile(rf"\$\$|\$(?P<name>{_NAME})|\$\{{(?P<expr>[^}}]*)\}}|\$\{{")
_TERM = re.compile(rf"\s*(?P<op>[+*-])?\s*(?P<term>{_NAME}|\d+)")


class TemplateError(ValueError):
    """A text whose variables cannot be read."""


class UnknownVariable(KeyError):
    """A variable that has no value."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name

    def __str__(self) -> str:
        return f"${self.name} has no value"


@dataclass(frozen=True, slots=True)
class Expression:
    """A sum or product of variables and whole numbers, read left to right."""

    terms: tuple[tuple[str, str | int], ...]

    def names(self) -> Iterator[str]:
        return (term for _, term in self.terms if isinstance(term, str))

    def value(self, env: Env) -> Scalar:
        if len(self.terms) == 1 and isinstance(self.terms[0][1], str):
            return _lookup(env, self.terms[0][1])
        total = 0
        for op, term in self.terms:
            number = _whole(env, term) if isinstance(term, str) else term
            if op == "+":
                total += number
            elif op == "-":
                total -= number
            else:
                total *= number
        return total


@dataclass(frozen=True, slots=True)
class Template:
    """A text with at least one variable in it; `source` is what the author wrote."""

    source: str
    parts: tuple[str | Expression, ...]

    def names(self) -> Iterator[str]:
        for part in self.parts:
            if isinstance(part, Expression):
                yield from part.names()

    def render(self, env: Env) -> Scalar:
        if len(self.parts) == 1 and isinstance(self.parts[0], Expression):
            return self.parts[0].value(env)
        return "".join(
            part if isinstance(part, str) else text_of(part.value(env)) for part in self.parts
        )


@dataclass(frozen=True, slots=True)
class Filled:
    """`{text: x, times: 65}`: a text repeated, for values whose length is the point."""

    text: Template | str
    times: Template | int

    def names(self) -> Iterator[str]:
        for part in (self.text, self.times):
            if isinstance(part, Template):
                yield from part.names()

    def render(self, env: Env) -> str:
        text = self.text.render(env) if isinstance(self.text, Template) else self.text
        times = self.times.render(env) if isinstance(self.times, Template) else self.times
        if not isinstance(times, int):
            raise TemplateError(f"times must be a whole number, not {times!r}")
        return text_of(text) * times


@dataclass(frozen=True, slots=True)
class Items:
    """A list whose items are values."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Fields:
    """A mapping whose values are values."""

    fields: tuple[tuple[str, Value], ...]


Value = Scalar | Template | Filled | Items | Fields


def parse_text(text: str) -> Template | str:
    """Reads `text`; a text without variables comes back as a plain string."""
    parts: list[str | Expression] = []
    literal = ""
    position = 0
    for found in _TOKEN.finditer(text):
        literal += text[position : found.start()]
        position = found.end()
        if found.group() == "$$":
            literal += "$"
            continue
        if found.group("name"):
            if re.match(r"\+\d", text[position:]):
                name = found.group("name")
                raise TemplateError(
                    f"arithmetic needs braces: write ${{{name} + {text[position + 1]}}}"
                )
            expression = Expression((("+", found.group("name")),))
        elif found.group("expr") is not None:
            expression = _parse_expression(found.group("expr"))
        else:
            raise TemplateError(f"no closing brace in {text!r}")
        if literal:
            parts.append(literal)
            literal = ""
        parts.append(expression)
    literal += text[position:]
    if literal or not parts:
        parts.append(literal)
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0]
    return Template(text, tuple(parts))


def parse_value(raw: object) -> Value:
    """Reads any plain value (as a YAML file gives it) into one that may hold variables."""
    if isinstance(raw, str):
        return parse_text(raw)
    if isinstance(raw, Mapping):
        if set(raw) == {"text", "times"}:
            text, times = parse_value(raw["text"]), parse_value(raw["times"])
            if isinstance(text, (str, Template)) and isinstance(times, (int, Template)):
                return Filled(text, times)
        return Fields(tuple((str(key), parse_value(value)) for key, value in raw.items()))
    if isinstance(raw, (list, tuple)):
        return Items(tuple(parse_value(item) for item in raw))
    if raw is None or isinstance(raw, (bool, int, float)):
        return raw
    raise TemplateError(f"no value can be made of {type(raw).__name__}")


def render(value: Value, env: Env) -> object:
    """The plain value with every variable replaced."""
    if isinstance(value, (Template, Filled)):
        return value.render(env)
    if isinstance(value, Items):
        return [render(item, env) for item in value.items]
    if isinstance(value, Fields):
        return {
            text_of(_text(parse_text(key), env)): render(item, env) for key, item in value.fields
        }
    return value


def scalar(value: object) -> Scalar:
    """A rendered value that a variable can hold."""
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise TemplateError(f"a variable holds a text or a number, not {type(value).__name__}")


def render_text(value: Value, env: Env) -> str:
    """The value as text, as it goes into a header or a subject."""
    return text_of(render(value, env))


def names(value: Value) -> Iterator[str]:
    """Every variable the value needs."""
    if isinstance(value, (Template, Filled)):
        yield from value.names()
    elif isinstance(value, Items):
        for item in value.items:
            yield from names(item)
    elif isinstance(value, Fields):
        for key, item in value.fields:
            yield from names(parse_text(key))
            yield from names(item)


def text_of(value: object) -> str:
    """A scalar as it is written on the wire: true, not True."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    return str(value)


def _text(value: Template | str, env: Env) -> object:
    return value.render(env) if isinstance(value, Template) else value


def _parse_expression(text: str) -> Expression:
    terms: list[tuple[str, str | int]] = []
    position = 0
    while position < len(text.rstrip()):
        found = _TERM.match(text, position)
        if found is None or (terms and found.group("op") is None):
            raise TemplateError(f"${{{text}}} is not a sum of variables and whole numbers")
        if not terms and found.group("op"):
            raise TemplateError(f"${{{text}}} starts with an operator")
        term = found.group("term")
        terms.append((found.group("op") or "+", int(term) if term.isdigit() else term))
        position = found.end()
    if not terms:
        raise TemplateError("${} is empty")
    return Expression(tuple(terms))


def _lookup(env: Env, name: str) -> Scalar:
    if name not in env:
        raise UnknownVariable(name)
    return env[name]


def _whole(env: Env, name: str) -> int:
    value = _lookup(env, name)
    if isinstance(value, bool) or not isinstance(value, (int, str)):
        raise TemplateError(f"${name} is {value!r}, and arithmetic needs a whole number")
    try:
        return int(value)
    except ValueError:
        raise TemplateError(f"${name} is {value!r}, and arithmetic needs a whole number") from None
