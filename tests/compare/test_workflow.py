"""The workflow of docs/compare.md: its shell steps are run in a checkout, as a runner would.

Go is a script here that makes a server of the checkout: the newest release, or one that does not start.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from jetproof.targets.releases import installed_binary

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
FENCE = re.compile(r"^```yaml workflow\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
GO = """\
#!/bin/sh
case "$1" in
env) printf 'go1.26.8\\nlinux\\namd64\\nv1\\n\\n\\n' ;;
build)
  if [ -f broken.go ]; then echo "./broken.go:1:1: syntax error" >&2; exit 1; fi
  out="$5"
  if [ -f panics.go ]; then
    printf '#!/bin/sh\\n[ "$1" = --version ] && echo "nats-server: v2.15.1" && exit 0\\n' > "$out"
    printf 'echo "panic: oh no" >&2; exit 2\\n' >> "$out"
  else
    printf '#!/bin/sh\\nexec {server} "$@"\\n' > "$out"
  fi
  chmod +x "$out" ;;
esac
"""


def workflow() -> dict[str, Any]:
    found = FENCE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    read = yaml.safe_load(found["text"])
    assert isinstance(read, dict)
    return read


class Runner:
    """A checkout whose last commit is the pull request, and the environment of a runner."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.checkout = folder / "checkout"
        self.tools = folder / "tools"
        self.summary = folder / "summary"
        self.checkout.mkdir()
        self.tools.mkdir()
        self.tool("go", GO.format(server=installed_binary()))
        self.tool("gh", f'#!/bin/sh\necho "$@" > {folder}/gh\n')
        self.tool("jetproof", f'#!/bin/sh\nexec {sys.executable} -m jetproof "$@"\n')
        self.git("init", "-q", "-b", "main")
        self.commit("go.mod", "module github.com/nats-io/nats-server/v2\n\ngo 1.25\n")
        self.base = self.git("rev-parse", "HEAD").strip()

    def tool(self, name: str, text: str) -> None:
        path = self.tools / name
        path.write_text(text)
        path.chmod(0o755)

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=test", "-c", "user.email=test@example.invalid")
        command = ["git", *who, *arguments]
        return subprocess.run(
            command, cwd=self.checkout, check=True, capture_output=True, text=True
        ).stdout

    def commit(self, name: str, text: str) -> None:
        (self.checkout / name).write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", f"Add {name}")

    def step(self, name: str) -> subprocess.CompletedProcess[str]:
        [step] = [
            step for step in workflow()["jobs"]["compare"]["steps"] if step.get("name") == name
        ]
        env = {
            **os.environ,
            "PATH": f"{self.tools}{os.pathsep}{os.environ['PATH']}",
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "JETPROOF_CACHE": str(self.folder / "cache"),
            "NO_COLOR": "1",
        }
        for key, value in step.get("env", {}).items():
            value = value.replace("${{ github.event.pull_request.base.sha }}", self.base)
            env[key] = value.replace("${{ github.event.pull_request.number }}", "7")
        # The selection of the tests is one suite: the time of all of them is not what is tested.
        script = step["run"].replace("path:. --quick", "path:. adr-50/atomic/append --quick")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
            cwd=self.checkout,
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    return Runner(tmp_path)


def test_a_pull_request_that_changes_nothing_passes(runner: Runner) -> None:
    runner.commit("README.md", "new words\n")
    assert runner.step("Check out base").returncode == 0
    done = runner.step("Compare")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "### ✅ Jetproof: " in runner.summary.read_text()
    assert runner.base[:12] in done.stdout
    assert runner.step("Comment").returncode == 0
    said = (runner.folder / "gh").read_text()
    assert said.startswith("pr comment 7 --body-file ../comparison/compare.md")


def test_a_pull_request_whose_server_does_not_start_fails(runner: Runner) -> None:
    runner.commit("panics.go", "package main\n")
    runner.step("Check out base")
    done = runner.step("Compare")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "panic: oh no" in runner.summary.read_text()


def test_a_pull_request_that_does_not_build_is_no_verdict_on_jetstream(runner: Runner) -> None:
    runner.commit("broken.go", "package\n")
    runner.step("Check out base")
    done = runner.step("Compare")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "head: " in done.stderr
    assert "syntax error" in done.stderr
    assert not runner.summary.exists()
    assert runner.step("Comment").returncode == 0


def test_no_expression_stands_in_a_script() -> None:
    """A title or a branch name in a script would be a part of the script."""
    steps = workflow()["jobs"]["compare"]["steps"]
    assert [step for step in steps if "${{" in step.get("run", "")] == []
