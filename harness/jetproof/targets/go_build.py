"""Servers that are built here from a version of the Go module, and how any build is kept.

Either can be built with Go's coverage: such a server records which of its statements are reached.
A build is made once and kept in the cache, by what is built, the toolchain and the flags. It is
made in a folder beside the others and renamed when it is whole. Two runs at once build it once: the
second one waits. A build that fails, is stopped or meets a full disk leaves nothing behind.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.data import cache_root
from jetproof.model.versions import Version, VersionError
from jetproof.targets.go_tool import (
    BuildStopped,
    Go,
    GoError,
    Job,
    Notify,
    ask,
    environment,
    find_go,
    go_numbers,
)
from jetproof.targets.kept import MEMBER, is_intact, keep, recorded
from jetproof.targets.releases import Module, is_offline, module_of, this_platform

MODULE = "github.com/nats-io/nats-server/v2"
BUILD_DIGITS = 16
_KEY = 12
_POLL_SECONDS = 0.1
_INSTALL = ("install", "-v", "-trimpath")
_INSTALL_FLAGS = "-mod=mod"
_BUILD = ("build", "-v", "-trimpath")
_SOURCE_FLAGS = "-buildvcs=false"  # the module cache is no checkout
COVER = ("-cover", "-covermode=set", "-coverpkg=.,./server/...")
"""Without the main package a server that ends writes nothing, and does not say so."""


@dataclass(frozen=True, slots=True)
class Built:
    """A server that was built here, and what tells its build from others of the same version."""

    binary: Path
    build: str


def build_version(
    version: Version,
    *,
    covered: bool = False,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    notify: Notify | None = None,
    stop: threading.Event | None = None,
) -> Built:
    """A version of the Go module; blocks while it builds, so call it from a thread.

    Without Go, a build that an earlier run kept is used. `build` is the binary's sha256. Where the
    table of releases has the hash of the source, another source is refused.
    """
    module = module_of(version)
    root = builds_root(cache_dir) / _kind(covered)
    try:
        go = find_go()
    except GoError as error:
        if (kept := kept_build(version, covered=covered, cache_dir=cache_dir)) is not None:
            return kept
        if module is None:
            raise
        why = f"nats-server {version} has no release binary, so Go builds it"
        raise GoError(f"{why}. {error.message}", error.hint) from error
    offline = is_offline() if offline is None else offline
    flags = (*_BUILD, *COVER, _SOURCE_FLAGS) if covered else (*_INSTALL, _INSTALL_FLAGS)
    place = root / f"{version}-{go.key(*flags)}"
    what = f"nats-server {version}{' with coverage' if covered else ''}"

    def make(scratch: Path, folder: Path) -> None:
        env = environment(
            _INSTALL_FLAGS, offline=offline, GOBIN=str(folder), GOTMPDIR=str(scratch / "tmp")
        )
        command = (*_INSTALL, f"{MODULE}@v{version}")
        Job(what, command, scratch, env, scratch / "log").run(go, notify, stop)
        if module is not None:
            _same_source(what, go, folder / MEMBER, module)

    def make_covered(scratch: Path, folder: Path) -> None:
        # `go install` of a version cannot instrument its main package: build where its source is.
        env = environment(_SOURCE_FLAGS, offline=offline, GOTMPDIR=str(scratch / "tmp"))
        fetch = ("mod", "download", f"{MODULE}@v{version}")
        Job(what, fetch, scratch, env, scratch / "log").run(go, notify, stop)
        source = _source(go, version, offline)
        command = (*_BUILD, "-o", str(folder / MEMBER), *COVER, ".")
        Job(what, command, source, env, scratch / "log").run(go, notify, stop)

    binary = made(place, what, go, make_covered if covered else make, notify, stop)
    return Built(binary, recorded(binary)[:BUILD_DIGITS])


def _source(go: Go, version: Version, offline: bool) -> Path:
    """Where Go keeps the source of a version that it has downloaded."""
    code, said = ask(
        go.program, "list", "-m", "-f", "{{.Dir}}", f"{MODULE}@v{version}", offline=offline
    )
    folder = Path(said.strip())
    if code != 0 or not folder.is_dir():
        raise GoError(
            f"Go does not say where the source of nats-server {version} is: {said.strip()!r}",
            "is `go` the Go toolchain?",
        )
    return folder


def kept_build(
    version: Version, *, covered: bool = False, cache_dir: Path | None = None
) -> Built | None:
    """The newest build of that version in the cache, by whichever toolchain."""
    places = (builds_root(cache_dir) / _kind(covered)).glob(f"{version}-{'?' * _KEY}")
    for place in sorted(places, key=_age):
        if is_intact(place / MEMBER):
            return Built(place / MEMBER, recorded(place / MEMBER)[:BUILD_DIGITS])
    return None


def kept_versions(*, cache_dir: Path | None = None) -> frozenset[Version]:
    """The versions of the Go module that the cache has builds of. Nothing is read but names."""
    places = (builds_root(cache_dir) / "go").glob(f"*-{'?' * _KEY}/{MEMBER}")
    found = set()
    for place in places:
        with contextlib.suppress(VersionError):
            found.add(Version.parse(place.parent.name[: -_KEY - 1]))
    return frozenset(found)


def obtainable(
    releases: Sequence[Version], *, cache_dir: Path | None = None
) -> tuple[list[Version], str]:
    """Those of the table's releases that this machine can have, and one line about the others."""
    needs = {version: module for version in releases if (module := module_of(version)) is not None}
    needs = {
        version: needs[version] for version in needs.keys() - kept_versions(cache_dir=cache_dir)
    }
    if not needs:
        return list(releases), ""
    try:
        go = find_go()
        without = sorted(version for version, module in needs.items() if not go.builds(module.go))
        why = f"and {go.version} is too old"
    except GoError as error:
        without, why = sorted(needs), f"and {error.message}"
    if not without:
        return list(releases), ""
    wanted = max((needs[version].go for version in without), key=go_numbers)
    which = str(without[0]) if len(without) == 1 else f"{len(without)} releases ({_ends(without)})"
    return [version for version in releases if version not in without], (
        f"left out {which} without a release binary: Go {wanted} builds them, {why}; "
        "https://go.dev/doc/install"
    )


def _ends(versions: Sequence[Version]) -> str:
    return f"{versions[0]} to {versions[-1]}"


def _same_source(what: str, go: Go, binary: Path, module: Module) -> None:
    """Go writes the hash of the source into what it builds."""
    code, said = ask(go.program, "version", "-m", str(binary))
    rows = [line.split() for line in said.splitlines()]
    found = next((row[3] for row in rows if row[:2] == ["mod", MODULE] and len(row) > 3), "")
    if code != 0 or found != module.sum:
        raise GoError(
            f"{what} was built from source with the hash {found or 'unknown'}, and the release has "
            f"{module.sum}",
            "nothing was kept; look at GOPROXY, GOFLAGS and the module cache (`go clean -modcache`)",
        )


def made(
    place: Path,
    what: str,
    go: Go,
    make: Callable[[Path, Path], None],
    notify: Notify | None,
    stop: threading.Event | None,
) -> Path:
    """The binary in its place; `make` puts it into a folder beside it, if nobody has before."""
    binary, root = place / MEMBER, place.parent
    if is_intact(binary):
        return binary
    try:
        root.mkdir(parents=True, exist_ok=True)
        with alone(root / f"{place.name}.lock", what, notify, stop):
            if is_intact(binary):
                return binary  # another run built it while we waited
            if notify is not None:
                notify(f"building {what} with {go.version}; a first build takes some minutes")
            prefix = f".build-{place.name}-"
            for abandoned in root.glob(f"{prefix}*"):  # by a run that was killed: we hold the lock
                shutil.rmtree(abandoned, ignore_errors=True)
            with tempfile.TemporaryDirectory(
                prefix=prefix, dir=root, ignore_cleanup_errors=True
            ) as name:
                scratch = Path(name)
                for needed in ("tmp", "made"):
                    (scratch / needed).mkdir()
                make(scratch, scratch / "made")
                if not (scratch / "made" / MEMBER).is_file():
                    raise GoError(f"building {what} made no {MEMBER}", "is `go` the Go toolchain?")
                keep(scratch / "made", place)
    except OSError as error:
        raise not_kept(what, root, error) from error
    return binary


def not_kept(what: str, root: Path, error: OSError) -> GoError:
    full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
    return GoError(
        f"cannot keep {what} in {root}: {error}",
        "make room on that disk" if full else "point JETPROOF_CACHE at a folder to write to",
    )


@contextlib.contextmanager
def alone(
    path: Path, what: str, notify: Notify | None, stop: threading.Event | None
) -> Iterator[None]:
    """Hold the lock of a build; says so if another run has it, and can be stopped meanwhile."""
    with path.open("a") as file:
        waited = False
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                pass
            if notify is not None and not waited:
                notify(f"waiting for another run that builds {what}")
            waited = True
            if stop is not None and stop.is_set():
                raise BuildStopped
            time.sleep(_POLL_SECONDS)
        yield


def _age(place: Path) -> float:
    """Newest first."""
    try:
        return -place.stat().st_mtime
    except OSError:
        return 0.0


def _kind(covered: bool) -> str:
    return "cover" if covered else "go"


def builds_root(cache_dir: Path | None) -> Path:
    """Where this machine's servers are kept."""
    return (cache_dir or cache_root()).absolute() / "servers" / this_platform()
