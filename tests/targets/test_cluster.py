"""Three servers as a cluster: agreed on a leader when handed out, and each can be acted upon."""

from __future__ import annotations

import asyncio
import json

import pytest

from jetproof.targets.node import Node
from jetproof.targets.server import ServerNode
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import RunningTarget, start_target
from jetproof.wire.errors import ConnectionLost, WireTimeout

from .conftest import Play
from .helpers import api, make_stream, process_exists


async def leader_of(target: RunningTarget, stream: str, *, node: str) -> str | None:
    info = await api(target, f"$JS.API.STREAM.INFO.{stream}", node=node)
    leader = (info.get("cluster") or {}).get("leader")
    return None if leader is None else str(leader)


def test_a_cluster_that_is_handed_out_takes_replicated_streams(
    play: Play[None], owner: Owner
) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            assert list(target.nodes) == ["n1", "n2", "n3"]
            for name in target.nodes:
                created = await make_stream(target, f"S_{name}", num_replicas=3, node=name)
                assert "error" not in created
                assert len(created["cluster"]["replicas"]) == 2
            pids = [node.pid for node in target.nodes.values() if isinstance(node, ServerNode)]
        assert not any(process_exists(pid) for pid in pids if pid is not None)

    play(main())


def test_a_stream_survives_its_leader(play: Play[None], owner: Owner) -> None:
    deaths: list[Node] = []

    async def main() -> None:
        async with start_target(
            "latest",
            topology="cluster-3",
            owner=owner,
            on_unplanned_exit=lambda node, _: deaths.append(node),
        ) as target:
            created = await make_stream(target, num_replicas=3)
            old = created["cluster"]["leader"]
            others = [name for name in target.nodes if name != old]
            await target.kill(old)
            new = await _elected(target, "ORDERS", others)
            assert new in others
            await target.start(old)
            assert "error" not in await api(target, "$JS.API.STREAM.INFO.ORDERS", node=old)

    play(main())
    assert deaths == []


def test_without_a_majority_a_node_still_starts(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            await asyncio.gather(*(target.kill(name) for name in target.nodes))
            await target.start("n1")
            assert target.nodes["n1"].running
            await target.start("n2")
            assert "memory" in await api(target, "$JS.API.INFO", node="n2")

    play(main())


def test_a_paused_follower_leaves_the_cluster_working(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            created = await make_stream(target, num_replicas=3)
            leader = created["cluster"]["leader"]
            follower = next(name for name in target.nodes if name != leader)
            await target.pause(follower)
            assert await leader_of(target, "ORDERS", node=leader) == leader
            await target.resume(follower)

    play(main())


def test_the_system_account_steps_the_meta_leader_down(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            reply = await api(target, "$JS.API.META.LEADER.STEPDOWN", account="$SYS")
            assert reply.get("success") is True, json.dumps(reply)

    play(main())


async def _elected(target: RunningTarget, stream: str, nodes: list[str]) -> str:
    """The new leader; the fixture's clock ends a wait for one that never comes."""
    while True:
        for node in nodes:
            try:
                leader = await leader_of(target, stream, node=node)
            except (WireTimeout, ConnectionLost):
                continue
            if leader in nodes:
                return leader
        await asyncio.sleep(0.1)


@pytest.mark.network
def test_a_node_is_restarted_with_another_release(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("2.14.6", topology="cluster-3", owner=owner) as target:
            await make_stream(target, num_replicas=3)
            await target.restart("n2", release="2.15.1")
            versions = {name: str(node.version) for name, node in target.nodes.items()}
            assert versions == {"n1": "2.14.6", "n2": "2.15.1", "n3": "2.14.6"}
            assert "error" not in await api(target, "$JS.API.STREAM.INFO.ORDERS", node="n2")

    play(main())
