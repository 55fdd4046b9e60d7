"""Nodes by what they are to a case: by name, or as its stream's leader or a follower."""

from __future__ import annotations

import asyncio
import time

from jetproof.engine.play import Play
from jetproof.errors import JetproofError
from jetproof.wire import ConnectionLost

LEADER_WITHIN = 30.0
_ANSWER_WITHIN = 1.0
_POLL = 0.02


async def node_of(play: Play, target: str) -> str:
    """A node by its name, or by what it is to the case's stream."""
    if target not in ("leader", "follower"):
        if target not in play.session.target.nodes:
            raise JetproofError(f"the target has no node {target}", phase="play")
        return target
    if len(play.session.target.nodes) == 1:
        return next(iter(play.session.target.nodes))
    leader = await _elected(play, play.text(play.env["stream"]))
    if target == "leader":
        return leader
    return next(name for name in play.session.live_nodes() if name != leader)


async def leader_of(play: Play, stream: str) -> str | None:
    """Who leads, if anybody says so: while there is no leader nobody may answer."""
    try:
        async with asyncio.timeout(_ANSWER_WITHIN * play.factor):
            info = await play.session.api(f"$JS.API.STREAM.INFO.{stream}", account=play.account)
    except (TimeoutError, ConnectionLost):
        return None
    leader = (info.get("cluster") or {}).get("leader")
    return leader if isinstance(leader, str) and leader else None


async def _elected(play: Play, stream: str) -> str:
    """The leader, waited for: a new stream has none yet, nor has one whose leader went."""
    deadline = time.monotonic() + LEADER_WITHIN * play.factor
    while time.monotonic() < deadline:
        leader = await leader_of(play, stream)
        if leader is not None:
            return leader
        await asyncio.sleep(_POLL)
    raise JetproofError(f"the stream {stream} has no leader", phase="play")
