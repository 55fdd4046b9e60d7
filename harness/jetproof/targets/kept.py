"""Server binaries in the cache: whole, checked by hash, and never written by two at once.

A binary is kept as `nats-server` in a folder of its own, with its sha256 beside it. The folder is
made elsewhere and renamed when it is whole, so that nothing finds half a binary.
"""

from __future__ import annotations

import contextlib
import fcntl
import functools
import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

MEMBER = "nats-server"


def digest_of(path: Path) -> str:
    """The sha256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded(binary: Path) -> str:
    """The sha256 that was written down when the binary was kept."""
    return binary.with_name(f"{MEMBER}.sha256").read_text(encoding="utf-8").split()[0]


def is_intact(binary: Path) -> bool:
    """Whether the cached binary is the one that was kept, byte for byte."""
    try:
        expected, found = recorded(binary), binary.stat()
        digest = _digest_once(binary, found.st_ino, found.st_size, found.st_mtime_ns)
        return digest == expected and os.access(binary, os.X_OK)
    except (OSError, IndexError):
        return False


def keep(folder: Path, place: Path) -> None:
    """Rename a folder with a whole `nats-server` to its place in the cache, with its hash."""
    digest = digest_of(folder / MEMBER)
    (folder / f"{MEMBER}.sha256").write_text(f"{digest}  {MEMBER}\n", encoding="utf-8")
    shutil.rmtree(place, ignore_errors=True)
    folder.replace(place)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a lock between processes; the kernel releases it however the holder ends."""
    with path.open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


@functools.lru_cache
def _digest_once(path: Path, inode: int, size: int, changed: int) -> str:
    """A matrix starts a binary a hundred times: one that was not touched is read once."""
    return digest_of(path)
