"""A server whose own code gives up: which of the cases that were being played ended it.

A server that panics takes every case of its group along. What others saw proves nothing about them.
The cases that sent something last are the suspects: each is played alone on a fresh server, and one
that ends it again has broken a promise. The others are played together, without the suspects. That is
done a few times at most: what crashes a server only among many has no verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from jetproof.engine.player import Outcome
from jetproof.engine.promises import CLOSING
from jetproof.model.verdict import ALIVE, Check
from jetproof.plan import Group, Item

ROUNDS_MOST: Final = 4
SUSPECTS_MOST: Final = 6
"""So many cases of a group are played alone in each round."""
PATH: Final = "server"


@dataclass(frozen=True, slots=True)
class Victim:
    """An item that lost its server, and how long before that it sent something last."""

    group: Group
    item: Item
    quiet_ms: float


def victim(group: Group, item: Item, outcome: Outcome) -> Victim:
    sent = [frame.ms for frame in outcome.frames if frame.direction == ">"]
    return Victim(group, item, outcome.ms - max(sent) if sent else float("inf"))


def again(victims: Sequence[Victim]) -> list[Group]:
    """How to play the victims: suspects alone, then the others of each group together."""
    by_group: dict[int, list[Victim]] = {}
    for one in victims:
        by_group.setdefault(id(one.group), []).append(one)
    alone: list[Group] = []
    together: list[Group] = []
    for members in by_group.values():
        ranked = sorted(members, key=lambda one: one.quiet_ms)
        suspects, others = ranked[:SUSPECTS_MOST], ranked[SUSPECTS_MOST:]
        alone += [replace(one.group, items=(one.item,)) for one in suspects]
        if others:
            together.append(replace(others[0].group, items=tuple(one.item for one in others)))
    return alone + together


def blamed(outcome: Outcome, crash: str) -> Outcome:
    """A case that had its server for itself, and ended it."""
    check = Check(CLOSING, CLOSING, PATH, False, "goes on", crash, ms=outcome.ms, clause=ALIVE)
    return replace(outcome, checks=(*outcome.checks, check), error=None, disturbed=False)
