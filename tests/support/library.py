"""The library of Jetproof's own suites, read once per process of tests."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jetproof.data import cache_root
from jetproof.load import cache


@pytest.fixture(scope="session", autouse=True)
def library_is_read_once() -> Iterator[None]:
    """Commands in this process share the library, which cannot be changed.

    The key of a kept library is made of everything it was read from, so that a change is seen here
    too. Tests with a cache of their own are left alone."""
    folder, read = cache_root() / "library", cache._read
    found: dict[Path, Any] = {}

    def once(place: Path, what: type[Any]) -> Any:
        if place.parent != folder or place not in found:
            library = read(place, what)
            if library is None or place.parent != folder:
                return library
            found[place] = library
            gc.freeze()  # what stays needs no search for garbage
        return found[place]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache, "_read", once)
        yield
