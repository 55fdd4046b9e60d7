"""What all tests share: nothing is asserted about time, not by Hypothesis either."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("jetproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jetproof")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """With pytest-xdist (`pytest -n 2`), what shares a server, Spark or a browser stays together."""
    from support.parallel import Groups

    return Groups(config, log)
