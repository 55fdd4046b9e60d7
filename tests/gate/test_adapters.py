"""The adapters of Python, Go and JavaScript are built here, and judge real libraries.

Java and Rust are a lane of their own: `jetproof gate --client java:jnats --client rust:async-nats`.
A machine without a toolchain says which one it lacks.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.results import read_run
from jetproof.targets.clients.build import prepare_client
from jetproof.targets.clients.spec import parse_client
from jetproof.targets.clients.toolchain import NotBuildable

from .conftest import Gate

CASES = ("adr-37/client/fetch::ends-with-the-requested-number", "adr-50/client/atomic")


@pytest.mark.parametrize("client", ["python:nats-py", "go:nats.go", "js:nats.js"])
def test_a_real_library_is_built_and_judged(gate: Gate, client: str) -> None:
    try:
        prepare_client(parse_client(client))
    except NotBuildable as problem:
        pytest.skip(problem.message)
    done = gate(*CASES, "--client", client, "--out", "run")
    cells = [
        cell for cell in read_run(Path("run")).latest if (cell.client or "").startswith(client)
    ]
    played = [cell for cell in cells if cell.verdict != "n/a"]
    told = [f"{cell.verdict} {cell.case}: {cell.reason}" for cell in played]
    assert played, done.out
    assert not [line for line in told if line.startswith(("fail", "stale", "error"))], told
