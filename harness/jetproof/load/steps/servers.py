"""What a case may do to its servers, and which nodes it may name: as it is given."""

from __future__ import annotations

import re
from collections.abc import Mapping

from jetproof.load.mistakes import choices
from jetproof.load.reader import Reader
from jetproof.load.scope import STREAM, Scope
from jetproof.load.yaml_source import Keys
from jetproof.model.case import Given
from jetproof.model.topology import TOPOLOGIES

_LINKS = ("cut", "mend")
_ROLES = re.compile(r"leader|follower(-[2-4])?|outsider")


class Servers:
    """Holds nodes and actions against what is given.

    `given` is None if it has mistakes of its own: then nothing is held against it."""

    def __init__(self, reader: Reader, scope: Scope, given: Given | None) -> None:
        self._reader = reader
        self._scope = scope
        self._given = given

    def check_given(self, at: Mapping[str, Keys]) -> None:
        """What is given must fit together; `at` says where each part of it stands."""
        given = self._given
        if given is None:
            return
        for name, connection in given.connections.items():
            if connection.node is not None:
                self.check_node((*at["connections"], name, "node"), connection.node)
        if given.release is not None and given.isolation != "server":
            words = "a server that starts with another release is the case's own"
            self._reader.mistake(at["release"], f"{words}: give isolation: server")

    def check_action(self, keys: Keys, verb: str, node: object) -> None:
        if self._given is None:
            return
        topology = TOPOLOGIES[self._given.topology]
        if verb == "stepdown":
            if not topology.clustered:
                self._reader.mistake(keys, "stepdown needs a cluster: give topology: cluster-3")
            return
        if verb in _LINKS:
            if not topology.linked:
                self._reader.mistake(keys, f"{verb} needs a link: give topology: leaf")
        else:
            self.check_node(keys, node)
        if self._given.isolation != "server":
            self._reader.mistake(keys, f"{verb} needs a server of its own: give isolation: server")

    def check_node(self, keys: Keys, node: object) -> None:
        """A node by name must be there, and a leader or follower is one of the case's stream."""
        if self._given is None:
            return
        topology = TOPOLOGIES[self._given.topology]
        if not isinstance(node, str) or node.startswith("$"):
            return
        if _ROLES.fullmatch(node) is None:
            if node not in topology.nodes:
                known = choices(node, topology.nodes)
                self._reader.mistake(keys, f"no node {node} in {topology.name}; {known}")
            return
        if not topology.clustered and node != "leader":
            self._reader.mistake(keys, f"no {node} without a cluster: give topology: cluster-3")
        elif topology.linked:
            self._reader.mistake(keys, "hub and leaf have no leader: name n1 or l1")
        else:
            self._scope.variable(STREAM, self._reader.line(keys))
