"""Start a target and take it down again: the one entry point for whoever plays cases.

    async with start_target(spec, configuration="default", topology="cluster-3") as target:
        node = target.nodes["n1"]
        connection = await Connection.open(node.host, node.port, options=target.credentials())
        await target.kill("n1")

A target that is handed out is ready: JetStream answers, and in a cluster the leader is elected
and sees every peer. It is taken down on every way out: the end of the block, an exception, a
cancellation.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jetproof.errors import JetproofError
from jetproof.model.topology import LINK
from jetproof.model.versions import Version
from jetproof.targets.cluster import process_nodes
from jetproof.targets.config import Accounts, load_configuration
from jetproof.targets.external import ExternalNode, external_nodes, unavailable
from jetproof.targets.go_build import Built
from jetproof.targets.go_versions import singles
from jetproof.targets.link import Link
from jetproof.targets.node import Node, Release, Traces, UnplannedExit
from jetproof.targets.order import Fleet, Order, all_ready, in_time
from jetproof.targets.ports import PortChooser, free_port
from jetproof.targets.ready import wait_for_jetstream, wait_for_meta_leader, wait_until_cut
from jetproof.targets.reference import ReferenceLayer, parts_with
from jetproof.targets.spec import Provider, TargetSpec, parse
from jetproof.targets.sweep import Owner, own_run


class RunningTarget:
    """A target that is ready, with its nodes `n1`, `n2`, ... and what can be done to them."""

    def __init__(self, order: Order, fleet: Fleet, reference: ReferenceLayer | None = None) -> None:
        self.reference = reference
        self.spec = order.spec
        self.provider: Provider = order.spec.provider
        self.topology = order.topology
        self.configuration = order.configuration.name
        self.nodes = fleet.nodes
        self.version: Version = order.spec.version or next(iter(fleet.nodes.values())).version
        self.build = fleet.build
        self._link = fleet.link
        self._order = order

    def why_not(self, action: str) -> str | None:
        """Why an action is impossible here, or None if it is possible."""
        return unavailable(self.spec, self.configuration, self.topology, "shared", (action,))

    def supports(self, action: str) -> bool:
        return self.why_not(action) is None

    def address(self, node: str) -> tuple[str, int]:
        """Where clients reach a node: the reference layer stands before its server, if any does."""
        if self.reference is not None:
            return self.reference.address(node)
        return self.nodes[node].host, self.nodes[node].port

    def credentials(self, account: str | None = None) -> dict[str, str]:
        """CONNECT options for an account: None is the main one, `$SYS` the system account."""
        if isinstance(node := next(iter(self.nodes.values())), ExternalNode):
            return node.credentials(account)
        return self._order.accounts.credentials(account)

    async def stop(self, node: str) -> None:
        await self._node("stop", node).stop()

    async def kill(self, node: str) -> None:
        await self._node("kill", node).kill()

    async def pause(self, node: str) -> None:
        await self._node("pause", node).pause()

    async def resume(self, node: str) -> None:
        await self._node("resume", node).resume()

    async def start(self, node: str, release: Release = None) -> None:
        """Start a node that is down, on its store and port, perhaps with another release.

        `own` is what was asked for, whatever it ran with last.
        """
        chosen = self._node("start", node)
        await chosen.launch(release)
        await self._usable(chosen)

    async def restart(self, node: str, release: Release = None) -> None:
        """Stop a node, if it runs, and start it again."""
        await self._node("restart", node).stop()
        await self.start(node, release)

    async def cut(self, link: str) -> None:
        """Cut the link between hub and leaf node; returns when neither reaches the other."""
        await self._linked("cut", link).cut()
        domains = self._order.shape.domains or {}
        running = [node for node in self.nodes.values() if node.running]
        for node in running:
            others = [domain for name, domain in domains.items() if name != node.name]
            gone = wait_until_cut(node, others[0], self.credentials())
            await in_time(self._order, [node], gone)

    async def mend(self, link: str) -> None:
        """Mend the link; returns when hub and leaf node have found each other, if both run."""
        await self._linked("mend", link).mend()
        await self._rejoined()

    def log_tails(self, lines: int = 40) -> dict[str, str]:
        """The end of every node's log."""
        return {name: node.log_tail(lines) for name, node in self.nodes.items()}

    def copy_logs(self, folder: Path) -> list[Path]:
        """Copy every node's whole log to `folder`, as evidence; returns the files."""
        folder.mkdir(parents=True, exist_ok=True)
        copies = []
        for name, node in self.nodes.items():
            if node.log_path is not None and node.log_path.exists():
                copies.append(Path(shutil.copyfile(node.log_path, folder / f"{name}.log")))
        return copies

    def describe(self) -> dict[str, Any]:
        """The target as plain data, for evidence."""
        return {
            "target": str(self.spec),
            "provider": self.provider,
            "version": str(self.version),
            "topology": self.topology,
            "configuration": self.configuration,
            "nodes": [node.describe() for node in self.nodes.values()],
        }

    def _node(self, action: str, name: str) -> Node:
        if why := self.why_not(action):
            raise JetproofError(f"cannot {action} {name}: {why}", phase="play")
        if name not in self.nodes:
            raise JetproofError(
                f"cannot {action} {name!r}: there is no such server",
                phase="play",
                hint=f"the servers are {', '.join(self.nodes)}",
            )
        return self.nodes[name]

    def _linked(self, action: str, name: str) -> Link:
        if why := self.why_not(action):
            raise JetproofError(f"cannot {action} {name}: {why}", phase="play")
        if self._link is None or name != LINK:
            raise JetproofError(f"cannot {action} {name!r}: there is no such link", phase="play")
        return self._link

    async def _rejoined(self) -> None:
        """A link that is whole joins two servers again, as soon as both run."""
        nodes, whole = list(self.nodes.values()), self._link is None or self._link.whole
        if self._order.shape.linked and whole and all(node.running for node in nodes):
            await in_time(self._order, nodes, all_ready(self._order, nodes))

    async def _usable(self, node: Node) -> None:
        """Without a majority no leader can be expected: then a node that listens is started."""
        up = sum(other.running for other in self.nodes.values())
        if not self._order.shape.clustered:
            await in_time(self._order, [node], wait_for_jetstream(node, self.credentials()))
            await self._rejoined()
        elif up > len(self.nodes) // 2:
            accounts = self._order.accounts
            await in_time(self._order, [node], wait_for_meta_leader(node, accounts))


@contextlib.asynccontextmanager
async def start_target(
    spec: TargetSpec | str,
    *,
    configuration: str = "default",
    topology: str = "single",
    accounts: Sequence[str] = (),
    work_dir: Path | None = None,
    owner: Owner | None = None,
    keep: bool = False,
    factor: float = 1.0,
    offline: bool | None = None,
    cache_dir: Path | None = None,
    choose_port: PortChooser = free_port,
    on_unplanned_exit: UnplannedExit | None = None,
    notify: Callable[[str], None] | None = None,
    knobs: Mapping[str, bool] | None = None,
    release: Version | None = None,
    built: Built | None = None,
    on_traces: Callable[[Sequence[Traces]], None] | None = None,
) -> AsyncIterator[RunningTarget]:
    """A target, ready to be used, for the length of the block.

    `work_dir` is where its folder is made (default: the folder of `owner`, a run, which is made
    for this target alone if none is given); `keep` leaves that folder behind. `factor` scales the
    time that a start may take. `accounts` are made besides JP, B and SYS. `knobs` make the reference
    layer of a target `reference:` do wrong on purpose. `release` is what the servers start with, if
    that is to be another one: see `RunningTarget.restart`. `built` is the binary of a target that was
    built beforehand: a checkout that changes meanwhile is not built again. `on_traces` gets what the
    servers of a target `cover:` recorded, when they have ended; the files are removed afterwards.
    """
    wanted = parse(spec) if isinstance(spec, str) else spec
    wanted = await asyncio.to_thread(_single, wanted, cache_dir)
    if why := unavailable(wanted, configuration, topology, "shared", ()):
        raise JetproofError(f"cannot start {wanted}: {why}", phase="plan")
    with _owned(owner) as run, _folder(wanted, run, work_dir, keep) as folder:
        handed_out = False

        def exited(node: Node, returncode: int | None) -> None:
            """A server that ends while the target starts is an error of the start."""
            if handed_out and on_unplanned_exit is not None:
                on_unplanned_exit(node, returncode)

        chosen = load_configuration(configuration)
        order = Order(
            spec=wanted,
            configuration=chosen,
            topology=topology,
            accounts=Accounts.of(accounts, chosen.head),
            owner=run,
            folder=folder,
            factor=factor,
            offline=offline,
            cache_dir=cache_dir,
            choose_port=choose_port,
            on_unplanned_exit=exited,
            notify=notify,
            release=release,
            built=built,
            on_traces=on_traces,
        )
        async with _provided(order) as fleet:
            handed_out = True
            async with _layer(order, fleet.nodes, knobs or {}) as layer:
                yield RunningTarget(order, fleet, layer)


def _provided(order: Order) -> contextlib.AbstractAsyncContextManager[Fleet]:
    if order.spec.provider == "external":
        return _external(order.spec)
    if order.spec.provider == "container":
        from jetproof.targets.container import container_nodes

        return container_nodes(order)
    return process_nodes(order)


@contextlib.asynccontextmanager
async def _layer(
    order: Order, nodes: Mapping[str, Node], knobs: Mapping[str, bool]
) -> AsyncIterator[ReferenceLayer | None]:
    if order.spec.provider != "reference":
        yield None
        return
    layer = ReferenceLayer(
        nodes,
        system=order.accounts.credentials("$SYS"),
        main=order.accounts.credentials(),
        parts=parts_with(knobs),
        factor=order.factor,
    )
    async with layer:
        yield layer


@contextlib.asynccontextmanager
async def _external(spec: TargetSpec) -> AsyncIterator[Fleet]:
    async with external_nodes(spec) as nodes:
        yield Fleet(nodes)


def _single(spec: TargetSpec, cache_dir: Path | None) -> TargetSpec:
    expanded = singles(spec, cache_dir=cache_dir)
    if len(expanded) != 1:
        raise JetproofError(
            f"{spec} names {len(expanded)} releases", phase="plan", hint="start them one by one"
        )
    return expanded[0]


@contextlib.contextmanager
def _owned(owner: Owner | None) -> Iterator[Owner]:
    if owner is not None:
        yield owner
        return
    with own_run() as made:
        yield made


@contextlib.contextmanager
def _folder(spec: TargetSpec, owner: Owner, work_dir: Path | None, keep: bool) -> Iterator[Path]:
    place = work_dir or owner.folder
    place.mkdir(parents=True, exist_ok=True)
    if keep and work_dir is None:
        owner.keep()
    folder = Path(tempfile.mkdtemp(prefix=f"{spec.version or spec.provider}-", dir=place))
    try:
        yield folder.resolve()
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)
