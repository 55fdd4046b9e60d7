"""A project to run pytest in, and the release that is played."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from jetproof.targets.releases import installed_binary

from .project import Project, make_project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project that a test may change."""
    return make_project(tmp_path / "project")


@pytest.fixture(scope="session")
def newest() -> str:
    """The release that is installed, as items are named after it."""
    binary = installed_binary()
    assert binary is not None
    said = subprocess.run([binary, "--version"], capture_output=True, text=True, check=True)
    return said.stdout.split()[-1].removeprefix("v")
