"""`.ci/run` on machines made of stubs: with and without Docker, with and without a usable Python.

The stubs are all that the script finds on its path, so nothing is installed and no engine is
started.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "run"
REAL_TOOLS = (
    *("bash", "cat", "chmod", "dirname", "env", "grep", "mkdir"),
    *("mktemp", "mv", "rm", "sed", "sleep", "tail", "tee"),
)
WITHOUT_DOCKER = "Docker: not available, container lane not covered"

# Stands for Python and, once "installed", for tox: it writes down what it was asked for.
PYTHON = """#!/usr/bin/env bash
echo "python $*" >>"$CALLS"
case $1 in
  -c) exit "${FAKE_PYTHON_TOO_OLD:-0}" ;;
  -V) echo "Python 3.11.0" ;;
  -m)
    if [[ $2 == venv ]]; then
        mkdir -p "$3/bin"
        cat "$0" >"$3/bin/python"
        echo '#!/usr/bin/env bash' >"$3/bin/tox"
        echo 'echo "tox $*" >>"$CALLS"; echo "=== 3 passed, 1 skipped in 0.10s ==="' >>"$3/bin/tox"
        echo 'echo "  tests: OK"; exit "${FAKE_TOX_STATUS:-0}"' >>"$3/bin/tox"
        chmod +x "$3/bin/python" "$3/bin/tox"
    fi ;;
esac
"""

# Answers from its start until it is told to stop, and says how it was told.
ENGINE = """#!/usr/bin/env bash
trap 'echo "dockerd stopped by TERM" >>"$CALLS"; rm -f "$CALLS.up"; exit 0' TERM
echo "dockerd started" >>"$CALLS"
echo up >"$CALLS.up"
for _ in {1..300}; do sleep 0.1; done
"""


@dataclass(frozen=True, slots=True)
class Machine:
    """A folder that is the whole search path, and the record of what was called."""

    bin: Path
    calls_file: Path
    temporary: Path

    def stub(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(body if body.startswith("#!") else f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)

    def run_ci(self, *arguments: str, **env: str) -> subprocess.CompletedProcess[str]:
        base = {"PATH": str(self.bin), "CALLS": str(self.calls_file), "TMPDIR": str(self.temporary)}
        return subprocess.run(
            [str(SCRIPT), *arguments],
            env=base | env,
            capture_output=True,
            text=True,
            timeout=60,
        )

    def calls(self) -> list[str]:
        return self.calls_file.read_text().splitlines() if self.calls_file.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """A machine with Python and without Docker, apt or root."""
    made = Machine(tmp_path / "bin", tmp_path / "calls", tmp_path / "tmp")
    made.bin.mkdir()
    made.temporary.mkdir()
    for tool in REAL_TOOLS:
        real = shutil.which(tool)
        assert real is not None, f"{tool} is needed to run this test"
        (made.bin / tool).symlink_to(real)
    made.stub("timeout", 'shift; exec "$@"')
    made.stub("setsid", 'exec "$@"')
    made.stub("id", "echo 1000")
    made.stub("python3", PYTHON)
    return made


@pytest.fixture
def root_machine(machine: Machine) -> Machine:
    """The same with root, and with an apt that installs a stub of an engine."""
    machine.stub("id", "echo 0")
    machine.stub("docker", "[[ -e $CALLS.up ]] && echo 29.0 || exit 1")
    machine.stub("dockerd", ENGINE)
    machine.stub("iptables", "exit 0")
    for tool in ("chromium", "java"):
        machine.stub(tool, "exit 0")
    packages = machine.bin.with_name("packages")
    packages.mkdir()
    for name in ("dockerd", "iptables"):
        (machine.bin / name).rename(packages / name)
    machine.stub("apt-get", f'echo "apt-get $*" >>"$CALLS"; mv {packages}/* {machine.bin}')
    return machine


def test_the_script_is_executable_and_well_formed() -> None:
    assert os.access(SCRIPT, os.X_OK)
    assert subprocess.run(["bash", "-n", SCRIPT]).returncode == 0


def test_without_docker_the_tests_run_and_the_gap_is_said(machine: Machine) -> None:
    done = machine.run_ci()
    assert done.returncode == 0, done.stderr
    assert WITHOUT_DOCKER in done.stdout
    assert "tox run" in machine.calls()


@pytest.mark.parametrize("status", [0, 1, 7])
def test_the_exit_code_is_that_of_tox(machine: Machine, status: int) -> None:
    assert machine.run_ci(FAKE_TOX_STATUS=str(status)).returncode == status


def test_arguments_go_to_tox(machine: Machine) -> None:
    machine.run_ci("-e", "lint")
    assert "tox run -e lint" in machine.calls()


def test_the_last_line_is_the_summary_of_pytest(machine: Machine) -> None:
    assert machine.run_ci().stdout.splitlines()[-1] == "=== 3 passed, 1 skipped in 0.10s ==="


def test_nothing_is_left_in_the_temporary_folder(machine: Machine) -> None:
    machine.run_ci()
    assert list(machine.temporary.iterdir()) == []


def test_an_engine_that_answers_is_used_and_left_alone(machine: Machine) -> None:
    machine.stub("docker", "echo 29.0")
    machine.stub("dockerd", 'echo "dockerd started" >>"$CALLS"')
    done = machine.run_ci()
    assert "Docker: 29.0, container lane covered" in done.stdout
    assert "dockerd started" not in machine.calls()


def test_an_engine_is_installed_started_and_stopped_again(root_machine: Machine) -> None:
    done = root_machine.run_ci(FAKE_TOX_STATUS="5")
    assert done.returncode == 5, done.stderr
    assert "Docker: 29.0, container lane covered" in done.stdout
    order = [line for line in root_machine.calls() if not line.startswith("python")]
    assert order[0].startswith("apt-get")
    assert order[0].endswith("docker.io iptables")
    assert order[1:] == ["dockerd started", "tox run", "dockerd stopped by TERM"]


def test_docker_can_be_declined(root_machine: Machine) -> None:
    done = root_machine.run_ci(JETPROOF_CI_DOCKER="off")
    assert WITHOUT_DOCKER in done.stdout
    assert not [line for line in root_machine.calls() if line.startswith("apt-get")]


def test_a_remote_engine_that_is_silent_is_not_replaced(root_machine: Machine) -> None:
    done = root_machine.run_ci(DOCKER_HOST="tcp://127.0.0.1:1")
    assert WITHOUT_DOCKER in done.stdout
    assert not [line for line in root_machine.calls() if line.startswith("apt-get")]


def test_an_engine_that_cannot_be_installed_is_no_error(root_machine: Machine) -> None:
    root_machine.stub("apt-get", "echo 'no such package'; exit 100")
    done = root_machine.run_ci()
    assert done.returncode == 0, done.stderr
    assert WITHOUT_DOCKER in done.stdout


def test_an_engine_that_dies_at_once_is_no_error(root_machine: Machine) -> None:
    root_machine.stub("iptables", "exit 0")
    root_machine.stub("dockerd", "echo 'no permission'; exit 1")
    done = root_machine.run_ci()
    assert done.returncode == 0, done.stderr
    assert "no permission" in done.stdout
    assert WITHOUT_DOCKER in done.stdout


def test_a_python_that_is_too_old_is_said(machine: Machine) -> None:
    done = machine.run_ci(FAKE_PYTHON_TOO_OLD="1")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr
