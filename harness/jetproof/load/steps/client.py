"""Steps about a client library: calls, what they returned, what the library reports by itself."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from jetproof.load.mistakes import choices
from jetproof.load.reader import Raw, as_map, as_text, duration_in, seconds
from jetproof.load.rule_schema import SELECTOR
from jetproof.load.schema_parts import Schema, by_key, mapping, only_true, ref, text, text_or
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.yaml_source import Keys
from jetproof.model import client as model
from jetproof.model.case import ClientGiven, Expectation, Step
from jetproof.model.template import Value

_OUTCOMES: Final = ("ok", "error")
_OF_A_CALL: Final = ("op", "within", "later", "demanded")
_OF_A_LOOK: Final = ("within", "none_for")
_ANSWER: Schema = text_or(
    {
        "enum": ["ok", "error", "any"],
        "x-expected": "ok, error, any, or what the answer must be like",
    },
    ref("expectation"),
    "What the library must have answered: ok unless given.",
)
_LOOK: Mapping[str, Schema] = {
    "message": ref("expectation", "What the next one must be like."),
    "messages": ref("replies", "What the next several must be like."),
}


def _call(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    op = str(body["op"])
    known = model.OPERATIONS.get(op)
    parameters: dict[str, Value] = {}
    if known is None:
        there = choices(op, sorted(model.OPERATIONS))
        read.reader.mistake((*here, "op"), f"unknown operation {op!r}; {there}")
    for name, value in body.items():
        if name in _OF_A_CALL:
            continue
        if known is not None and name not in known:
            there = choices(name, known)
            read.reader.mistake((*here, name), f"unknown parameter {name!r} of {op}; {there}")
        parameters[name] = _parameter(read, (*here, name), name, value)
    later = as_text(body.get("later"))
    if later is not None:
        _check_later(read, step, later)
        return model.Call(op=op, parameters=parameters, later=later)
    return model.Call(
        op=op,
        parameters=parameters,
        answer=_answer(read, step),
        within=duration_in(body, "within"),
        demanded="demanded" in body,
    )


CALL = StepKind(
    model.Call,
    about="Calls the client library.",
    summary="calls the library, and judges what came back",
    body={
        "title": "call",
        "type": "object",
        "properties": {
            "op": text("An operation of the adapter protocol, such as fetch."),
            "within": ref("duration", "How long the answer may take."),
            "later": ref(
                "name", "A name for the call; the step answered looks at what it returned."
            ),
            "demanded": only_true("The text demands such a call: a library that has none fails."),
        },
        "required": ["op"],
        "description": "Calls the library; every other key is a parameter of the operation.",
    },
    beside={"answer": _ANSWER},
    read=_call,
    for_client=True,
)


def _check_later(read: Readers, step: Written, later: str) -> None:
    """A call that is not waited for says nothing of its answer."""
    here, body = step.here, step.body
    read.calls.add((*here, "later"), later)
    if "answer" in step.raw:
        read.reader.mistake((*step.keys, "answer"), "answer belongs to the step answered here")
    if "within" in body:
        read.reader.mistake((*here, "within"), "within belongs to the step answered here")
    if "demanded" in body:
        read.reader.mistake((*here, "demanded"), "demanded and later exclude each other")


def _parameter(read: Readers, keys: Keys, name: str, raw: object) -> Value:
    """A value to pass on; payloads may also be given as bytes, which need not be text."""
    if name == "data" and isinstance(raw, Mapping) and set(raw) == {"hex"}:
        try:
            return bytes.fromhex(str(raw["hex"])).decode("utf-8", "surrogateescape")
        except ValueError:
            words = f"hex must be bytes such as '00ff', not {raw['hex']!r}"
            read.reader.mistake((*keys, "hex"), words)
    return read.reader.value(keys, raw)


def _answered(read: Readers, step: Written) -> Step:
    call = str(step.body["call"])
    read.calls.check((*step.here, "call"), call)
    within = duration_in(step.body, "within")
    return model.Answered(call=call, answer=_answer(read, step), within=within)


ANSWERED = StepKind(
    model.Answered,
    about="Judges what a call that was made before has returned.",
    summary="judges what a call returned that was made before (`later`)",
    body=mapping(
        "answered",
        {
            "call": ref("name", "The name that a call gave with later."),
            "within": ref("duration"),
        },
        "Waits for a call that was made before.",
        required=["call"],
    ),
    beside={"answer": _ANSWER},
    read=_answered,
    for_client=True,
)


def _answer(read: Readers, step: Written) -> Expectation:
    """`ok`, `error`, `any`, or all that can be said of a message, about what was answered."""
    raw = step.raw.get("answer", "ok")
    if isinstance(raw, str):
        return Expectation(outcome=raw if raw in _OUTCOMES else None)
    return read.expectations.expectation((*step.keys, "answer"), as_map(raw))


def _event(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    return model.EventStep(
        event=str(body["kind"]),
        of=str(body.get("of", "")),
        says=_expression(read, (*here, "says"), body.get("says")),
        json=read.reader.matchers((*here, "json"), body.get("json"), paths=True),
        **_look(read, step),
    )


EVENT = StepKind(
    model.EventStep,
    about="Judges what the library told its caller by itself.",
    summary="judges what the library reports to its caller by itself: messages, notices, ends, "
    "connection events",
    body=mapping(
        "event",
        {
            "kind": {
                "enum": list(model.EVENTS),
                "description": "What the library told; told is an error, as a notice or with "
                "the end.",
            },
            "of": text("The name of what it told it about: a consume, a batch."),
            "says": text(
                "Only events are meant in which this regular expression is found, wherever."
            ),
            "json": by_key(ref("matcher"), "Only events that match are meant: matchers by path."),
            "within": ref("duration"),
            "none_for": ref(
                "duration", "None may be told for this long, and none may be left from before."
            ),
        },
        "What the library told without being asked.",
        required=["kind"],
    ),
    beside=_LOOK,
    read=_event,
    for_client=True,
)


def _expression(read: Readers, keys: Keys, raw: object) -> str:
    try:
        re.compile(found := as_text(raw) or "")
    except re.error as error:
        read.reader.mistake(keys, f"not a regular expression: {error}")
        return ""
    return found


def _wire(read: Readers, step: Written) -> Step:
    on = {name: value for name, value in step.body.items() if name not in _OF_A_LOOK}
    selector = read.calls.selector(step.here, on)
    return model.Wire(selector=selector, **_look(read, step))


WIRE = StepKind(
    model.Wire,
    about="Judges frames between the library and the server.",
    summary="judges frames between the library and the server, as they passed the tap",
    body=mapping(
        "wire",
        {
            **SELECTOR,
            "within": ref("duration"),
            "none_for": ref(
                "duration", "None may come for this long, and none may be left from before."
            ),
        },
        "Selects frames at the tap, as a rule does; each frame is taken by one step only.",
        minProperties=1,
    ),
    beside=_LOOK,
    read=_wire,
    for_client=True,
)


def _look(read: Readers, step: Written) -> dict[str, Any]:
    """One message, several, or none for some time."""
    keys, here, raw, body = step.keys, step.here, step.raw, step.body
    within = duration_in(body, "within")
    wanted = [name for name in _LOOK if name in raw]
    if "none_for" in body:
        for name in wanted:
            read.reader.mistake((*keys, name), f"none_for and {name} exclude each other")
        if within is not None:
            read.reader.mistake((*here, "within"), "none_for and within exclude each other")
        return {"none_for": seconds(body["none_for"])}
    if len(wanted) == 2:
        read.reader.mistake((*keys, "messages"), "message and messages exclude each other")
    if "messages" in raw:
        if within is not None:
            read.reader.mistake((*here, "within"), "move within under messages")
        several = read.expectations.replies((*keys, "messages"), as_map(raw["messages"]))
        return {"messages": several}
    message = Expectation()
    if "message" in raw:
        message = read.expectations.expectation((*keys, "message"), as_map(raw["message"]))
    return {"message": message, "within": within}


def read_client_given(read: Readers, keys: Keys, raw: object) -> ClientGiven:
    """How the library is connected before the first step."""
    body: Raw = as_map(raw)
    if raw is not None:
        read.calls.check_kind(keys, "client")
    connect = body.get("connect")
    given: dict[str, Value] = {}
    for name, value in as_map(connect).items():
        place = (*keys, "connect", name)
        if name not in model.OPERATIONS["connect"]:
            known = choices(name, model.OPERATIONS["connect"])
            read.reader.mistake(place, f"unknown parameter {name!r} of connect; {known}")
        given[name] = read.reader.value(place, value)
    node = as_text(body.get("node"))
    if node is not None:
        read.servers.check_node((*keys, "node"), node)
    return ClientGiven(given, connected=connect is not False, node=node)
