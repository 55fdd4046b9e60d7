"""The server of a target that no table lists: built from the Go module or a checkout, or `path:`."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

from jetproof.targets.go_build import BUILD_DIGITS, Built, build_checkout, build_version
from jetproof.targets.go_tool import Notify
from jetproof.targets.kept import digest_of
from jetproof.targets.node import StartError
from jetproof.targets.spec import TargetSpec


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
    stop = threading.Event()
    covered = spec.provider == "cover"

    def make() -> Built:
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
        return build_checkout(
            named(spec),
            covered=covered,
            cache_dir=cache_dir,
            offline=offline,
            notify=notify,
            stop=stop,
        )

    try:
        return await asyncio.to_thread(make)
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
    return spec.path is not None and named(spec).is_dir()


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
