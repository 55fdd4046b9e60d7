"""Plays one case on one target and says how it went."""

from __future__ import annotations

import asyncio
import contextlib
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jetproof.engine import actions, exchange, laws, observations
from jetproof.engine.play import CannotGoOn, Play
from jetproof.engine.setup import prepare
from jetproof.errors import JetproofError
from jetproof.model import case as steps
from jetproof.model.matching import MISSING, mismatch
from jetproof.model.template import TemplateError, UnknownVariable
from jetproof.model.verdict import Check, FrameRecord
from jetproof.wire import ConnectionLost, WireTimeout

Handler = Callable[[Play, Any], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What playing a case left. `error` says why there is no verdict, if there is none."""

    checks: Sequence[Check]
    frames: Sequence[FrameRecord]
    positions: Mapping[str, str]
    ms: float
    error: str | None = None


async def play_case(play: Play) -> Outcome:
    """Plays the case within its budget. Whatever goes wrong becomes part of the outcome."""
    task = asyncio.ensure_future(_play(play))
    forget = play.session.watch(play.token, play.advise)
    error: str | None = None
    budget = play.case.budget * play.factor
    try:
        with play.running_as(task):
            if play.session.dead:
                play.abort(play.session.dead)
            async with asyncio.timeout(budget):
                await task
    except TimeoutError:
        error = f"it exceeded its budget of {budget:g} s at step {play.transcript.step or 'given'}"
    except asyncio.CancelledError:
        if play.broken is None:
            await _stop(task)
            await _leave(play)
            raise
        error = play.broken
    except CannotGoOn:
        error = play.broken
    except (ConnectionLost, WireTimeout) as problem:
        error = play.broken or f"step {play.transcript.step or 'given'}: {problem}"
    except UnknownVariable as problem:
        if not play.failed:
            error = f"step {play.transcript.step}: {problem}"
    except (JetproofError, TemplateError) as problem:
        error = f"step {play.transcript.step or 'given'}: {problem}"
    except Exception as bug:
        where = traceback.extract_tb(bug.__traceback__)[-1]
        error = (
            f"step {play.transcript.step or 'given'}: this is a bug in jetproof: "
            f"{type(bug).__name__}: {bug} ({where.name}, line {where.lineno})"
        )
    finally:
        forget()
    await _stop(task)
    ms = play.transcript.ms()
    await _leave(play)
    return Outcome(play.checks, play.transcript.frames, play.positions, ms, error)


async def _play(play: Play) -> None:
    play.transcript.step = "given"
    await prepare(play)
    await play_steps(play, play.case.steps)


async def play_steps(play: Play, sequence: Sequence[steps.Step]) -> None:
    for step in sequence:
        play.transcript.step = step.name
        if step.mark is not None:
            play.marks[step.mark] = asyncio.get_running_loop().time()
        await _HANDLERS[type(step)](play, step)


async def repeat(play: Play, step: steps.Repeat) -> None:
    first, times = int(play.text(step.start)), int(play.text(step.times))
    for number in range(first, first + times):
        play.env[step.variable] = number
        play.iteration.append(f"{step.variable}={number}")
        await play_steps(play, step.steps)
        play.iteration.pop()


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
    play.check(step, "loop", False, f"an end within {step.most} rounds", "none")


_HANDLERS: Mapping[type[steps.Step], Handler] = {
    steps.Publish: exchange.publish,
    steps.Request: exchange.request,
    steps.Subscribe: exchange.subscribe,
    steps.Receive: exchange.receive,
    steps.Quiet: exchange.silence,
    steps.StreamState: observations.stream,
    steps.Stored: observations.stored,
    steps.Advisory: observations.advisory,
    steps.Repeat: repeat,
    steps.Loop: loop,
    steps.Action: actions.action,
    steps.Law: laws.law,
}


async def _stop(task: asyncio.Future[None]) -> None:
    task.cancel()
    with contextlib.suppress(BaseException):
        await task


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
