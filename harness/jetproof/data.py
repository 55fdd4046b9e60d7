"""Where the suites and fixtures are, however Jetproof was installed.

A wheel carries them as `jetproof/_data`. In a checkout, and so in an editable install, which only
points at one, they are the folders next to `harness/`. Nothing else in the package guesses a path.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from jetproof.errors import JetproofError

_PACKAGE = Path(__file__).resolve().parent
_FRONTS = ("_data", "cli", "pytest_plugin", "results", "sinks")


def data_root() -> Path:
    """Return the folder that holds `suites` and `fixtures`."""
    return _find_root(_PACKAGE)


def suites_dir() -> Path:
    """Return the folder of the cases and clause catalogues, one folder a specification."""
    return data_root() / "suites"


def fixtures_dir() -> Path:
    """Return the folder of what cases refer to: schemas, configurations, mutants, error codes."""
    return data_root() / "fixtures"


def adapters_dir() -> Path:
    """Return the folder of the adapters, one folder a client library."""
    return data_root() / "adapters"


def cache_root() -> Path:
    """`$JETPROOF_CACHE`, else the folder where this platform keeps caches."""
    if given := os.environ.get("JETPROOF_CACHE"):
        return Path(given).expanduser()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "jetproof"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "jetproof"


def harness_hash() -> str:
    """Hash of what plays and judges cases beside the cases themselves: code, fixtures, ledger.

    Two runs with equal hashes judge alike; the fronts, which only show verdicts, do not count.
    """
    found = hashlib.sha256()
    for name, path in _judging():
        found.update(f"{name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def _judging() -> Iterator[tuple[str, Path]]:
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE)
        if name.parts[0] not in _FRONTS:
            yield name.as_posix(), path
    root = data_root()
    files = [root / "fixtures" / "errors.yaml", root / "suites" / "deviations.yaml"]
    for folder in ("servers", "schemas/wire"):
        files += sorted((root / "fixtures" / folder).rglob("*.*"))
    for path in files:
        if path.is_file():
            yield path.relative_to(root).as_posix(), path


def _find_root(package: Path) -> Path:
    packed, checkout = package / "_data", package.parent.parent
    for root in (packed, checkout):
        if (root / "suites").is_dir() and (root / "fixtures").is_dir():
            return root
    raise JetproofError(
        f"no suites and fixtures found: neither in {packed} nor in {checkout}",
        phase="load",
        hint="The installation is incomplete: install jetproof again, or run from a full checkout.",
    )
