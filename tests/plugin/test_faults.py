"""What can go wrong around the cases, and that nothing is left behind."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jetproof.model.verdict import Verdict
from jetproof.results import read_run

from .project import HANG_SECONDS, Project

LONG = """\
suite: demo/long
about: Takes until somebody interrupts
cases:
  - case: waits
    clauses: [DEMO-001]
    budget: 100s
    steps:
      - subscribe: {subject: $inbox.never, to: never}
      - silence: {on: never, for: 90s}
  - case: waits-alone
    clauses: [DEMO-001]
    given: {isolation: server}
    budget: 100s
    steps:
      - subscribe: {subject: $inbox.never, to: never}
      - action: {pause: n1}
      - silence: {on: never, for: 90s}
"""
HOSTILE = """\
suite: demo/hostile
about: A server that sends what nobody should print
given:
  stream: {subjects: [$stream.>]}
cases:
  - case: escapes
    clauses: [DEMO-001]
    steps:
      - request: {subject: $stream.a, payload: "\\e[2J\\e]0;owned\\a\\0 \\u202e \\uFFFE"}
        reply: {json: {seq: 1}}
      - stored: {seq: 1, payload: harmless}
"""
ACK = """\
suite: demo/ack
about: A PubAck is seen
given:
  stream: {subjects: [$stream.>]}
cases:
  - case: publishes
    clauses: [DEMO-001]
    steps: [{request: {subject: $stream.a}, reply: {json: {seq: 1}}}]
"""

linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are watched through /proc")


# -- before anything is played ------------------------------------------------------------------


@pytest.mark.parametrize(
    "option", [("--jetproof-server", "2.15.1"), ("--jetproof-clause", "X"), ("--jetproof-out", "x")]
)
def test_options_without_the_flag_are_refused(project: Project, option: tuple[str, str]) -> None:
    result = project.pytest(*option, "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert f"{option[0]} does nothing without --jetproof" in result.err


def test_a_release_that_does_not_exist_is_refused(project: Project) -> None:
    result = project.jetproof("--jetproof-server", "9.9.9", "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "no such release: 9.9.9" in result.err


def test_a_server_that_does_not_answer_is_told_without_its_password(project: Project) -> None:
    result = project.jetproof("--jetproof-server", "nats://me:secret@127.0.0.1:1", "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "nats://me:***@127.0.0.1:1" in result.err
    assert "secret" not in result.err


def test_results_that_cannot_be_written_are_told_first(project: Project) -> None:
    project.write("taken", "a file, not a folder\n")
    result = project.jetproof("--jetproof-out", "taken", "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "cannot write the results to taken" in result.err
    assert "with --jetproof-out" in result.err
    assert list((project.root / "tmp").iterdir()) == []


# -- playing ------------------------------------------------------------------------------------


def test_a_server_that_does_not_start_is_an_error_for_each_case(project: Project) -> None:
    script = 'if [ "$1" = --version ]; then echo "nats-server: v2.15.1"; else echo no luck; fi\n'
    server = project.write("not-a-server", f"#!/bin/sh\n{script}")
    server.chmod(0o755)
    target = ("--jetproof-server", "path:./not-a-server")
    result = project.jetproof("-v", *target, "suites/demo/ledger.yaml")
    assert result.played == {"known": "ERROR", "stale": "ERROR"}
    assert "ended while it started" in result.out
    assert "no luck" in result.out
    assert result.code == pytest.ExitCode.TESTS_FAILED


def test_no_room_for_servers_is_an_error_for_each_case(project: Project) -> None:
    project.write(f"tmp/jetproof-{os.getuid()}", "a file, not a folder\n")
    result = project.jetproof("-v", "suites/demo/ledger.yaml")
    assert result.played == {"known": "ERROR", "stale": "ERROR"}
    assert "cannot make a folder for this run in" in result.out
    assert "point TMPDIR at a folder that can be written" in result.out


def test_a_run_that_ends_too_early_is_an_error_for_the_cases_left(project: Project) -> None:
    project.also_at_start(
        "from jetproof.events import RunFinished\n"
        "from jetproof.campaigns import run as plain\n"
        "async def run(*_): return RunFinished('none')\n"
        "plain.run = run\n"
    )
    result = project.jetproof("-v", "suites/demo/ledger.yaml")
    assert result.played == {"known": "ERROR", "stale": "ERROR"}
    assert "the run ended without a verdict for it" in result.out


def test_a_bug_is_told_as_one(project: Project) -> None:
    project.also_at_start(
        "from jetproof.campaigns import run as plain\n"
        "async def run(*_): raise ZeroDivisionError('a bug')\n"
        "plain.run = run\n"
    )
    result = project.jetproof("suites/demo/ledger.yaml")
    assert "ZeroDivisionError: a bug" in result.out
    assert result.code == pytest.ExitCode.INTERNAL_ERROR


def test_results_that_can_no_longer_be_written_are_told(project: Project) -> None:
    project.also_at_start(
        "from jetproof.sinks.files import RunFolder\n"
        "def full(*_): raise OSError(28, 'No space left on device')\n"
        "RunFolder._case = full\n"
    )
    result = project.jetproof("-v", "-k", "passes", "--jetproof-out", "results", "suites")
    assert result.played == {"passes": "PASSED"}
    assert "cannot write the results to results: No space left on device" in result.out
    assert result.code == pytest.ExitCode.INTERNAL_ERROR


def test_other_ways_to_run_side_by_side_are_refused(project: Project) -> None:
    project.also_at_start(
        "def pytest_addoption(parser): parser.addoption('--numprocesses', type=int)\n"
    )
    result = project.jetproof("--numprocesses", "2", "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "plays all cases at the same time already" in result.err


def test_a_broken_schema_fails_the_session(project: Project) -> None:
    project.write("mine/ack.yaml", ACK)
    path = project.root / "fixtures/schemas/wire/pub-ack.json"
    schema = json.loads(path.read_text())
    schema["required"].append("unicorn")
    path.write_text(json.dumps(schema))
    result = project.jetproof("-v", "mine")
    assert result.played == {"publishes": "PASSED"}
    assert "schemas::pub-ack" in result.out.partition("= jetproof =")[2]
    assert "unicorn" in result.out
    assert "the session fails: what a server sends does not fit a schema" in result.out
    assert result.code == pytest.ExitCode.TESTS_FAILED


def test_what_a_server_sends_cannot_act_on_a_terminal(project: Project) -> None:
    project.write("mine/hostile.yaml", HOSTILE)
    result = project.jetproof("-v", "--color=yes", "-vv", "--junitxml=junit.xml", "mine")
    xml = (project.root / "junit.xml").read_text()
    assert r"\x1b[2J\x1b]0;owned\x07\x00" in result.out
    assert "\x1b[2J" not in result.out
    assert "\x1b]0" not in result.out
    for unwanted in "\x07\x00\u202e\ufffe":
        assert unwanted not in result.out + xml
    assert "\x1b" not in xml


def test_the_run_folder_holds_the_same_verdicts(project: Project, newest: str) -> None:
    result = project.jetproof("-v", "--jetproof-out", "results", "suites")
    run = read_run(project.root / "results")
    cells = {cell.case.partition("::")[2]: cell.verdict for cell in run.cells}
    assert set(result.played) <= set(cells)
    assert cells["known"] is Verdict.KNOWN
    assert cells["gets-no-verdict"] is Verdict.ERROR
    assert run.document["partial"] == ""
    assert run.document["interrupted"] is False
    assert run.document["request"] == {
        "patterns": [],
        "servers": [newest],
        "clauses": [],
        "specs": [],
        "shard": None,
        "per_case": False,
        "laws": None,
        "edition": None,
    }
    assert "results: results" in result.out


def test_a_run_that_was_cut_short_can_be_finished(project: Project) -> None:
    project.write("suites/demo/long.yaml", LONG)
    result = project.jetproof("-x", "--jetproof-out", "results", "suites")
    assert "finish it: jetproof run --resume results" in result.out
    assert read_run(project.root / "results").document["interrupted"] is True


def test_a_selection_is_a_partial_run(project: Project) -> None:
    project.jetproof("-k", "known", "--jetproof-out", "results", "suites")
    document = read_run(project.root / "results").document
    assert document["partial"] == "1 of 8 cells were selected"


# -- nothing is left ----------------------------------------------------------------------------


@linux
def test_ctrl_c_takes_the_servers_down(project: Project) -> None:
    with playing(project) as (pytest_process, servers):
        pytest_process.send_signal(signal.SIGINT)
        out, _ = pytest_process.communicate(timeout=HANG_SECONDS)
        assert pytest_process.returncode == pytest.ExitCode.INTERRUPTED
        assert "KeyboardInterrupt" in out
        assert not any(map(process_exists, servers))
    assert leftovers(project) == []


@linux
def test_ctrl_c_twice_takes_them_down_as_well(project: Project) -> None:
    with playing(project) as (pytest_process, servers):
        pytest_process.send_signal(signal.SIGINT)
        pytest_process.send_signal(signal.SIGINT)
        pytest_process.communicate(timeout=HANG_SECONDS)
        assert pytest_process.returncode == pytest.ExitCode.INTERRUPTED
        assert until(lambda: not any(map(process_exists, servers)))


@linux
def test_nothing_survives_a_pytest_that_is_killed(project: Project) -> None:
    with playing(project) as (pytest_process, servers):
        pytest_process.kill()
        pytest_process.communicate(timeout=HANG_SECONDS)
        assert until(lambda: not any(map(process_exists, servers)))
    assert leftovers(project) != []
    project.jetproof("suites/demo/ledger.yaml")
    assert leftovers(project) == []


def leftovers(project: Project) -> list[Path]:
    """Folders of runs; the next run sweeps those of runs that were killed."""
    return list((project.root / "tmp").glob("jetproof-*/run-*"))


@contextlib.contextmanager
def playing(project: Project) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A pytest in the middle of long cases, and its two servers, one of them paused."""
    project.write("mine/long.yaml", LONG)
    started = subprocess.Popen(
        project.command("--jetproof", "mine"),
        cwd=project.root,
        env=project.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        # A shell's background job ignores Ctrl-C, and so would everything below it.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    servers: list[int] = []
    try:
        assert until(lambda: started.poll() is not None or paused(servers_of(started.pid)))
        assert started.poll() is None, started.communicate()[0]
        servers = servers_of(started.pid)
        yield started, servers
    finally:
        if started.poll() is None:
            started.kill()
            started.communicate()
        for pid in filter(process_exists, servers):
            os.kill(pid, signal.SIGKILL)


def servers_of(parent: int) -> list[int]:
    """The servers that a process has started."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            name, _, rest = stat.read_text().rpartition(")")
            if int(rest.split()[1]) == parent and "nats-server" in name:
                found.append(int(stat.parent.name))
    return found


def paused(servers: list[int]) -> bool:
    return len(servers) == 2 and "T" in map(state, servers)


def state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"


def process_exists(pid: int) -> bool:
    return state(pid) not in ("gone", "Z")


def until(condition: Callable[[], bool]) -> bool:
    """Whether it comes true before this would count as a hang."""
    end = time.monotonic() + HANG_SECONDS
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
