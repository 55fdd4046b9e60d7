"""What was read from the same files before is not read again.

Reading every case and finding every mistake takes a second; the outcome, kept in the cache, a fraction
of it. It is found by a hash of everything it was made of: the files, the code that reads them and the
Python that runs it. Nothing depends on it: a cache that cannot be used is as good as none.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from jetproof.data import cache_root

T = TypeVar("T")

KEPT = 8
_PACKAGE = Path(__file__).resolve().parents[1]
_PARTS = ("load", "model", "wire/rules")
"""The code that reads files, and that of everything that the outcome is made of."""


def remembered(
    what: type[T], files: Iterable[Path], names: Iterable[object], make: Callable[[], T]
) -> T:
    """What `make` gives, or gave when it read the same files; what fails is not kept."""
    folder = cache_root() / "library"
    place = folder / f"{_key(files, names)}.pickle"
    if (found := _read(place, what)) is not None:
        return found
    made = make()
    _write(place, made)
    return made


def _key(files: Iterable[Path], names: Iterable[object]) -> str:
    digest = hashlib.sha256(repr((sys.version, *map(str, names))).encode())
    code = [path for part in _PARTS for path in sorted((_PACKAGE / part).rglob("*.py"))]
    for path in (*files, *code):
        digest.update(f"\0{path}\0".encode() + hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:32]


def _read(place: Path, what: type[T]) -> T | None:
    try:
        told = place.stat()
        # Whoever can write there could make this process do anything.
        if told.st_uid != os.getuid() or told.st_mode & 0o022:
            return None
        found = _unpickled(place.read_bytes())
        os.utime(place)  # what is used stays: `_write` removes what was not used for longest
    except Exception:
        return None
    return found if isinstance(found, what) else None


def _unpickled(data: bytes) -> object:
    """Without the garbage collector, which takes longer than the reading and finds nothing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        return pickle.loads(data)
    finally:
        if collecting:
            gc.enable()


def _write(place: Path, made: object) -> None:
    with contextlib.suppress(OSError, pickle.PicklingError, TypeError, AttributeError):
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=place.parent, suffix=".new", delete=False) as file:
            try:
                pickle.dump(made, file, protocol=5)
            except BaseException:
                os.unlink(file.name)
                raise
        os.replace(file.name, place)
        kept = sorted(place.parent.glob("*.pickle"), key=lambda path: path.stat().st_mtime)
        for old in kept[:-KEPT]:
            old.unlink(missing_ok=True)
