"""Optional features of requests: what carries them on the wire, and a case without them.

A feature is a field of a request, or headers of a message, that a server may not know. A case that
is about a feature and passes without it says nothing about the feature: its *control* is the same
case without the fields, the headers or the reply subject that carry it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from jetproof.model.case import (
    Case,
    Outgoing,
    Publish,
    Request,
    Step,
)
from jetproof.model.client import Call
from jetproof.model.template import Expression, Fields, Template, Value, parse_value
from jetproof.model.versions import Releases, Version

_VARIABLE = "\0"
"""Stands for a variable in a subject; no subject that is written has it."""


_NO_OBJECT = "the request is a text that is no JSON object"


@dataclass(frozen=True, slots=True)
class Fieldset:
    """Fields of a JSON request, as dotted paths, and the subjects that they belong to."""

    subjects: tuple[str, ...]
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Asking:
    """Calls of a client library that ask for a feature: these operations, with one of these
    parameters if any is named, in cases about one of these revisions if any is named.

    A call that may fail asks for nothing: a library may refuse it before it sends anything."""

    ops: tuple[str, ...]
    parameters: tuple[str, ...] = ()
    revisions: tuple[str, ...] = ()

    def calls(self, case: Case) -> Iterator[Call]:
        """The calls of a case that ask for it."""
        if self.revisions and f"{case.spec}@{case.revision}" not in self.revisions:
            return
        for step in case.all_steps():
            if isinstance(step, Call) and step.op in self.ops and _must_succeed(step):
                named = [name for name in self.parameters if name in step.parameters]
                if named or not self.parameters:
                    yield step


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature, and all that carries it.

    `headers` show that a message uses it; `with_headers` go with them and show nothing by
    themselves. `reply_ends` is the end of a reply subject. `calls` ask a client library for it.
    `servers` are the releases that know it; None: all. `reference` says whether the reference layer
    knows it where its release does not."""

    name: str
    about: str
    headers: tuple[str, ...] = ()
    with_headers: tuple[str, ...] = ()
    fields: tuple[Fieldset, ...] = ()
    reply_ends: str | None = None
    calls: tuple[Asking, ...] = ()
    servers: Releases | None = None
    reference: bool = False

    def known_to(self, version: Version, *, reference: bool) -> bool:
        """Whether a release, or the reference layer in front of it, knows the feature."""
        if self.servers is None or (reference and self.reference):
            return True
        return self.servers.contains(version)


@dataclass(frozen=True, slots=True)
class Control:
    """A case without a feature: how many messages lost it, or why there is no such case."""

    case: Case | None
    messages: int = 0
    why_not: str = ""


def sends(case: Case, feature: Feature) -> bool:
    """Whether some step of the case sends the feature, or asks a client library for it."""
    if case.for_client:
        return any(asking_calls(case, feature))
    return any(_carries(step.message, feature) for step in _sending(case))


def _must_succeed(call: Call) -> bool:
    return call.later is None and (call.answer is None or call.answer.outcome == "ok")


def asking_calls(case: Case, feature: Feature) -> Iterator[Call]:
    """The calls of a client case that ask the library for the feature."""
    for asking in feature.calls:
        yield from asking.calls(case)


def control(case: Case, feature: Feature) -> Control:
    """A case about servers as it is without the feature, or the reason why that cannot be made."""
    for step in _sending(case):
        if unreadable := _unreadable(step.message, feature):
            place = f"{case.file}:{step.line}: step {step.name}"
            return Control(None, why_not=f"{place}: {unreadable}")
    count = 0

    def stripped(message: Outgoing) -> Outgoing:
        nonlocal count
        if not _carries(message, feature):
            return message
        count += 1
        return _without(message, feature)

    steps = _mapped(case.steps, stripped)
    if not count:
        return Control(None, why_not="no step of the case sends it")
    return Control(replace(case, steps=steps), count)


def _sending(case: Case) -> Iterator[Publish | Request]:
    for step in case.all_steps():
        if isinstance(step, (Publish, Request)):
            yield step


def _mapped(steps: tuple[Step, ...], change: Callable[[Outgoing], Outgoing]) -> tuple[Step, ...]:
    """The steps with every message that they send changed."""

    def changed(steps: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(
            replace(step, message=change(step.message))
            if isinstance(step, (Publish, Request))
            else step.with_inner(changed)
            for step in steps
        )

    return changed(steps)


# -- one message ------------------------------------------------------------------------------------


def _carries(message: Outgoing, feature: Feature) -> bool:
    if any(name in feature.headers for name, _ in message.headers or ()):
        return True
    if feature.reply_ends is not None and _shape(message.reply).endswith(feature.reply_ends):
        return True
    body = _body(message)
    return body is not None and any(_has(body, path) for path in _paths(message, feature))


def _without(message: Outgoing, feature: Feature) -> Outgoing:
    if message.headers is not None:
        gone = {*feature.headers, *feature.with_headers}
        kept = tuple(pair for pair in message.headers if pair[0] not in gone)
        # A block that loses its last header goes: an empty one is another message.
        message = replace(message, headers=kept if kept or not message.headers else None)
    end = feature.reply_ends
    if end is not None and message.reply is not None and _shape(message.reply).endswith(end):
        message = replace(message, reply=_cut(message.reply, end))
    body = _body(message)
    paths = _paths(message, feature)
    if body is not None and any(_has(body, path) for path in paths):
        for path in paths:
            body = _drop(body, path.split("."))
        message = replace(message, json=body, payload="")
    return message


def _unreadable(message: Outgoing, feature: Feature) -> str:
    """Why nobody can say whether the message carries a field of the feature."""
    fields = [path.rpartition(".")[2] for each in feature.fields for path in each.paths]
    if message.json is not None or not fields:
        if _shape(message.subject) == _VARIABLE and isinstance(message.json, Fields):
            held = [name for name in fields if _has(message.json, name)]
            if held:
                said = f"its subject is a variable, and {held[0]} has a meaning by the subject"
                return f"{said}; write the subject out"
        return ""
    text = _shape(message.payload)
    if not _paths(message, feature) or not any(f'"{name}"' in text for name in fields):
        return ""
    return "" if _body(message) is not None else f"{_NO_OBJECT}; write it as json"


def _paths(message: Outgoing, feature: Feature) -> list[str]:
    """The fields of the feature that have a meaning on the message's subject."""
    tokens = _shape(message.subject).split(".")
    return [
        path
        for each in feature.fields
        if any(_covers(subject.split("."), tokens) for subject in each.subjects)
        for path in each.paths
    ]


def _covers(pattern: list[str], tokens: list[str]) -> bool:
    """Whether a subject with wildcards covers one whose variables may hold anything."""
    if tokens[:1] == ["$JS"] and tokens[2:3] == ["API"]:
        tokens = ["$JS", *tokens[2:]]  # the API of a domain
    for at, token in enumerate(pattern):
        if token == ">":
            return len(tokens) > at
        if at >= len(tokens) or token not in ("*", tokens[at]):
            return False
    return len(tokens) == len(pattern)


def _shape(value: Value) -> str:
    """A text with a sign in place of each variable."""
    if isinstance(value, Template):
        return "".join(part if isinstance(part, str) else _VARIABLE for part in value.parts)
    return value if isinstance(value, str) else ""


def _cut(value: Value, end: str) -> Value:
    """A text without its last characters, which hold no variable."""
    if isinstance(value, Template):
        *parts, last = value.parts
        assert isinstance(last, str)
        rest: tuple[str | Expression, ...] = (*parts, last[: -len(end)])
        return Template(value.source[: -len(end)], tuple(part for part in rest if part != ""))
    assert isinstance(value, str)
    return value[: -len(end)]


def _body(message: Outgoing) -> Fields | None:
    """The JSON object that is sent, also where the case writes it as plain text."""
    if message.json is not None or message.raw is not None or message.size is not None:
        return message.json if isinstance(message.json, Fields) else None
    if not isinstance(message.payload, str) or not message.payload.startswith("{"):
        return None
    try:
        value = parse_value(json.loads(message.payload))
    except ValueError:
        return None
    return value if isinstance(value, Fields) else None


def _has(body: Fields, path: str) -> bool:
    name, _, rest = path.partition(".")
    found = [value for key, value in body.fields if key == name]
    if not rest:
        return bool(found)
    return any(isinstance(value, Fields) and _has(value, rest) for value in found)


def _drop(body: Fields, path: list[str]) -> Fields:
    name, *rest = path
    if not rest:
        return Fields(tuple(pair for pair in body.fields if pair[0] != name))
    return Fields(
        tuple(
            (key, _drop(value, rest) if key == name and isinstance(value, Fields) else value)
            for key, value in body.fields
        )
    )
