"""Programs that stand in for others: shell scripts, adapters, builds of a server."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.targets.releases import installed_binary

Adapter = Callable[..., Path]
Build = Callable[..., str]


def script(path: Path, text: str) -> Path:
    """A shell script that can be executed."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def write_build(path: Path, version: str = "2.15.1", does: str | None = None) -> Path:
    """A server that says this version; started, it does that, by default as the real server."""
    says = f'[ "$1" = --version ] && echo "nats-server: v{version}" && exit 0'
    return script(path, f'{says}\n{does or f"""exec "{installed_binary()}" "$@" """}')


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """The target string of a build that says this version and then does that."""

    def write(name: str, version: str = "2.15.1", does: str | None = None) -> str:
        write_build(tmp_path / name, version, does)
        return f"path:./{name}"

    return write


@pytest.fixture
def library(tmp_path: Path) -> Adapter:
    """An adapter in a maintainer's own checkout: the reference client, with knobs."""

    def write(*knobs: str) -> Path:
        options = "".join(f" --knob {knob}" for knob in knobs)
        start = f"exec {sys.executable} -m jetproof.targets.reference_client{options}"
        return script(tmp_path / "my-adapter", start)

    return write
