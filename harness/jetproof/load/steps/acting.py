"""Steps that act on the servers of a case."""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.load.reader import as_text
from jetproof.load.schema_parts import Schema, mapping, one_or_list, ref, text
from jetproof.load.steps.kind import Readers, StepKind, Written
from jetproof.model import case as model
from jetproof.model.case import Step

_FOLLOWS = {"start": ("stop", "kill"), "resume": ("pause",)}
_LINK: Schema = {"const": "link", "x-expected": "link"}
_VERBS: Mapping[str, Schema] = {
    "stepdown": text("A stream, or a consumer ($stream.name), whose leader steps down."),
    "stop": ref("node", "Ends a node in an orderly way."),
    "kill": ref("node", "Kills a node."),
    "start": ref("node", "Starts a stopped or killed node on the same store and port."),
    "restart": ref("node", "Stops a node and starts it again."),
    "pause": ref("node", "Freezes a node."),
    "resume": ref("node", "Thaws a paused node."),
    "cut": {**_LINK, "description": "Cuts the link between hub and leaf node."},
    "mend": {
        **_LINK,
        "description": "Mends the link, and waits until both sides have found each other.",
    },
}


def _action(read: Readers, step: Written) -> Step:
    here, body = step.here, step.body
    verb = next(name for name in _VERBS if name in body)
    place = (*here, verb)
    read.servers.check_action(place, verb, body[verb])
    if "to" in body:
        if verb != "stepdown":
            read.reader.mistake((*here, "to"), f"to belongs to stepdown, not to {verb}")
        else:
            read.servers.check_node((*here, "to"), body["to"])
    then = as_text(body.get("then"))
    if then is not None and verb not in _FOLLOWS[then]:
        follows = " or ".join(_FOLLOWS[then])
        read.reader.mistake((*here, "then"), f"then: {then} follows {follows}, not {verb}")
    reconnect = body.get("reconnect", [])
    names = tuple(reconnect) if isinstance(reconnect, list) else (str(reconnect),)
    for name in names:
        read.scope.connection(name, read.reader.line((*here, "reconnect")))
    release = as_text(body.get("release"))
    if release is not None and "start" not in (verb, then) and verb != "restart":
        words = f"release belongs to start and restart, not to {verb}"
        read.reader.mistake((*here, "release"), words)
    return model.Action(
        verb=verb,
        target=read.reader.value(place, body[verb]),
        to=read.optional(here, body, "to"),
        then=then,
        reconnect=names,
        release=release,
    )


ACTION = StepKind(
    model.Action,
    about="Does something to the servers.",
    summary="does something to the servers",
    body=mapping(
        "action",
        {
            **_VERBS,
            "to": ref("node", "Who is to be the leader after a stepdown; any other unless given."),
            "then": {
                "enum": list(_FOLLOWS),
                "description": "What follows at once: start after stop or kill, "
                "resume after pause.",
            },
            "release": {
                "type": "string",
                "pattern": r"^(newer|older|target|\d+\.\d+\.\d+)$",
                "x-expected": "newer, older, target, or a release such as 2.14.6",
                "description": "What the node is started with: a newer or an older line than the "
                "one under test, a version, or target: the one under test.",
            },
            "reconnect": one_or_list(ref("name"), "Connections that are made anew afterwards."),
        },
        None,
        **{"oneOf": [{"required": [verb]} for verb in _VERBS], "x-names": "action"},
    ),
    read=_action,
)
