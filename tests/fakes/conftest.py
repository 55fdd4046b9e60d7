"""A library of nothing but a demonstration, and cases written down in a test."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.load.library import Library
from jetproof.model.case import Case

from .playing import demo_library, write_cases

Cases = Callable[[str], tuple[Case, ...]]


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return demo_library(tmp_path_factory.mktemp("demo") / "root")


@pytest.fixture
def cases(tmp_path: Path, library: Library) -> Cases:
    """Cases from the text below `cases:` of a case file."""
    return lambda text: write_cases(tmp_path, library, text)
