"""Servers that are built from a checkout: at its state, or at one of its commits.

Their builds are kept like those of the Go module. There is one for each state that was ever tested,
so only the last ones that were used stay; the others are removed when a new one is made.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jetproof.targets.checkout import Checkout, look_at
from jetproof.targets.go_build import COVER, Built, builds_root, made, not_kept
from jetproof.targets.go_tool import Go, GoError, Job, Notify, environment, find_go
from jetproof.targets.history import commit_of, write_out
from jetproof.targets.kept import MEMBER, is_intact
from jetproof.targets.releases import is_offline

KEEP = 20
"""So many builds of checkouts stay in the cache."""
_FOLDER = "checkout"
_BUILD = ("build", "-v", "-trimpath")
_BUILD_FLAGS = "-buildvcs=true"
_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Removed:
    """A build that is no longer in the cache: its name, and the room that it took."""

    name: str
    size: int


def build_checkout(
    folder: Path,
    *,
    covered: bool = False,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    notify: Notify | None = None,
    stop: threading.Event | None = None,
    shown: Path | None = None,
) -> Built:
    """A checkout of nats-server at its state; `build` is its commit, and what it has besides.

    Progress and errors name the folder as `shown`.
    """
    found = look_at(folder)
    go = find_go()
    offline = is_offline() if offline is None else offline
    cover = COVER if covered else ()
    place = _checkout_place(found, go, cache_dir, cover)
    what = f"{shown or folder} at {found.shown}{' with coverage' if covered else ''}"

    def make(scratch: Path, target: Path) -> None:
        env = environment(_BUILD_FLAGS, offline=offline, GOTMPDIR=str(scratch / "tmp"))
        command = (*_BUILD, "-o", str(target / MEMBER), *cover, ".")
        Job(what, command, folder, env, scratch / "log").run(go, notify, stop)
        _unchanged(folder, found)

    new = not is_intact(place / MEMBER)
    built = _used(Built(made(place, what, go, make, notify, stop), found.identity))
    if new and (removed := prune(KEEP, cache_dir=cache_dir)) and notify is not None:
        notify(f"removed old builds of checkouts from the cache ({len(removed)}): {KEEP} stay")
    return built


def build_commit(
    folder: Path,
    revision: str,
    *,
    cache_dir: Path | None = None,
    offline: bool | None = None,
    notify: Notify | None = None,
    stop: threading.Event | None = None,
) -> Built:
    """A commit of a checkout, whatever its work tree has; the work tree is not touched."""
    look_at(folder)
    commit = commit_of(folder, revision).id
    place = _checkout_place(Checkout(commit), find_go(), cache_dir)
    if is_intact(place / MEMBER):
        return _used(Built(place / MEMBER, commit))
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(
            prefix=".source-", dir=place.parent, ignore_cleanup_errors=True
        ) as name:
            source = Path(name)
            write_out(folder, commit, source)
            return build_checkout(
                source,
                cache_dir=cache_dir,
                offline=offline,
                notify=notify,
                stop=stop,
                shown=folder,
            )
    except OSError as error:
        raise not_kept(f"{folder} at {commit[:12]}", place.parent, error) from error


def prune(keep: int, *, cache_dir: Path | None = None) -> tuple[Removed, ...]:
    """Remove builds of checkouts but the `keep` that were used last, and what killed runs left.

    Builds of the Go module stay: they are few, and a release is tested again and again.
    """
    root = builds_root(cache_dir) / _FOLDER
    places = [path for path in _folders(root) if not path.name.startswith(".")]
    places.sort(key=_last_used, reverse=True)
    removed = [_remove(place) for place in places[keep:]]
    for left in _folders(root):
        if left.name.startswith(".") and time.time() - _last_used(left) > _DAY:
            removed.append(_remove(left))
    return tuple(one for one in removed if one is not None)


def _remove(place: Path) -> Removed | None:
    """Remove it unless somebody is building it. It is renamed first: nobody finds half of it."""
    with contextlib.suppress(OSError), place.with_name(f"{place.name}.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        size = sum(path.stat().st_size for path in place.rglob("*") if path.is_file())
        gone = place.with_name(f".removed-{place.name.lstrip('.')}")
        place.replace(gone)
        shutil.rmtree(gone, ignore_errors=True)
        return Removed(place.name, size)
    return None


def _folders(root: Path) -> Iterator[Path]:
    with contextlib.suppress(OSError):
        yield from [path for path in root.iterdir() if path.is_dir()]


def _last_used(place: Path) -> float:
    try:
        return place.stat().st_mtime
    except OSError:
        return 0.0


def _used(built: Built) -> Built:
    """The time of its folder is when it was used last."""
    with contextlib.suppress(OSError):
        os.utime(built.binary.parent)
    return built


def _unchanged(folder: Path, before: Checkout) -> None:
    after = look_at(folder)
    if after != before:
        raise GoError(
            f"{folder} changed while it was built: from {before.shown} to {after.shown}",
            "nothing was kept; run again when nobody edits it, or copy it with `git worktree add`",
        )


def _checkout_place(
    found: Checkout, go: Go, cache_dir: Path | None, cover: tuple[str, ...] = ()
) -> Path:
    key = go.key(*_BUILD, *cover, _BUILD_FLAGS)
    return builds_root(cache_dir) / _FOLDER / f"{found.identity}-{key}"
