"""Soaks run in this process or in one of their own, against fakes with known behaviour."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE = 60.0


@pytest.fixture(autouse=True)
def no_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes answer at once: nothing is stretched."""
    monkeypatch.setenv("JETPROOF_TIME_FACTOR", "1")


def wait_for(what: Callable[[], object], why: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_worker(pid: int) -> bool:
    try:
        return "load_worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
