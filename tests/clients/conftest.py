"""Adapters as executables."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.data import adapters_dir
from support.programs import script

HERE = Path(__file__).parent
Program = Callable[..., Path]


@pytest.fixture(scope="module")
def nats_py(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The adapter of nats-py beside its kit. nats-py is a dependency of Jetproof: nothing is built."""
    folder = tmp_path_factory.mktemp("nats-py")
    shutil.copy(adapters_dir() / "python-nats-py" / "adapter.py", folder)
    (folder / "kit").symlink_to(adapters_dir() / "kits" / "python")
    return folder / "adapter.py"


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A Python program with its arguments, as an executable."""

    def write(file: Path, *arguments: str) -> Path:
        words = " ".join(f'"{word}"' for word in (sys.executable, file, *arguments))
        return script(tmp_path / f"adapter-{len(list(tmp_path.iterdir()))}", f"exec {words}")

    return write
