"""What is asked for when a target is started, and the wait until it is there.

Providers (`cluster` for processes, `container`) build nodes from an `Order` and bring them up
together with `launch_all`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.model.topology import TOPOLOGIES, Topology
from jetproof.model.versions import Version
from jetproof.targets.config import Accounts, Configuration
from jetproof.targets.go_build import Built
from jetproof.targets.link import Link
from jetproof.targets.node import Node, NotReady, StartError, Traces, UnplannedExit
from jetproof.targets.own_build import release_binary
from jetproof.targets.ports import PortChooser, free_port
from jetproof.targets.ready import wait_for_cluster, wait_for_jetstream, wait_for_link
from jetproof.targets.spec import TargetSpec
from jetproof.targets.sweep import Owner
from jetproof.tasks import all_of

PORT_TRIES = 3
"""How often a start is tried when somebody else takes a port first."""

_READY_SECONDS = 10.0
_TOGETHER_SECONDS = 60.0  # until several servers have found each other


@dataclass(frozen=True, slots=True)
class Fleet:
    """The servers of a target, ready, and the link between them that can be cut, if there is one."""

    nodes: Mapping[str, Node]
    link: Link | None = None
    build: str = ""
    """What tells their build from others of the same version, where there can be others."""


@dataclass(frozen=True, slots=True)
class Order:
    """All that is asked for when a target is started."""

    spec: TargetSpec
    configuration: Configuration
    topology: str
    accounts: Accounts
    owner: Owner
    folder: Path
    factor: float = 1.0
    offline: bool | None = None
    cache_dir: Path | None = None
    choose_port: PortChooser = free_port
    on_unplanned_exit: UnplannedExit | None = None
    notify: Callable[[str], None] | None = None
    release: Version | None = None
    """What the servers start with, if it is not the release that is asked for."""
    built: Built | None = None
    """The binary of the target, if it was built beforehand."""
    on_traces: Callable[[Sequence[Traces]], None] | None = None
    """Gets what servers with coverage wrote, when all of them have ended."""

    @property
    def shape(self) -> Topology:
        return TOPOLOGIES[self.topology]

    @property
    def names(self) -> tuple[str, ...]:
        return self.shape.nodes

    async def binary(self, version: Version, platform: str | None = None) -> Path:
        """The binary of a release, fetched or built in a thread if need be."""
        return (await self.release_build(version, platform)).binary

    async def release_build(self, version: Version, platform: str | None = None) -> Built:
        return await release_binary(
            version,
            cache_dir=self.cache_dir,
            offline=self.offline,
            platform=platform,
            notify=self.notify,
        )


async def launch_all(order: Order, nodes: Mapping[str, Node]) -> None:
    """Launch the nodes together and wait until the target as a whole can be used."""
    await all_of(*(node.launch(order.release) for node in nodes.values()))
    members = list(nodes.values())
    _check_release(order, members)
    await in_time(order, members, all_ready(order, members))


async def all_ready(order: Order, members: Sequence[Node]) -> None:
    """JetStream answers everywhere, and the servers have found each other."""
    if order.shape.clustered:
        await wait_for_cluster(members, order.accounts)
        return
    await asyncio.gather(
        *(wait_for_jetstream(node, order.accounts.credentials()) for node in members)
    )
    if order.shape.domains is not None:
        await wait_for_link(members, order.shape.domains, order.accounts)


def _check_release(order: Order, nodes: Sequence[Node]) -> None:
    """An image or a cache can be mislabelled; a verdict on the wrong release would be worthless."""
    wanted = order.release or order.spec.version
    asked = order.release or order.spec
    for node in nodes:
        if wanted not in (None, node.version):
            raise StartError(
                f"{asked} was asked for, and server {node.name} is {node.version}",
                hint=f"something else is stored under that name: {node.describe()}",
            )


async def in_time(order: Order, nodes: Sequence[Node], ready: Awaitable[None]) -> None:
    """Wait for `ready`, not for ever; NotReady with the logs if it does not come."""
    seconds = (_READY_SECONDS if len(order.names) == 1 else _TOGETHER_SECONDS) * order.factor
    try:
        async with asyncio.timeout(seconds):
            await ready
    except TimeoutError:
        raise NotReady(
            f"{order.spec} ({order.topology}) listens, but JetStream was not ready "
            f"within {seconds:.0f} s",
            hint="the logs say what it waits for; a slow machine needs more time",
            log_tail="\n".join(f"[{node.name}]\n{node.log_tail(12)}" for node in nodes),
        ) from None
    for node in nodes:
        if not node.alive:
            raise node.failed("ended before it was ready")
