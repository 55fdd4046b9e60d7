"""Which revision of a text a client library is held to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

InForce = TypeVar("InForce", int, int | None)


def held_revision(claims: Mapping[str, int], spec: str, in_force: InForce) -> InForce:
    """The revision that the library claims, or the text in force if it claims none.

    None if neither is known."""
    return claims.get(spec, in_force)


def is_held_to(claims: Mapping[str, int], spec: str, in_force: int | None, revision: int) -> bool:
    """Whether the library answers for cells of this revision. It answers for all if no revision is known."""
    return held_revision(claims, spec, in_force) in (None, revision)
