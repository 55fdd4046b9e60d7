"""Soaks run in this process or in one of their own, against fakes with known behaviour."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes answer at once: nothing is stretched."""
    monkeypatch.setenv("JETPROOF_TIME_FACTOR", "1")


def is_worker(pid: int) -> bool:
    try:
        return "load_worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
