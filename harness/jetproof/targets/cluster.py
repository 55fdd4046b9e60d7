"""Servers as processes: one, or several that find each other over routes on 127.0.0.1."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import shutil
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from jetproof.targets.config import ClusterPlace, NodePlace, render
from jetproof.targets.node import Node, PortTaken
from jetproof.targets.order import PORT_TRIES, Order, launch_all
from jetproof.targets.ports import LOOPBACK
from jetproof.targets.server import ServerNode, build_at, ports_dir


@contextlib.asynccontextmanager
async def process_nodes(order: Order) -> AsyncIterator[Mapping[str, Node]]:
    """The order's servers as processes, ready, for the length of the block."""
    binary = await _binary(order)
    for last in (False,) * (PORT_TRIES - 1) + (True,):
        nodes = _plan(order, binary)
        try:
            try:
                await launch_all(order, nodes)
            except PortTaken:
                if last:
                    raise
                await _close(nodes)
                shutil.rmtree(order.folder, ignore_errors=True)
                continue
            yield nodes
            return
        finally:
            await _close(nodes)


async def _binary(order: Order) -> Path:
    if order.spec.version is None:
        return build_at(order.spec)
    return await order.binary(order.spec.version)


def _plan(order: Order, binary: Path) -> dict[str, Node]:
    """Nodes with ports for clients and routes; a new plan has new ports."""
    clients = {name: order.choose_port() for name in order.names}
    routes = {name: order.choose_port() for name in order.names}
    cluster_name = f"jetproof-{secrets.token_hex(4)}"
    nodes: dict[str, Node] = {}
    for name, port in clients.items():
        folder = order.folder / name
        place = NodePlace(
            name=name,
            listen=f"{LOOPBACK}:{port}",
            store=str(folder / "store"),
            ports_dir=str(ports_dir(folder)),
        )
        if len(clients) > 1:
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
        )
    return nodes


async def _close(nodes: Mapping[str, Node]) -> None:
    await asyncio.gather(*(node.close() for node in nodes.values()))
