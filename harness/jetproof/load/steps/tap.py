"""Steps about the tap between a client library and the server: rules, outages, faults that happened."""

from __future__ import annotations

from jetproof.load.reader import as_map, duration_in
from jetproof.load.schema_parts import at_least, mapping, ref, text, text_or
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.yaml_source import Keys
from jetproof.model import client as model
from jetproof.model.case import Step

_VERBS = ("cut", "refuse", "accept", "pause", "resume")


def _fired(read: Readers, step: Written) -> Step:
    rule, times = str(step.body["rule"]), step.body.get("times", 1)
    read.calls.check_rule((*step.here, "rule"), rule, " before")
    return model.Fired(
        rule=rule,
        times=times if isinstance(times, int) else 1,
        within=duration_in(step.body, "within"),
    )


FIRED = StepKind(
    model.Fired,
    about="Proves that a fault has happened before its effect is judged.",
    summary="a fault has really happened; what follows would prove nothing otherwise",
    body=mapping(
        "fired",
        {
            "rule": text("The id of a rule at the tap."),
            "times": at_least(1, "How often it must have fired; once unless given."),
            "within": ref("duration"),
        },
        "Waits until a fault has happened.",
        required=["rule"],
    ),
    read=_fired,
    for_client=True,
)


def _tap(read: Readers, step: Written) -> Step:
    here, body = step.here, step.raw[step.kind]
    if isinstance(body, str):
        return model.TapStep(verb=body)
    [(verb, given)] = as_map(body).items()
    if verb == "rules":
        return model.TapStep(verb=verb, rules=read.calls.rules((*here, verb), given))
    ids = tuple(map(str, given)) if isinstance(given, list) else (str(given),)
    for name in ids:
        read.calls.check_rule((*here, verb), name)
    return model.TapStep(verb=verb, ids=ids)


TAP = StepKind(
    model.TapStep,
    about="Does something between the library and the server.",
    summary="puts rules in force or out of it, cuts the connection, refuses new ones, holds what "
    "the server sends",
    body=text_or(
        {"enum": list(_VERBS), "x-expected": "cut, refuse, accept, pause or resume"},
        mapping(
            "tap",
            {
                "rules": {
                    "type": "array",
                    "minItems": 1,
                    "items": ref("rule"),
                    "description": "Rules for the frames between library and server, each with "
                    "an id, on and do.",
                },
                "remove": {
                    "description": "The ids of rules that are taken out of force.",
                    "if": {"type": "string"},
                    "then": {"minLength": 1},
                    "else": {"type": "array", "minItems": 1, "items": {"type": "string"}},
                },
            },
            minProperties=1,
            maxProperties=1,
        ),
        "cut closes the connection, refuse and accept turn new ones away or take them, "
        "pause and resume hold what the server sends.",
    ),
    read=_tap,
    for_client=True,
)


def read_first_rules(read: Readers, keys: Keys, raw: object) -> tuple[Step, ...]:
    """The rules of the case as a whole, as a step before the first."""
    if raw is None:
        return ()
    read.calls.check_kind(keys, "tap")
    rules = read.calls.rules(keys, raw)
    line = read.reader.line(keys)
    return (model.TapStep(verb="rules", rules=rules, line=line, address="tap"),)
