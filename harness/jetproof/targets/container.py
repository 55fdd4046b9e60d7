"""A server in a container: the same nodes, actions and evidence as a process, over testcontainers.

Every start makes a new container on the node's volume, so that a restart with another release
is no special case. Clients reach it on a port of 127.0.0.1 that we choose and that stays the same.
The nodes of a cluster find each other by name in a network of their own.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from jetproof.model.versions import Version
from jetproof.targets.config import ClusterPlace, LeafPlace, NodePlace, render
from jetproof.targets.docker_engine import (
    build_image,
    connect,
    engine_platform,
    find_image,
    in_thread,
    labels,
    sweep_engine,
)
from jetproof.targets.node import (
    STOP_SECONDS,
    Node,
    PortTaken,
    Release,
    StartError,
    UnplannedExit,
    exit_text,
    says_port_taken,
)
from jetproof.targets.order import PORT_TRIES, Fleet, Order, launch_all
from jetproof.targets.ports import LOOPBACK
from jetproof.targets.ready import read_info
from jetproof.targets.releases import is_offline
from jetproof.wire.errors import ConnectionLost

START_SECONDS = 30.0
_CLIENT_PORT = 4222
_ROUTE_PORT = 6222
_LEAF_PORT = 7422
_CONFIG = "/jetproof/server.conf"
_DATA = "/data"
_POLL_SECONDS = 0.02

ImageFor = Callable[[Version | None], Awaitable[str]]


class ContainerNode(Node):
    """One nats-server in a container. `base` names its containers, its volume and its marks."""

    def __init__(
        self,
        name: str,
        port: int,
        *,
        base: str,
        marks: Mapping[str, str],
        image_for: ImageFor,
        config_text: str,
        folder: Path,
        client: Any,
        network: Any = None,
        on_unplanned_exit: UnplannedExit | None = None,
        factor: float = 1.0,
    ) -> None:
        super().__init__(
            name,
            LOOPBACK,
            port,
            log_path=folder / "server.log",
            on_unplanned_exit=on_unplanned_exit,
            factor=factor,
        )
        self.image = ""
        self._base = base
        self._marks = dict(marks)
        self._image_for = image_for
        self._config_text = config_text
        self._folder = folder
        self._client = client
        self._network = network
        self._container: Any = None
        self._followed = False

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"image": self.image, "container": self._base}

    async def close(self) -> None:
        """Remove the container and its volume, whatever state they are in."""
        self._planned = True
        await in_thread(self._remove, volume=True)
        self._gone.set()
        if self._state != "new":
            self._state = "stopped"

    async def _spawn(self, release: Release) -> None:
        if release is not None or not self.image:
            self.image = await self._image_for(None if release == "own" else release)
        self._followed = False
        await in_thread(self._remove, volume=False)
        await in_thread(self._create)
        loop = asyncio.get_running_loop()
        follower = threading.Thread(
            target=self._follow, args=(self._container, loop), daemon=True, name=self._base
        )
        self._followed = True
        follower.start()

    async def _listening(self) -> None:
        seconds = START_SECONDS * self._factor
        try:
            async with asyncio.timeout(seconds):
                while True:
                    if self._gone.is_set():
                        raise self.failed(f"ended while it started ({exit_text(self._returncode)})")
                    with contextlib.suppress(ConnectionLost):
                        self.info = await read_info(self.host, self.port)
                        return
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            raise self.failed(f"was not ready {seconds:.0f} s after its start") from None

    def _create(self) -> None:
        import docker.errors
        from testcontainers.core.container import DockerContainer

        self._folder.mkdir(parents=True, exist_ok=True)
        container = DockerContainer("")
        container.image = self.image
        container.with_name(self._base)
        container.with_command(["--config", _CONFIG])
        container.with_copy_into_container(self._config_text.encode(), _CONFIG)
        container.with_volume_mapping(self._base, _DATA, "rw")
        container.ports[f"{_CLIENT_PORT}/tcp"] = (LOOPBACK, self.port)  # type: ignore[assignment]
        if self._network is None:
            container.with_kwargs(labels=self._marks, network="bridge")
        else:
            container.with_kwargs(labels=self._marks)
            container.with_network(self._network).with_network_aliases(self.name)
        try:
            self._client.volumes.create(self._base, labels=self._marks)
            container.start()
            self._container = self._client.containers.get(self._base)
        except (docker.errors.DockerException, OSError) as error:
            kind = PortTaken if says_port_taken(str(error)) else StartError
            raise kind(
                f"server {self.name} on port {self.port}: the container {self._base} from "
                f"{self.image} does not start: {error}",
                hint="`docker info` and the engine's own log say more",
            ) from error
        finally:
            container.get_docker_client().client.close()

    def _remove(self, *, volume: bool) -> None:
        """By name, since a container whose start failed is known by nothing else."""
        import docker.errors

        with contextlib.suppress(docker.errors.DockerException, OSError):
            self._client.containers.get(self._base).remove(force=True, v=True)
        if volume:
            with contextlib.suppress(docker.errors.DockerException, OSError):
                self._client.volumes.get(self._base).remove(force=True)

    def _follow(self, container: Any, loop: asyncio.AbstractEventLoop) -> None:
        """Copy the log to a file until the container ends, then say how it ended."""
        returncode: int | None = None
        with contextlib.suppress(Exception):  # the engine may go away at any moment
            with (self._folder / "server.log").open("ab") as log:
                for chunk in container.logs(stream=True, follow=True):
                    log.write(chunk)
                    log.flush()
            status = int(container.wait(timeout=STOP_SECONDS)["StatusCode"])
            returncode = 128 - status if status > 128 else status
        with contextlib.suppress(RuntimeError):  # the loop has ended: nobody is interested
            loop.call_soon_threadsafe(self._followed_to_end, container, returncode)

    def _followed_to_end(self, container: Any, returncode: int | None) -> None:
        if container is self._container and not self._gone.is_set():
            self._exited(returncode)

    def _send_stop(self) -> None:
        self._send("stop", timeout=int(STOP_SECONDS * self._factor))

    def _send_kill(self) -> None:
        if not self._followed:
            self._gone.set()
        elif not self._gone.is_set():
            self._send("kill")

    def _send(self, action: str, **arguments: Any) -> None:
        """Docker signals no container that is paused: it is resumed first."""
        container, paused = self._container, self._state == "paused"

        def act() -> None:
            with contextlib.suppress(Exception):
                if paused:
                    container.unpause()
                getattr(container, action)(**arguments)

        asyncio.get_running_loop().run_in_executor(None, act)

    async def _send_pause(self) -> None:
        await self._ask("pause")

    async def _send_resume(self) -> None:
        await self._ask("unpause")

    async def _ask(self, action: str) -> None:
        import docker.errors

        try:
            await in_thread(getattr(self._container, action))
        except (docker.errors.DockerException, OSError) as error:
            raise self._wrong(action, f"the Docker engine says {error}") from error


@contextlib.asynccontextmanager
async def container_nodes(order: Order) -> AsyncIterator[Fleet]:
    """The order's servers in containers, ready, for the length of the block."""
    client = await in_thread(connect)
    try:
        await in_thread(sweep_engine, client)
        for last in (False,) * (PORT_TRIES - 1) + (True,):
            async with _cluster_network(order) as network:
                nodes = _plan(order, client, network)
                try:
                    try:
                        await launch_all(order, nodes)
                    except PortTaken:
                        if last:
                            raise
                        continue
                    yield Fleet(nodes)
                    return
                finally:
                    await asyncio.gather(*(node.close() for node in nodes.values()))
    finally:
        client.close()


@contextlib.asynccontextmanager
async def _cluster_network(order: Order) -> AsyncIterator[Any]:
    if len(order.names) == 1:
        yield None
        return
    from testcontainers.core.network import Network

    network = Network(docker_network_kw={"labels": labels(order.owner)})
    try:
        await in_thread(network.create)
        yield network
    finally:
        with contextlib.suppress(Exception):
            await in_thread(network.remove)
        network._docker.client.close()


def _plan(order: Order, client: Any, network: Any) -> dict[str, Node]:
    base = f"jetproof-{order.owner.id}-{secrets.token_hex(3)}"
    nodes: dict[str, Node] = {}
    for name in order.names:
        place = NodePlace(name=name, listen=f"0.0.0.0:{_CLIENT_PORT}", store=f"{_DATA}/store")
        if order.shape.domains is not None:
            hub = order.names[0]
            place = place.in_domain(
                order.shape.domains[name],
                LeafPlace(listen=f"0.0.0.0:{_LEAF_PORT}")
                if name == hub
                else LeafPlace(hub=f"{hub}:{_LEAF_PORT}"),
            )
        elif network is not None:
            routes = tuple(f"nats://{other}:{_ROUTE_PORT}" for other in order.names)
            place = place.in_cluster(
                ClusterPlace(base, f"0.0.0.0:{_ROUTE_PORT}", routes, advertise=False)
            )
        nodes[name] = ContainerNode(
            name,
            order.choose_port(),
            base=f"{base}-{name}",
            marks=labels(order.owner),
            image_for=_image_for(order, client),
            config_text=render(order.configuration, place, order.accounts),
            folder=order.folder / name,
            client=client,
            network=network,
            on_unplanned_exit=order.on_unplanned_exit,
            factor=order.factor,
        )
    return nodes


def _image_for(order: Order, client: Any) -> ImageFor:
    async def image_for(release: Version | None) -> str:
        version = release or order.spec.version
        if version is None:
            raise ValueError(f"{order.spec} names no release")
        offline = is_offline() if order.offline is None else order.offline
        found = await in_thread(find_image, client, version, order.owner, offline=offline)
        if found is not None:
            return found
        binary = await order.binary(version, await in_thread(engine_platform, client))
        return await in_thread(build_image, client, version, binary, order.owner)

    return image_for
