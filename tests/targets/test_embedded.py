"""One server as a process: ready when handed out, obedient, and gone afterwards."""

from __future__ import annotations

import asyncio
from pathlib import Path

import nats
import pytest

from jetproof.errors import JetproofError
from jetproof.targets.node import Node
from jetproof.targets.ports import is_free
from jetproof.targets.releases import binary_releases
from jetproof.targets.server import ServerNode
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target
from jetproof.wire.errors import ConnectionLost

from .conftest import Play
from .helpers import api, make_stream, process_exists


def pid_of(node: Node) -> int:
    assert isinstance(node, ServerNode)
    assert node.pid is not None
    return node.pid


def test_a_target_that_is_handed_out_is_ready(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            created = await make_stream(target)
            assert created["config"]["name"] == "ORDERS"
            assert target.version == binary_releases()[-1]
            assert (target.provider, target.topology) == ("embedded", "single")
            assert list(target.nodes) == ["n1"]

    play(main())


def test_nothing_is_left_afterwards(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            node = target.nodes["n1"]
            pid = pid_of(node)
            assert process_exists(pid)
        assert not node.alive
        assert not process_exists(pid)
        assert is_free(node.port)

    play(main())
    assert [path.name for path in owner.folder.iterdir()] == ["owner.lock"]


def test_the_folder_is_kept_on_request(play: Play[None], tmp_path: Path) -> None:
    async def main() -> None:
        async with start_target("latest", work_dir=tmp_path / "mine", keep=True) as target:
            await make_stream(target)

    play(main())
    (folder,) = (tmp_path / "mine").iterdir()
    assert (folder / "n1" / "store" / "jetstream" / "JP" / "streams" / "ORDERS").is_dir()
    assert "Server is ready" in (folder / "n1" / "server.log").read_text()


def test_a_plain_client_needs_no_credentials(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            await make_stream(target)
            client = await nats.connect(target.nodes["n1"].url)
            try:
                ack = await client.jetstream().publish("ORDERS.new", b"1")
                assert (ack.stream, ack.seq) == ("ORDERS", 1)
            finally:
                await client.close()

    play(main())


def test_accounts_do_not_see_each_other(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner, accounts=["OWN_1"]) as target:
            await make_stream(target)
            for account, streams in ((None, 1), ("B", 0), ("OWN_1", 0)):
                info = await api(target, "$JS.API.INFO", account=account)
                assert info["streams"] == streams, account

    play(main())


def test_the_system_account_is_reachable(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            reply = await api(target, "$SYS.REQ.SERVER.PING.VARZ", account="$SYS")
            assert reply["server"]["name"] == "n1"

    play(main())


def test_a_named_configuration_is_in_force(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner, configuration="low-batch-limits") as target:
            reply = await api(target, "$SYS.REQ.SERVER.PING.VARZ", account="$SYS")
            limits = reply["data"]["jetstream"]["limits"]
            assert limits["max_batch_inflight_per_stream"] == 2
            assert limits["max_batch_size"] == 5
            assert target.configuration == "low-batch-limits"

    play(main())


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_restart_keeps_store_and_port(play: Play[None], owner: Owner, action: str) -> None:
    exits: list[str] = []

    async def main() -> None:
        async with start_target(
            "latest", owner=owner, on_unplanned_exit=lambda node, _: exits.append(node.name)
        ) as target:
            node = target.nodes["n1"]
            before = (node.port, pid_of(node))
            await make_stream(target)
            await getattr(target, action)("n1")
            assert not node.alive
            with pytest.raises(ConnectionLost):
                await api(target, "$JS.API.INFO")
            await target.start("n1")
            assert node.port == before[0]
            assert pid_of(node) != before[1]
            info = await api(target, "$JS.API.STREAM.INFO.ORDERS")
            assert info["config"]["name"] == "ORDERS"
            assert node.died is None

    play(main())
    assert exits == []


def test_restart_is_stop_and_start(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            pid = pid_of(target.nodes["n1"])
            await target.restart("n1")
            assert pid_of(target.nodes["n1"]) != pid
            assert "Initiating Shutdown" in target.nodes["n1"].log_tail(200)

    play(main())


def test_a_paused_server_answers_only_when_resumed(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            node = target.nodes["n1"]
            await target.pause("n1")
            assert (node.state, node.alive, node.running) == ("paused", True, False)
            asked = asyncio.create_task(api(target, "$JS.API.INFO"))
            done, _ = await asyncio.wait([asked], timeout=0.3)
            assert not done
            await target.resume("n1")
            assert "memory" in await asked

    play(main())


@pytest.mark.parametrize("action", ["stop", "kill"])
def test_a_paused_server_can_be_ended(play: Play[None], owner: Owner, action: str) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            await target.pause("n1")
            await getattr(target, action)("n1")
            assert target.nodes["n1"].state == "stopped"
            await target.start("n1")
            assert "memory" in await api(target, "$JS.API.INFO")

    play(main())


def test_a_paused_server_is_taken_down_too(play: Play[int], owner: Owner) -> None:
    async def main() -> int:
        async with start_target("latest", owner=owner) as target:
            await target.pause("n1")
            return pid_of(target.nodes["n1"])

    assert not process_exists(play(main()))


def test_actions_out_of_order_are_refused(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            with pytest.raises(JetproofError, match="cannot start server n1: it is running"):
                await target.start("n1")
            with pytest.raises(JetproofError, match="no such server") as raised:
                await target.stop("n7")
            assert raised.value.hint == "the servers are n1"
            await target.stop("n1")
            await target.stop("n1")
            with pytest.raises(JetproofError, match="cannot pause server n1: it is stopped"):
                await target.pause("n1")

    play(main())


def test_evidence_describes_the_target(play: Play[None], owner: Owner, tmp_path: Path) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            described = target.describe()
            assert described["version"] == str(binary_releases()[-1])
            assert described["nodes"][0]["state"] == "running"
            assert "Server is ready" in target.log_tails()["n1"]
            (copy,) = target.copy_logs(tmp_path / "evidence")
            assert "Starting nats-server" in copy.read_text()

    play(main())


def test_any_build_by_path(play: Play[None], owner: Owner, binary: Path) -> None:
    async def main() -> None:
        async with start_target(f"path:{binary}", owner=owner) as target:
            assert target.provider == "path"
            assert target.version == binary_releases()[-1]

    play(main())


def test_several_targets_at_once(play: Play[None], owner: Owner) -> None:
    async def one() -> int:
        async with start_target("latest", owner=owner) as target:
            await make_stream(target)
            return target.nodes["n1"].port

    async def main() -> None:
        ports = await asyncio.gather(*(one() for _ in range(5)))
        assert len(set(ports)) == 5

    play(main())
