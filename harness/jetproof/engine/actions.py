"""Steps that do something to the servers. A planned death is not an error."""

from __future__ import annotations

import asyncio

from jetproof import clock
from jetproof.engine.nodes import LEADER_WITHIN, kind_of, leader_of, node_of
from jetproof.engine.play import Play
from jetproof.engine.setup import connect, reached_again
from jetproof.errors import JetproofError
from jetproof.model.case import Action
from jetproof.wire import ConnectionLost, WireTimeout

ASK_AGAIN = 1.0


async def action(play: Play, step: Action) -> None:
    if step.verb == "stepdown":
        to = None if step.to is None else await node_of(play, play.text(step.to))
        await _stepdown(play, play.text(step.target), to)
        return
    if step.verb in ("cut", "mend"):
        link = play.text(step.target)
        play.transcript.note("harness", step.verb, link)
        await getattr(play.session.target, step.verb)(link)
    else:
        node = await node_of(play, play.text(step.target))
        await _do(play, step.verb, node, step.release)
        if step.then is not None:
            await _do(play, step.then, node, step.release)
    for name in step.reconnect:
        await play.detach(name)
        await connect(play, name)
        play.transcript.note(name, "reconnected", "")


async def _stepdown(play: Play, stream: str, to: str | None) -> None:
    """Asks the leader to step down, again if need be, until another one, or this one, leads."""
    deadline = clock.now() + LEADER_WITHIN * play.factor
    before: str | None = None
    ask_at = 0.0
    said: object = None
    while clock.now() < deadline:
        now = await leader_of(play, stream)
        before = before or now
        if now is not None and (now == to if to else now != before):
            play.transcript.note("harness", "leader", f"{stream}: {now} is the leader")
            await reached_again(play, stream)
            return
        if now is not None and clock.now() >= ask_at:
            said = await _ask_to_step_down(play, stream, to)
            play.transcript.note("harness", "stepdown", f"{stream}: {now} was the leader: {said}")
            ask_at = clock.now() + ASK_AGAIN * play.factor
        await asyncio.sleep(0.02)
    raise JetproofError(
        f"{to or 'another node'} did not become the leader of {stream}: {said}", phase="play"
    )


async def _ask_to_step_down(play: Play, stream: str, to: str | None) -> object:
    wish = None if to is None else {"placement": {"preferred": to}}
    subject = f"$JS.API.{kind_of(stream)}.LEADER.STEPDOWN.{stream}"
    try:
        answer = await play.questions.api(subject, wish)
    except (WireTimeout, ConnectionLost) as problem:
        return str(problem)
    return answer.get("error") or "it will"


async def _do(play: Play, verb: str, node: str, named: str | None) -> None:
    session = play.session
    if verb in ("stop", "kill", "restart", "pause"):
        await session.expect_loss(node)
    if verb in ("start", "restart"):
        release = None if named is None else session.release(named)
        play.transcript.note("harness", verb, f"{node} as {named}" if named else node)
        await getattr(session.target, verb)(node, release)
        if release == "own":
            session.foreign.discard(node)
        elif release is not None:
            session.foreign.add(node)
    else:
        play.transcript.note("harness", verb, node)
        await getattr(session.target, verb)(node)
    if verb in ("start", "restart", "resume"):
        await session.returned(node)
