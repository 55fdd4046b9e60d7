"""Steps that look: stream and consumer info, stored messages, advisories."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from jetproof.load.reader import Raw, as_map, duration_in
from jetproof.load.schema_parts import Schema, by_key, mapping, only_true, ref, text, whole_number
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.yaml_source import Keys
from jetproof.model import case as model
from jetproof.model.case import Expectation, Step

ABANDONED = "STREAM.BATCH_ABANDONED"
STATE = {
    "messages": "How many messages the stream holds.",
    "bytes": "How many bytes it holds.",
    "first_seq": "The sequence of its first message.",
    "last_seq": "The sequence of its last message.",
    "num_subjects": "How many subjects it holds.",
    "num_deleted": "How many messages inside it are deleted.",
    "consumer_count": "How many consumers it has.",
}
COUNTS = {
    "num_pending": "How many messages it has yet to deliver.",
    "num_ack_pending": "How many messages it waits for acks of.",
    "num_redelivered": "How many of those were delivered again.",
    "num_waiting": "How many pulls wait.",
}
_OF_A_MESSAGE = (
    "subject", "headers", "header_names", "payload", "json", "one_of", "capture", "position",
)  # fmt: skip
_OF_AN_ADVISORY = (
    "json", "schema", "one_of", "not_before", "mark", "capture", "position",
)  # fmt: skip

_STREAM: Schema = text("The stream; $stream unless given.")
_PATH: Schema = {"type": "string"}
_INFO: Mapping[str, Schema] = {
    "within": ref("duration", "Asks again until everything holds, this long at most."),
    "connection": ref("name"),
    "capture": by_key(_PATH, "Variables set from paths into the reply.", keys="name"),
    "position": by_key(_PATH, "Positions read from paths into the reply.", keys="label"),
}


def _stream(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    fields = {
        f"state.{name}": read.reader.matcher((*here, name), body[name])
        for name in STATE
        if name in body
    }
    fields.update(read.reader.matchers((*here, "json"), body.get("json"), paths=True))
    return model.StreamState(of=read.stream(here, body), fields=fields, **_info(read, here, body))


STREAM = StepKind(
    model.StreamState,
    about="Judges what stream info says, now or within some time.",
    summary="judges what stream info says",
    body=mapping(
        "stream",
        {
            "of": _STREAM,
            **{name: ref("matcher", about) for name, about in STATE.items()},
            "json": by_key(
                ref("matcher"), "Paths into the whole reply, such as config.allow_atomic."
            ),
            **_INFO,
        },
        minProperties=1,
    ),
    read=_stream,
)


def _consumer(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    read.reader.exclusive(here, body, ("absent",), (*COUNTS, "json", "capture", "position"))
    fields = {
        name: read.reader.matcher((*here, name), body[name]) for name in COUNTS if name in body
    }
    fields.update(read.reader.matchers((*here, "json"), body.get("json"), paths=True))
    return model.ConsumerState(
        of=read.stream(here, body),
        consumer=read.reader.value((*here, "name"), body["name"]),
        fields=fields,
        absent=body.get("absent") is True,
        **_info(read, here, body),
    )


CONSUMER = StepKind(
    model.ConsumerState,
    about="Judges what consumer info says, now or within some time.",
    summary="judges what consumer info says",
    body=mapping(
        "consumer",
        {
            "name": text("The consumer."),
            "of": _STREAM,
            **{name: ref("matcher", about) for name, about in COUNTS.items()},
            "json": by_key(
                ref("matcher"), "Paths into the whole reply, such as delivered.stream_seq."
            ),
            "absent": only_true("There is no such consumer."),
            **_INFO,
        },
        required=["name"],
        minProperties=2,
    ),
    read=_consumer,
)


def _info(read: Readers, here: Keys, body: Raw) -> dict[str, Any]:
    """What a step that asks for information has besides what it must be."""
    return {
        "within": duration_in(body, "within"),
        "capture": read.expectations.captured_paths((*here, "capture"), body.get("capture")),
        "position": {
            name: read.reader.path((*here, "position", name), str(path))
            for name, path in as_map(body.get("position")).items()
        },
        "connection": read.connection(here, body),
    }


def _stored(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    read.reader.exclusive(here, body, ("absent",), _OF_A_MESSAGE)
    return model.Stored(
        of=read.stream(here, body),
        seq=read.optional(here, body, "seq"),
        last_by_subject=read.optional(here, body, "last_by_subject"),
        message=_part(read, here, body, _OF_A_MESSAGE),
        absent=body.get("absent") is True,
        connection=read.connection(here, body),
    )


STORED = StepKind(
    model.Stored,
    about="Judges what message get returns.",
    summary="judges what message get returns",
    body=mapping(
        "stored",
        {
            "of": _STREAM,
            "seq": whole_number("The message at this sequence."),
            "last_by_subject": text("The last message of this subject."),
            "absent": only_true("There is no such message."),
            "connection": ref("name"),
            **{name: ref(f"expectation/properties/{name}") for name in _OF_A_MESSAGE},
        },
        oneOf=[{"required": ["seq"]}, {"required": ["last_by_subject"]}],
    ),
    read=_stored,
)


def _advisory(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    read.reader.exclusive(here, body, ("none_for",), ("within", *_OF_AN_ADVISORY))
    none_for = duration_in(body, "none_for")
    return model.Advisory(
        event=str(body.get("event", ABANDONED)),
        of=read.stream(here, body),
        message=_part(read, here, body, _OF_AN_ADVISORY) if none_for is None else None,
        none_for=none_for,
        within=duration_in(body, "within"),
    )


ADVISORY = StepKind(
    model.Advisory,
    about="An advisory about the stream must come, or none may come for some time.",
    summary="an advisory must come, or none may come",
    body=mapping(
        "advisory",
        {
            "event": text(
                "The event's subject after $JS.EVENT.ADVISORY. and before the stream; "
                f"{ABANDONED} unless given."
            ),
            "of": _STREAM,
            "none_for": ref("duration", "None may come for this long."),
            "within": ref("duration", "How long it may take."),
            **{name: ref(f"expectation/properties/{name}") for name in _OF_AN_ADVISORY},
        },
    ),
    read=_advisory,
)


def _part(read: Readers, keys: Keys, raw: Raw, names: Iterable[str]) -> Expectation:
    """The expectation whose keys stand among others in a step."""
    part = {name: raw[name] for name in names if name in raw}
    return read.expectations.expectation(keys, part)
