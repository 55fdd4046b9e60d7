"""Who owns what a run leaves on the machine, and the removal of what nobody owns any more.

Every run has a folder of its own with a lock file, and holds the lock for as long as it lives: the
kernel releases it however the run ends. A folder, container, network or volume is ours if it
carries a run's mark, and left over if that run's lock is free. `own_run` sweeps left-over folders
when a run starts; `docker_engine` does the same for containers. Runs at the same time leave each
other alone, and nothing without the mark is touched.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError

_LOCK = "owner.lock"
_KEEP = "keep"
_PREFIX = "run-"


@dataclass(frozen=True, slots=True)
class Owner:
    """A living run: its id, its folder, and the lock that proves that it lives."""

    id: str
    folder: Path

    @property
    def lock_path(self) -> Path:
        return self.folder / _LOCK

    def keep(self) -> None:
        """Leave the folder in place when the run ends, and spare it from later sweeps."""
        (self.folder / _KEEP).touch()


def runs_root() -> Path:
    """Where the folders of this user's runs are."""
    return Path(tempfile.gettempdir()) / f"jetproof-{os.getuid()}"


@contextlib.contextmanager
def own_run(root: Path | None = None) -> Iterator[Owner]:
    """A folder for one run, removed at its end; left-over folders go first."""
    place = root or runs_root()
    try:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        if place.lstat().st_uid != os.getuid():
            raise PermissionError(f"{place} belongs to somebody else")
        with _exclusive(place):
            _sweep(place)
            name = secrets.token_hex(6)
            owner = Owner(name, place / f"{_PREFIX}{name}")
            owner.folder.mkdir(mode=0o700)
            lock = owner.lock_path.open("w")
            fcntl.flock(lock, fcntl.LOCK_EX)
    except OSError as error:
        raise JetproofError(
            f"cannot make a folder for this run in {place}: {error}",
            phase="start",
            hint="point TMPDIR at a folder that can be written",
        ) from error
    with lock:
        try:
            yield owner
        finally:
            if not (owner.folder / _KEEP).exists():
                shutil.rmtree(owner.folder, ignore_errors=True)


def sweep_folders(root: Path | None = None) -> list[Path]:
    """Remove the folders of runs that no longer live; returns what was removed."""
    place = root or runs_root()
    if not place.is_dir():
        return []
    with _exclusive(place):
        return _sweep(place)


def is_held(lock_path: Path) -> bool:
    """Whether a living process holds the lock of a run."""
    try:
        with lock_path.open("r+") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except PermissionError:
        return True  # somebody else's: not ours to judge
    except OSError:
        return False
    return False


def _sweep(place: Path) -> list[Path]:
    removed = []
    for folder in place.glob(f"{_PREFIX}*"):
        if not (folder / _KEEP).exists() and not is_held(folder / _LOCK):
            shutil.rmtree(folder, ignore_errors=True)
            removed.append(folder)
    return removed


@contextlib.contextmanager
def _exclusive(place: Path) -> Iterator[None]:
    """A run that is being created has no lock yet: creation and sweeping exclude each other."""
    with (place / "sweep.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
