"""What there is to test: every adapter, whether it is built, and whether it can be built here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jetproof.model.identity import REFERENCE
from jetproof.targets.clients.build import BuildFailed, build_log, is_built, prepare_client
from jetproof.targets.clients.spec import (
    AdapterFolder,
    ClientSpec,
    known_adapters,
    parse_client,
)
from jetproof.targets.clients.toolchain import NotBuildable, check_present, check_toolchain

State = Literal["built", "not built", "n/a", "failed"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A client, and what became of it. `reason` says why one is n/a or failed."""

    name: str
    version: str
    about: str
    state: State
    reason: str = ""
    hint: str = ""
    log: str = ""


def entries(*, cache_dir: Path | None = None) -> Iterator[Entry]:
    """Every client that comes with Jetproof, as this machine has it. Nothing is built."""
    yield _unbuilt(parse_client(REFERENCE))
    with ThreadPoolExecutor() as pool:  # programs are slow to tell their versions
        yield from pool.map(lambda folder: _looked_at(folder, cache_dir), known_adapters().values())


def _looked_at(folder: AdapterFolder, cache_dir: Path | None) -> Entry:
    there = is_built(folder, folder.version, cache_dir=cache_dir)
    try:
        if there:
            check_present(folder)
        else:
            check_toolchain(folder)
    except NotBuildable as missing:
        return _entry(folder, folder.version, "n/a", missing.reason, missing.hint)
    return _entry(folder, folder.version, "built" if there else "not built")


def built(
    spec: ClientSpec,
    *,
    cache_dir: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Entry:
    """A client, built if need be. What cannot be built is told, not raised."""
    folder = spec.folder
    if folder is None:
        return _unbuilt(spec)
    version = spec.version or folder.version
    log = build_log(folder, version, cache_dir=cache_dir)
    try:
        prepare_client(spec, cache_dir=cache_dir, notify=notify)
    except NotBuildable as missing:
        return _entry(folder, version, "n/a", missing.reason, missing.hint)
    except BuildFailed as failed:
        return _entry(folder, version, "failed", failed.message, failed.hint, log)
    return _entry(folder, version, "built", log=log)


def _unbuilt(spec: ClientSpec) -> Entry:
    """A client that needs no build: it runs as it is, or not at all."""
    about = "the reference client of Jetproof" if spec.program is None else str(spec.program)
    try:
        prepare_client(spec)
    except NotBuildable as missing:
        return Entry(spec.name, "", about, "n/a", missing.reason)
    return Entry(spec.name, "", about, "built")


def _entry(
    folder: AdapterFolder,
    version: str,
    state: State,
    reason: str = "",
    hint: str = "",
    log: Path | None = None,
) -> Entry:
    there = str(log) if log is not None and log.exists() else ""
    return Entry(folder.name, version, folder.about, state, reason, hint, there)
