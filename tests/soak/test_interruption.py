"""A soak that is interrupted or killed: complete rounds are reported, nothing is left running."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from support.case_files import ASKS, SLOW, CaseFile
from support.commands import Fake, Start
from support.documents import Validate
from support.processes import alive, children
from support.waiting import PATIENCE, wait_for

from .conftest import is_worker

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")


def in_the_slow_case(child: subprocess.Popen[str], folder: Path) -> list[int]:
    """Waits until the quick case of the first round is on disk; gives all that was started."""
    cells = folder / "round-1" / "cells.jsonl"

    def ready() -> bool:
        assert child.poll() is None, child.communicate()
        return cells.exists() and "asks" in cells.read_text()

    wait_for(ready, "the first case was not finished")
    started = children(child.pid)
    assert len([pid for pid in started if is_worker(pid)]) == 3
    assert len(started) > 3  # and a server
    return started


def test_interrupted_once_it_reports_the_complete_rounds(
    process: Start, fake: Fake, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    arguments = ("--json", "--rounds", 10_000, "--load", 1, "--out", "out")
    child = process("soak", case_file(ASKS), *arguments, "--server", fake("flaky"))
    wait_for(lambda: (tmp_path / "out" / "round-3").exists(), "there was no third round")
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130, err
    document = json.loads(out)
    conforms("cli/soak", document)
    assert (document["interrupted"], document["exit_code"]) == (True, 130)
    complete = len(document["rounds"])
    assert complete >= 2
    assert err.splitlines()[-1] == (
        f"0 flips in {complete} rounds of 1 cell (load: 1 core) · "
        f"interrupted in round {complete + 1} of 10000"
    )
    assert json.loads((tmp_path / "out" / "soak.json").read_text()) == document


@pytest.mark.parametrize("times", [1, 2])
def test_interrupted_in_a_round_it_leaves_nothing_running(
    process: Start, case_file: CaseFile, tmp_path: Path, times: int
) -> None:
    child = process("soak", case_file(ASKS, SLOW), "--rounds", 2, "--load", 2, "--out", "out")
    started = in_the_slow_case(child, tmp_path / "out")
    child.send_signal(signal.SIGINT)
    said = ""
    if times == 2:
        assert child.stdout is not None
        while "stopping" not in said:
            said = child.stdout.readline()
        child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=PATIENCE)
    assert (child.returncode, err) == (130, "")
    assert "interrupted in round 1 of 2" in out.splitlines()[-1]
    wait_for(lambda: not any(map(alive, started)), "something is left")


def test_killed_it_takes_its_workers_and_servers_along(
    process: Start, case_file: CaseFile, tmp_path: Path
) -> None:
    child = process("soak", case_file(ASKS, SLOW), "--rounds", 2, "--load", 2, "--out", "out")
    started = in_the_slow_case(child, tmp_path / "out")
    child.kill()
    child.wait()
    wait_for(lambda: not any(map(alive, started)), "a worker or server outlived the soak")
