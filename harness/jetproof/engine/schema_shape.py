"""The fields that a JSON Schema names, as a tree to lay over a message.

A schema that tolerates further fields does not tell which ones those are. The shape of a schema
does: it unites what the schema itself, its references and its alternatives name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

_ALTERNATIVES = ("allOf", "anyOf", "oneOf")


@dataclass(slots=True)
class Shape:
    """What is named below one place: fields of an object, any further fields, items of a list."""

    fields: dict[str, Shape] = field(default_factory=dict)
    others: Shape | None = None
    items: Shape | None = None

    def unknown(self, document: object, path: str = "") -> set[str]:
        """Return the paths of what the document has and the shape does not name."""
        found: set[str] = set()
        if isinstance(document, Mapping) and (self.fields or self.others):
            for name, value in document.items():
                here = f"{path}.{name}" if path else str(name)
                below = self.fields.get(name, self.others)
                found |= {here} if below is None else below.unknown(value, here)
        elif isinstance(document, list) and self.items:
            for value in document:
                found |= self.items.unknown(value, f"{path}[]")
        return found


def shape_of(schema: Mapping[str, Any]) -> Shape:
    """Return the shape of a schema that carries all it refers to in its `$defs`.

    References go into another schema by its `$id`, or stay in the one they stand in. A schema that
    refers to itself has no shape; there is none among messages.
    """
    shape = Shape()
    resources = {str(part["$id"]): part for part in _resources(schema)}
    _add(shape, schema, schema, resources)
    return shape


def _resources(schema: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    if "$id" in schema:
        yield schema
    for part in schema.get("$defs", {}).values():
        if isinstance(part, Mapping):
            yield from _resources(part)


def _add(
    shape: Shape,
    schema: object,
    resource: Mapping[str, Any],
    resources: Mapping[str, Mapping[str, Any]],
) -> None:
    if not isinstance(schema, Mapping):
        return
    if "$ref" in schema:
        target, home = _resolve(schema["$ref"], resource, resources)
        _add(shape, target, home, resources)
    for keyword in _ALTERNATIVES:
        for part in schema.get(keyword, ()):
            _add(shape, part, resource, resources)
    for name, part in schema.get("properties", {}).items():
        _add(shape.fields.setdefault(name, Shape()), part, resource, resources)
    if isinstance(schema.get("additionalProperties"), Mapping):
        shape.others = shape.others or Shape()
        _add(shape.others, schema["additionalProperties"], resource, resources)
    if "items" in schema:
        shape.items = shape.items or Shape()
        _add(shape.items, schema["items"], resource, resources)


def _resolve(
    reference: str, resource: Mapping[str, Any], resources: Mapping[str, Mapping[str, Any]]
) -> tuple[object, Mapping[str, Any]]:
    address, _, pointer = reference.partition("#")
    home = resources[address] if address else resource
    target: Any = home
    for part in pointer.split("/")[1:]:
        target = target[part.replace("~1", "/").replace("~0", "~")]
    return target, home
