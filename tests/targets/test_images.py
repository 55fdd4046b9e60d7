"""Which image a release runs from: the local one, else a pulled one, else one of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from jetproof.targets import docker_engine
from jetproof.targets.docker_engine import find_image
from jetproof.targets.releases import known_releases
from jetproof.targets.sweep import Owner

OLD, NEW = known_releases()[0], known_releases()[-1]


class FakeImages:
    """An engine's images: some are there, and a pull works, fails or hangs."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.pulls: list[str] = []
        self.registry = "works"
        self.released = threading.Event()

    def get(self, name: str) -> object:
        import docker.errors

        if name not in self.there:
            raise docker.errors.ImageNotFound(name)
        return object()

    def pull(self, repository: str, tag: str) -> None:
        self.pulls.append(f"{repository}:{tag}")
        if self.registry == "fails":
            raise OSError("no such host")
        if self.registry == "hangs":
            self.released.wait()


@pytest.fixture
def images() -> Iterator[FakeImages]:
    made = FakeImages()
    yield made
    made.released.set()


@pytest.fixture
def client(images: FakeImages) -> Any:
    return SimpleNamespace(images=images)


def test_a_local_image_is_used_and_nothing_is_pulled(
    client: Any, images: FakeImages, owner: Owner
) -> None:
    images.there.add(f"nats:{NEW}")

    assert find_image(client, NEW, owner, offline=False) == f"nats:{NEW}"
    assert images.pulls == []


def test_an_image_that_can_be_pulled_is(client: Any, images: FakeImages, owner: Owner) -> None:
    assert find_image(client, OLD, owner, offline=False) == f"nats:{OLD}"
    assert find_image(client, NEW, owner, offline=False) == f"nats:{NEW}"
    assert images.pulls == [f"nats:{OLD}", f"nats:{NEW}"]


def test_a_registry_out_of_reach_is_asked_once_a_run(
    client: Any, images: FakeImages, owner: Owner
) -> None:
    images.registry = "fails"
    for version in known_releases()[:3]:
        assert find_image(client, version, owner, offline=False) is None

    assert images.pulls == [f"nats:{OLD}"]


def test_a_pull_that_hangs_is_given_up(
    client: Any, images: FakeImages, owner: Owner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(docker_engine, "_PULL_SECONDS", 0.05)
    images.registry = "hangs"

    assert find_image(client, OLD, owner, offline=False) is None
    assert find_image(client, NEW, owner, offline=False) is None
    assert images.pulls == [f"nats:{OLD}"]


def test_offline_nothing_is_pulled(client: Any, images: FakeImages, owner: Owner) -> None:
    assert find_image(client, NEW, owner, offline=True) is None
    assert images.pulls == []
