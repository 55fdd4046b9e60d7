"""Servers that die, hang, or never come: an error with the evidence, exit 3, and an end."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from jetproof.model.versions import Version
from jetproof.targets.releases import this_platform, wheel_for
from support.waiting import wait_for

from .commands import ASKS, WAITS, Command, case, configuration, jetproof, rows, write

pytestmark = pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")

QUIET = "      - subscribe: {subject: a.$id, to: a}\n      - silence: {on: a, for: 2s}\n"


def running(command: Command, folder: Path) -> list[int]:
    """Waits until the quick case is on disk; the servers that run then."""
    cells = folder / "cells.jsonl"

    def quick_is_done() -> bool:
        assert command.process.poll() is None, command.ended()
        return cells.exists() and "::quick " in cells.read_text()

    wait_for(quick_is_done, "the first case was not finished")
    return command.servers()


def test_a_server_that_dies_is_an_error_with_its_log_and_the_others_go_on(tmp_path: Path) -> None:
    write(
        tmp_path,
        case("quick", ASKS),
        case("victim", WAITS),
        case("elsewhere", QUIET, "{server: low-batch-limits}"),
    )
    command = Command(tmp_path, "run", "faults.yaml", "--json", "--out", "out")
    pids = running(command, tmp_path / "out")
    [victim] = [pid for pid in pids if "max_inflight" not in configuration(pid)]
    os.kill(victim, signal.SIGKILL)
    ended = command.ended()
    assert ended.code == 3
    assert ended.verdicts == {"quick": "pass", "victim": "error", "elsewhere": "pass"}
    assert ended.cells["victim"]["reason"] == "server n1 died unplanned (killed by SIGKILL)"
    assert "died unplanned" in ended.err
    [cell] = [row for row in rows(tmp_path / "out", "cells") if "::victim" in row["case"]]
    assert any("Server is ready" in line for line in cell["server_log"])
    assert "Server is ready" in ended.err


def test_a_server_that_hangs_is_an_error_and_no_failure(tmp_path: Path) -> None:
    waits = WAITS.replace("40s", "1s")
    slow = "      - subscribe: {subject: a.$id, to: a}\n      - silence: {on: a, for: 2s}\n"
    write(tmp_path, case("quick", ASKS), case("victim", slow + waits), case("bystander", WAITS))
    command = Command(tmp_path, "run", "faults.yaml", "--json", "--out", "out")
    [pid] = running(command, tmp_path / "out")
    os.kill(pid, signal.SIGSTOP)
    ended = command.ended()
    assert ended.code == 3
    assert ended.verdicts == {"quick": "pass", "victim": "error", "bystander": "error"}
    assert "answers no PING" in ended.cells["victim"]["reason"]
    assert "Server is ready" in ended.err
    assert not Path(f"/proc/{pid}").exists()


def test_a_case_that_exceeds_its_budget_has_no_verdict_and_the_others_have(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS), case("endless", WAITS, budget="500ms"))
    ended = jetproof(tmp_path, "run", "faults.yaml", "--json")
    assert ended.code == 3
    assert ended.verdicts == {"quick": "pass", "endless": "error"}
    assert "exceeded its budget" in ended.cells["endless"]["reason"]


def test_two_runs_at_once_do_not_meet(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS), case("quiet", QUIET))
    commands = [Command(tmp_path, "run", "faults.yaml", "--json") for _ in range(2)]
    ended = [command.ended() for command in commands]
    assert [one.code for one in ended] == [0, 0]
    folders = sorted((tmp_path / "jetproof-runs").iterdir())
    assert len(folders) == 2
    for folder in folders:
        assert len(rows(folder, "cells")) == 2


def test_two_runs_cannot_write_one_folder(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS), case("quiet", QUIET))
    first = Command(tmp_path, "run", "faults.yaml", "--out", "out")
    running(first, tmp_path / "out")
    second = jetproof(tmp_path, "run", "faults.yaml", "--out", "out")
    assert second.code == 2
    assert "out holds another run" in second.err
    assert first.ended().code == 0


NO_NETWORK = {
    "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
    "PIP_RETRIES": "0",
    "PIP_TIMEOUT": "2",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_EXTRA_INDEX_URL": "",
}


def test_no_network_and_an_empty_cache(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS))
    cache = {"JETPROOF_CACHE": str(tmp_path / "cache")}
    ended = jetproof(
        tmp_path, "run", "faults.yaml", "--server", "latest", "--server", "2.14.6", "--json",
        **NO_NETWORK, **cache,
    )  # fmt: skip
    assert ended.code == 3
    by_server = {cell["server"]: cell for cell in ended.document["cells"] if cell["clauses"]}
    assert by_server["2.14.6"]["verdict"] == "error"
    assert "2.14.6" in by_server["2.14.6"]["reason"]
    assert {cell["verdict"] for cell in by_server.values()} == {"pass", "error"}


def test_a_damaged_download_is_refused(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS))
    links = tmp_path / "links"
    links.mkdir()
    wheel = wheel_for(Version.parse("2.14.6"), this_platform())
    (links / wheel.filename).write_bytes(b"PK\x03\x04 not what was hashed")
    ended = jetproof(
        tmp_path, "run", "faults.yaml", "--server", "2.14.6", "--json",
        **NO_NETWORK, PIP_NO_INDEX="1", PIP_FIND_LINKS=str(links),
        JETPROOF_CACHE=str(tmp_path / "cache"),
    )  # fmt: skip
    assert ended.code == 3
    assert ended.verdicts == {"quick": "error"}
    assert "is damaged or is not the release" in ended.cells["quick"]["reason"]


def test_no_docker_engine(tmp_path: Path) -> None:
    write(tmp_path, case("quick", ASKS))
    ended = jetproof(
        tmp_path, "run", "faults.yaml", "--server", "container:latest", "--json",
        DOCKER_HOST=f"unix://{tmp_path}/nobody.sock",
    )  # fmt: skip
    assert ended.code == 3
    assert ended.verdicts == {"quick": "error"}
    assert "Docker" in ended.cells["quick"]["reason"]
