"""An environment that merely has Jetproof installed does not pay for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from .project import Project

LOADED = """\
import sys
def pytest_unconfigure():
    names = sorted(name for name in sys.modules if name.partition('.')[0] == 'jetproof')
    print('loaded:', *names)
"""


def test_without_the_flag_only_the_options_are_loaded(project: Project) -> None:
    project.write("conftest.py", LOADED)
    project.write("test_it.py", "def test_it(): pass\n")
    result = project.pytest("-s", "test_it.py")
    assert result.code == 0
    assert "loaded: jetproof jetproof.pytest_plugin\n" in result.out


def test_without_the_flag_case_files_are_not_collected(project: Project) -> None:
    result = project.pytest("suites")
    assert result.code == pytest.ExitCode.NO_TESTS_COLLECTED


def test_the_plugin_brings_no_import_but_its_own(project: Project) -> None:
    script = (
        "import sys, pytest\n"
        "before = set(sys.modules)\n"
        "import jetproof.pytest_plugin\n"
        "print(*sorted(set(sys.modules) - before))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=project.environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["jetproof", "jetproof.pytest_plugin"]


def test_help_names_the_options(project: Project) -> None:
    result = project.pytest("--help")
    for option in ("server", "clause", "out", "edition", "laws"):
        assert f"--jetproof-{option}=" in result.out
    assert "--jetproof " in result.out
