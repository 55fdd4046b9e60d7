"""What is asked for when a target is started, and the wait until it is there.

Providers (`cluster` for processes, `container`) build nodes from an `Order` and bring them up
together with `launch_all`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.model.versions import Version
from jetproof.targets.config import Accounts, Configuration
from jetproof.targets.node import Node, StartError, UnplannedExit
from jetproof.targets.ports import PortChooser, free_port
from jetproof.targets.ready import wait_for_cluster, wait_for_jetstream
from jetproof.targets.releases import binary_for
from jetproof.targets.spec import TargetSpec
from jetproof.targets.sweep import Owner

TOPOLOGIES: Mapping[str, int] = {"single": 1, "cluster-3": 3}
"""Every topology and its number of nodes."""

PORT_TRIES = 3
"""How often a start is tried when somebody else takes a port first."""

_READY_SECONDS: Mapping[str, float] = {"single": 10.0, "cluster-3": 60.0}


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

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"n{number}" for number in range(1, TOPOLOGIES[self.topology] + 1))

    async def binary(self, version: Version, platform: str | None = None) -> Path:
        """The binary of a release, fetched in a thread if need be."""
        return await asyncio.to_thread(
            binary_for,
            version,
            cache_dir=self.cache_dir,
            offline=self.offline,
            platform=platform,
            notify=self.notify,
        )


async def launch_all(order: Order, nodes: Mapping[str, Node]) -> None:
    """Launch the nodes together and wait until the target as a whole can be used."""
    launches = [asyncio.create_task(node.launch()) for node in nodes.values()]
    try:
        await asyncio.gather(*launches)
    except BaseException:
        for launch in launches:
            launch.cancel()
        await asyncio.gather(*launches, return_exceptions=True)
        raise
    members = list(nodes.values())
    _check_release(order, members)
    if len(members) == 1:
        await in_time(order, members, wait_for_jetstream(members[0], order.accounts.credentials()))
    else:
        await in_time(order, members, wait_for_cluster(members, order.accounts))


def _check_release(order: Order, nodes: Sequence[Node]) -> None:
    """An image or a cache can be mislabelled; a verdict on the wrong release would be worthless."""
    for node in nodes:
        if order.spec.version not in (None, node.version):
            raise StartError(
                f"{order.spec} was asked for, and server {node.name} is {node.version}",
                hint=f"something else is stored under that name: {node.describe()}",
            )


async def in_time(order: Order, nodes: Sequence[Node], ready: Awaitable[None]) -> None:
    """Wait for `ready`, not for ever; StartError with the logs if it does not come."""
    seconds = _READY_SECONDS[order.topology] * order.factor
    try:
        async with asyncio.timeout(seconds):
            await ready
    except TimeoutError:
        raise StartError(
            f"{order.spec} ({order.topology}) listens, but JetStream was not ready "
            f"within {seconds:.0f} s",
            hint="the logs say what it waits for; a slow machine needs more time",
            log_tail="\n".join(f"[{node.name}]\n{node.log_tail(12)}" for node in nodes),
        ) from None
    for node in nodes:
        if not node.alive:
            raise node.failed("ended before it was ready")
