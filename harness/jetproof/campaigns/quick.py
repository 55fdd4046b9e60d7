"""The quick selection: what can be played on every pull request.

It leaves out cases that start a cluster of their own, and cases on one server that declare more than the
usual time. Both are facts of a case and not its name, so that new cases find their place by themselves.
Cases that share a cluster stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.errors import JetproofError
from jetproof.model.topology import TOPOLOGIES
from jetproof.plan import Item

USUAL_SECONDS = 15.0


def quick(items: Sequence[Item]) -> tuple[tuple[Item, ...], tuple[str, ...]]:
    """The items that are quick, and in words what was left out."""
    kept, own, slow = [], 0, 0
    for item in items:
        given = item.case.given
        servers = len(TOPOLOGIES[given.topology].nodes)
        if servers > 1 and given.isolation == "server":
            own += 1
        elif servers == 1 and item.case.budget > USUAL_SECONDS:
            slow += 1
        else:
            kept.append(item)
    words = []
    if own:
        words.append(f"{own} cases that start a cluster of their own")
    if slow:
        words.append(f"{slow} cases with a time budget above {USUAL_SECONDS:g} s")
    if not kept:
        raise JetproofError(
            f"--quick leaves out all {len(items)} cases: {'; '.join(words)}",
            phase="plan",
            hint="leave out --quick, or select more cases",
        )
    return tuple(kept), tuple(words)
