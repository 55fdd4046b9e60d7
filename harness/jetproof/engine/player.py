"""Plays one case on one target and says how it went."""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jetproof import clock
from jetproof.engine import actions, client_steps, exchange, laws, observations, promises
from jetproof.engine.client_side import NotSupported
from jetproof.engine.documents import cut
from jetproof.engine.elections import uncalled_for
from jetproof.engine.play import GIVEN, MOST, CannotGoOn, Play
from jetproof.engine.promises.refusals import changes_nothing
from jetproof.engine.setup import prepare
from jetproof.errors import JetproofError, TooSlow
from jetproof.model import case as steps
from jetproof.model import client
from jetproof.model.matching import MISSING, mismatch
from jetproof.model.template import (
    Scalar,
    TemplateError,
    UnknownVariable,
    render,
    scalar,
    text_of,
)
from jetproof.model.verdict import Check, Fault, FrameRecord, Question
from jetproof.wire import ConnectionLost, ConnectTimeout, WireTimeout

STALL = 0.4
MOST_AT_ONCE = 10_000
Player = Callable[[Play, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What playing a case left. `error` says why there is no verdict, if there is none.

    With `disturbed` the machine is why: too slow, or so busy that a leader changed by itself. The
    case may get its verdict when there is less to do.
    """

    checks: Sequence[Check]
    frames: Sequence[FrameRecord]
    positions: Mapping[str, str]
    ms: float
    error: str | None = None
    disturbed: bool = False
    unsupported: str | None = None
    """What a client library has no call for, so that the case does not apply to it."""
    questions: Sequence[Question] = ()
    """What the engine itself asked meanwhile."""


async def play_case(play: Play) -> Outcome:
    """Plays the case within its budget. Whatever goes wrong becomes part of the outcome."""
    task = asyncio.ensure_future(_play(play))
    forget = play.session.watch(play.token, play.advise)
    error: str | None = None
    unsupported: str | None = None
    disturbed = False
    budget = play.case.budget * play.factor
    try:
        with play.running_as(task):
            if play.session.dead:
                play.abort(play.session.dead)
            async with asyncio.timeout(budget):
                await task
    except asyncio.CancelledError:
        if play.broken is None:
            await _stop(task)
            await _leave(play)
            raise
        error = play.broken
    except CannotGoOn:
        error = play.broken
    except NotSupported as problem:
        unsupported = play.generic(str(problem))
    except Exception as problem:
        if isinstance(problem, TimeoutError) and not isinstance(problem, WireTimeout):
            error = f"step {play.where}: it exceeded its budget of {budget:g} s"
            disturbed = True
        else:
            error = play.broken or await _told(play, problem)
            disturbed = isinstance(problem, (TooSlow, ConnectTimeout))
    finally:
        forget()
    await _stop(task)
    ms = play.transcript.ms()
    if error is None and (play.failed or play.positions):
        error = (uncalled_for(play) if play.failed else None) or _stalled(play)
        disturbed = error is not None
    if error is not None and play.connection_lost:
        error = await play.session.epitaph() or error
    await _leave(play)
    told = error and play.generic(error)
    return Outcome(
        play.checks,
        play.transcript.frames,
        play.positions,
        ms,
        told,
        disturbed,
        unsupported,
        play.transcript.questions,
    )


def _stalled(play: Play) -> str | None:
    """Why what was seen of a client library proves nothing: the tap stood still, and all with it.

    Heartbeats and timeouts of a library are of the order of a second, and no factor stretches them.
    """
    stalled = 0.0 if play.client is None else play.client.stalled
    if stalled < STALL:
        return None
    return f"this machine was so busy that the tap stood still for {stalled:.1f} s"


async def _told(play: Play, problem: Exception) -> str | None:
    """Why a problem leaves the case without a verdict; None if it is the server's failure."""
    match problem:
        case ConnectionLost():
            # The server closed a connection of the case's own, and is there for others.
            closed = [line for line in play.lines.values() if line.closed_by_server]
            if closed and await play.questions.answers():
                reason = closed[0].connection.close_reason
                play.check(play.step, "connection", False, f"{closed[0].name} stays open", reason)
                return None
        case UnknownVariable() if play.failed:
            return None  # the capture that should have set it is among the failed checks
        case TemplateError() if play.captured:
            # What the server said and the case captured is of no use where it is needed.
            words = "captured values that the step can use"
            play.check(play.step, "variables", False, words, str(problem))
            return None
        case JetproofError() | UnknownVariable() | TemplateError():
            pass
        case _:
            at = traceback.extract_tb(problem.__traceback__)[-1]
            return (
                f"step {play.where}: this is a bug in jetproof: "
                f"{type(problem).__name__}: {problem} ({at.name}, line {at.lineno})"
            )
    told = problem.message if isinstance(problem, JetproofError) else str(problem)
    return f"step {play.where}: {told}"


async def _play(play: Play) -> None:
    play.transcript.step = GIVEN
    await prepare(play)
    if play.client is not None:
        await client_steps.connect(play)
    await play_steps(play, play.case.steps)
    await promises.close(play, play.promises)


async def play_steps(play: Play, sequence: Sequence[steps.Step]) -> None:
    for step in sequence:
        play.step = step
        play.transcript.step = step.name
        if step.mark is not None:
            play.marks[step.mark] = clock.now()
        await PLAYERS[type(step)](play, step)


async def request(play: Play, step: steps.Request) -> None:
    async with changes_nothing(play, step) as replies:
        replies.append(await exchange.request(play, step))


async def repeat(play: Play, step: steps.Repeat) -> None:
    most = MOST_AT_ONCE if step.at_once else MOST
    first, times = play.whole(step.start), play.whole(step.times, most=most)
    if step.at_once:
        await _at_once(
            play,
            [
                (f"{step.variable}={number}", {step.variable: number}, step.steps)
                for number in range(first, first + times)
            ],
        )
        return
    for number in range(first, first + times):
        play.env[step.variable] = number
        play.iteration.append(f"{step.variable}={number}")
        if number % 32 == 0:
            await asyncio.sleep(0)  # publishes alone would let neither other cases nor budgets in
        await play_steps(play, step.steps)
        play.iteration.pop()


async def for_each(play: Play, step: steps.ForEach) -> None:
    rounds: list[tuple[str, dict[str, Scalar]]] = []
    for value in step.values:
        taken = {
            name: scalar(render(part, play.env))
            for name, part in zip(step.variables, value, strict=True)
        }
        told = ",".join(f"{name}={cut(text_of(one), 60)}" for name, one in taken.items())
        rounds.append((play.generic(told), taken))
    if step.at_once:
        await _at_once(play, [(name, taken, step.steps) for name, taken in rounds])
        return
    for name, taken in rounds:
        play.env.update(taken)
        play.iteration.append(name)
        await play_steps(play, step.steps)
        play.iteration.pop()


async def together(play: Play, step: steps.Together) -> None:
    await _at_once(play, [(name, {}, inner) for name, inner in step.branches.items()])


async def _at_once(
    play: Play, branches: Sequence[tuple[str, Mapping[str, Scalar], Sequence[steps.Step]]]
) -> None:
    """Plays branches side by side; what they captured is known afterwards."""
    before = dict(play.env)
    plays = [play.branch(name, variables) for name, variables, _ in branches]
    tasks = [
        asyncio.ensure_future(play_steps(own, inner))
        for own, (_, _, inner) in zip(plays, branches, strict=True)
    ]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            await _stop(task)
    for own, (_, variables, _) in zip(plays, branches, strict=True):
        play.env.update(
            (name, value)
            for name, value in own.env.items()
            if name not in variables and (name not in before or before[name] != value)
        )


async def loop(play: Play, step: steps.Loop) -> None:
    for number in range(1, step.most + 1):
        play.iteration.append(f"round {number}")
        await play_steps(play, step.steps)
        play.iteration.pop()
        if all(
            mismatch(matcher, play.env.get(name, MISSING), play.env) is None
            for name, matcher in step.until.items()
        ):
            play.check(step, "loop", True, f"an end within {step.most} rounds")
            return
    play.check(step, "loop", False, f"an end within {step.most} rounds", "none", Fault.TIMING)


PLAYERS: Mapping[type[steps.Step], Player] = {
    steps.Publish: exchange.publish,
    steps.Request: request,
    steps.Subscribe: exchange.subscribe,
    steps.Unsubscribe: exchange.unsubscribe,
    steps.Receive: exchange.receive,
    steps.Quiet: exchange.silence,
    steps.StreamState: observations.stream,
    steps.ConsumerState: observations.consumer,
    steps.Stored: observations.stored,
    steps.Advisory: observations.advisory,
    steps.Repeat: repeat,
    steps.ForEach: for_each,
    steps.Loop: loop,
    steps.Together: together,
    steps.Action: actions.action,
    steps.Law: laws.law,
    client.Call: client_steps.call,
    client.Answered: client_steps.answered,
    client.EventStep: client_steps.event,
    client.Wire: client_steps.wire,
    client.Fired: client_steps.fired,
    client.TapStep: client_steps.tap,
}


async def _stop(task: asyncio.Future[None]) -> None:
    if not task.done():  # waiting for a task that has ended costs a turn of a busy loop
        task.cancel()
        await asyncio.wait({task})
    if not task.cancelled():
        task.exception()  # it has been told, or is of no more interest


async def _leave(play: Play) -> None:
    """Gives back what the case had: connections, and its streams, best effort."""
    main = play.lines.get("main")
    if main is not None and not main.connection.closed:
        for name, _ in play.case.given.streams:
            with contextlib.suppress(JetproofError):
                main.connection.publish(f"$JS.API.STREAM.DELETE.{play.env[name]}")
    for name in list(play.lines):
        with contextlib.suppress(JetproofError, OSError):
            await play.detach(name)
