"""Servers that do not start, die, or lose their harness: said clearly, and nothing is left."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.node import Node, PortTaken, StartError
from jetproof.targets.ports import LOOPBACK, free_port
from jetproof.targets.server import ServerNode
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target

from .conftest import Play
from .helpers import api, make_stream, process_exists

Script = Callable[[str], str]


async def start_and_stop(target: str, owner: Owner, **more: object) -> None:
    async with start_target(target, owner=owner, **more):  # type: ignore[arg-type]
        pass


def test_a_binary_that_ends_at_once(play: Play[None], owner: Owner, script: Script) -> None:
    target = script("echo 'this is no server' >&2; exit 3")
    with pytest.raises(StartError, match="ended while it started \\(exit code 3\\)") as raised:
        play(start_and_stop(target, owner))
    assert raised.value.returncode == 3
    assert "this is no server" in raised.value.log_tail
    assert raised.value.phase == "start"


def test_a_binary_that_never_listens(play: Play[None], owner: Owner, script: Script) -> None:
    target = script("echo $$ > pid; exec sleep 60")
    with pytest.raises(StartError, match="was not ready"):
        play(start_and_stop(target, owner, factor=0.05))


def test_a_file_that_is_no_program(play: Play[None], owner: Owner, tmp_path: Path) -> None:
    file = tmp_path / "garbage"
    file.write_bytes(b"\x00\x01garbage")
    file.chmod(0o755)
    with pytest.raises(StartError, match=r"cannot run .*garbage.*Exec format error"):
        play(start_and_stop(f"path:{file}", owner))


def test_a_file_that_is_not_executable(play: Play[None], owner: Owner, tmp_path: Path) -> None:
    file = tmp_path / "plain"
    file.write_text("plain")
    with pytest.raises(StartError, match=r"cannot run .*plain.*Permission denied"):
        play(start_and_stop(f"path:{file}", owner))


def test_a_path_that_leads_nowhere(play: Play[None], owner: Owner) -> None:
    with pytest.raises(StartError, match="there is no server at") as raised:
        play(start_and_stop("path:./no/such/nats-server", owner))
    assert "relative to the current folder" in raised.value.hint


def test_a_release_that_refuses_the_configuration(play: Play[None], owner: Owner) -> None:
    with pytest.raises(JetproofError, match=r"applies from 2\.12\.0, this server is 2\.11\.11"):
        play(start_and_stop("2.11.11", owner, configuration="low-batch-limits"))


@pytest.mark.parametrize("target", ["2.13.0", "2.12.*"])
def test_a_target_that_cannot_be_started(play: Play[None], owner: Owner, target: str) -> None:
    with pytest.raises(JetproofError, match=r"no such release|names 15 releases"):
        play(start_and_stop(target, owner))


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.socket() as other:
        other.bind((LOOPBACK, 0))
        other.listen()
        yield other.getsockname()[1]


@pytest.mark.parametrize("topology", ["single", "cluster-3"])
def test_a_port_that_is_taken_is_replaced(
    play: Play[None], owner: Owner, taken: int, topology: str
) -> None:
    first = iter([taken])

    async def main() -> None:
        async with start_target(
            "latest",
            topology=topology,
            owner=owner,
            choose_port=lambda: next(first, None) or free_port(),
        ) as target:
            assert taken not in [node.port for node in target.nodes.values()]
            assert "memory" in await api(target, "$JS.API.INFO")

    play(main())


def test_a_port_for_routes_that_is_taken_is_replaced(
    play: Play[None], owner: Owner, taken: int
) -> None:
    deaths: list[Node] = []
    chosen: list[int] = []

    def choose() -> int:
        """Three ports for clients come first, then three for routes."""
        chosen.append(taken if len(chosen) == 4 else free_port())
        return chosen[-1]

    async def main() -> None:
        async with start_target(
            "latest",
            topology="cluster-3",
            owner=owner,
            choose_port=choose,
            on_unplanned_exit=lambda node, _: deaths.append(node),
        ) as target:
            assert "error" not in await make_stream(target, num_replicas=3)

    play(main())
    assert len(chosen) == 12
    assert deaths == []


def test_a_port_that_stays_taken(play: Play[None], owner: Owner, taken: int) -> None:
    with pytest.raises(PortTaken, match=f"on port {taken}") as raised:
        play(start_and_stop("latest", owner, choose_port=lambda: taken))
    assert "address already in use" in raised.value.log_tail
    assert "another program listens there" in raised.value.hint


def test_another_server_on_the_port_is_not_taken_for_ours(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as other:
            port = other.nodes["n1"].port
            with pytest.raises(PortTaken):
                await start_and_stop("latest", owner, choose_port=lambda: port)
            assert other.nodes["n1"].alive

    play(main())


def test_an_unplanned_death_is_noticed(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        noticed: asyncio.Future[tuple[Node, int | None]] = asyncio.Future()
        async with start_target(
            "latest", owner=owner, on_unplanned_exit=lambda *what: noticed.set_result(what)
        ) as target:
            node = target.nodes["n1"]
            assert isinstance(node, ServerNode)
            assert node.pid is not None
            os.kill(node.pid, signal.SIGKILL)
            assert await noticed == (node, -signal.SIGKILL)
            assert not node.alive
            assert node.died is not None
            assert str(node.died) == "server n1 died unplanned (killed by SIGKILL)"
            assert "Server is ready" in node.died.log_tail
            assert target.describe()["nodes"][0]["died"] == str(node.died)
            await target.start("n1")
            assert node.died is None

    play(main())


def test_an_exception_in_the_block_takes_the_target_down(play: Play[None], owner: Owner) -> None:
    pids: list[int] = []

    async def main() -> None:
        async with start_target("latest", topology="cluster-3", owner=owner) as target:
            pids.extend(_pids(target.nodes.values()))
            raise RuntimeError("in the middle of a case")

    with pytest.raises(RuntimeError, match="in the middle"):
        play(main())
    assert len(pids) == 3
    assert not any(process_exists(pid) for pid in pids)


@pytest.mark.parametrize("topology", ["single", "cluster-3"])
def test_a_cancellation_takes_the_target_down(
    play: Play[None], owner: Owner, topology: str
) -> None:
    async def main() -> None:
        pids: asyncio.Future[list[int]] = asyncio.Future()

        async def use() -> None:
            async with start_target("latest", topology=topology, owner=owner) as target:
                pids.set_result(_pids(target.nodes.values()))
                await asyncio.Event().wait()

        task = asyncio.create_task(use())
        started = await pids
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not any(process_exists(pid) for pid in started)

    play(main())


@pytest.mark.parametrize("turns", [1, 3, 8, 20])
def test_a_cancellation_during_the_start_leaves_nothing(
    play: Play[None], owner: Owner, turns: int
) -> None:
    async def main() -> None:
        task = asyncio.create_task(start_and_stop("latest", owner, topology="cluster-3"))
        for _ in range(turns):
            await asyncio.sleep(0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    play(main())
    assert _processes_in(owner.folder) == []
    assert [path.name for path in owner.folder.iterdir()] == ["owner.lock"]


HARNESS = """
import asyncio, sys
from jetproof.targets.topology import start_target

async def main():
    async with start_target("latest", topology=sys.argv[1]) as target:
        if sys.argv[2] == "paused":
            await target.pause("n1")
        print(*(node.pid for node in target.nodes.values()), flush=True)
        await asyncio.Event().wait()

try:
    asyncio.run(main())
except KeyboardInterrupt:
    sys.exit(130)
"""


def _harness(topology: str, state: str, tmp: Path) -> tuple[subprocess.Popen[str], list[int]]:
    process = subprocess.Popen(
        [sys.executable, "-c", HARNESS, topology, state],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(tmp), "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    return process, [int(pid) for pid in process.stdout.readline().split()]


@pytest.mark.skipif(sys.platform != "linux", reason="a tie to the parent exists on Linux only")
@pytest.mark.parametrize("state", ["running", "paused"])
def test_servers_die_with_a_harness_that_is_killed(tmp_path: Path, state: str) -> None:
    process, pids = _harness("cluster-3", state, tmp_path)
    with process:
        assert len(pids) == 3
        process.kill()
        process.wait()
        assert _all_gone(pids)


def test_ctrl_c_takes_everything_down(tmp_path: Path) -> None:
    process, pids = _harness("single", "running", tmp_path)
    with process:
        assert process_exists(pids[0])
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert _all_gone(pids)
    assert list(tmp_path.glob("jetproof-*/run-*")) == []


def test_ctrl_c_on_the_terminal_does_not_reach_the_servers(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("latest", owner=owner) as target:
            (pid,) = _pids(target.nodes.values())
            assert os.getpgid(pid) != os.getpgid(0)
            assert os.getsid(pid) != os.getsid(0)

    play(main())


def test_two_runs_at_once(tmp_path: Path) -> None:
    first, first_pids = _harness("single", "running", tmp_path)
    second, second_pids = _harness("single", "running", tmp_path)
    with first, second:
        first.send_signal(signal.SIGINT)
        assert first.wait(timeout=60) == 130
        assert _all_gone(first_pids)
        assert process_exists(second_pids[0])
        assert len(list(tmp_path.glob("jetproof-*/run-*"))) == 1
        second.send_signal(signal.SIGINT)
        assert second.wait(timeout=60) == 130


def _pids(nodes: object) -> list[int]:
    assert hasattr(nodes, "__iter__")
    return [node.pid for node in nodes if isinstance(node, ServerNode) and node.pid is not None]


def _all_gone(pids: list[int]) -> bool:
    """Death is certain and not instant: wait for it, and not for ever."""
    for _ in range(600):
        if not any(process_exists(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def _processes_in(folder: Path) -> list[str]:
    found = []
    for command in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            text = command.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue
        if str(folder) in text:
            found.append(text)
    return found
