"""Steps that look: stream and consumer info, stored messages, advisories."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping

from jetproof import clock
from jetproof.engine.documents import cut
from jetproof.engine.exchange import judged
from jetproof.engine.judge import (
    Judgement,
    Seen,
    is_position_only,
    merge,
    position_text,
    shown,
    summary,
)
from jetproof.engine.play import ADVISORY_WITHIN, LATE, Play
from jetproof.model.case import Advisory, ConsumerState, Expectation, Stored, StreamState
from jetproof.model.matching import MISSING, at_path, describe, mismatch
from jetproof.model.verdict import Fault
from jetproof.wire import Headers

POLL = 0.03
SETTLED = 1.0  # seconds for which a state is looked at again before it counts as settled
NO_MESSAGE = 10037
NO_CONSUMER = 10014


async def stream(play: Play, step: StreamState) -> None:
    await _looked(play, step, f"$JS.API.STREAM.INFO.{play.text(step.of)}")


async def consumer(play: Play, step: ConsumerState) -> None:
    stream, name = play.text(step.of), play.text(step.consumer)
    await _looked(play, step, f"$JS.API.CONSUMER.INFO.{stream}.{name}")


async def _looked(play: Play, step: StreamState | ConsumerState, subject: str) -> None:
    """Asks once, or again and again while there is time for the state to be reached."""
    deadline = clock.now() + (step.within or 0.0) * play.factor
    while True:
        answer = await play.asked(subject, None, connection=step.connection)
        judgement = _judged(play, step, answer)
        if judgement.ok or clock.now() >= deadline:
            break
        await asyncio.sleep(POLL)
    if not judgement.ok and step.within is not None and await _reached(play, step, subject):
        judgement.late()
    play.found(step, judgement)


async def _reached(play: Play, step: StreamState | ConsumerState, subject: str) -> bool:
    """Whether a state that was due is there a moment later; if not, it has settled wrong."""
    deadline = clock.now() + SETTLED * play.factor
    while clock.now() < deadline:
        await asyncio.sleep(POLL)
        answer = await play.asked(subject, None, connection=step.connection)
        if _judged(play, step, answer).ok:
            return True
    return False


async def stored(play: Play, step: Stored) -> None:
    name = play.text(step.of)
    asked: dict[str, object] = (
        {"seq": play.whole(step.seq, most=2**63)}
        if step.seq is not None
        else {"last_by_subj": play.text(step.last_by_subject)}
    )
    answer = await play.asked(f"$JS.API.STREAM.MSG.GET.{name}", asked, connection=step.connection)
    message = None if answer is None else message_of(answer)
    fault = Fault.TIMING if answer is None else Fault.NEVER_RIGHT
    if step.absent:
        gone = answer is not None and at_path(answer.document, "error.err_code") == NO_MESSAGE
        got = "a message" if message else summary(answer) if answer else "no reply"
        play.check(step, "stored", gone, "no message", got, fault)
    elif message is None:
        got = "no reply" if answer is None else summary(answer)
        _not_there(play, step.message, got)
        if not is_position_only(step.message):
            play.check(step, "stored", False, "a message", got, fault)
    else:
        judged(play, step, step.message, message, "stored")


async def advisory(play: Play, step: Advisory) -> None:
    subject = f"$JS.EVENT.ADVISORY.{step.event}.{play.text(step.of)}"
    if step.none_for is not None:
        seen = await _advised(play, subject, step.none_for)
        words = f"no advisory for {step.none_for:g} s"
        if seen is None:
            await play.questions.must_hear()
        play.check(step, "advisory", seen is None, words, seen and _kind(seen))
        return
    assert step.message is not None
    seen = await _advised(play, subject, step.within or ADVISORY_WITHIN)
    if seen is None:
        await play.questions.must_hear()
        await play.questions.catch_up()
        seen = await _advised(play, subject, LATE)
    if seen is None:
        _not_there(play, step.message, "none")
        if not is_position_only(step.message):
            words = f"an advisory {step.event}"
            play.check(step, "advisory", False, words, "none", Fault.TIMING)
    else:
        judged(play, step, step.message, seen, "advisory")


def _judged(play: Play, step: StreamState | ConsumerState, answer: Seen | None) -> Judgement:
    if isinstance(step, ConsumerState) and step.absent:
        return _judge_absence(answer)
    return _judge_state(play, step, answer)


def _judge_absence(answer: Seen | None) -> Judgement:
    judgement = Judgement()
    gone = answer is not None and at_path(answer.document, "error.err_code") == NO_CONSUMER
    got = "no reply" if answer is None else summary(answer)
    fault = Fault.TIMING if answer is None else Fault.NEVER_RIGHT
    judgement.add("consumer", None if gone else "no consumer", got, "no consumer", fault)
    return judgement


def _judge_state(play: Play, step: StreamState | ConsumerState, answer: Seen | None) -> Judgement:
    judgement = Judgement()
    document = MISSING if answer is None else answer.document
    if not isinstance(document, Mapping) or "error" in document or "config" not in document:
        got = "no reply" if answer is None else summary(answer)
        fault = Fault.TIMING if answer is None else Fault.NEVER_RIGHT
        judgement.add(step.kind, f"{step.kind} info", got, "", fault)
        judgement.positions.update(dict.fromkeys(step.position, got))
        return judgement
    for path, matcher in step.fields.items():
        actual = at_path(document, path)
        missed = mismatch(matcher, actual, play.env)
        shown_path = path.removeprefix("state.")
        judgement.add(f"{step.kind}.{shown_path}", missed, actual, describe(matcher, play.env))
    for name, path in step.capture.items():
        value = at_path(document, path)
        if isinstance(value, (str, int, float)):
            judgement.captures[name] = value
        else:
            judgement.add(f"{step.kind}.{path}", f"a value to keep as ${name}", shown(value), "")
    for name, path in step.position.items():
        judgement.positions[name] = position_text(at_path(document, path))
    return judgement


def _kind(advisory: Seen) -> str:
    reason = at_path(advisory.document, "reason")
    return summary(advisory) + (f": {cut(reason)}" if isinstance(reason, str) else "")


def _not_there(play: Play, wanted: Expectation, got: str) -> None:
    """What is missing is a position as well, where one is asked for."""
    names = [*([wanted.position] if wanted.position else []), *wanted.positions]
    merge(play.positions, dict.fromkeys(names, got))


async def _advised(play: Play, subject: str, seconds: float) -> Seen | None:
    deadline = clock.now() + seconds * play.factor
    while True:
        for seen in play.advisories:
            if seen.subject == subject:
                play.advisories.remove(seen)
                return seen
        play.advised.clear()
        left = deadline - clock.now()
        if left <= 0:
            return None
        try:
            async with asyncio.timeout(left):
                await play.advised.wait()
        except TimeoutError:
            return None


def message_of(answer: Seen) -> Seen | None:
    """The message inside a message get's reply, as if it had come off the wire."""
    message = at_path(answer.document, "message")
    if not isinstance(message, Mapping):
        return None
    try:
        block = base64.b64decode(str(message.get("hdrs", "")))
        payload = base64.b64decode(str(message.get("data", "")))
    except binascii.Error:
        return None
    headers = Headers.from_raw(block) if block else None
    return Seen(str(message.get("subject", "")), headers, payload, at=answer.at)
