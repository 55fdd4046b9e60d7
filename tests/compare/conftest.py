"""Comparisons run in this process, against fakes with known behaviour."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from support.commands import case_file, conforms, fake, jetproof, process

__all__ = ["case_file", "conforms", "fake", "jetproof", "process"]

Server = Callable[[str, str], str]


@pytest.fixture
def binary(tmp_path: Path) -> Server:
    """A target whose program says that it is 2.15.1, and does `then` when it is started."""

    def write(name: str, then: str) -> str:
        path = tmp_path / name
        text = f'#!/bin/sh\n[ "$1" = --version ] && echo "nats-server: v2.15.1" && exit 0\n{then}\n'
        path.write_text(text)
        path.chmod(path.stat().st_mode | stat.S_IXUSR)
        return f"path:./{name}"

    return write
