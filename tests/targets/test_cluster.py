"""Three servers as a cluster: agreed on a leader when handed out, and each can be acted upon."""

from __future__ import annotations

import asyncio
import json

import pytest

from jetproof.model.versions import Version
from jetproof.targets.node import Node
from jetproof.targets.server import ServerNode
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target

from .conftest import Play
from .helpers import answered, api, make_stream, process_exists


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
            info = await answered(target, "$JS.API.STREAM.INFO.ORDERS", node=others[0])
            assert info["cluster"]["leader"] in others
            await target.start(old)
            info = await answered(target, "$JS.API.STREAM.INFO.ORDERS", node=old)
            assert info["config"]["name"] == "ORDERS"

    play(main())
    assert deaths == []


def test_without_a_majority_a_node_still_starts(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            await asyncio.gather(*(target.kill(name) for name in target.nodes))
            await target.start("n1")
            assert target.nodes["n1"].running
            await target.start("n2")
            assert "memory" in await answered(target, "$JS.API.INFO", node="n2")

    play(main())


def test_a_paused_follower_leaves_the_cluster_working(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            created = await make_stream(target, num_replicas=3)
            leader = created["cluster"]["leader"]
            follower = next(name for name in target.nodes if name != leader)
            await target.pause(follower)
            info = await answered(target, "$JS.API.STREAM.INFO.ORDERS", node=leader)
            assert info["cluster"]["leader"] == leader
            await target.resume(follower)

    play(main())


def test_the_system_account_steps_the_meta_leader_down(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            reply = await api(target, "$JS.API.META.LEADER.STEPDOWN", account="$SYS")
            assert reply.get("success") is True, json.dumps(reply)

    play(main())


@pytest.mark.network
def test_a_node_is_restarted_with_another_release(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("2.14.6", topology="cluster-3", owner=owner) as target:
            await make_stream(target, num_replicas=3)
            await target.restart("n2", release=Version.parse("2.15.1"))
            versions = {name: str(node.version) for name, node in target.nodes.items()}
            assert versions == {"n1": "2.14.6", "n2": "2.15.1", "n3": "2.14.6"}
            info = await answered(target, "$JS.API.STREAM.INFO.ORDERS", node="n2")
            assert info["config"]["num_replicas"] == 3

    play(main())
