"""Steps about the servers of a case, and laws: from plain data to the model.

What a case is given decides which nodes it may name and what it may do to them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from jetproof.load.expectations import ExpectationReader
from jetproof.load.mistakes import choices
from jetproof.load.reader import Raw, Reader, seconds
from jetproof.load.scope import STREAM
from jetproof.load.yaml_source import Keys
from jetproof.model import case as model
from jetproof.model.case import Given, Step
from jetproof.model.laws import LAWS
from jetproof.model.topology import TOPOLOGIES

VERBS = ("stepdown", "stop", "kill", "start", "restart", "pause", "resume", "cut", "mend")
_FOLLOWS = {"start": ("stop", "kill"), "resume": ("pause",)}
_LINKS = ("cut", "mend")
_ROLES = re.compile(r"leader|follower(-[2-4])?|outsider")


class ServerStepReader(ExpectationReader):
    """Reads actions and laws. `given` is None if it has mistakes of its own."""

    def __init__(self, reader: Reader, given: Given | None) -> None:
        super().__init__(reader)
        self._given = given

    def _action(self, keys: Keys, raw: Raw, address: str) -> Step:
        here, body = (*keys, "action"), as_map(raw["action"])
        verb = next(name for name in VERBS if name in body)
        place = (*here, verb)
        self._check_action(place, verb, body[verb])
        if "to" in body:
            if verb != "stepdown":
                self.mistake((*here, "to"), f"to belongs to stepdown, not to {verb}")
            elif self._given is not None:
                self._check_node((*here, "to"), body["to"])
        then = as_text(body.get("then"))
        if then is not None and verb not in _FOLLOWS[then]:
            follows = " or ".join(_FOLLOWS[then])
            self.mistake((*here, "then"), f"then: {then} follows {follows}, not {verb}")
        reconnect = body.get("reconnect", [])
        names = tuple(reconnect) if isinstance(reconnect, list) else (str(reconnect),)
        for name in names:
            self.scope.connection(name, self.line((*here, "reconnect")))
        release = as_text(body.get("release"))
        if release is not None and "start" not in (verb, then) and verb != "restart":
            self.mistake((*here, "release"), f"release belongs to start and restart, not to {verb}")
        return model.Action(
            verb=verb,
            target=self.value(place, body[verb]),
            to=self.value((*here, "to"), body["to"]) if "to" in body else None,
            then=then,
            reconnect=names,
            release=release,
        )

    def _law(self, keys: Keys, raw: Raw, address: str) -> Step:
        [(name, given)] = as_map(raw["law"]).items()
        here = (*keys, "law", name)
        law = LAWS.get(name)
        if law is None:
            self.mistake(here, f"unknown law {name!r}; {choices(name, sorted(LAWS))}")
            return model.Law(law=name, arguments={})
        arguments = as_map(given)
        for missing in sorted(law.required - arguments.keys()):
            self.mistake(here, f"missing argument {missing!r} of law {name}")
        read: dict[str, object] = {}
        for argument, value in arguments.items():
            kind = law.arguments.get(argument)
            if kind is None:
                known = choices(argument, law.arguments)
                self.mistake(
                    (*here, argument), f"unknown argument {argument!r} of law {name}; {known}"
                )
            else:
                read[argument] = self._argument((*here, argument), argument, kind, value)
        return model.Law(law=name, arguments=read)

    def _argument(self, keys: Keys, name: str, kind: str, value: object) -> object:
        if kind == "matcher":
            return self.matcher(keys, value)
        if kind == "duration":
            try:
                return seconds(value)
            except ValueError:
                wanted = "a duration such as 300ms, 1.5s or 2m"
                self.mistake(keys, f"{name} must be {wanted}, not {value!r}")
                return 0.0
        form, words = (int, "a whole number") if kind == "int" else (str, "a text")
        if not isinstance(value, form) or isinstance(value, bool):
            self.mistake(keys, f"{name} must be {words}, not {value!r}")
        elif name == "on":
            self.scope.subscription(str(value), self.line(keys))
        elif name in ("since", "until"):
            self.scope.mark(str(value), self.line(keys))
        elif name == "of":
            self.scope.labelled(str(value), self.line(keys))
        return value

    # -- what is given --------------------------------------------------------------------------

    def check_given(self, at: Mapping[str, Keys]) -> None:
        """What is given must fit together; `at` says where each part of it stands."""
        given = self._given
        if given is None:
            return
        for name, connection in given.connections.items():
            if connection.node is not None:
                self._check_node((*at["connections"], name, "node"), connection.node)
        if given.release is not None and given.isolation != "server":
            words = "a server that starts with another release is the case's own"
            self.mistake(at["release"], f"{words}: give isolation: server")

    def _check_action(self, keys: Keys, verb: str, node: object) -> None:
        if self._given is None:
            return
        topology = TOPOLOGIES[self._given.topology]
        if verb == "stepdown":
            if not topology.clustered:
                self.mistake(keys, "stepdown needs a cluster: give topology: cluster-3")
            return
        if verb in _LINKS:
            if not topology.linked:
                self.mistake(keys, f"{verb} needs a link: give topology: leaf")
        else:
            self._check_node(keys, node)
        if self._given.isolation != "server":
            self.mistake(keys, f"{verb} needs a server of its own: give isolation: server")

    def _check_node(self, keys: Keys, node: object) -> None:
        """A node by name must be there, and a leader or follower is one of the case's stream."""
        assert self._given is not None
        topology = TOPOLOGIES[self._given.topology]
        if not isinstance(node, str) or node.startswith("$"):
            return
        if _ROLES.fullmatch(node) is None:
            if node not in topology.nodes:
                known = choices(node, topology.nodes)
                self.mistake(keys, f"no node {node} in {topology.name}; {known}")
            return
        if not topology.clustered and node != "leader":
            self.mistake(keys, f"no {node} without a cluster: give topology: cluster-3")
        elif topology.linked:
            self.mistake(keys, "hub and leaf have no leader: name n1 or l1")
        else:
            self.scope.variable(STREAM, self.line(keys))


def as_map(raw: object) -> Raw:
    return raw if isinstance(raw, Mapping) else {}


def as_text(raw: object) -> str | None:
    return raw if isinstance(raw, str) else None
