"""`.ci/run`, the browser and Java: used where they are, installed where they can be, missed aloud.

The stubs are all that the script finds on its path, so nothing is installed.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / ".ci" / "run"
REAL_TOOLS = ("bash", "cat", "chmod", "dirname", "env", "grep", "mkdir", "mktemp", "mv", "rm",
              "sed", "sleep", "tail", "tee")  # fmt: skip
MISSED = "Chromium: not available, report page not covered"
MISSED_JAVA = "Java: not available, reports not covered"
PYTHON = """
[[ $1 == -m && $2 == venv ]] || exit 0
mkdir -p "$3/bin"
cat "$0" >"$3/bin/python"
echo '#!/usr/bin/env bash' >"$3/bin/tox"
chmod +x "$3/bin/python" "$3/bin/tox"
"""


class Machine:
    """A folder that is the whole search path; without Docker, apt or root."""

    def __init__(self, folder: Path) -> None:
        self.bin, self.calls = folder / "bin", folder / "calls"
        self.bin.mkdir()
        for tool in REAL_TOOLS:
            real = shutil.which(tool)
            assert real is not None, f"{tool} is needed to run this test"
            (self.bin / tool).symlink_to(real)
        self.stub("id", "echo 1000")
        self.stub("python3", PYTHON)
        self.stub("timeout", 'shift; exec "$@"')

    def stub(self, name: str, body: str) -> None:
        path = self.bin / name
        path.write_text(f"#!/usr/bin/env bash\n{body}\n")
        path.chmod(0o755)

    def with_apt(self, does: str) -> None:
        self.stub("id", "echo 0")
        self.stub("apt-get", f'echo "$*" >>"{self.calls}"; {does}')

    def run(self, **env: str) -> str:
        off = {f"JETPROOF_CI_{name}": "off" for name in ("DOCKER", "CHROMIUM", "JAVA")}
        given = {"PATH": str(self.bin), "TMPDIR": str(self.bin.parent)} | off
        done = subprocess.run(
            [str(SCRIPT)], env=given | env, capture_output=True, text=True, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    @property
    def installed(self) -> list[str]:
        lines = self.calls.read_text().splitlines() if self.calls.exists() else []
        return [line.rpartition(" ")[2] for line in lines if " install " in line]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_browser_that_is_there_is_used(machine: Machine, name: str) -> None:
    machine.stub(name, "exit 0")
    machine.with_apt("exit 0")
    told = machine.run(JETPROOF_CI_CHROMIUM="on")
    assert f"Chromium: {machine.bin / name}, report page covered" in told
    assert machine.installed == []


def test_a_browser_can_be_named(machine: Machine, tmp_path: Path) -> None:
    machine.stub("../named", "exit 0")
    named = str(machine.bin / ".." / "named")
    assert f"Chromium: {named}, report page covered" in machine.run(JETPROOF_CHROMIUM=named)


def test_a_browser_is_installed_where_that_is_possible(machine: Machine) -> None:
    machine.with_apt(f'echo >"{machine.bin}/chromium"; chmod +x "{machine.bin}/chromium"')
    told = machine.run(JETPROOF_CI_CHROMIUM="on")
    assert f"Chromium: {machine.bin / 'chromium'}, report page covered" in told
    assert machine.installed == ["chromium"]


def test_a_browser_that_cannot_be_installed_is_no_error(machine: Machine) -> None:
    machine.with_apt("echo 'no such package'; exit 100")
    told = machine.run(JETPROOF_CI_CHROMIUM="on")
    assert "no such package" in told
    assert MISSED in told


def test_without_root_nothing_is_installed_and_the_gaps_are_said(machine: Machine) -> None:
    told = machine.run(JETPROOF_CI_CHROMIUM="on", JETPROOF_CI_JAVA="on")
    assert MISSED in told
    assert MISSED_JAVA in told


def test_both_can_be_declined(machine: Machine) -> None:
    machine.with_apt("exit 0")
    told = machine.run(JETPROOF_CI_CHROMIUM="off", JETPROOF_CI_JAVA="off")
    assert MISSED in told
    assert MISSED_JAVA in told
    assert machine.installed == []


def test_a_java_that_is_there_is_used(machine: Machine, tmp_path: Path) -> None:
    machine.stub("java", "exit 0")
    machine.with_apt("exit 0")
    told = machine.run(JETPROOF_CI_JAVA="on")
    assert f"Java: {machine.bin / 'java'}, reports covered" in told
    home = tmp_path / "home"
    (home / "bin").mkdir(parents=True)
    machine.stub("../home/bin/java", "exit 0")
    told = machine.run(JETPROOF_CI_JAVA="on", JAVA_HOME=str(home))
    assert f"Java: {home / 'bin' / 'java'}, reports covered" in told
    assert machine.installed == []


def test_java_is_installed_where_that_is_possible(machine: Machine) -> None:
    machine.with_apt(f'echo >"{machine.bin}/java"; chmod +x "{machine.bin}/java"')
    told = machine.run(JETPROOF_CI_JAVA="on")
    assert f"Java: {machine.bin / 'java'}, reports covered" in told
    assert machine.installed == ["default-jre-headless"]


def test_a_java_home_that_holds_none_is_not_replaced(machine: Machine) -> None:
    machine.with_apt("exit 0")
    told = machine.run(JETPROOF_CI_JAVA="on", JAVA_HOME=str(machine.bin / "nowhere"))
    assert MISSED_JAVA in told
    assert machine.installed == []
