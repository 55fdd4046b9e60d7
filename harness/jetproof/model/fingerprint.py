"""The hash of a case: what is played and judged, and nothing of how its file says it.

It is made of the case as it was read: what is given, the steps, the revision, and what a mismatch comes to.
So it does not change when a file moves, is commented, sorts its keys otherwise, or says once for a suite
what it said in every case; nor will it when the format learns a shorter way to write the same steps. The
name is no part of it: an edition lists names and hashes, and a case that was only renamed is still the same.

A field that has its default is left out: one that the model gets later changes no hash of an older case.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from enum import Enum
from functools import cache
from typing import Any

from jetproof.model.case import Given, Step
from jetproof.model.clause import Clause, stakes
from jetproof.model.matcher import Matcher
from jetproof.model.template import Fields, Template
from jetproof.model.versions import Version

_NOT_PLAYED: Mapping[type, frozenset[str]] = {
    Step: frozenset({"line", "address"}),
    Template: frozenset({"source"}),
}
"""Fields that say where something stands or how it was written."""
_WORDS = ("$id", "$comment", "title", "description")
"""What a JSON Schema says to people."""


def fingerprint(
    given: Given, steps: Sequence[Step], clauses: Sequence[Clause], spec: str, revision: int
) -> str:
    """The hash of a case that tests these clauses, judged by that revision of its specification.

    Of the clauses it holds what decides a verdict: whether a mismatch is a failure, a warning or a
    position, and the first release that they apply to. Their texts and ids decide nothing.
    """
    since = [clause.applies_from for clause in clauses if clause.applies_from is not None]
    return _digest(
        {
            "given": _plain(given),
            "steps": _plain(tuple(steps)),
            "law": [spec, revision],
            "stakes": stakes(clauses),
            "since": str(max(since)) if since else None,
        }
    )


def schema_fingerprint(variants: Mapping[str, object]) -> str:
    """The hash of a schema of wire messages, in every form that it has."""
    return _digest({name: _wordless(document) for name, document in variants.items()})


def clause_fingerprint(clause: Clause) -> str:
    """The hash of a promise: what it says, and whether breaking it is a failure."""
    since = None if clause.applies_from is None else str(clause.applies_from)
    return _digest({"text": clause.text, "stakes": stakes((clause,)), "since": since})


def _digest(document: object) -> str:
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _plain(value: object) -> object:
    """A part of a case as plain data; the order of headers is kept, that of keys is not."""
    match value:
        case Enum():
            return _plain(value.value)
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return {"is": "bytes", "hex": value.hex()}
        case Version():
            return str(value)
        case Fields():
            return {"is": "object", "fields": {name: _plain(one) for name, one in value.fields}}
        case Matcher():
            return {"is": "matcher", **{name: _plain(argument) for name, argument in value.tests}}
        case Mapping():
            return {str(name): _plain(one) for name, one in value.items()}
        case frozenset() | set():
            return sorted((_plain(one) for one in value), key=repr)
        case tuple() | list():
            return [_plain(one) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value)
    raise TypeError(f"a case holds a {type(value).__name__}, which has no place in its hash")


def _record(value: Any) -> dict[str, object]:
    kind = value.kind if isinstance(value, Step) else type(value).__name__
    found: dict[str, object] = {"is": kind}
    for name, default in _fields(type(value)):  # type: ignore[arg-type]
        one = getattr(value, name)
        if one != default:
            found[name] = _plain(one)
    return found


@cache
def _fields(kind: type[Any]) -> tuple[tuple[str, object], ...]:
    """The fields that count, each with its default; one without a default always counts."""
    left_out = {
        name for base, names in _NOT_PLAYED.items() if issubclass(kind, base) for name in names
    }
    found: list[tuple[str, object]] = []
    for field in dataclasses.fields(kind):
        if field.name in left_out:
            continue
        default: object = field.default
        if field.default_factory is not dataclasses.MISSING:
            default = field.default_factory()
        found.append((field.name, default))
    return tuple(found)


def _wordless(schema: object) -> object:
    """A schema without what it says to people; a property called `description` is no such word."""
    if isinstance(schema, Mapping):
        return {
            name: _wordless(one)
            for name, one in schema.items()
            if not (isinstance(one, str) and (name in _WORDS or name.startswith("x-")))
        }
    return [_wordless(one) for one in schema] if isinstance(schema, list) else schema
