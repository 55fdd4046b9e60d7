"""Steps that send and receive: publish, request, subscribe, unsubscribe, receive, silence."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.load.reader import Raw, as_map, duration_in, seconds
from jetproof.load.schema_parts import HEX, Schema, mapping, only_true, ref, text, whole_number
from jetproof.load.scope import ERRORS
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.yaml_source import Keys
from jetproof.model import case as model
from jetproof.model.case import Outgoing, Step
from jetproof.model.template import Value

_HEADERS: Schema = {
    "description": "Exact names; a list gives several values. "
    "{} sends an empty header block, no headers sends none.",
    "type": "object",
    "additionalProperties": {
        "if": {"type": "array"},
        "then": {"items": ref("value"), "minItems": 1},
        "else": {
            "if": {"type": "object"},
            "then": ref("fill"),
            "else": {
                "type": ["string", "integer", "number", "boolean"],
                "x-expected": "a text, a number, a list of them, or {text: x, times: 65}",
            },
        },
    },
}
_MESSAGE: Mapping[str, Schema] = {
    "subject": text("The subject, with variables."),
    "headers": _HEADERS,
    "payload": ref("value", "The payload as text."),
    "hex": {**HEX, "description": "The payload as bytes, which need not be text."},
    "json": {"description": "The payload as JSON.", "type": ["object", "array"]},
    "size": whole_number("A payload of this many bytes."),
    "reply": text("The reply subject; a request has one of its own unless this is given."),
    "connection": ref("name", "The connection that sends; main unless given."),
    "not_before": ref(
        "after",
        "Sent not before so long after a mark: traffic that keeps its distance. Never scaled.",
    ),
    "not_after": ref(
        "after",
        "Sent at the latest so long after a mark; a machine too slow for that gives no verdict.",
    ),
}


def _publish(read: Readers, step: Written) -> Step:
    return model.Publish(message=_outgoing(read, step.here, step.body))


PUBLISH = StepKind(
    model.Publish,
    about="Sends a message and waits for nothing.",
    summary="sends a message and waits for nothing",
    body=mapping("publish", _MESSAGE, required=["subject"]),
    read=_publish,
)


def _request(read: Readers, step: Written) -> Step:
    here, body, raw = step.here, step.body, step.raw
    message = _outgoing(read, here, body)
    within, until_there = duration_in(body, "within"), duration_in(body, "until_there")
    if "replies" in raw:
        if within is not None:
            read.reader.mistake((*here, "within"), "move within under replies")
        for name in ("until_there", "or_silence"):
            if name in body:
                read.reader.mistake((*here, name), f"{name} needs one reply, not several")
        several = read.expectations.replies((*step.keys, "replies"), as_map(raw["replies"]))
        return model.Request(message=message, replies=several)
    reply = read.expectations.reply((*step.keys, "reply"), as_map(raw["reply"]))
    if isinstance(reply, model.Silence):
        for name in ("within", "until_there", "or_silence"):
            if name in body:
                read.reader.mistake((*here, name), f"silence and {name} exclude each other")
    return model.Request(
        message=message,
        reply=reply,
        within=within,
        until_there=until_there,
        or_silence=body.get("or_silence") is True,
    )


REQUEST = StepKind(
    model.Request,
    about="Sends a message with a reply subject and judges what comes back.",
    summary="sends a message and judges what comes back",
    body=mapping(
        "request",
        {
            **_MESSAGE,
            "within": ref("duration", "How long the answer may take; three seconds unless given."),
            "until_there": ref(
                "duration",
                "While nobody listens (status 503) or nothing is found (404) it is sent again, "
                "for so long.",
            ),
            "or_silence": only_true(
                "No answer at all is as good: a leader that goes may take the answer with it."
            ),
        },
        required=["subject"],
    ),
    beside={
        "reply": {
            "description": "What the one reply must be like, or {silence: 300ms}.",
            "if": {"type": "object", "required": ["silence"]},
            "then": mapping(
                "reply", {"silence": ref("duration", "Nothing may answer for this long.")}
            ),
            "else": ref("expectation"),
        },
        "replies": ref("replies", "What several replies must be like."),
    },
    rules={"oneOf": [{"required": ["reply"]}, {"required": ["replies"]}]},
    read=_request,
)


def _subscribe(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    to = str(body["to"])
    read.scope.subscribes(to, read.reader.line((*here, "to")))
    return model.Subscribe(
        subject=read.reader.value((*here, "subject"), body["subject"]),
        to=to,
        queue=read.optional(here, body, "queue"),
        connection=read.connection(here, body),
    )


SUBSCRIBE = StepKind(
    model.Subscribe,
    about="Subscribes; what comes is kept under a name.",
    summary="keeps what comes on a subject",
    body=mapping(
        "subscribe",
        {
            "subject": text("The subject, with variables and wildcards."),
            "to": ref("name", "The name under which messages are kept."),
            "queue": text("A queue group."),
            "connection": ref("name"),
        },
        required=["subject", "to"],
    ),
    read=_subscribe,
)


def _unsubscribe(read: Readers, step: Written) -> Step:
    place, source = (*step.here, "from"), str(step.body["from"])
    read.scope.subscription(source, read.reader.line(place))
    if source == ERRORS:
        read.reader.mistake(place, "errors come without a subscription, and do not end")
    return model.Unsubscribe(source=source)


UNSUBSCRIBE = StepKind(
    model.Unsubscribe,
    about="Ends a subscription, on every connection that has it under this name; "
    "what has come can still be received.",
    summary="ends a subscription",
    body=mapping(
        "unsubscribe",
        {"from": ref("name", "The name that subscribe gave.")},
        required=["from"],
    ),
    read=_unsubscribe,
)


def _receive(read: Readers, step: Written) -> Step:
    here, body, raw = step.here, step.body, step.raw
    source = str(body["from"])
    read.scope.subscription(source, read.reader.line((*here, "from")))
    within = duration_in(body, "within")
    if "messages" in raw:
        if within is not None:
            read.reader.mistake((*here, "within"), "move within under messages")
        several = read.expectations.replies((*step.keys, "messages"), as_map(raw["messages"]))
        return model.Receive(source=source, messages=several)
    message = read.expectations.expectation((*step.keys, "message"), as_map(raw["message"]))
    return model.Receive(source=source, message=message, within=within)


RECEIVE = StepKind(
    model.Receive,
    about="Judges the next message, or the next several, of a subscription.",
    summary="judges the next message, or the next several, of a subscription",
    body=mapping(
        "receive",
        {"from": ref("name", "The name that subscribe gave."), "within": ref("duration")},
        required=["from"],
    ),
    beside={
        "message": ref("expectation", "What the next message must be like."),
        "messages": ref("replies", "What the next several messages must be like."),
    },
    rules={"oneOf": [{"required": ["message"]}, {"required": ["messages"]}]},
    read=_receive,
)


def _silence(read: Readers, step: Written) -> Step:
    on = str(step.body["on"])
    read.scope.subscription(on, read.reader.line((*step.here, "on")), or_replies=True)
    return model.Quiet(on=on, seconds=seconds(step.body["for"]))


SILENCE = StepKind(
    model.Quiet,
    about="Nothing may come for some time: on a subscription, or on any reply subject of the case "
    "(replies).",
    summary="nothing may come for a time",
    body=mapping(
        "silence",
        {
            "on": ref("name", "A subscription, or replies."),
            "for": ref("duration"),
        },
        required=["on", "for"],
    ),
    read=_silence,
)


def _outgoing(read: Readers, keys: Keys, raw: Raw) -> Outgoing:
    reader = read.reader
    reader.exclusive(keys, raw, ("hex", "payload", "json"), ("payload", "json", "size"))
    connection = read.connection(keys, raw)
    return Outgoing(
        subject=reader.value((*keys, "subject"), raw["subject"]),
        headers=_headers(read, (*keys, "headers"), raw["headers"]) if "headers" in raw else None,
        payload=reader.sent((*keys, "payload"), raw.get("payload", "")),
        raw=bytes.fromhex(str(raw["hex"])) if "hex" in raw else None,
        json=read.optional(keys, raw, "json"),
        size=read.optional(keys, raw, "size"),
        reply=read.optional(keys, raw, "reply"),
        connection=connection,
        not_before=read.expectations.after((*keys, "not_before"), raw.get("not_before")),
        not_after=read.expectations.after((*keys, "not_after"), raw.get("not_after")),
    )


def _headers(read: Readers, keys: Keys, raw: object) -> tuple[tuple[str, Value], ...]:
    headers: list[tuple[str, Value]] = []
    for name, value in as_map(raw).items():
        here = (*keys, name)
        if isinstance(value, list):
            headers += [(name, read.reader.sent((*here, i), one)) for i, one in enumerate(value)]
        else:
            headers.append((name, read.reader.sent(here, value)))
    return tuple(headers)
