"""Parts of JSON Schemas that occur in many places of case files.

What they refer to (`#/$defs/...`) stands in `fixtures/schemas/case-file.json`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]


def ref(name: str, about: str | None = None) -> Schema:
    """A part that the file of schemas defines; `about` says what it is in this place."""
    return described({"$ref": f"#/$defs/{name}"}, about)


def described(schema: Schema, about: str | None) -> Schema:
    return schema if about is None else {**schema, "description": about}


def text(about: str) -> Schema:
    return {"type": "string", "minLength": 1, "description": about}


def flag(about: str) -> Schema:
    return {"type": "boolean", "x-expected": "true or false", "description": about}


def only_true(about: str) -> Schema:
    return {"const": True, "x-expected": "true", "description": about}


def whole_number(about: str) -> Schema:
    """A whole number, or a variable that is one."""
    return {
        "type": ["integer", "string"],
        "minimum": 0,
        "x-expected": "a whole number or a variable",
        "description": about,
    }


def at_least(least: int, about: str) -> Schema:
    return {"type": "integer", "minimum": least, "description": about}


def by_key(inner: Schema, about: str, *, keys: str | None = None) -> Schema:
    """A mapping whose values are alike; `keys` names what its keys must be."""
    names = {} if keys is None else {"propertyNames": ref(keys)}
    return {
        "type": "object",
        "minProperties": 1,
        **names,
        "additionalProperties": inner,
        "description": about,
    }


def one_or_list(one: Schema, about: str, **of_list: Any) -> Schema:
    return {
        "description": about,
        "if": {"type": "array"},
        "then": {"items": one, "minItems": 1, **of_list},
        "else": one,
    }


def text_or(known: Schema, other: Schema, about: str | None = None) -> Schema:
    """A text of some kind, or something that is not a text."""
    return described({"if": {"type": "string"}, "then": known, "else": other}, about)


def mapping(
    title: str, properties: Mapping[str, Schema], about: str | None = None, **more: Any
) -> Schema:
    """A mapping of known keys; `more` are further rules, such as `required`."""
    return described(
        {
            "title": title,
            "type": "object",
            "properties": dict(properties),
            "additionalProperties": False,
            **more,
        },
        about,
    )


HEX: Schema = {
    "type": "string",
    "pattern": "^[0-9a-fA-F]{2}( ?[0-9a-fA-F]{2})*$",
    "x-expected": 'pairs of hexadecimal digits in quotes, such as "00ff"',
}
STEPS: Schema = {
    "type": "array",
    "minItems": 1,
    "items": ref("step"),
    "description": "The steps, played in this order.",
}
