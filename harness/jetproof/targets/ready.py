"""When a server may be used: it speaks, JetStream answers, and a cluster has found its leader."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from jetproof.targets.config import SYSTEM_ACCOUNT, Accounts
from jetproof.targets.node import POLL_SECONDS, Node
from jetproof.wire.driver import Connection
from jetproof.wire.errors import ConnectionLost, WireTimeout

_ANSWER_SECONDS = 1.0
_CLUSTER_POLL_SECONDS = 0.02


async def read_info(
    host: str,
    port: int,
    credentials: Mapping[str, Any] | None = None,
    timeout: float = _ANSWER_SECONDS,
) -> Mapping[str, Any]:
    """Connect, send CONNECT and PING, see the PONG, and return INFO."""
    async with await Connection.open(
        host, port, options=credentials, connect_timeout=timeout
    ) as connection:
        return dict(connection.info)


async def wait_for_jetstream(node: Node, credentials: Mapping[str, Any]) -> None:
    """Wait until the JetStream API answers through this node."""
    while node.alive:
        with contextlib.suppress(ConnectionLost):
            async with await _open(node, credentials) as connection:
                while not await _api_answers(connection):
                    await asyncio.sleep(POLL_SECONDS)
                return
        await asyncio.sleep(POLL_SECONDS)


async def wait_for_meta_leader(node: Node, accounts: Accounts) -> None:
    """Wait until this node of a cluster knows a leader, and JetStream answers through it."""
    while node.alive:
        meta = await _meta_group(node, accounts)
        if meta.get("leader"):
            break
        await asyncio.sleep(_CLUSTER_POLL_SECONDS)
    await wait_for_jetstream(node, accounts.credentials())


async def wait_for_cluster(nodes: Sequence[Node], accounts: Accounts) -> None:
    """Wait until all nodes agree on a leader, it sees every other, and JetStream answers."""
    while all(node.alive for node in nodes):
        groups = await asyncio.gather(*(_meta_group(node, accounts) for node in nodes))
        if _settled({node.name: group for node, group in zip(nodes, groups, strict=True)}):
            break
        await asyncio.sleep(_CLUSTER_POLL_SECONDS)
    await asyncio.gather(*(wait_for_jetstream(node, accounts.credentials()) for node in nodes))


async def wait_for_link(
    nodes: Sequence[Node], domains: Mapping[str, str], accounts: Accounts
) -> None:
    """Wait until, in every account, each node reaches the JetStream domain of every other one."""
    await asyncio.gather(
        *(
            _wait_for_domain(node, domains[other.name], accounts.credentials(account))
            for node in nodes
            for other in nodes
            if other is not node
            for account in accounts.names
        )
    )


async def wait_until_cut(node: Node, domain: str, credentials: Mapping[str, Any]) -> None:
    """Wait until a node no longer reaches a domain."""
    async with await _open(node, credentials) as connection:
        while await _api_answers(connection, f"$JS.{domain}.API.INFO"):
            await asyncio.sleep(_CLUSTER_POLL_SECONDS)


async def _wait_for_domain(node: Node, domain: str, credentials: Mapping[str, Any]) -> None:
    while node.alive:
        with contextlib.suppress(ConnectionLost):
            async with await _open(node, credentials) as connection:
                while not await _api_answers(connection, f"$JS.{domain}.API.INFO"):
                    await asyncio.sleep(_CLUSTER_POLL_SECONDS)
                return
        await asyncio.sleep(_CLUSTER_POLL_SECONDS)


def _settled(groups: Mapping[str, Mapping[str, Any]]) -> bool:
    """Only the leader's own view of the others counts: followers see each other as not current."""
    leaders = {str(group.get("leader") or "") for group in groups.values()}
    if len(leaders) != 1:
        return False
    followers = groups.get(leaders.pop(), {}).get("replicas") or []
    return len(followers) == len(groups) - 1 and all(
        follower.get("current") and not follower.get("offline") for follower in followers
    )


async def _meta_group(node: Node, accounts: Accounts) -> Mapping[str, Any]:
    """What a node says about the cluster's meta group; empty while it says nothing."""
    with contextlib.suppress(ConnectionLost, WireTimeout, ValueError):
        async with await _open(node, accounts.credentials(SYSTEM_ACCOUNT)) as connection:
            reply = await connection.request(
                f"$SYS.REQ.SERVER.{connection.info['server_id']}.JSZ", timeout=_ANSWER_SECONDS
            )
            data = json.loads(reply.payload or b"{}").get("data") or {}
            group = data.get("meta_cluster")
            return group if isinstance(group, dict) else {}
    return {}


async def _open(node: Node, credentials: Mapping[str, Any]) -> Connection:
    return await Connection.open(
        node.host, node.port, options=credentials, connect_timeout=_ANSWER_SECONDS
    )


async def _api_answers(connection: Connection, subject: str = "$JS.API.INFO") -> bool:
    try:
        reply = await connection.request(subject, timeout=_ANSWER_SECONDS)
        document = json.loads(reply.payload or b"{}")
    except (WireTimeout, ValueError):
        return False
    return "error" not in document and "memory" in document
