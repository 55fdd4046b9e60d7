"""The JSON Schema of rules of the tap, for case files and for mutants. docs/tap.md explains them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from jetproof.load.schema_parts import (
    Schema,
    at_least,
    by_key,
    described,
    mapping,
    only_true,
    ref,
    text_or,
)

OPS: Final = (
    "MSG", "PUB", "HMSG", "HPUB", "INFO", "CONNECT", "SUB", "UNSUB", "PING", "PONG", "OK", "ERR",
)  # fmt: skip
SIMPLE: Final = ("drop", "cut", "duplicate", "pass", "refuse", "accept", "pause", "resume")
COUNTS: Final = ("nth", "every", "after", "times")

_ANYTHING: Schema = {}
_BOOLEAN: Schema = {"type": "boolean"}
_DURATION = ref("duration")
_DEAF: Schema = {
    "type": "boolean",
    "description": "Nobody listens at the port, so that connecting itself fails.",
}
_PLACE: Schema = {"enum": ["before", "after"]}
_TEXTS: Schema = {
    "type": "array",
    "items": {"type": "string", "minLength": 1},
    "x-expected": "a list of texts",
}


def _op(*known: str) -> Schema:
    about = "PUB (with HPUB), MSG (with HMSG), SUB, UNSUB, CONNECT and so on."
    return {"enum": list(known), "description": about}


def _pattern(part: str) -> Schema:
    return text_or(_ANYTHING, ref("matcher"), f"The {part} of the frame: a pattern or a matcher.")


SELECTOR: Mapping[str, Schema] = {
    "from": {
        "enum": ["client", "server"],
        "description": "Who sent it; as op says unless given.",
    },
    "op": _op(*OPS),
    "subject": _pattern("subject"),
    "reply": _pattern("reply"),
    "status": ref("matcher", "The status of the frame: a matcher."),
    "description": ref("matcher", "The description of the frame: a matcher."),
    "payload": ref("matcher", "The payload of the frame: a matcher."),
    "headers": by_key(ref("matcher"), "Matchers by name."),
    "json": by_key(ref("matcher"), "Matchers by path."),
}
"""The keys that select frames, in a rule and in the step `wire`."""

_REMEMBER = by_key(
    {
        "type": "string",
        "pattern": r"^(subject|reply|status|payload|header\..+|json\..+)$",
        "x-expected": "one of subject, reply, status, payload, header.<Name>, json.<path>",
    },
    "Variables that later frames and rules may name, and where each is read from.",
    keys="name",
)
_ANSWERS = text_or(
    {"const": "publish", "x-expected": "publish, or a mapping that selects publishes"},
    mapping(
        "answers",
        {
            **{name: part for name, part in SELECTOR.items() if name != "from"},
            "op": _op("PUB", "HPUB"),
            "remember": _REMEMBER,
        },
        **{"x-expected": "publish, or a mapping that selects publishes"},
    ),
    "The frame answers a publish of the client: any but to the API (publish), or one that this "
    "selects.",
)
_ON = mapping(
    "on",
    {
        **SELECTOR,
        "answers": _ANSWERS,
        "nth": at_least(1, "The nth of the frames that all this selects."),
        "every": at_least(1, "Every nth of them."),
        "after": at_least(0, "Those after the nth of them."),
        "times": at_least(1, "At most so many of them."),
    },
    "Which frames.",
)
_MESSAGE = mapping(
    "message",
    {
        "subject": {
            "description": "Its subject; that of the answered or selected one unless given."
        },
        "to": {"description": "The subject whose subscription receives it."},
        "reply": {"description": "Its reply subject."},
        "headers": {"type": "object", "description": "Headers, each a value or a list of them."},
        "status": {"description": "The status of its header line."},
        "description": {"description": "The text after the status."},
        "json": {"description": "Its payload as JSON."},
        "payload": {"description": "Its payload as text."},
        "error": {"description": "The text of a -ERR, instead of a message."},
    },
    "A message that the tap makes up.",
)
_HEADER_EDIT: Schema = {
    "if": {"type": "object"},
    "then": mapping(
        "edit of a header",
        {
            "remove": only_true("Takes it away."),
            "add": {"description": "One more line."},
            "plus": {"description": "Added to the number that the header holds."},
            "rename": {"type": "string", "description": "Another name."},
        },
        minProperties=1,
        maxProperties=1,
    ),
}
_ACTIONS: Mapping[str, Mapping[str, Schema]] = {
    "delay": {
        "delay": {
            "description": "It is held for a time, and with it all that follows.",
            "if": {"type": "object"},
            "then": mapping(
                "delay",
                {
                    "by": ref("duration", "How long it is held, and with it all that follows."),
                    "reorder": described(_BOOLEAN, "Others may overtake it."),
                },
                required=["by"],
            ),
            "else": _DURATION,
        }
    },
    "cut": {
        "cut": text_or(
            _PLACE,
            mapping(
                "cut",
                {
                    "place": described(_PLACE, "Before or after the frame; before unless given."),
                    "refuse": {
                        "description": "New connections are refused, for a time or (true) until "
                        "they are accepted.",
                        "if": {"type": "boolean"},
                        "then": {"const": True, "x-expected": "true, or a duration such as 2s"},
                        "else": _DURATION,
                    },
                    "deaf": _DEAF,
                },
                **{"x-expected": "before, after, or a mapping such as {refuse: 2s}"},
            ),
            "The connection is closed at both ends.",
        )
    },
    "refuse": {
        "refuse": {
            "description": "New connections are closed as soon as they are made, for a time.",
            "if": {"type": "object"},
            "then": mapping(
                "refuse",
                {
                    "for": ref("duration", "How long; until they are accepted unless given."),
                    "deaf": _DEAF,
                },
            ),
            "else": _DURATION,
        }
    },
    "pause": {"pause": ref("duration", "All that the server says is held for this long.")},
    "change": {
        "change": mapping(
            "change",
            {
                "subject": {"description": "Another subject."},
                "reply": {"description": "A value, or {remove: true}."},
                "headers": {
                    "type": ["object", "null"],
                    "additionalProperties": _HEADER_EDIT,
                    "description": "Edits by name; null takes the whole block away.",
                },
                "status": {"description": "A value, or {remove: true}."},
                "description": {"description": "Another text after the status."},
                "json": {
                    "type": "object",
                    "description": "Edits by path: a value, {remove: true}, {add: 1}, "
                    "{rename: key}, or {value: anything}.",
                },
                "payload": {"description": "Another payload, as text."},
            },
            "It is passed on with some parts different.",
            minProperties=1,
        )
    },
    "strip": {
        "strip": mapping(
            "strip",
            {
                "headers": described(_TEXTS, "Names of headers."),
                "json": described(_TEXTS, "Paths into the payload."),
                "reply_end": {
                    "type": "string",
                    "minLength": 1,
                    "description": "The end of the reply subject, such as .$FI.",
                },
            },
            "It is passed on, and counts, as if its sender had left these parts out.",
            minProperties=1,
        )
    },
    "answer": {
        "answer": {
            "description": "The tap answers a publish in the server's place: a message, or a list.",
            "if": {"type": "array"},
            "then": {"items": ref("rule-message"), "minItems": 1},
            "else": ref("rule-message"),
        },
        "pass": described(_BOOLEAN, "The server sees the publish, too."),
    },
    "inject": {
        "inject": ref("rule-message"),
        "place": described(_PLACE, "Before or after the frame; after unless given."),
        "blind": described(_BOOLEAN, "The request that was answered is over."),
    },
}
ACTIONS: Final = tuple(_ACTIONS)
_FORMS = [f"{{{kind}: ...}}" for kind in ACTIONS]

DEFINITIONS: Mapping[str, Schema] = {
    "rule": mapping(
        "rule",
        {
            "id": {"type": "string", "minLength": 1, "description": "What fired asks for."},
            "on": _ON,
            "do": ref("rule-action"),
            "remember": _REMEMBER,
        },
        "On a selected frame, one action. docs/tap.md explains rules.",
        required=["on", "do"],
    ),
    "rule-action": text_or(
        {"enum": list(SIMPLE), "x-besides": _FORMS},
        {
            "title": "action of a rule",
            "type": "object",
            "x-expected": f"an action: {', '.join((*SIMPLE, *_FORMS))}",
            "x-names": "action",
            "oneOf": [{"required": [kind]} for kind in ACTIONS],
            "allOf": [
                {
                    "if": {"type": "object", "required": [kind]},
                    "then": mapping(f"action {kind}", properties),
                }
                for kind, properties in _ACTIONS.items()
            ],
        },
        "What happens to the frame.",
    ),
    "rule-message": _MESSAGE,
}
"""What `#/$defs` of a schema needs for rules, besides `matcher`, `duration` and `name`."""

NEEDED: Final = ("duration", "name", "fill", "matcher", "operators")
"""Further definitions of case files that those of rules refer to."""
