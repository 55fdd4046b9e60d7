"""Adapters as executables."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.data import adapters_dir
from support.programs import script

HERE = Path(__file__).parent
NATS_PY = adapters_dir() / "python-nats-py" / "adapter.py"
"""nats-py is a dependency of Jetproof: its adapter runs here without being built."""

Program = Callable[..., Path]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A Python program with its arguments, as an executable."""

    def write(file: Path, *arguments: str) -> Path:
        words = " ".join(f'"{word}"' for word in (sys.executable, file, *arguments))
        return script(tmp_path / f"adapter-{len(list(tmp_path.iterdir()))}", f"exec {words}")

    return write
