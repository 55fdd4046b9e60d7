"""A file against its JSON Schema, told in sentences.

The schemas in `fixtures/schemas` are what files are checked by. A fast validator accepts a good
file; a file that it refuses is gone through by a thorough one, whose errors become sentences here.
Annotations of ours help: `x-expected` says in words what a value must be, `x-names` what the keys
of a mapping are called (`matcher`, `action`, `step`), `x-title` what the whole is called, `x-whole`
what a mapping without any of its keys should have been, `x-besides` which other forms a value may have,
`x-beside` which keys may stand beside those that say what a mapping is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol, cast

from jetproof.load.mistakes import Mistake, choices, closest
from jetproof.load.yaml_source import Document, Keys

Schema = dict[str, Any]

_TYPES = {
    "string": "a text", "integer": "a whole number", "number": "a number",
    "boolean": "true or false", "object": "a mapping", "array": "a list", "null": "null",
}  # fmt: skip


class _Error(Protocol):
    """The parts of a jsonschema error that a sentence is made of."""

    validator: str
    validator_value: Any
    instance: Any
    schema: Schema
    absolute_path: Iterable[str | int]
    absolute_schema_path: Iterable[str | int]


@dataclass(frozen=True, slots=True)
class Flaw:
    """One structural mistake. An unknown key does no harm to what stands around it."""

    keys: Keys
    message: str
    harmless: bool = False


class FileSchema:
    """The schema of one kind of file, compiled when it is first needed."""

    def __init__(self, path: Path, part: str | None = None) -> None:
        """`part` names a definition of the schema, for data that is no whole file."""
        self._path = path
        self._part = part

    def check(self, document: Document, mistakes: list[Mistake]) -> tuple[Flaw, ...]:
        """Adds a mistake for everything that departs from the schema; returns what and where."""
        flaws = self.flaws(document.data)
        mistakes.extend(
            Mistake(document.file, document.line_of(flaw.keys), flaw.message) for flaw in flaws
        )
        return flaws

    def flaws(self, data: object) -> tuple[Flaw, ...]:
        """Everything that departs from the schema."""
        return () if self._accepts(data) else tuple(dict.fromkeys(self._flaws(data)))

    @cached_property
    def _schema(self) -> Schema:
        whole = cast(Schema, json.loads(self._path.read_text(encoding="utf-8")))
        if self._part is None:
            return whole
        return {"$ref": f"#/$defs/{self._part}", "$defs": whole["$defs"]}

    @cached_property
    def _accepts(self) -> Callable[[object], bool]:
        import jsonschema_rs

        return jsonschema_rs.Draft202012Validator(self._schema).is_valid

    def _flaws(self, data: object) -> Iterator[Flaw]:
        import jsonschema

        validator = jsonschema.Draft202012Validator(self._schema)
        errors = cast("list[_Error]", list(validator.iter_errors(data)))
        if not errors:
            yield Flaw((), f"the file does not follow the schema {self._path.name}")
        choosing = {tuple(error.absolute_path) for error in errors if error.validator == "oneOf"}
        for error in errors:
            keys = tuple(error.absolute_path)
            if error.validator == "additionalProperties" and keys in choosing:
                continue  # two kinds in one step: that is the mistake, not the other's keys
            yield from _sentences(error, keys)


def _sentences(error: _Error, keys: Keys) -> Iterator[Flaw]:
    value, schema = error.validator_value, error.schema
    where = _where(keys) if keys else _title(schema, keys)
    expected = schema.get("x-expected")
    if "x-whole" in schema and not any(key in error.instance for key in schema["required"]):
        yield Flaw(keys, f"{where} must be {schema['x-whole']}, not a mapping")
        return
    if "propertyNames" in error.absolute_schema_path:
        yield Flaw((*keys, error.instance), f"key {error.instance!r} in {where} must be {expected}")
        return
    match error.validator:
        case "additionalProperties":
            yield from _unknown_keys(error, keys)
        case "required":
            for key in value:
                if key not in error.instance:
                    choice = schema.get("properties", {}).get(key, {}).get("enum")
                    one_of = f": give one of {', '.join(choice)}" if choice else ""
                    yield Flaw(keys, f"missing key {key!r} in {_title(schema, keys)}{one_of}")
        case "oneOf" if isinstance(error.instance, Mapping):
            yield _choice(error, keys)
        case "oneOf":
            return  # not a mapping: its type is the mistake
        case "enum" if isinstance(error.instance, str):
            known = [*value, *schema.get("x-besides", ())]
            yield Flaw(
                keys, f"{where} cannot be {error.instance!r}; {choices(error.instance, known)}"
            )
        case "minItems" | "minProperties" | "minLength":
            yield Flaw(keys, _too_few(where, value, len(error.instance)))
        case "maxProperties":
            yield Flaw(
                keys, f"{where} holds {len(error.instance)} keys ({', '.join(error.instance)})"
            )
        case "uniqueItems":
            twice = next(item for item in error.instance if error.instance.count(item) > 1)
            yield Flaw(keys, f"{where} names {_plain(twice)} twice")
        case "minimum" | "maximum" if expected is None:
            bound = "at least" if error.validator == "minimum" else "at most"
            yield Flaw(keys, f"{where} must be {bound} {value}, not {_plain(error.instance)}")
        case _:
            wanted = expected or _wanted(error)
            yield Flaw(keys, f"{where} must be {wanted}, not {_plain(error.instance)}")


def _unknown_keys(error: _Error, keys: Keys) -> Iterator[Flaw]:
    known = list(error.schema["properties"])
    noun = error.schema.get("x-names")
    for key in error.instance:
        if key in known:
            continue
        if noun is None:
            title = _title(error.schema, keys)
            message = f"unknown key {key!r} in {title}; {choices(key, known)}"
        else:
            message = f"unknown {noun} {key!r}; {choices(key, known)}"
            if "json" in keys[-2:-1] and closest(key, known) is None:
                message += f". A field inside an object is written as a path: {keys[-1]}.{key}"
        yield Flaw((*keys, key), message, harmless=noun is None)


def _choice(error: _Error, keys: Keys) -> Flaw:
    names = [alternative["required"][0] for alternative in error.validator_value]
    given = [name for name in names if name in error.instance]
    noun = error.schema.get("x-names")
    title = _title(error.schema, keys)
    if len(given) > 1:
        if noun is not None:
            return Flaw(keys, f"two kinds of {noun} in one: {' and '.join(given)}")
        return Flaw(keys, f"{' and '.join(given)} in one {title}: give one of them")
    if noun is None:
        return Flaw(keys, f"missing key in {title}: {' or '.join(names)}")
    beside = error.schema.get("properties") or error.schema.get("x-beside", ())
    others = [key for key in error.instance if key not in beside]
    if others:
        message = f"unknown {noun} {others[0]!r}; {choices(others[0], names)}"
        return Flaw((*keys, others[0]), message)
    return Flaw(keys, f"no kind of {noun} is given; there are: {', '.join(names)}")


def _too_few(where: str, least: int, given: int) -> str:
    return f"{where} is empty" if given == 0 else f"{where} needs at least {least}, not {given}"


def _wanted(error: _Error) -> str:
    match error.validator:
        case "type":
            types = error.validator_value
            names = [types] if isinstance(types, str) else types
            return " or ".join(_TYPES[name] for name in names)
        case "enum":
            return f"one of {', '.join(error.validator_value)}"
        case "const":
            return _plain(error.validator_value)
        case "pattern":
            return f"a text like {error.validator_value}"
        case _:
            return f"as the schema says ({error.validator}: {_plain(error.validator_value)})"


def _title(schema: Schema, keys: Keys) -> str:
    return str(schema.get("x-title") or schema.get("title") or _where(keys))


def _where(keys: Keys) -> str:
    if not keys:
        return "the file"
    last = keys[-1]
    if isinstance(last, str):
        return last
    return f"item {last + 1} of {_where(keys[:-1])}"


def _plain(value: object) -> str:
    """A value in a sentence: scalars as they are, the rest by name."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list):
        return "a list"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "...")
    return "nothing" if value is None else json.dumps(value)
