"""The pytest plugin: `pytest --jetproof suites/adr-50 --jetproof-server 2.15.1`.

Every pytest of an environment that has Jetproof imports this module, whether or not it wants cases
played. So it holds the options alone, and imports nothing but pytest until `--jetproof` is given;
`plugin` then does the work, with the same campaign and evidence as the command line.
"""

from __future__ import annotations

from pathlib import Path

import pytest

_NEED_THE_FLAG = {
    "jetproof_servers": "--jetproof-server",
    "jetproof_clauses": "--jetproof-clause",
    "jetproof_out": "--jetproof-out",
    "jetproof_edition": "--jetproof-edition",
    "jetproof_laws": "--jetproof-laws",
}


class JetproofWarning(pytest.PytestWarning):
    """A server does not do what a specification says it should: the verdict is `warn`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("jetproof", "conformance cases of Jetproof")
    group.addoption(
        "--jetproof",
        action="store_true",
        dest="jetproof",
        help="collect Jetproof's case files and play them; without paths, every suite it carries",
    )
    group.addoption(
        "--jetproof-server",
        action="append",
        default=[],
        metavar="TARGET",
        dest="jetproof_servers",
        help="what to test, such as 2.15.1, '2.12.*', container:2.14.6, path:./nats-server or "
        "nats://host:port (may be repeated; default: latest)",
    )
    group.addoption(
        "--jetproof-clause",
        action="append",
        default=[],
        metavar="ID",
        dest="jetproof_clauses",
        help="only cases that test this clause (a glob is fine; may be repeated)",
    )
    group.addoption(
        "--jetproof-edition",
        metavar="NAME",
        dest="jetproof_edition",
        help="score the cases of this edition only, such as 2026.11; newer and changed ones are played "
        "and skipped with their verdict (default: every case is scored)",
    )
    group.addoption(
        "--jetproof-laws",
        metavar="MODE",
        dest="jetproof_laws",
        help="what is read at the end of each case to judge promises, as `jetproof run --laws MODE` "
        "says: closing (default), full or off",
    )
    group.addoption(
        "--jetproof-out",
        type=Path,
        metavar="DIR",
        dest="jetproof_out",
        help="write the run's folder, as `jetproof run --out DIR` does",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("jetproof"):
        from jetproof.pytest_plugin.plugin import Plugin

        config.pluginmanager.register(Plugin(config), "jetproof-cases")
        return
    for name, option in _NEED_THE_FLAG.items():
        if config.getoption(name):
            raise pytest.UsageError(f"{option} does nothing without --jetproof")
