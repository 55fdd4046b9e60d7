"""Nodes by what they are to a case: by name, or as its stream's leader or a follower."""

from __future__ import annotations

from jetproof.engine.play import Play
from jetproof.errors import JetproofError


async def node_of(play: Play, target: str) -> str:
    """A node by its name, or by what it is to the case's stream."""
    if target not in ("leader", "follower"):
        if target not in play.session.target.nodes:
            raise JetproofError(f"the target has no node {target}", phase="play")
        return target
    if len(play.session.target.nodes) == 1:
        return next(iter(play.session.target.nodes))
    leader = await leader_of(play, play.text(play.env["stream"]))
    if leader is None:
        raise JetproofError("the stream has no leader", phase="play")
    if target == "leader":
        return leader
    return next(name for name in play.session.live_nodes() if name != leader)


async def leader_of(play: Play, stream: str) -> str | None:
    info = await play.session.api(f"$JS.API.STREAM.INFO.{stream}", account=play.account)
    leader = (info.get("cluster") or {}).get("leader")
    return leader if isinstance(leader, str) and leader else None
