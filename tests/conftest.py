"""What all tests share: nothing is asserted about time, not by Hypothesis either.

The fixtures that tests of several areas use live in `tests/support`.
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.case_files import case_file
from support.commands import fake, jetproof, process
from support.documents import conforms
from support.library import library_is_read_once
from support.programs import build, library
from support.servers import fake_server, port

__all__ = [
    "build",
    "case_file",
    "conforms",
    "fake",
    "fake_server",
    "jetproof",
    "library",
    "library_is_read_once",
    "port",
    "process",
]

settings.register_profile("jetproof", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("jetproof")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """With pytest-xdist (`pytest -n 3`), what shares a server, Spark or a browser stays together."""
    from support.parallel import Groups

    return Groups(config, log)
