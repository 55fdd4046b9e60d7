"""A server in a container: the same as a process, and everything in the engine is accounted for."""

from __future__ import annotations

import asyncio
import os
import platform
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets import docker_engine
from jetproof.targets.container import ContainerNode
from jetproof.targets.docker_engine import OWNER_LABEL, RUN_LABEL, connect, engine_problem
from jetproof.targets.node import Node, PortTaken, StartError
from jetproof.targets.ports import LOOPBACK, free_port
from jetproof.targets.releases import binary_releases
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target
from jetproof.wire.errors import ConnectionLost

from .conftest import Play
from .helpers import answered, api, make_stream

LATEST = f"container:{binary_releases()[-1]}"

pytestmark = pytest.mark.container


@pytest.fixture(scope="module")
def engine() -> Iterator[Any]:
    """A Docker client, where an engine answers."""
    problem = engine_problem()
    if problem is not None:
        pytest.skip(f"container lane not covered: {problem.splitlines()[0]}")
    client = connect()
    yield client
    client.close()


def left_of(engine: Any, run: str) -> list[str]:
    """The names of all that a run has in the engine."""
    marked = {"label": f"{RUN_LABEL}={run}"}
    found = [
        *engine.containers.list(all=True, filters=marked),
        *engine.networks.list(filters=marked),
        *engine.volumes.list(filters=marked),
    ]
    return sorted(thing.name for thing in found)


def test_a_container_is_ready_and_reached_on_loopback(
    play: Play[None], owner: Owner, engine: Any
) -> None:
    async def main() -> None:
        async with start_target(LATEST, owner=owner) as target:
            node = target.nodes["n1"]
            assert (target.provider, node.host) == ("container", LOOPBACK)
            assert target.version == binary_releases()[-1]
            assert "error" not in await make_stream(target)
            while "Server is ready" not in node.log_tail():  # the log comes through the engine
                await asyncio.sleep(0.01)
            assert target.describe()["nodes"][0]["image"]
            assert len(left_of(engine, owner.id)) == 2

    play(main())
    assert left_of(engine, owner.id) == []


def test_the_configuration_is_in_force(play: Play[None], owner: Owner, engine: Any) -> None:
    async def main() -> None:
        async with start_target(
            LATEST, owner=owner, configuration="low-batch-limits", accounts=["OWN_1"]
        ) as target:
            reply = await api(target, "$SYS.REQ.SERVER.PING.VARZ", account="$SYS")
            assert reply["data"]["jetstream"]["limits"]["max_batch_size"] == 5
            assert "memory" in await api(target, "$JS.API.INFO", account="OWN_1")

    play(main())


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_restart_keeps_store_and_port(
    play: Play[None], owner: Owner, engine: Any, action: str
) -> None:
    exits: list[Node] = []

    async def main() -> None:
        async with start_target(
            LATEST, owner=owner, on_unplanned_exit=lambda node, _: exits.append(node)
        ) as target:
            node = target.nodes["n1"]
            port = node.port
            await make_stream(target)
            await getattr(target, action)("n1")
            assert node.state == "stopped"
            with pytest.raises(ConnectionLost):
                await api(target, "$JS.API.INFO")
            await target.start("n1")
            assert node.port == port
            assert "error" not in await api(target, "$JS.API.STREAM.INFO.ORDERS")

    play(main())
    assert exits == []
    assert left_of(engine, owner.id) == []


def test_pause_resume_and_the_end_of_a_paused_container(
    play: Play[None], owner: Owner, engine: Any
) -> None:
    async def main() -> None:
        async with start_target(LATEST, owner=owner) as target:
            await target.pause("n1")
            asked = asyncio.create_task(api(target, "$JS.API.INFO"))
            done, _ = await asyncio.wait([asked], timeout=0.3)
            assert not done
            await target.resume("n1")
            assert "memory" in await asked
            await target.pause("n1")
            await target.kill("n1")
            assert target.nodes["n1"].state == "stopped"
            await target.start("n1")
            await target.pause("n1")

    play(main())
    assert left_of(engine, owner.id) == []


def test_an_unplanned_death_is_noticed(play: Play[None], owner: Owner, engine: Any) -> None:
    async def main() -> None:
        noticed: asyncio.Future[tuple[Node, int | None]] = asyncio.Future()
        async with start_target(
            LATEST, owner=owner, on_unplanned_exit=lambda *what: noticed.set_result(what)
        ) as target:
            node = target.nodes["n1"]
            name = target.describe()["nodes"][0]["container"]
            await asyncio.to_thread(lambda: engine.containers.get(name).kill())
            assert await noticed == (node, -signal.SIGKILL)
            assert node.died is not None
            assert "Server is ready" in node.died.log_tail

    play(main())


def test_three_containers_form_a_cluster(play: Play[None], owner: Owner, engine: Any) -> None:
    async def main() -> None:
        async with start_target(LATEST, topology="cluster-3", owner=owner) as target:
            for name in target.nodes:
                created = await make_stream(target, f"S_{name}", num_replicas=3, node=name)
                assert len(created["cluster"]["replicas"]) == 2
            await target.kill("n2")
            await target.start("n2")
            info = await answered(target, "$JS.API.STREAM.INFO.S_n2", node="n2")
            assert info["config"]["num_replicas"] == 3

    play(main())
    assert left_of(engine, owner.id) == []


@pytest.mark.network
def test_a_node_is_restarted_with_another_release(
    play: Play[None], owner: Owner, engine: Any
) -> None:
    async def main() -> None:
        async with start_target("container:2.14.6", owner=owner) as target:
            await make_stream(target)
            await target.restart("n1", release=Version.parse("2.15.1"))
            assert str(target.nodes["n1"].version) == "2.15.1"
            assert "error" not in await api(target, "$JS.API.STREAM.INFO.ORDERS")

    play(main())


def test_a_port_that_is_taken_is_replaced(play: Play[None], owner: Owner, engine: Any) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as other:
            taken = other.nodes["n1"].port
            ports = iter([taken])
            async with start_target(
                LATEST, owner=owner, choose_port=lambda: next(ports, None) or free_port()
            ) as target:
                assert target.nodes["n1"].port != taken
            with pytest.raises(PortTaken):
                async with start_target(LATEST, owner=owner, choose_port=lambda: taken):
                    pass

    play(main())
    assert left_of(engine, owner.id) == []


def test_a_container_that_ends_at_once(
    play: Play[None], owner: Owner, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "jetproof.targets.container.render", lambda *_: "this is { no configuration"
    )

    async def main() -> None:
        async with start_target(LATEST, owner=owner):
            pass

    with pytest.raises(StartError, match=r"ended while it started \(exit code 1\)") as raised:
        play(main())
    assert "Parse error" in raised.value.log_tail
    assert left_of(engine, owner.id) == []


def test_an_image_that_holds_another_release_is_refused(
    play: Play[None], owner: Owner, engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def main() -> None:
        async with start_target(LATEST, owner=owner) as target:
            image = target.describe()["nodes"][0]["image"]
        monkeypatch.setattr("jetproof.targets.container.find_image", lambda *_, **__: image)
        async with start_target("container:2.15.0", owner=owner):
            pass

    with pytest.raises(StartError, match=r"container:2\.15\.0 was asked for, and server n1 is"):
        play(main())
    assert left_of(engine, owner.id) == []


@pytest.mark.parametrize("topology", ["single", "cluster-3"])
def test_a_cancellation_during_the_start_leaves_nothing(
    play: Play[None], owner: Owner, engine: Any, topology: str
) -> None:
    async def use(seen: asyncio.Event) -> None:
        async with start_target(LATEST, topology=topology, owner=owner):
            seen.set()
            await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(use(asyncio.Event()))
        while not await asyncio.to_thread(left_of, engine, owner.id):
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(main())
    assert left_of(engine, owner.id) == []


def test_hub_and_leaf_node_in_containers_reach_each_other(
    play: Play[None], owner: Owner, engine: Any
) -> None:
    async def main() -> None:
        async with start_target(LATEST, topology="leaf", owner=owner) as target:
            await make_stream(target, node="l1")
            there = await api(target, "$JS.LEAF.API.STREAM.NAMES", {}, node="n1")
            assert there["streams"] == ["ORDERS"]
            await target.restart("l1")
            assert "memory" in await api(target, "$JS.HUB.API.INFO", node="l1")
            with pytest.raises(JetproofError, match="two containers cannot be cut"):
                await target.cut("link")

    play(main())
    assert left_of(engine, owner.id) == []


def test_five_nodes_in_containers_find_each_other(
    play: Play[None], owner: Owner, engine: Any
) -> None:
    async def main() -> None:
        async with start_target(LATEST, topology="cluster-5", owner=owner) as target:
            made = await make_stream(target, num_replicas=5)
            assert len(made["cluster"]["replicas"]) == 4

    play(main())
    assert left_of(engine, owner.id) == []


def test_our_image_never_takes_the_upstream_name(engine: Any, binary: Path, owner: Owner) -> None:
    name = docker_engine.build_image(engine, binary_releases()[-1], binary, owner)

    assert name == f"jetproof/nats-server:{binary_releases()[-1]}"
    assert engine.images.get(name).tags == [name]


HARNESS = """
import asyncio, sys
from jetproof.targets.topology import start_target

async def main():
    async with start_target(sys.argv[1], topology="cluster-3") as target:
        print(target.describe()["nodes"][0]["container"], flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_the_containers_of_a_killed_run_go_with_the_next(
    play: Play[None], owner: Owner, engine: Any, tmp_path: Path
) -> None:
    """And only those: a living run's, other people's and other machines' stay."""
    strangers = [
        engine.volumes.create("jetproof-test-stranger"),
        engine.volumes.create(
            "jetproof-test-elsewhere",
            labels={RUN_LABEL: "x", OWNER_LABEL: "another-machine:/gone/owner.lock"},
        ),
        engine.volumes.create(
            "jetproof-test-alive",
            labels={RUN_LABEL: "y", OWNER_LABEL: f"{platform.node()}:{owner.lock_path}"},
        ),
    ]
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, LATEST],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        with process:
            assert process.stdout is not None
            run = process.stdout.readline().split("-")[1]
            process.kill()
        assert len(left_of(engine, run)) == 7  # containers and volumes of three nodes, a network

        async def main() -> None:
            async with start_target(LATEST, owner=owner) as target:
                assert isinstance(target.nodes["n1"], ContainerNode)
                assert await asyncio.to_thread(left_of, engine, run) == []

        play(main())
        for volume in strangers:
            volume.reload()
    finally:
        for volume in strangers:
            volume.remove()
