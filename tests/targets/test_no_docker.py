"""Where no Docker engine answers, that is said at once, with the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.docker_engine import engine_problem
from jetproof.targets.sweep import Owner
from jetproof.targets.topology import start_target

from .conftest import Play


@pytest.fixture(autouse=True)
def no_engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/nobody.sock")


def test_a_container_target_needs_an_engine(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("container:2.15.1", owner=owner):
            pass

    with pytest.raises(JetproofError, match="no Docker engine answers") as raised:
        play(main())
    assert raised.value.phase == "start"
    assert "embedded:VERSION" in raised.value.hint


def test_the_problem_can_be_asked_for() -> None:
    assert "no Docker engine answers" in str(engine_problem())


def test_the_embedded_server_does_not_care(play: Play[None], owner: Owner) -> None:
    async def main() -> None:
        async with start_target("embedded:2.15.1", owner=owner) as target:
            assert target.provider == "embedded"

    play(main())
