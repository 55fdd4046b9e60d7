"""Cases that a busy machine disturbed are played once more when the rest is done, with less to do.

Cases of servers alone, one after the other. Those of a client library share a server, a few at a time: they
spend their seconds waiting for a library's timers, and one by one would take longer than all the rest did.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from jetproof.plan import Group

AT_ONCE: Final = 6


def together(groups: Iterable[Group]) -> Iterator[Group]:
    """The groups in their order, those of a library that can share a server as one."""
    shared: dict[tuple[str, str, str, str], Group] = {}
    for group in groups:
        if group.alone or group.client is None:
            yield group
            continue
        key = (group.target.name, group.configuration, group.topology, group.client.name)
        before = shared.get(key)
        items = group.items if before is None else (*before.items, *group.items)
        shared[key] = replace(group, items=items)
    yield from shared.values()
