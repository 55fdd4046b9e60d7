"""The step that judges by a law: a named invariant over what was recorded."""

from __future__ import annotations

from jetproof.load.mistakes import choices
from jetproof.load.reader import as_map, seconds
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.load.yaml_source import Keys
from jetproof.model import case as model
from jetproof.model.case import Step
from jetproof.model.laws import LAWS


def _law(read: Readers, step: Written) -> Step:
    [(name, given)] = step.body.items()
    here = (*step.here, name)
    law = LAWS.get(name)
    if law is None:
        read.reader.mistake(here, f"unknown law {name!r}; {choices(name, sorted(LAWS))}")
        return model.Law(law=name, arguments={})
    arguments = as_map(given)
    for missing in sorted(law.required - arguments.keys()):
        read.reader.mistake(here, f"missing argument {missing!r} of law {name}")
    found: dict[str, object] = {}
    for argument, value in arguments.items():
        place, kind = (*here, argument), law.arguments.get(argument)
        if kind is None:
            known = choices(argument, law.arguments)
            read.reader.mistake(place, f"unknown argument {argument!r} of law {name}; {known}")
        else:
            found[argument] = _argument(read, place, argument, kind, value)
    return model.Law(law=name, arguments=found)


LAW = StepKind(
    model.Law,
    about="A named invariant over the frames recorded so far.",
    summary="judges everything recorded so far by a named invariant",
    body={
        "title": "law",
        "type": "object",
        "minProperties": 1,
        "maxProperties": 1,
        "additionalProperties": {
            "type": "object",
            "x-expected": "a mapping of the law's arguments ({} if it takes none)",
        },
    },
    read=_law,
)


def _argument(read: Readers, keys: Keys, name: str, kind: str, value: object) -> object:
    if kind == "matcher":
        return read.reader.matcher(keys, value)
    if kind == "duration":
        try:
            return seconds(value)
        except ValueError:
            wanted = "a duration such as 300ms, 1.5s or 2m"
            read.reader.mistake(keys, f"{name} must be {wanted}, not {value!r}")
            return 0.0
    form, words = (int, "a whole number") if kind == "int" else (str, "a text")
    line = read.reader.line(keys)
    if not isinstance(value, form) or isinstance(value, bool):
        read.reader.mistake(keys, f"{name} must be {words}, not {value!r}")
    elif name == "on":
        read.scope.subscription(str(value), line)
    elif name in ("since", "until"):
        read.scope.mark(str(value), line)
    elif name == "of":
        read.scope.labelled(str(value), line)
    return value
