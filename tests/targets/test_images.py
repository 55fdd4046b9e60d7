"""Which image a release runs from: the local one, else a pulled one, else one of our own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jetproof.targets import docker_engine
from jetproof.targets.docker_engine import build_image, find_image
from jetproof.targets.releases import binary_releases
from jetproof.targets.sweep import Owner

OLD, NEW = binary_releases()[0], binary_releases()[-1]


class FakeImages:
    """An engine's images: some are there, and a pull works, fails or hangs."""

    def __init__(self) -> None:
        self.there: set[str] = set()
        self.labels: dict[str, dict[str, str]] = {}
        self.pulls: list[str] = []
        self.registry = "works"
        self.released = threading.Event()

    def get(self, name: str) -> object:
        import docker.errors

        if name not in self.there:
            raise docker.errors.ImageNotFound(name)
        return SimpleNamespace(labels=self.labels.get(name, {}))

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
    for version in binary_releases()[:3]:
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


class FakeApi:
    """Takes its time to import an image, and counts how many it imports at once."""

    def __init__(self, images: FakeImages) -> None:
        self.images = images
        self.imports = 0
        self.at_once = 0
        self.most_at_once = 0

    def import_image_from_data(
        self, data: bytes, repository: str, tag: str, changes: list[str]
    ) -> None:
        self.imports += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        threading.Event().wait(0.05)
        name, digest = f"{repository}:{tag}", changes[1].partition("=")[2]
        self.images.there.add(name)
        self.images.labels[name] = {docker_engine.BINARY_LABEL: digest}
        self.at_once -= 1


def test_several_nodes_that_want_one_image_have_it_built_once(
    images: FakeImages, owner: Owner, tmp_path: Path
) -> None:
    api = FakeApi(images)
    client = SimpleNamespace(images=images, api=api)
    binary = tmp_path / "nats-server"
    binary.write_bytes(b"a server")
    with ThreadPoolExecutor(5) as threads:
        names = set(threads.map(lambda _: build_image(client, NEW, binary, owner), range(5)))

    assert names == {f"jetproof/nats-server:{NEW}"}
    assert (api.imports, api.most_at_once) == (1, 1)
    binary.write_bytes(b"another one")
    build_image(client, NEW, binary, owner)
    assert api.imports == 2


def test_offline_nothing_is_pulled(client: Any, images: FakeImages, owner: Owner) -> None:
    assert find_image(client, NEW, owner, offline=True) is None
    assert images.pulls == []
