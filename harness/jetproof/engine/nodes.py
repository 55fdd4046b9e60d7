"""Nodes by what they are to a case: by name, or as its stream's leader or a follower."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import Any

from jetproof import clock
from jetproof.engine.play import Play
from jetproof.errors import JetproofError
from jetproof.wire import ConnectionLost

LEADER_WITHIN = 30.0
_ANSWER_WITHIN = 1.0
_POLL = 0.02


_ROLE = re.compile(r"leader|outsider|follower(?:-(\d))?")


def is_role(target: str | None) -> bool:
    """Whether it is what a node is to the case's stream, and no node's name."""
    return target is not None and _ROLE.fullmatch(target) is not None


async def node_of(play: Play, target: str) -> str:
    """A node by its name, or by what it is to the case's stream."""
    role = _ROLE.fullmatch(target)
    if role is None:
        if target not in play.session.target.nodes:
            raise JetproofError(f"the target has no node {target}", phase="play")
        return target
    if len(play.session.target.nodes) == 1:
        return next(iter(play.session.target.nodes))
    group = await _elected(play, play.text(play.env["stream"]))
    if target == "leader":
        return group[0]
    live = play.session.live_nodes()
    if target == "outsider":
        there = [name for name in live if name not in group]
    else:
        there = [name for name in live if name in group[1:]]
    wanted = int(role[1] or 1)
    if len(there) < wanted:
        raise JetproofError(f"the stream has no {target}", phase="play")
    return there[wanted - 1]


def kind_of(name: str) -> str:
    """A consumer is named by its stream and itself; the name of a stream has no dot."""
    return "CONSUMER" if "." in name else "STREAM"


async def leader_of(play: Play, stream: str) -> str | None:
    """Who leads, if anybody says so: while there is no leader nobody may answer."""
    group = await _group_of(play, stream)
    return group[0] if group else None


async def _group_of(play: Play, stream: str) -> list[str]:
    """The nodes that have the stream, its leader first; none while nobody leads."""
    try:
        async with asyncio.timeout(_ANSWER_WITHIN * play.factor):
            subject = f"$JS.API.{kind_of(stream)}.INFO.{stream}"
            info = await play.questions.api(subject)
    except (TimeoutError, ConnectionLost):
        return []
    told: Mapping[str, Any] = info.get("cluster") or {}
    leader = told.get("leader")
    if not isinstance(leader, str) or not leader:
        return []
    return [leader, *(str(other.get("name")) for other in told.get("replicas") or ())]


async def _elected(play: Play, stream: str) -> list[str]:
    """The stream's nodes, waited for: a new stream has no leader yet, nor has one that lost it."""
    deadline = clock.now() + LEADER_WITHIN * play.factor
    while clock.now() < deadline:
        if group := await _group_of(play, stream):
            return group
        await asyncio.sleep(_POLL)
    raise JetproofError(f"the stream {stream} has no leader", phase="play")
