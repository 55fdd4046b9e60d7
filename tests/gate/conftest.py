"""The gate, on cases for client libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from support import case_files
from support.case_files import CLIENT_HEAD
from support.commands import Command, Done

HEAD = CLIENT_HEAD.format(suite="adr-50/client/trial")
COMMITS = case_files.COMMITS.format(clause="A50-ATOMIC-154")
CLOSES = case_files.CLOSES.format(clause="A50-ATOMIC-154")

Gate = Callable[..., Done]


@pytest.fixture
def gate(jetproof: Command) -> Gate:
    """Runs `jetproof gate` in this process, in an empty folder, on the newest server."""
    return lambda *arguments: jetproof("gate", *arguments)


@pytest.fixture
def cases(tmp_path: Path) -> Callable[..., Path]:
    """Writes a case file of the cases given."""

    def write(*given: str) -> Path:
        path = tmp_path / "trial.yaml"
        path.write_text(HEAD + "".join(given))
        return path

    return write
