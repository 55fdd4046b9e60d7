"""The quick selection: what can be played on every pull request.

It leaves out what waits long, and what starts more than one server. Both are chosen by facts of a case
and not by its name, so that new cases find their place by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.model.topology import TOPOLOGIES
from jetproof.plan import Item

LONGEST_SECONDS = 8.0


def quick(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """The items that are quick, and in words what was left out."""
    many = [item for item in items if len(TOPOLOGIES[item.case.given.topology].nodes) > 1]
    slow = [item for item in items if item.case.budget > LONGEST_SECONDS and item not in many]
    left = {id(item) for item in (*many, *slow)}
    words = []
    if many:
        words.append(f"{len(many)} cases that need more than one server")
    if slow:
        words.append(f"{len(slow)} cases that may take more than {LONGEST_SECONDS:g} s")
    return tuple(item for item in items if id(item) not in left), tuple(words)
