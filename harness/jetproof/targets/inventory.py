"""Every version of nats-server that can be tested here, and where each comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from jetproof.data import cache_root
from jetproof.model.versions import Version
from jetproof.targets.go_build import kept_versions
from jetproof.targets.go_versions import Listing, fresh_listing
from jetproof.targets.kept import MEMBER
from jetproof.targets.releases import (
    binary_releases,
    installed_binary,
    known_releases,
    this_platform,
)

Here = Literal["installed", "fetched", "built"]


@dataclass(frozen=True, slots=True)
class Known:
    """One version. `here` is how this machine has it already; empty if it does not.

    `table` is whether the table of releases has it. `new` means that it came after the table was
    made."""

    version: Version
    table: bool
    pypi: bool
    go: bool
    here: tuple[Here, ...]
    new: bool

    @property
    def target(self) -> str:
        """What `--server` takes."""
        return str(self.version) if self.table else f"go:{self.version}"


@dataclass(frozen=True, slots=True)
class Inventory:
    """All versions, oldest first; `at` and `problem` are those of the Go module's listing."""

    versions: tuple[Known, ...]
    at: datetime | None
    problem: str


def take_inventory(*, cache_dir: Path | None = None, offline: bool | None = None) -> Inventory:
    """Look at the table, the Go module and the cache. Blocks while Go is asked."""
    listing = fresh_listing(cache_dir=cache_dir, offline=offline)
    return Inventory(_known(listing, cache_dir), listing.at, listing.problem)


def is_new(version: Version, table: Sequence[Version]) -> bool:
    """Whether a version is later than all that the table has of its line and before.

    The table begins somewhere: a version of a line before that is old, not new."""
    if version in table:
        return False
    before = [known for known in table if known.line == version.line]
    return version > max(before or table)


def _known(listing: Listing, cache_dir: Path | None) -> tuple[Known, ...]:
    table, wheels = known_releases(), frozenset(binary_releases())
    built = kept_versions(cache_dir=cache_dir)
    module = set(listing.versions) | built | (set(table) - wheels)
    folder = (cache_dir or cache_root()).absolute() / "servers" / this_platform()
    rows = []
    for version in sorted({*table, *module}):
        here: list[Here] = []
        if version in wheels and installed_binary(version) is not None:
            here.append("installed")
        if version in wheels and (folder / str(version) / MEMBER).is_file():
            here.append("fetched")
        if version in built:
            here.append("built")
        rows.append(
            Known(
                version,
                table=version in table,
                pypi=version in wheels,
                go=version in module,
                here=tuple(here),
                new=is_new(version, table),
            )
        )
    return tuple(rows)
