"""Servers as processes: one, or several that find each other on 127.0.0.1.

The nodes of a cluster are joined by routes, a hub and its leaf node by a link that can be cut.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path

from jetproof.targets.config import ClusterPlace, LeafPlace, NodePlace, render
from jetproof.targets.go_build import Built
from jetproof.targets.link import Link
from jetproof.targets.node import Node, PortTaken
from jetproof.targets.order import PORT_TRIES, Fleet, Order, launch_all
from jetproof.targets.own_build import own_build
from jetproof.targets.ports import LOOPBACK
from jetproof.targets.server import ServerNode, ports_dir
from jetproof.targets.spec import MODULE_PROVIDERS


@contextlib.asynccontextmanager
async def process_nodes(order: Order) -> AsyncIterator[Fleet]:
    """The order's servers as processes, ready, for the length of the block."""
    built = await _built(order)
    for last in (False,) * (PORT_TRIES - 1) + (True,):
        link = Link(order.choose_port(), order.choose_port()) if order.shape.linked else None
        nodes = _plan(order, built.binary, link)
        ready: list[ServerNode] = []
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(_hand_over, order, ready)
            stack.push_async_callback(_close, nodes)
            try:
                if link is not None:
                    await stack.enter_async_context(link)
                await launch_all(order, nodes)
            except PortTaken:
                if last:
                    raise
                await stack.aclose()
                shutil.rmtree(order.folder, ignore_errors=True)
                continue
            ready.extend(nodes.values())
            yield Fleet(nodes, link, built.build)
            return


async def _built(order: Order) -> Built:
    if order.built is not None:
        return order.built
    if order.spec.provider in (*MODULE_PROVIDERS, "path"):
        return await own_build(
            order.spec, cache_dir=order.cache_dir, offline=order.offline, notify=order.notify
        )
    assert order.spec.version is not None
    return await order.release_build(order.spec.version)


def _plan(order: Order, binary: Path, link: Link | None) -> dict[str, ServerNode]:
    """Nodes with ports for clients and routes; a new plan has new ports."""
    clients = {name: order.choose_port() for name in order.names}
    routes = {name: order.choose_port() for name in order.names}
    cluster_name = f"jetproof-{secrets.token_hex(4)}"
    nodes: dict[str, ServerNode] = {}
    for name, port in clients.items():
        folder = order.folder / name
        place = NodePlace(
            name=name,
            listen=f"{LOOPBACK}:{port}",
            store=str(folder / "store"),
            ports_dir=str(ports_dir(folder)),
        )
        if link is not None:
            place = _joined(order, place, link)
        elif order.shape.clustered:
            place = place.in_cluster(
                ClusterPlace(
                    name=cluster_name,
                    listen=f"{LOOPBACK}:{routes[name]}",
                    routes=tuple(f"nats://{LOOPBACK}:{route}" for route in routes.values()),
                )
            )
        nodes[name] = ServerNode(
            name,
            port,
            binary=binary,
            folder=folder,
            config_text=render(order.configuration, place, order.accounts),
            release_binary=order.binary,
            on_unplanned_exit=order.on_unplanned_exit,
            factor=order.factor,
            covered=order.spec.provider == "cover",
        )
    return nodes


def _hand_over(order: Order, nodes: Sequence[ServerNode]) -> None:
    """Pass on what the servers recorded, before their folders are removed."""
    traces = [node.traces for node in nodes if node.traces is not None]
    if traces and order.on_traces is not None:
        order.on_traces(traces)


def _joined(order: Order, place: NodePlace, link: Link) -> NodePlace:
    """The hub listens behind the link, and the leaf node knows the link alone."""
    assert order.shape.domains is not None
    near = f"{LOOPBACK}:{link.port}"
    hub = LeafPlace(listen=f"{LOOPBACK}:{link.to}", advertise=near)
    end = hub if place.name == order.names[0] else LeafPlace(hub=near)
    return place.in_domain(order.shape.domains[place.name], end)


async def _close(nodes: Mapping[str, Node]) -> None:
    await asyncio.gather(*(node.close() for node in nodes.values()))
