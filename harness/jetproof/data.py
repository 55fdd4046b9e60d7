"""Where the suites and fixtures are, however Jetproof was installed.

A wheel carries them as `jetproof/_data`. In a checkout, and so in an editable install, which only
points at one, they are the folders next to `harness/`. Nothing else in the package guesses a path.
"""

from __future__ import annotations

from pathlib import Path

from jetproof.errors import JetproofError

_PACKAGE = Path(__file__).resolve().parent


def data_root() -> Path:
    """Return the folder that holds `suites` and `fixtures`."""
    return _find_root(_PACKAGE)


def suites_dir() -> Path:
    """Return the folder of the cases and clause catalogues, one folder a specification."""
    return data_root() / "suites"


def fixtures_dir() -> Path:
    """Return the folder of what cases refer to: schemas, configurations, mutants, error codes."""
    return data_root() / "fixtures"


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
