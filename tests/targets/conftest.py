"""Help for tests that start real servers: a clock that ends a hang, a run, stand-ins."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from jetproof.targets.releases import installed_binary
from jetproof.targets.sweep import Owner, own_run
from support.waiting import bounded

T = TypeVar("T")
Play = Callable[[Coroutine[Any, Any, T]], T]

HANG_SECONDS = 120.0


@pytest.fixture
def play() -> Play[Any]:
    """Run a coroutine; one that hangs is ended, and with it the test."""
    return lambda coroutine: bounded(coroutine, HANG_SECONDS)


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    """A run of its own, so that nothing of the test lands in the machine's common folder."""
    with own_run(tmp_path / "runs") as made:
        yield made


@pytest.fixture(scope="session")
def binary() -> Path:
    """The newest release, which is installed with Jetproof."""
    found = installed_binary()
    assert found is not None
    return found


@pytest.fixture
def script(tmp_path: Path) -> Callable[[str], str]:
    """A target string for a shell script that stands in for a server."""

    def write(body: str) -> str:
        path = tmp_path / "not-a-server"
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return f"path:{path}"

    return write
