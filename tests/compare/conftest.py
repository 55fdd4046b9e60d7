"""Comparisons run in this process, against fakes with known behaviour."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def no_slow_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fakes answer at once: nothing is stretched."""
    monkeypatch.setenv("JETPROOF_TIME_FACTOR", "1")
