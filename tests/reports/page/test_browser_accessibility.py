"""No view of the page breaks a rule of WCAG that axe-core can check."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from .conftest import Shown

VIEWS = (
    "overview", "matrix", "libraries", "regressions", "coverage", "wire", "latency", "deviations",
    "positions", "first-change", "trends",
)  # fmt: skip


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_axe_finds_nothing(
    view: str, scheme: str, shown: Callable[..., Shown], files: Callable[[str], Path]
) -> None:
    axe = pytest.importorskip(
        "axe_playwright_python.sync_playwright",
        reason="accessibility is not covered: axe-playwright-python is not installed",
    )
    opened = shown(color_scheme=scheme)
    for name in ("several", "libraries") if view != "libraries" else ("libraries",):
        page = opened.open(files(name), f"view={view}")
        found = findings(axe.Axe().run(page))
        assert found == []


def findings(results: Any) -> list[str]:
    return [
        f"{rule['id']}: {node['target']} {node['html'][:120]}"
        for rule in results.response["violations"]
        for node in rule["nodes"][:3]
    ]
