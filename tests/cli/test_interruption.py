"""Ctrl-C, SIGTERM and kill -9: what is left is whole, and nothing is left running."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jetproof.campaigns.interrupts import Interrupts
from jetproof.engine.run import Stop
from support.case_files import PASSES, SLOW
from support.commands import Command
from support.documents import Validate
from support.processes import alive, children
from support.waiting import PATIENCE, wait_for

CaseFile = Callable[..., Path]
Start = Callable[..., "subprocess.Popen[str]"]

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def started(child: subprocess.Popen[str], folder: Path) -> list[int]:
    """Waits until the quick case is on disk and the slow one is being played."""
    cells = folder / "cells.jsonl"

    def ready() -> bool:
        assert child.poll() is None, child.communicate()
        return cells.exists() and "passes" in cells.read_text()

    wait_for(ready, "the first case was not finished")
    servers = children(child.pid)
    assert servers
    return servers


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)], ids=["ctrl-c", "term"]
)
def test_interrupted_once_it_writes_what_there_is_and_leaves_nothing_running(
    process: Start,
    case_file: CaseFile,
    conforms: Validate,
    tmp_path: Path,
    number: signal.Signals,
    code: int,
) -> None:
    arguments = ("--json", "--out", "out", "--junit", "junit.xml", "--ctrf", "ctrf.json")
    child = process("run", case_file(PASSES, SLOW), *arguments)
    servers = started(child, tmp_path / "out")
    child.send_signal(number)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == code, err
    document = json.loads(out)
    conforms("cli/run", document)
    assert document["interrupted"] is True
    assert document["exit_code"] == code
    assert "interrupted after" in err
    assert "finish it: jetproof run --resume out" in err
    assert not any(map(alive, servers))
    run = json.loads((tmp_path / "out" / "run.json").read_text())
    conforms("results/run", run)
    assert run["interrupted"] is True
    assert "passes" in (tmp_path / "junit.xml").read_text()
    summary = json.loads((tmp_path / "ctrf.json").read_text())["results"]["summary"]
    assert (summary["extra"]["interrupted"], summary["extra"]["exit_code"]) == (True, code)


def test_interrupted_twice_it_still_leaves_whole_files_and_nothing_running(
    process: Start, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    child = process("run", case_file(PASSES, SLOW), "--out", "out")
    servers = started(child, tmp_path / "out")
    child.send_signal(signal.SIGINT)
    assert child.stdout is not None
    wait_for(lambda: "stopping" in (child.stdout.readline() if child.stdout else ""), "no word")
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert err == ""
    assert not any(map(alive, servers))
    conforms("results/run", json.loads((tmp_path / "out" / "run.json").read_text()))


@pytest.fixture
def _own_signals() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures("_own_signals")
def test_the_second_ctrl_c_does_not_wait_for_servers_that_do_not_go() -> None:
    """The first lets a server be taken down in peace; here that never ends."""
    happened: list[str] = []

    async def server() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            happened.append("asked to go")
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.Event().wait()

    async def run() -> Interrupts:
        interrupts = Interrupts(Stop(), notify=happened.append)
        task = asyncio.create_task(server())
        interrupts.stop.watch(task)
        async with interrupts.heard():
            os.kill(os.getpid(), signal.SIGINT)
            with pytest.raises(asyncio.CancelledError):
                async with asyncio.timeout(PATIENCE):
                    await asyncio.gather(task)
        return interrupts

    interrupts = asyncio.run(run())
    assert interrupts.exit_code == 130
    assert interrupts.stop.reason == "interrupted"
    assert [line.partition(":")[0] for line in happened] == ["stopping", "asked to go"]


def test_killed_it_takes_its_servers_along_and_the_run_can_be_resumed(
    process: Start, jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    path = case_file(PASSES, SLOW)
    child = process("run", path, "--out", "out")
    servers = started(child, tmp_path / "out")
    child.kill()
    child.wait()
    wait_for(lambda: not any(map(alive, servers)), "a server outlived the harness")
    # What is left to do is made quick: the file may change, the suites may not.
    path.write_text(path.read_text().replace("for: 60s", "for: 50ms"))
    done = jetproof("run", "--json", "--resume", "out")
    assert done.code == 0, done.err
    rows = done.document["cells"]
    played = {row["case"]: row["attempt"] for row in rows}  # type: ignore[attr-defined]
    assert played == {"adr-50/trial::passes": 1, "adr-50/trial::slow": 1}


def test_a_reader_that_goes_away_does_not_end_the_run(
    process: Start, case_file: CaseFile, tmp_path: Path
) -> None:
    child = process("run", case_file(PASSES), "--out", "out")
    assert child.stdout is not None
    child.stdout.close()
    child.stdout = None
    _, err = child.communicate(timeout=PATIENCE)
    assert err == ""
    assert child.returncode == 0
    assert json.loads((tmp_path / "out" / "run.json").read_text())["verdicts"]["pass"] >= 1
