"""Steps about a client library: calls, what it told, what it put on the wire, and faults."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable

from jetproof import clock
from jetproof.engine.client_pool import Lease
from jetproof.engine.client_side import ClientSide, NotSupported, answer_seen
from jetproof.engine.exchange import Following, judged, several
from jetproof.engine.judge import Seen, merge, summary
from jetproof.engine.nodes import is_role, node_of
from jetproof.engine.play import LATE, CannotGoOn, Play
from jetproof.engine.promises.names import RETURNS
from jetproof.errors import JetproofError, TooSlow
from jetproof.model import client as steps
from jetproof.model.case import Expectation, Step
from jetproof.model.template import render, render_text
from jetproof.model.verdict import Fault
from jetproof.targets.clients.process import Answer, Unanswered
from jetproof.targets.tap import Tap
from jetproof.wire.errors import WireTimeout

CALL_WITHIN = 10.0
SEEN_WITHIN = 3.0
CONNECT_WITHIN = 10.0
TICK = 0.05
GRACE = 5.0  # seconds by which a call may outlast its timeout
USUAL = 5.0  # the longest timeout that libraries have for requests unless told otherwise
USUAL_PULL = 30.0
PULLING = ("fetch", "next", "consume")
SLOW_CONNECT = 1.0  # libraries give up after two seconds or more


@contextlib.asynccontextmanager
async def behind_a_tap(play: Play, lease: Lease) -> AsyncIterator[None]:
    """Gives the case a library: an adapter, and a tap of its own before the server."""
    node = play.case.given.client.node
    # What a node is to the stream is known once there is one: `connect` asks.
    host, port = play.session.reached_at(None if is_role(node) else node)
    async with Tap(host, port, on_frame=lambda event: client.saw(event)) as tap:
        tap.know(play.env)
        client = ClientSide(lease.adapter, tap, play.transcript)
        lease.adapter.on_event = client.heard
        play.client = client
        watch = asyncio.ensure_future(_watch_for_stalls(client))
        try:
            yield
        finally:
            watch.cancel()
            await client.stop()
            # Nothing stands in the way of a library that closes its connection, or restores it.
            tap.clear()
            tap.resume()
            tap.accept()
            await lease.give_back()


async def _watch_for_stalls(client: ClientSide) -> None:
    """Notes how long the tap stood still: a library then heard nothing, through no fault of its own."""
    while True:
        before = clock.now()
        await asyncio.sleep(TICK)
        client.stalled = max(client.stalled, clock.now() - before - TICK)


async def connect(play: Play) -> None:
    """Connects the library through the tap, as the case says."""
    given = play.case.given.client
    if given.node is not None and is_role(given.node):
        side(play).tap.upstream = play.session.reached_at(await node_of(play, given.node))
    if given.connected:
        parameters = {"url": side(play).tap.url, **who(play)}
        parameters.update({name: render(value, play.env) for name, value in given.connect.items()})
        began = clock.now()
        answer = await _returned(side(play).call("connect", parameters, CONNECT_WITHIN))
        if answer is None or answer.kind != "ok":
            told = "no answer" if answer is None else summary(answer_seen(answer))
            taken = clock.now() - began
            if taken > SLOW_CONNECT:  # no rule is in force yet: nothing but the machine delays it
                raise TooSlow(f"the library did not connect in {taken:.1f} s: {told}", phase="play")
            fault = Fault.TIMING if answer is None else Fault.NEVER_RIGHT
            play.check("given", "given.client", False, "the library connects", told, fault)
            raise CannotGoOn


def who(play: Play) -> dict[str, object]:
    """How the library logs in: like the harness, in the account of the case."""
    told = play.session.target.credentials(play.account)
    return {
        name: told[key] for name, key in (("user", "user"), ("password", "pass")) if key in told
    }


def side(play: Play) -> ClientSide:
    if play.client is None:
        raise JetproofError("the case has no client library", phase="play")
    return play.client


async def call(play: Play, step: steps.Call) -> None:
    client = side(play)
    parameters = {name: render(value, play.env) for name, value in step.parameters.items()}
    if step.op == "connect":
        parameters = {"url": client.tap.url, **who(play), **parameters}
    within = (step.within or CALL_WITHIN) * play.factor
    if step.later is not None:
        # However long it takes, the step that asks for the answer says how long that may be.
        waiting = asyncio.ensure_future(client.call(step.op, parameters, play.case.budget * 10))
        client.calls[step.later] = waiting
        await asyncio.sleep(0)
        return
    try:
        answer = await _returned(client.call(step.op, parameters, within))
    except NotSupported as problem:
        if not step.demanded:
            raise
        play.check(step, "answer", False, f"a call for {step.op}", f"none: {problem}")
        return
    _judge_answer(play, step, step.answer or Expectation(), answer, within)


async def answered(play: Play, step: steps.Answered) -> None:
    within = (step.within or CALL_WITHIN) * play.factor
    waiting = side(play).calls[step.call]
    done, _ = await asyncio.wait({waiting}, timeout=within)
    answer = await _returned(waiting) if done else None
    _judge_answer(play, step, step.answer, answer, within)


async def event(play: Play, step: steps.EventStep) -> None:
    client = side(play)

    async def following(timeout: float) -> Seen | None:
        return await client.next_event(step, play.env, timeout)

    if step.none_for is not None:
        seen = await following(step.none_for * play.factor)
        await _must_live(play)
        words = f"no {step.event} for {step.none_for:g} s"
        play.check(step, "event", seen is None, words, None if seen is None else summary(seen))
        return
    await _looked(play, step, "event", following)


async def wire(play: Play, step: steps.Wire) -> None:
    client = side(play)
    if step.none_for is not None:
        seen = await client.next_frame(step.selector, play.env, step.none_for * play.factor)
        if seen is None:
            await _must_live(play)
        words = f"no such frame for {step.none_for:g} s"
        play.check(step, "wire", seen is None, words, None if seen is None else _frame_words(seen))
        return

    async def following(timeout: float) -> Seen | None:
        return await client.next_frame(step.selector, play.env, timeout)

    await _looked(play, step, "wire", following)


async def fired(play: Play, step: steps.Fired) -> None:
    tap, within = side(play).tap, (step.within or SEEN_WITHIN) * play.factor
    with contextlib.suppress(WireTimeout):
        await tap.wait_fired(step.rule, step.times, within)
    count = tap.fired.get(step.rule, 0)
    words = f"the fault {step.rule} happens {step.times} times"
    play.check(step, "fired", count >= step.times, words, f"{count} times", Fault.TIMING)
    if count < step.times:
        side(play).check_calls()
        raise CannotGoOn  # the effect of a fault that did not happen proves nothing


async def tap(play: Play, step: steps.TapStep) -> None:
    tap = side(play).tap
    play.transcript.note("tap", step.verb, ", ".join(step.ids))
    match step.verb:
        case "rules":
            tap.add_rules(step.rules)
        case "remove":
            tap.clear(*step.ids)
        case "cut":
            tap.cut()
        case "refuse":
            tap.refuse()
        case "accept":
            tap.accept()
        case "pause":
            tap.pause()
        case "resume":
            tap.resume()
        case verb:
            raise JetproofError(f"the tap cannot {verb}", phase="play")


async def _looked(play: Play, step: steps.Looked, at: str, following: Following) -> None:
    """One thing, or several, judged as messages are."""

    async def certain(left: float) -> Seen | None:
        """The next, or None when none comes although everybody concerned is there."""
        seen = await following(max(0.0, left))
        if seen is None:
            await _must_live(play)
            seen = await following(LATE * play.factor)
        return seen

    if step.messages is not None:
        await several(play, step, certain, step.messages, at)
        return
    assert step.message is not None
    seen = await certain((step.within or SEEN_WITHIN) * play.factor)
    judged(play, step, step.message, seen, at)


async def _must_live(play: Play) -> None:
    """Silence counts only while server and adapter are there."""
    await play.must_be_alive("main")
    side(play).check_adapter()
    side(play).check_calls()


async def _returned(waiting: Awaitable[Answer]) -> Answer | None:
    """What a call returned; None if it did not, and the adapter is not to blame."""
    try:
        return await waiting
    except Unanswered:
        return None


def _judge_answer(
    play: Play, step: Step, wanted: Expectation, answer: Answer | None, within: float
) -> None:
    if answer is None:
        words = f"an answer within {within:g} s"
        hangs = RETURNS if within >= (_patience(play, step) + GRACE) * play.factor else None
        promise = hangs if hangs in play.promises else None
        play.check(step, "answer", False, words, "none", Fault.TIMING, clause=promise)
        names = [*([wanted.position] if wanted.position else []), *wanted.positions]
        merge(play.positions, dict.fromkeys(names, "no answer"))
        raise CannotGoOn
    judged(play, step, wanted, answer_seen(answer), "answer")


def _patience(play: Play, step: Step) -> float:
    """How long the library was to wait at most, in seconds: what the case says, else the usual."""
    every = [one for one in play.case.all_steps() if isinstance(one, steps.Call)]
    call = step if isinstance(step, steps.Call) else None
    if isinstance(step, steps.Answered):
        call = next((one for one in every if one.later == step.call), None)
    if call is None:
        return float("inf")
    opened = [one for one in every if one.parameters.get("as") == call.parameters.get("of")]
    given = (call.parameters, *(one.parameters for one in opened), play.case.given.client.connect)
    for name in ("timeout_ms", "expires_ms", "ack_timeout_ms"):
        told = [parameters[name] for parameters in given if name in parameters]
        if told:
            return float(render_text(told[0], play.env)) / 1000
    return USUAL_PULL if call.op in PULLING else USUAL


def _frame_words(seen: Seen) -> str:
    return seen.words or f"{seen.subject} {summary(seen)}"
