"""Topologies: which servers a target has, and how they stand to each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LINK = "link"
"""The name of the one connection between servers that a case can cut and mend."""


@dataclass(frozen=True, slots=True)
class Topology:
    """One arrangement of servers. `domains` are the JetStream domains of nodes that have one."""

    name: str
    nodes: tuple[str, ...]
    clustered: bool = False
    domains: Mapping[str, str] | None = None

    @property
    def linked(self) -> bool:
        """Whether it is a hub and a leaf node, joined by a link that can be cut."""
        return self.domains is not None


def _cluster(size: int) -> Topology:
    return Topology(
        f"cluster-{size}", tuple(f"n{number}" for number in range(1, size + 1)), clustered=True
    )


TOPOLOGIES: Mapping[str, Topology] = {
    topology.name: topology
    for topology in (
        Topology("single", ("n1",)),
        _cluster(3),
        _cluster(5),
        Topology("leaf", ("n1", "l1"), domains={"n1": "HUB", "l1": "LEAF"}),
    )
}
"""Every topology there is. The first node of each is the one that cases reach unless they say."""
