"""What docs/ci.md tells the maintainers of client libraries: every example is run as it stands.

A project with an adapter of its own is made in an empty folder; its adapter is the reference client. Jetproof
is installed from its wheel, without a network: pip is told where the wheel is by its environment, and
what the wheel needs is borrowed from the test environment.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from jetproof.targets.docker_engine import engine_problem

CHECKOUT = Path(__file__).resolve().parents[2]
PAGE = (CHECKOUT / "docs" / "ci.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ACTION: dict[str, Any] = yaml.safe_load((CHECKOUT / "action.yml").read_text(encoding="utf-8"))
FEW = "adr-50/client/atomic::only-the-last-message-commits"
LEDGER = f"""\
client: ./my-adapter
entries:
  - id: says-yes
    kind: bug
    severity: protocol
    text: A commit says 1 or eob.
    does: It says yes.
    cases:
      {FEW}:
        - {{step: committed, path: answer, actual: error APIError 10200}}
"""


def example(info: str) -> str:
    (text,) = [fence["text"] for fence in FENCE.finditer(PAGE) if fence["info"] == info]
    return text


@dataclass(frozen=True, slots=True)
class Project:
    """A maintainer's checkout, and the environment in which its CI runs."""

    folder: Path
    env: dict[str, str]

    def run(
        self, *command: str | Path, env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(part) for part in command],
            cwd=self.folder,
            env=self.env | dict(env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=400,
        )

    def adapter(self, *knobs: str) -> None:
        options = "".join(f" --knob {knob}" for knob in knobs)
        path = self.folder / "my-adapter"
        # By its own path: a virtual environment that a tool made need not come first on the path.
        path.write_text(
            f"#!/bin/sh\nexec {sys.executable} -m jetproof.targets.reference_client{options}\n"
        )
        path.chmod(0o755)


@pytest.fixture
def project(wheel: Path, wheel_install: Any, tmp_path: Path) -> Project:
    borrowed = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    own = str(wheel_install.site_packages)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    env |= {
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
        # What is borrowed does not keep pip from installing Jetproof where the example wants it.
        "PIP_IGNORE_INSTALLED": "1",
        "PYTHONPATH": os.pathsep.join([own, *sorted(borrowed)]),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_FIND_LINKS": str(wheel.parent),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "NO_COLOR": "1",
    }
    made = Project(tmp_path / "project", env)
    made.folder.mkdir()
    made.adapter()
    return made


def verdicts(junit: Path) -> tuple[int, int]:
    """How many cases JUnit tells of, and how many of them failed."""
    root = ElementTree.parse(junit).getroot()
    return len(list(root.iter("testcase"))), len(list(root.iter("failure")))


@pytest.mark.parametrize("knobs", [(), ("commit-value-unknown",)], ids=["right", "wrong"])
def test_tox(project: Project, knobs: tuple[str, ...]) -> None:
    project.adapter(*knobs)
    (project.folder / "tox.ini").write_text(example("ini tox"))
    borrowed = f"testenv:jetstream.set_env=PYTHONPATH={project.env['PYTHONPATH']}"
    done = project.run(
        *(sys.executable, "-m", "tox", "run", "-x", borrowed, "-e", "jetstream", "--", FEW)
    )
    assert done.returncode == (1 if knobs else 0), done.stdout
    cases, failures = verdicts(project.folder / "jetstream.xml")
    assert cases >= 1
    assert failures == len(knobs)


@pytest.mark.parametrize("knobs", [(), ("commit-value-unknown",)], ids=["right", "wrong"])
def test_pytest(project: Project, knobs: tuple[str, ...]) -> None:
    """One case of the suites that the example plays: the rest is `jetproof gate`'s to test."""
    project.adapter(*knobs)
    text = example("python pytest")
    suites = re.search(r"\[\"adr-37/client\".*?\]", text)
    assert suites is not None
    path = project.folder / "test_jetstream.py"
    path.write_text(text.replace(suites[0], f"[{FEW!r}]"))
    done = project.run(sys.executable, "-m", "pytest", "-p", "no:cacheprovider", path)
    assert done.returncode == (1 if knobs else 0), done.stdout
    assert ("SUBFAILED" in done.stdout) == bool(knobs)
    assert FEW in done.stdout or not knobs


@pytest.fixture
def runner(project: Project, tmp_path: Path) -> Project:
    """What a runner of GitHub's gives to the steps of an action."""
    temporary = tmp_path / "runner"
    temporary.mkdir()
    given = {
        "RUNNER_TEMP": str(temporary),
        "GITHUB_OUTPUT": str(temporary / "output"),
        "GITHUB_STEP_SUMMARY": str(temporary / "summary"),
    }
    return Project(project.folder, project.env | given)


def play_action(runner: Project, **inputs: str) -> Iterator[subprocess.CompletedProcess[str]]:
    """Runs the shell steps one after the other, as a runner would, up to the first that fails."""
    given = {name: str(told.get("default", "")) for name, told in ACTION["inputs"].items()}
    given |= inputs
    for step in ACTION["runs"]["steps"]:
        if "run" not in step:
            continue
        env = {name: expanded(value, given) for name, value in step["env"].items()}
        script = runner.folder.parent / "step.sh"
        script.write_text(step["run"])
        bash = ("bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script)
        done = runner.run(*bash, env=env)
        yield done
        if done.returncode:
            return


def expanded(text: str, inputs: Mapping[str, str]) -> str:
    return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: inputs[found[1]], text)


def told(runner: Project, file: str) -> str:
    return Path(runner.env[file]).read_text(encoding="utf-8")


def test_the_action_lets_a_library_that_conforms_pass(runner: Project) -> None:
    done = list(play_action(runner, package="jetproof", client="./my-adapter", cases=FEW))
    assert [step.returncode for step in done] == [0, 0], [step.stdout for step in done]
    assert told(runner, "GITHUB_OUTPUT") == "exit-code=0\n"
    assert "    ✓ conforms" in told(runner, "GITHUB_STEP_SUMMARY")
    assert verdicts(runner.folder / "jetproof.xml")[1] == 0
    assert (runner.folder / "jetproof-results" / "run.json").is_file()


def test_the_action_stops_one_that_does_not(runner: Project) -> None:
    runner.adapter("commit-value-unknown")
    *_, gate = play_action(
        runner, package="jetproof", client="./my-adapter", cases=FEW, servers="2.15.1 latest"
    )
    assert gate.returncode == 1, gate.stdout
    assert told(runner, "GITHUB_OUTPUT") == "exit-code=1\n"
    assert "✗" in told(runner, "GITHUB_STEP_SUMMARY")


def test_the_action_uses_the_ledger(runner: Project) -> None:
    """One whose entry does not hold is stale, and that is red as well."""
    (runner.folder / "known.yaml").write_text(LEDGER)
    *_, gate = play_action(
        runner, package="jetproof", client="./my-adapter", cases=FEW, ledger="known.yaml"
    )
    assert gate.returncode == 1, gate.stdout
    assert "says-yes" in gate.stdout


def test_what_is_given_to_the_action_is_no_script(runner: Project) -> None:
    evil = "$(touch hurt); `touch hurt`; touch hurt #"
    *_, gate = play_action(
        runner, package="jetproof", client=evil, cases=evil, servers=evil, ledger=evil
    )
    assert gate.returncode == 2
    assert not (runner.folder / "hurt").exists()
    for step in ACTION["runs"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_the_example_gives_what_the_action_takes() -> None:
    job = yaml.safe_load(example("yaml action"))["jobs"]["jetstream"]
    [step] = [step for step in job["steps"] if "jetproof@" in step["uses"]]
    assert set(step["with"]) <= set(ACTION["inputs"])
    lacking = [name for name in ACTION["inputs"] if f"`{name}`" not in PAGE]
    assert lacking == []
    required = {name for name, told in ACTION["inputs"].items() if told.get("required")}
    assert required <= set(step["with"])


def test_the_root_of_the_image_has_no_trace_of_this_machine(project: Project) -> None:
    """No path of the test environment in what is executed, and the command runs in it as it is."""
    done = project.run(*root_of(project))
    assert done.returncode == 0, done.stdout
    root = project.folder / "root"
    assert (root / "usr/local/bin/nats-server").is_file()
    assert (root / "usr/local/bin/jetproof").read_text().startswith("#!/usr/local/bin/python3\n")
    packages = next((root / "usr/local/lib").glob("python3.*/site-packages"))
    assert (packages / "jetproof" / "_data" / "suites").is_dir()
    assert not list(packages.glob("pyspark*")), "only what a gate needs"
    assert not list(root.rglob("*.pth"))
    again = project.run(*root_of(project))
    assert again.returncode == 2
    assert "root exists" in again.stdout


def root_of(project: Project) -> list[str | Path]:
    [wheel] = Path(project.env["PIP_FIND_LINKS"]).glob("*.whl")
    return [sys.executable, CHECKOUT / "container" / "rootfs.py", wheel, "root"]


@pytest.mark.container
def test_the_image(project: Project) -> None:
    """Built and run with the commands of the page, and without a network."""
    if (problem := engine_problem()) is not None:
        pytest.skip(f"container lane not covered: {problem.splitlines()[0]}")
    shutil.copytree(CHECKOUT / "container", project.folder / "container")
    tag = f"jetproof-test-{os.getpid()}"
    text = example("sh container")
    text = text.replace("--tag jetproof ", f"--tag {tag} ")
    text = text.replace("none jetproof gate adr-50/client/atomic", f"none {tag} gate {FEW}")
    assert text.count(tag) == 2
    try:
        done = project.run("bash", "-e", "-c", text)
        assert done.returncode == 0, done.stdout
        assert "✓ conforms" in done.stdout
        user = ("docker", "run", "--rm", "--network", "none", "--user", "12345", tag)
        by_anybody = project.run(*user, "gate", FEW, "--client", "reference")
        assert by_anybody.returncode == 0, by_anybody.stdout
    finally:
        project.run("docker", "rmi", "--force", tag)
