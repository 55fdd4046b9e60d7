"""The load does what it says, and nothing of it is left however its block ends."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jetproof.campaigns import load_worker
from jetproof.campaigns.load import Load
from jetproof.errors import JetproofError
from support.processes import alive
from support.waiting import PATIENCE, bounded, wait_for

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def test_it_runs_and_is_gone_at_the_end(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Load(2, tmp_path) as load:
            assert len(load.pids) == 3
            assert all(map(alive, load.pids))
        assert not any(map(alive, load.pids))
        report = load.report
        assert report.cores == 2
        assert report.cpu_seconds > 0
        assert report.mib_written > 0
        assert report.failures == ()

    bounded(scenario())
    assert list(tmp_path.iterdir()) == []


def test_it_is_gone_after_an_exception(tmp_path: Path) -> None:
    pids: list[int] = []

    async def scenario() -> None:
        async with Load(1, tmp_path) as load:
            pids.extend(load.pids)
            raise RuntimeError("stumbled")

    with pytest.raises(RuntimeError, match="stumbled"):
        bounded(scenario())
    assert len(pids) == 2
    assert not any(map(alive, pids))


def test_it_is_gone_after_a_cancellation(tmp_path: Path) -> None:
    async def scenario() -> None:
        load = Load(1, tmp_path)

        async def block() -> None:
            async with load:
                await asyncio.Event().wait()

        task = asyncio.create_task(block())
        while len(load.pids) < 2:
            await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not any(map(alive, load.pids))

    bounded(scenario())


def test_a_worker_that_dies_early_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Load(2, tmp_path) as load:
            os.kill(load.pids[1], signal.SIGKILL)
            while alive(load.pids[1]):
                await asyncio.sleep(0.01)
        assert load.report.failures == ("CPU worker 2 ended early (killed by SIGKILL)",)

    bounded(scenario())


def test_a_disk_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Load(1, tmp_path / "nowhere") as load:
            while alive(load.pids[1]):
                await asyncio.sleep(0.01)
        assert load.report.failures == ("disk worker ended early (No such file or directory)",)
        assert load.report.mib_written == 0

    bounded(scenario())


def test_workers_end_by_themselves_when_their_time_is_up(tmp_path: Path) -> None:
    async def scenario() -> None:
        async with Load(1, tmp_path, seconds=1) as load:
            while any(map(alive, load.pids)):
                await asyncio.sleep(0.02)
        assert len(load.report.failures) == 2
        assert "killed by SIGALRM" in load.report.failures[0]

    bounded(scenario())


@pytest.mark.parametrize("cores", [0, -1, 10_000])
def test_a_load_that_makes_no_sense_is_refused(tmp_path: Path, cores: int) -> None:
    with pytest.raises(JetproofError, match="is not possible here"):
        Load(cores, tmp_path)


def worker(*arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(load_worker.__file__), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


@pytest.mark.parametrize("kind", ["cpu", "disk"])
def test_a_worker_ends_with_its_standard_input(tmp_path: Path, kind: str) -> None:
    """That is what ends it where the kernel does not tie it to its parent."""
    with worker(kind, 300, tmp_path, 8) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdout.readline()
        process.stdin.close()
        assert process.wait(PATIENCE) == 0


def test_the_file_of_a_load_stays_small_and_has_no_name(tmp_path: Path) -> None:
    with worker("disk", 300, tmp_path, 8) as process:
        assert process.stdout is not None
        written = 0
        while written <= 24:
            written = int(process.stdout.readline().partition('"mib": ')[2].partition(",")[0])
        files = [
            Path(f"/proc/{process.pid}/fd/{name}") for name in os.listdir(f"/proc/{process.pid}/fd")
        ]
        [size] = [file.stat().st_size for file in files if str(tmp_path) in os.readlink(file)]
        assert size <= 8 * 1024 * 1024
        assert list(tmp_path.iterdir()) == []
        process.kill()
    wait_for(lambda: not alive(process.pid), "the worker outlived SIGKILL")
