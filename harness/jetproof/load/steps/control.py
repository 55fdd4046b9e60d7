"""Steps that play other steps: repeat, for_each, together, loop."""

from __future__ import annotations

from jetproof.load.reader import as_map
from jetproof.load.schema_parts import (
    STEPS,
    at_least,
    by_key,
    flag,
    mapping,
    one_or_list,
    ref,
    whole_number,
)
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.model import case as model
from jetproof.model.case import Step
from jetproof.model.matcher import Matcher
from jetproof.model.template import Value

_AT_ONCE = flag("All times at the same moment instead of one after the other.")


def _repeat(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    variable = str(body["as"])
    times = read.reader.value((*here, "times"), body["times"])
    start = read.reader.value((*here, "from"), body.get("from", 1))
    read.scope.sets(variable, read.reader.line((*here, "as")))
    inner = _inner(read, step)
    read.scope.forget(variable)
    at_once = body.get("at_once") is True
    return model.Repeat(variable=variable, times=times, start=start, steps=inner, at_once=at_once)


REPEAT = StepKind(
    model.Repeat,
    about="Plays the inner steps several times, counting in a variable.",
    summary="plays steps several times",
    body=mapping(
        "repeat",
        {
            "as": ref("name", "The variable that counts."),
            "times": whole_number("How many times."),
            "from": whole_number("The first value; 1 unless given."),
            "at_once": _AT_ONCE,
        },
        required=["as", "times"],
    ),
    beside={"steps": STEPS},
    required=("steps",),
    read=_repeat,
)


def _for_each(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    named, listed = body["as"], body["values"]
    names = tuple(map(str, named)) if isinstance(named, list) else (str(named),)
    values: list[tuple[Value, ...]] = []
    for index, value in enumerate(listed if isinstance(listed, list) else ()):
        place = (*here, "values", index)
        parts = value if isinstance(named, list) and isinstance(value, list) else [value]
        if isinstance(value, list) != isinstance(named, list) or len(parts) != len(names):
            wanted = f"a list of {len(names)}" if isinstance(named, list) else "one value"
            read.reader.mistake(place, f"each of values must be {wanted}, for {', '.join(names)}")
        values.append(tuple(read.reader.value(place, part) for part in parts))
    for name in names:
        read.scope.sets(name, read.reader.line((*here, "as")))
    inner = _inner(read, step)
    for name in names:
        read.scope.forget(name)
    at_once = body.get("at_once") is True
    return model.ForEach(variables=names, values=tuple(values), steps=inner, at_once=at_once)


FOR_EACH = StepKind(
    model.ForEach,
    about="Plays the inner steps for every one of the values.",
    summary="plays steps once per value",
    body=mapping(
        "for_each",
        {
            "as": one_or_list(
                ref("name"),
                "The variable that takes each value, or several that take its parts.",
                minItems=2,
                uniqueItems=True,
            ),
            "values": {
                "type": "array",
                "minItems": 1,
                "items": {
                    "if": {"type": "array"},
                    "then": {"items": ref("one-value")},
                    "else": ref("one-value"),
                },
                "description": "The values: texts, numbers, true, false, null; "
                "lists of them if there are several variables.",
            },
            "at_once": _AT_ONCE,
        },
        required=["as", "values"],
    ),
    beside={"steps": STEPS},
    required=("steps",),
    read=_for_each,
)


def _together(read: Readers, step: Written) -> Step:
    point = read.scope.branch_point()
    branches, ends = {}, []
    for name, steps in step.body.items():
        read.scope.branch(point)
        branches[name] = read.steps((*step.here, name), steps, f"{step.address}.{name}.")
        ends.append(read.scope.branch_point())
    read.scope.branch(point)
    read.scope.join(ends)
    return model.Together(branches=branches)


TOGETHER = StepKind(
    model.Together,
    about="Plays several branches of steps at the same time, and goes on when all have ended.",
    summary="plays several branches of steps at the same time",
    body={
        **by_key(STEPS, "Branches by name, each a list of steps.", keys="name"),
        "minProperties": 2,
    },
    read=_together,
)


def _loop(read: Readers, step: Written) -> Step:
    inner = _inner(read, step)
    until: dict[str, Matcher] = {}
    for name, matcher in as_map(step.body["until"]).items():
        place = (*step.here, "until", name)
        read.scope.variable(name, read.reader.line(place))
        until[name] = read.reader.matcher(place, matcher)
    most = step.body["max"]
    assert isinstance(most, int)
    return model.Loop(most=most, until=until, steps=inner)


LOOP = StepKind(
    model.Loop,
    about="Plays the inner steps until the variables match, at most so many times.",
    summary="plays steps until something holds",
    body=mapping(
        "loop",
        {
            "max": at_least(1, "More rounds than this are a mismatch."),
            "until": by_key(ref("matcher"), "Variables, each with a matcher.", keys="name"),
        },
        required=["max", "until"],
    ),
    beside={"steps": STEPS},
    required=("steps",),
    read=_loop,
)


def _inner(read: Readers, step: Written) -> tuple[Step, ...]:
    return read.steps((*step.keys, "steps"), step.raw["steps"], f"{step.address}.")
