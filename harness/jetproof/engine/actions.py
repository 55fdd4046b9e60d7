"""Steps that do something to the servers. A planned death is not an error."""

from __future__ import annotations

import asyncio
import time

from jetproof.engine.nodes import leader_of, node_of
from jetproof.engine.play import Play
from jetproof.engine.setup import connect
from jetproof.errors import JetproofError
from jetproof.model.case import Action
from jetproof.wire import ConnectionLost, WireTimeout

LEADER_WITHIN = 15.0


async def action(play: Play, step: Action) -> None:
    if step.verb == "stepdown":
        await _stepdown(play, play.text(step.target))
        return
    node = await node_of(play, play.text(step.target))
    await _do(play, step.verb, node)
    if step.then is not None:
        await _do(play, step.then, node)
    for name in step.reconnect:
        await play.detach(name)
        await connect(play, name)
        play.transcript.note(name, "reconnected", "")


async def _stepdown(play: Play, stream: str) -> None:
    """Asks the leader to step down, and waits until another one is known."""
    before = await leader_of(play, stream)
    answer = await play.session.api(
        f"$JS.API.STREAM.LEADER.STEPDOWN.{stream}", account=play.account
    )
    play.transcript.note("harness", "stepdown", f"{stream}: {before} was the leader")
    if not answer.get("success"):
        raise JetproofError(f"the leader of {stream} did not step down: {answer}", phase="play")
    deadline = time.monotonic() + LEADER_WITHIN * play.factor
    while time.monotonic() < deadline:
        try:
            now = await leader_of(play, stream)
        except (WireTimeout, ConnectionLost):
            now = None
        if now is not None and now != before:
            play.transcript.note("harness", "leader", f"{stream}: {now} is the leader")
            return
        await asyncio.sleep(0.02)
    raise JetproofError(f"no new leader of {stream} was elected", phase="play")


async def _do(play: Play, verb: str, node: str) -> None:
    session = play.session
    play.transcript.note("harness", verb, node)
    if verb in ("stop", "kill", "restart", "pause"):
        await session.expect_loss(node)
    await getattr(session.target, verb)(node)
    if verb in ("start", "restart", "resume"):
        await session.returned(node)
