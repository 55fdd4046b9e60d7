"""What may be said between Jetproof and an adapter, as the schemas in `fixtures/schemas/adapter` say.

`read_line` takes a line of an adapter apart; `Wrong` says what is wrong with one. The schemas are
compiled once, and an answer is held against the one of its operation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, cast

from jetproof.data import fixtures_dir

PROTOCOL = 1
AnswerKind = Literal["ok", "error", "unsupported"]
_KINDS: tuple[AnswerKind, ...] = ("ok", "error", "unsupported")
_SHOWN = 200


class Wrong(Exception):
    """A line that breaks the protocol; `kind` is `garbage` or `shape`."""

    def __init__(self, kind: Literal["garbage", "shape"], message: str) -> None:
        super().__init__(message)
        self.kind: Literal["garbage", "shape"] = kind


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """An answer whose body has not been held against its operation's schema yet."""

    id: int
    kind: AnswerKind
    body: object


@dataclass(frozen=True, slots=True)
class RawEvent:
    """An event as it stood on the line, without its name and what it is of."""

    name: str
    of: str | None
    body: dict[str, object]


def operations() -> tuple[str, ...]:
    """Every operation of the protocol, in the order of its documentation."""
    return tuple(rule["if"]["properties"]["op"]["const"] for rule in _schema("calls")["allOf"])


def parameters(op: str) -> Mapping[str, bool]:
    """The parameters of an operation, and whether each must be given."""
    shape = _schema("calls")["$defs"][op]
    own = [name for name in shape["properties"] if name not in ("id", "op")]
    return {name: name in shape.get("required", ()) for name in own}


def check_call(op: str, params: Mapping[str, object]) -> str | None:
    """What is wrong with the encoded parameters of a call, or None."""
    return _flaw(_calls(), {"id": 1, "op": op, **params})


def read_line(line: bytes) -> RawAnswer | RawEvent:
    """A line of an adapter, its newline taken off."""
    document = _document(line)
    if "event" in document:
        name = document["event"]
        known = isinstance(name, str) and f"event:{name}" in _schema("lines")["$defs"]
        if not known:
            raise Wrong("shape", f"an unknown event {shown_value(name)}")
        if flaw := _flaw(_line_part(f"event:{name}"), document):
            raise Wrong("shape", f"an event {name} that is not as it must be: {flaw}")
        of = document.pop("of", None)
        document.pop("event")
        return RawEvent(str(name), cast("str | None", of), document)
    kinds = [kind for kind in _KINDS if kind in document]
    if len(kinds) != 1:
        raise Wrong("shape", f"neither an answer nor an event: {shown(line)}")
    part = {"ok": "ok", "error": "error-answer", "unsupported": "unsupported"}[kinds[0]]
    if flaw := _flaw(_line_part(part), document):
        raise Wrong("shape", f"an answer that is not as it must be: {flaw}")
    return RawAnswer(cast(int, document["id"]), kinds[0], document[kinds[0]])


def check_ok(op: str, body: object) -> str | None:
    """What is wrong with what an operation returned, or None; unknown operations return anything."""
    if f"ok:{op}" not in _schema("lines")["$defs"]:
        return None
    return _flaw(_line_part(f"ok:{op}"), body)


def shown(line: bytes) -> str:
    """The beginning of a line, for a sentence; it is data, and whoever prints it escapes it."""
    text = line[: 4 * _SHOWN].decode("utf-8", "surrogateescape")
    return text if len(text) <= _SHOWN and len(line) <= 4 * _SHOWN else f"{text[:_SHOWN]}…"


def shown_value(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _document(line: bytes) -> dict[str, object]:
    try:
        document = json.loads(line.decode("utf-8"), parse_constant=_no_json)
    except UnicodeDecodeError:
        raise Wrong("garbage", f"a line that is not UTF-8: {shown(line)}") from None
    except (ValueError, RecursionError):
        raise Wrong("garbage", f"a line that is no JSON: {shown(line)}") from None
    if not isinstance(document, dict):
        raise Wrong("garbage", f"a line that is no JSON object: {shown(line)}")
    return document


def _no_json(constant: str) -> object:
    raise ValueError(f"{constant} is no JSON")


@cache
def _schema(name: str) -> dict[str, Any]:
    path = fixtures_dir() / "schemas" / "adapter" / f"{name}.json"
    return cast("dict[str, Any]", json.loads(path.read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class _Check:
    """A fast validator, and a schema for the slow one that finds words."""

    accepts: Callable[[object], bool]
    schema: dict[str, Any]


def _compiled(schema: dict[str, Any]) -> _Check:
    import jsonschema_rs

    return _Check(jsonschema_rs.Draft202012Validator(schema).is_valid, schema)


@cache
def _calls() -> _Check:
    return _compiled(_schema("calls"))


@cache
def _line_part(part: str) -> _Check:
    return _compiled({"$ref": f"#/$defs/{part}", "$defs": _schema("lines")["$defs"]})


def _flaw(check: _Check, document: object) -> str | None:
    try:
        if check.accepts(document):
            return None
    except ValueError as error:  # numbers and depths that the fast validator does not take
        return shown_value(str(error))
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import best_match

    first = best_match(Draft202012Validator(check.schema).iter_errors(document))
    if first is None:
        return "it does not follow the schema"
    path = first.json_path.removeprefix("$").removeprefix(".")
    return f"{path}: {shown_value(first.message)}" if path else shown_value(first.message)
