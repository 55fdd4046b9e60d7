"""What all tests share: nothing is asserted about time, not by Hypothesis either.

With pytest-xdist (`-n 2 --dist loadgroup`), the tests of a file are played by one worker, so that its
servers are started once. Those of the reports share one Spark session and one browser: they stay together,
in their order.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

TESTS = Path(__file__).parent
TOGETHER = ("reports", "packaging", "targets")
"""Folders whose files share something that only one worker should have."""

settings.register_profile("jetproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jetproof")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        place = item.path.relative_to(TESTS)
        shared = place.parts[0] in TOGETHER
        group = place.parts[0] if shared else str(place)
        if place.parts[:2] == ("reports", "page"):
            group = "page"
        item.add_marker(pytest.mark.xdist_group(group))
