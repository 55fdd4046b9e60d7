"""Steps that send and receive: publish, request, subscribe, receive, silence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from jetproof import clock
from jetproof.engine.judge import NO_REPLY, Seen, judge, merge, several_words, summary
from jetproof.engine.mailbox import Mailbox
from jetproof.engine.play import REPLY_WITHIN, Play
from jetproof.errors import TooSlow
from jetproof.model.case import (
    Expectation,
    Outgoing,
    Publish,
    Quiet,
    Receive,
    Replies,
    Request,
    Silence,
    Step,
    Subscribe,
    Unsubscribe,
)
from jetproof.model.matcher import Matcher
from jetproof.model.matching import describe, mismatch
from jetproof.model.verdict import Fault

Following = Callable[[float], Awaitable[Seen | None]]
"""Gives the next message within so many seconds, or None when surely none comes."""

MAIN = "main"
REPLIES = "replies"
CLIENT_SIDE = ("wire", "event")
"""Where things of a client library are seen, each of which a position can name."""
NOT_THERE = (404, 503)  # no such message (yet), nobody who listens (yet)
AGAIN = 0.05


async def publish(play: Play, step: Publish) -> None:
    await due(play, step, step.message)
    reply = None if step.message.reply is None else play.text(step.message.reply)
    play.send(step.message, reply=reply)
    await play.line(step.message.connection).connection.drain()


async def request(play: Play, step: Request) -> Seen | None:
    """Sends the request and judges what comes; gives the reply, where a single one is due."""
    message = step.message
    await due(play, step, message)
    box = asked(play, message)
    if step.replies is not None:
        await several(play, step, coming(play, box, message.connection), step.replies, "replies")
    elif isinstance(step.reply, Silence):
        await quiet(play, step, box, step.reply.seconds, "reply", message.connection)
    elif step.reply is not None:
        deadline = clock.now() + (step.until_there or 0.0) * play.factor
        within = step.within or REPLY_WITHIN
        seen = await play.awaited(box, within, message.connection)
        while _not_there(play, message, seen) and clock.now() < deadline:
            await asyncio.sleep(AGAIN)
            box = asked(play, message)
            seen = await play.awaited(box, within, message.connection)
        play.outcomes.append((step.name, NO_REPLY if seen is None else summary(seen)))
        if seen is not None or not step.or_silence:
            judged(play, step, step.reply, seen, "reply")
        # A stream takes messages in order: what came before an answered one has been taken, too.
        play.settled |= seen is not None and not play.text(message.subject).startswith("$")
        return seen
    return None


def _not_there(play: Play, message: Outgoing, seen: Seen | None) -> bool:
    """Whether nobody has served a request yet.

    A node that has just heard of somebody who listens may still lose a request. One to the API can be
    repeated after silence; a message that is published cannot, for it may have been stored.
    """
    if seen is None:
        return play.text(message.subject).startswith("$JS.API.")
    return seen.status in NOT_THERE


def asked(play: Play, message: Outgoing) -> Mailbox:
    """Sends a request; gives the mailbox that its replies come to.

    What an earlier request with the same reply subject left there came too late for that one, and
    too early for this one.
    """
    reply = play.fresh_reply() if message.reply is None else play.text(message.reply)
    box = play.reply_box(reply)
    if reply in play.asked_on:
        box.take_all()
    play.asked_on.add(reply)
    play.send(message, reply=reply)
    return box


async def due(play: Play, step: Step, message: Outgoing) -> None:
    """Waits until the message may be sent; one that is too late says nothing about the server."""
    if message.not_before is not None:
        at = play.marks[message.not_before.mark] + message.not_before.by
        await asyncio.sleep(max(0.0, at - clock.now()))
        if step.mark is not None:
            play.marks[step.mark] = clock.now()
    if message.not_after is not None:
        late = clock.now() - play.marks[message.not_after.mark] - message.not_after.by
        if late > 0:
            raise TooSlow(f"this machine was {late:.3f} s too slow to send in time", phase="play")


async def subscribe(play: Play, step: Subscribe) -> None:
    queue = None if step.queue is None else play.text(step.queue)
    play.subscribe(step.to, play.text(step.subject), queue, step.connection)
    await play.line(step.connection).connection.flush(5.0 * play.factor)


async def unsubscribe(play: Play, step: Unsubscribe) -> None:
    for line in play.unsubscribe(step.source):
        await line.connection.flush(5.0 * play.factor)


async def receive(play: Play, step: Receive) -> None:
    box, connection = play.boxes[step.source], play.listening.get(step.source, MAIN)
    if step.messages is not None:
        await several(play, step, coming(play, box, connection), step.messages, "messages")
        return
    assert step.message is not None
    seen = await play.awaited(box, step.within or REPLY_WITHIN, connection)
    judged(play, step, step.message, seen, "message")


async def silence(play: Play, step: Quiet) -> None:
    if step.on != REPLIES:
        connection = play.listening.get(step.on, MAIN)
        await quiet(play, step, play.boxes[step.on], step.seconds, "silence", connection)
        return
    deadline = clock.now() + step.seconds * play.factor
    while True:
        # A stream that was slow to be made answers late, and is no business of the case.
        boxes = [box for at, box in play.replies.items() if at not in play.own_questions]
        unread = [seen for box in boxes for seen in box.take_all()]
        left = deadline - clock.now()
        if unread or left <= 0:
            break
        await asyncio.sleep(min(left, 0.05))
    if not unread:
        for name in list(play.lines):
            await play.must_be_heard(name)
    _judge_quiet(play, step, unread, step.seconds, "silence")


def coming(play: Play, box: Mailbox, connection: str) -> Following:
    """What comes to a mailbox, one after another."""
    return lambda left: play.awaited(box, left / play.factor, connection)


async def several(play: Play, step: Step, following: Following, wanted: Replies, at: str) -> None:
    """Several messages: collected until one ends them, then judged one by one."""
    deadline = clock.now() + (wanted.within or REPLY_WITHIN) * play.factor
    exact = _exact_count(play, wanted)
    got: list[Seen] = []
    ended = False
    while not ended and (wanted.until is not None or exact is None or len(got) < exact):
        seen = await following(deadline - clock.now())
        if seen is None:
            break
        got.append(seen)
        ended = wanted.until is not None and _fits(play, wanted.until, seen)
    if wanted.until is not None:
        last = summary(got[-1]) if got else "no reply"
        play.check(step, f"{at}.until", ended, "a message that ends them", last, Fault.TIMING)
    if wanted.position is not None:
        counted = several_words(got) if at in CLIENT_SIDE else str(len(got))
        merge(play.positions, {wanted.position: counted})
    if wanted.count is not None:
        missed = mismatch(wanted.count, len(got), play.env)
        words = f"{describe(wanted.count, play.env)} messages"
        fault = Fault.TIMING if _more_are_due(play, wanted.count, len(got)) else Fault.NEVER_RIGHT
        play.check(step, f"{at}.count", missed is None, words, len(got), fault)
    for number, seen in enumerate(got[: len(got) - ended], 1):
        if wanted.each is not None:
            play.iteration.append(f"message {number}")
            judged(play, step, wanted.each, seen, f"{at}.each")
            play.iteration.pop()
    if wanted.first is not None:
        judged(play, step, wanted.first, got[0] if got else None, f"{at}.first")
    if wanted.last is not None:
        judged(play, step, wanted.last, got[-1] if got else None, f"{at}.last")


async def quiet(
    play: Play, step: Step, box: Mailbox, seconds: float, at: str, connection: str
) -> None:
    if not await box.wait(seconds * play.factor):
        await play.must_be_heard(connection)
    _judge_quiet(play, step, box.take_all(), seconds, at)


def judged(play: Play, step: Step, wanted: Expectation, seen: Seen | None, at: str) -> None:
    judgement = judge(wanted, seen, play.env, play.rules, at=at, marks=play.marks)
    play.found(step, judgement)


def _judge_quiet(play: Play, step: Step, unread: list[Seen], seconds: float, at: str) -> None:
    words = f"silence for {seconds:g} s"
    play.check(step, at, not unread, words, summary(unread[0]) if unread else None)


def _exact_count(play: Play, wanted: Replies) -> int | None:
    """How many are enough, so that waiting may stop. For none, the whole time is waited."""
    tests = wanted.count.tests if wanted.count is not None else ()
    if len(tests) != 1 or tests[0][0] not in ("equals", "gte"):
        return None
    return play.whole(tests[0][1]) or None


def _more_are_due(play: Play, wanted: Matcher, got: int) -> bool:
    """Whether a larger number would do: what is missing may still be on its way."""
    bounds = [play.text(value) for test, value in wanted.tests if test in ("equals", "gte", "gt")]
    return any(bound.isdigit() and int(bound) > got for bound in bounds)


def _fits(play: Play, wanted: Expectation, seen: Seen) -> bool:
    return judge(wanted, seen, play.env, play.rules, at="", marks=play.marks).ok
