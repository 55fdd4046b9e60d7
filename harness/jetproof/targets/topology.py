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

import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.cluster import process_nodes
from jetproof.targets.config import Accounts, load_configuration
from jetproof.targets.external import ExternalNode, external_nodes, unavailable
from jetproof.targets.node import Node, UnplannedExit
from jetproof.targets.order import Order, in_time
from jetproof.targets.ports import PortChooser, free_port
from jetproof.targets.ready import wait_for_jetstream, wait_for_meta_leader
from jetproof.targets.releases import known_releases
from jetproof.targets.spec import Provider, TargetSpec, expand, parse
from jetproof.targets.sweep import Owner, own_run


class RunningTarget:
    """A target that is ready, with its nodes `n1`, `n2`, ... and what can be done to them."""

    def __init__(self, order: Order, nodes: Mapping[str, Node]) -> None:
        self.spec = order.spec
        self.provider: Provider = order.spec.provider
        self.topology = order.topology
        self.configuration = order.configuration.name
        self.nodes = nodes
        self.version: Version = next(iter(nodes.values())).version
        self._order = order

    def why_not(self, action: str) -> str | None:
        """Why an action is impossible here, or None if it is possible."""
        return unavailable(self.spec, self.configuration, self.topology, "shared", (action,))

    def supports(self, action: str) -> bool:
        return self.why_not(action) is None

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

    async def start(self, node: str, release: Version | str | None = None) -> None:
        """Start a node that is down, on its store and port, perhaps with another release."""
        chosen = self._node("start", node)
        wanted = Version.parse(release) if isinstance(release, str) else release
        await chosen.launch(wanted)
        await self._usable(chosen)

    async def restart(self, node: str, release: Version | str | None = None) -> None:
        """Stop a node, if it runs, and start it again."""
        await self._node("restart", node).stop()
        await self.start(node, release)

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

    async def _usable(self, node: Node) -> None:
        """Without a majority no leader can be expected: then a node that listens is started."""
        up = sum(other.running for other in self.nodes.values())
        if len(self.nodes) == 1:
            await in_time(self._order, [node], wait_for_jetstream(node, self.credentials()))
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
) -> AsyncIterator[RunningTarget]:
    """A target, ready to be used, for the length of the block.

    `work_dir` is where its folder is made (default: the folder of `owner`, a run, which is made
    for this target alone if none is given); `keep` leaves that folder behind. `factor` scales the
    time that a start may take. `accounts` are made besides JP, B and SYS.
    """
    wanted = parse(spec) if isinstance(spec, str) else spec
    wanted = _single(wanted)
    if why := unavailable(wanted, configuration, topology, "shared", ()):
        raise JetproofError(f"cannot start {wanted}: {why}", phase="plan")
    with _owned(owner) as run, _folder(wanted, run, work_dir, keep) as folder:
        handed_out = False

        def exited(node: Node, returncode: int | None) -> None:
            """A server that ends while the target starts is an error of the start."""
            if handed_out and on_unplanned_exit is not None:
                on_unplanned_exit(node, returncode)

        order = Order(
            spec=wanted,
            configuration=load_configuration(configuration),
            topology=topology,
            accounts=Accounts.of(accounts),
            owner=run,
            folder=folder,
            factor=factor,
            offline=offline,
            cache_dir=cache_dir,
            choose_port=choose_port,
            on_unplanned_exit=exited,
            notify=notify,
        )
        async with _provided(order) as nodes:
            handed_out = True
            yield RunningTarget(order, nodes)


def _provided(order: Order) -> contextlib.AbstractAsyncContextManager[Mapping[str, Node]]:
    if order.spec.provider == "external":
        return external_nodes(order.spec)
    if order.spec.provider == "container":
        from jetproof.targets.container import container_nodes

        return container_nodes(order)
    return process_nodes(order)


def _single(spec: TargetSpec) -> TargetSpec:
    expanded = expand(spec, known_releases())
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
