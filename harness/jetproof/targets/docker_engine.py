"""The Docker engine: whether one answers, which image a release runs from, and what is left over.

`testcontainers` is imported on first use, since it takes longer than all the rest together. All
functions here block: async code calls them through `in_thread`.

What belongs to a run carries two labels: `jetproof.run`, its id, and `jetproof.owner`, this
machine and the lock file that the run holds while it lives. `sweep_engine` removes what carries
them and has no living owner on this machine, and nothing else.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import hashlib
import io
import os
import platform
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.ports import LOOPBACK
from jetproof.targets.sweep import Owner, is_held

RUN_LABEL = "jetproof.run"
OWNER_LABEL = "jetproof.owner"
BINARY_LABEL = "jetproof.binary"
OWN_IMAGE = "jetproof/nats-server"
UPSTREAM_IMAGE = "nats"

_PING_SECONDS = 5
_CALL_SECONDS = 60
_PULL_SECONDS = 20.0
_HINT = (
    "install and start Docker (`docker info` must answer), or use the embedded server, "
    "which needs none: embedded:VERSION"
)

P = ParamSpec("P")
R = TypeVar("R")


def connect(timeout: int = _CALL_SECONDS) -> Any:
    """A docker client whose engine answers; JetproofError with a way out if none does."""
    prepare_testcontainers()
    import docker.errors
    from testcontainers.core.docker_client import DockerClient

    client = None
    try:
        client = DockerClient(timeout=_PING_SECONDS).client
        client.ping()
        client.api.timeout = timeout
    except (docker.errors.DockerException, OSError, ValueError) as error:
        if client is not None:
            client.close()
        raise JetproofError(f"no Docker engine answers: {error}", phase="start", hint=_HINT) from (
            error
        )
    return client


def engine_problem() -> str | None:
    """Why containers cannot be used on this machine, or None if they can."""
    try:
        connect().close()
    except JetproofError as error:
        return str(error)
    return None


def prepare_testcontainers() -> None:
    """Settings that testcontainers must have: no reaper, no guess at a container's address.

    The reaper is an image to be pulled; labels and locks do its work here. The guess is the
    address of a bridge, which need not be reachable: ports are published on 127.0.0.1.
    """
    os.environ.setdefault("TESTCONTAINERS_RYUK_DISABLED", "true")
    os.environ.setdefault("TESTCONTAINERS_HOST_OVERRIDE", LOOPBACK)
    from testcontainers.core.config import testcontainers_config

    testcontainers_config.ryuk_disabled = True
    testcontainers_config.tc_host_override = LOOPBACK


async def in_thread(call: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Run a blocking call in a thread, and to its end even if the caller is cancelled.

    A call that was given up half-way could create a container that nobody knows about.
    """
    work = asyncio.ensure_future(asyncio.to_thread(call, *args, **kwargs))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        with contextlib.suppress(Exception):
            await work
        raise


def labels(owner: Owner) -> dict[str, str]:
    """The marks of everything that a run creates in the engine."""
    return {RUN_LABEL: owner.id, OWNER_LABEL: f"{platform.node()}:{owner.lock_path}"}


def sweep_engine(client: Any) -> list[str]:
    """Remove containers, networks and volumes of runs that no longer live; returns their names."""
    import docker.errors

    marked = {"label": RUN_LABEL}
    removed: list[str] = []
    for container in client.containers.list(all=True, filters=marked, ignore_removed=True):
        if _left_over(container.labels):
            with contextlib.suppress(docker.errors.APIError):
                container.remove(force=True, v=True)
                removed.append(container.name)
    for network in client.networks.list(filters=marked):
        if _left_over(network.attrs.get("Labels")):
            with contextlib.suppress(docker.errors.APIError):
                network.remove()
                removed.append(network.name)
    for volume in client.volumes.list(filters=marked):
        if _left_over(volume.attrs.get("Labels")):
            with contextlib.suppress(docker.errors.APIError):
                volume.remove(force=True)
                removed.append(volume.name)
    return removed


def _left_over(found: dict[str, str] | None) -> bool:
    host, _, lock = (found or {}).get(OWNER_LABEL, "").partition(":")
    return host == platform.node() and bool(lock) and not is_held(Path(lock))


def engine_platform(client: Any) -> str:
    """The engine's platform in the release table's words; it need not be this machine's."""
    arch = str(client.version().get("Arch", ""))
    return f"linux-{ {'amd64': 'x86_64', 'arm64': 'aarch64'}.get(arch, arch) }"


def find_image(client: Any, version: Version, owner: Owner, *, offline: bool) -> str | None:
    """The upstream image if it is there or can be pulled, else None: it must then be built."""
    name = f"{UPSTREAM_IMAGE}:{version}"
    if _has_image(client, name):
        return name
    if not offline and _pull(client, version, owner):
        return name
    return None


def build_image(client: Any, version: Version, binary: Path, owner: Owner) -> str:
    """An image with nothing but the release binary, tagged as ours; kept for later runs.

    Nodes of a cluster ask for it at the same time, and so may other runs: one builds it.
    """
    name = f"{OWN_IMAGE}:{version}"
    content = binary.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    with (owner.folder.parent / "images.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        known = _has_image(client, name) and _image_labels(client, name).get(BINARY_LABEL)
        if known != digest:
            _import_image(client, version, content, digest)
    return name


def _import_image(client: Any, version: Version, content: bytes, digest: str) -> None:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        member = tarfile.TarInfo("nats-server")
        member.size = len(content)
        member.mode = 0o755
        archive.addfile(member, io.BytesIO(content))
    client.api.import_image_from_data(
        buffer.getvalue(),
        repository=OWN_IMAGE,
        tag=str(version),
        changes=['ENTRYPOINT ["/nats-server"]', f"LABEL {BINARY_LABEL}={digest}"],
    )


def _has_image(client: Any, name: str) -> bool:
    import docker.errors

    try:
        client.images.get(name)
    except docker.errors.ImageNotFound:
        return False
    return True


def _image_labels(client: Any, name: str) -> dict[str, str]:
    found: dict[str, str] = client.images.get(name).labels
    return found


def _pull(client: Any, version: Version, owner: Owner) -> bool:
    """Pull an image unless a pull of this run has failed before: a registry out of reach stays so.

    A pull may hang, so it has a thread of its own that nobody waits for longer than the limit.
    """
    with (owner.folder / "registry").open("a+") as state:
        fcntl.flock(state, fcntl.LOCK_EX)
        state.seek(0)
        if state.read():
            return False
        done: list[bool] = []
        thread = threading.Thread(target=_try_pull, args=(client, version, done), daemon=True)
        thread.start()
        thread.join(_PULL_SECONDS)
        if not done:
            state.write("out of reach")
        return bool(done)


def _try_pull(client: Any, version: Version, done: list[bool]) -> None:
    with contextlib.suppress(Exception):
        client.images.pull(UPSTREAM_IMAGE, tag=str(version))
        done.append(True)
