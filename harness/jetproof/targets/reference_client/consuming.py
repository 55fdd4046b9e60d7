"""Consume: the algorithm of ADR-37 over one subscription.

What arrives is buffered, and handled in the next turn of the event loop:

    heartbeat -> nothing more          message -> handed over, taken off what is pending
    status    -> accounted for, told if it is to be told; it may end the consume
    then      -> a pull request, if what is pending is at the threshold

Beside it run the heartbeat timer, the client's own timers of pull requests, and whatever the
connection does.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any

from jetproof.targets.reference_client.connection import Line, Subscription, Watcher
from jetproof.targets.reference_client.consumers import Delivery, MessageSize
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.pulls import Pending, Pull
from jetproof.targets.reference_client.roles import Nobody, Source, Teller
from jetproof.targets.reference_client.settings import ConsumeSettings
from jetproof.targets.reference_client.statuses import (
    Meaning,
    Notify,
    Statuses,
    is_heartbeat,
    is_status,
)
from jetproof.targets.reference_client.timers import Heartbeat, Pace
from jetproof.wire.frames import Msg


class Consuming:
    """A consume under way. `start` returns when its first pull request is published."""

    def __init__(
        self, line: Line, source: Source, settings: ConsumeSettings, teller: Teller
    ) -> None:
        part = line.conduct.part
        self.line = line
        self.conduct = line.conduct
        self.source = source
        self.settings = settings
        self.teller = teller
        self._loop = asyncio.get_running_loop()
        self._statuses = part(Statuses)(line.conduct)
        self._size = part(MessageSize)(line.conduct)
        self.pending = part(Pending)(settings.limits)
        self.buffer: deque[Msg] = deque()
        self._turn_is_due = False
        self._held_back: asyncio.TimerHandle | None = None
        self._pace = Pace()
        self._pin: str | None = None
        self.pulling = True
        self._after_status = False
        self.over = False
        self.inbox = line.new_inbox()
        self._subscriptions: list[Subscription] = []
        self._watcher = Watcher(self.lost, self.back, self.end)
        self._tasks: set[asyncio.Task[None]] = set()
        idle = settings.request.heartbeat_ms / 1000
        self._heartbeat = part(Heartbeat)(idle, self._loop.time())
        self._clock: asyncio.TimerHandle | None = None

    # Beginning and ending

    def start(self) -> None:
        self.subscribe(self.subscription_subject())
        self.line.watch(self._watcher)
        self._heartbeat.resume(self._loop.time())
        self.first_pull()
        self._look_at_clock()

    def first_pull(self) -> None:
        """The first pull request is published at once."""
        self.refill()

    def stop(self) -> None:
        """Ends now; what is buffered is dropped."""
        self.end(None)

    def abandon(self) -> None:
        """Ends without a word: the connection is being closed."""
        self.teller = Nobody()
        self.end(None)

    async def drain(self) -> None:
        """Asks for no more, hands over what is buffered or on its way, and ends."""
        if not self.over:
            await self.hand_over_the_rest()

    async def hand_over_the_rest(self) -> None:
        self.stop_pulling()
        for subscription in self._subscriptions:
            await self.line.drain(subscription)
        self.turn()
        self.end(None)

    def stop_pulling(self) -> None:
        self.pulling = False

    def end(self, error: ClientError | None) -> None:
        if self.over:
            return
        self.over = True
        for handle in (self._clock, self._held_back):
            if handle is not None:
                handle.cancel()
        for task in self._tasks:
            task.cancel()
        self.line.unwatch(self._watcher)
        for subscription in self._subscriptions:
            self.line.unsubscribe(subscription)
        self.teller.end(error)

    # Arriving and handling

    def subscription_subject(self) -> str:
        return self.inbox

    def subscribe(self, subject: str) -> None:
        self._subscriptions.append(self.line.subscribe(subject, self._arrived))

    def _arrived(self, msg: Msg, at: float) -> None:
        if self.over:
            return
        self.hear(msg)
        self.buffer.append(msg)
        if not self._turn_is_due:
            self._turn_is_due = True
            self._loop.call_soon(self.turn)

    def hear(self, msg: Msg) -> None:
        """Messages, statuses and heartbeats alike restart the timer."""
        self._heartbeat.heard(self._loop.time())

    def turn(self) -> None:
        self._turn_is_due = False
        while self.buffer and not self.over:
            self._handle(self.buffer.popleft())
        self.refill()

    def _handle(self, msg: Msg) -> None:
        if is_heartbeat(msg):
            self.heartbeat(msg)
        elif is_status(msg):
            self._status(msg)
        else:
            self._message(msg)

    def heartbeat(self, msg: Msg) -> None:
        self._pace.calm()

    def _message(self, msg: Msg) -> None:
        delivery = Delivery.of(msg)
        if self.source.foreign(delivery):
            return
        if not self.source.accept(delivery):
            self.renew()
            return
        self._pace.calm()
        pin = None if msg.headers is None else msg.headers.get("Nats-Pin-Id")
        if pin is not None:
            self._pin = pin
        self.hand_over(delivery)
        self.pending.processed(self._size.of(msg))

    def hand_over(self, delivery: Delivery) -> None:
        self.teller.message(delivery)

    def _status(self, msg: Msg) -> None:
        meant = self._statuses.meaning(msg)
        if meant.forget_pin:
            self.forget_pin()
        self.account_for(meant)
        gone = meant.ends or msg.status == 503
        if gone and self.source.renewable:
            self.renew()
        elif meant.ends:
            self.end(meant.error if meant.notify is not Notify.NOT else None)
        else:
            if meant.notify is not Notify.NOT:
                self.notice(meant.error)
            self.go_on_after_status()

    def forget_pin(self) -> None:
        self._pin = None

    def account_for(self, meant: Meaning) -> None:
        """A status ends a pull request: what was left of it is no longer pending."""
        if meant.left is None:
            self.pending.ended_unsaid()
        else:
            self.pending.ended(meant.left.messages, meant.left.bytes)

    def notice(self, error: ClientError) -> None:
        """Tells the application of an error that does not end the consume."""
        self.teller.notice(error)

    def go_on_after_status(self) -> None:
        """A pull request follows, if one is due, but not one after the other without a pause."""
        self._after_status = True

    # Asking

    def hold_back(self, seconds: float) -> None:
        if self._held_back is not None:
            self._held_back.cancel()
        self._held_back = self._loop.call_later(seconds, self.go_on)

    def go_on(self) -> None:
        if self._held_back is not None:
            self._held_back.cancel()
            self._held_back = None
        self.refill()

    def refill(self) -> None:
        """Publishes the pull request that is due, if one is and may be."""
        if self.over or not self.pulling or self._held_back is not None or not self.can_ask():
            return
        if self._after_status and self.pending.wanted() is not None:
            self._after_status = False
            rest = self._pace.delay(self._loop.time())
            if rest:
                self.hold_back(rest)
                return
        # Refills of the draft have a fixed size: more than one may be due.
        before = -1
        while before < self.pending.amount and (pull := self.pending.wanted()) is not None:
            before = self.pending.amount
            self._ask(pull)
        self._look_at_clock()

    def can_ask(self) -> bool:
        return self.line.connected

    def _ask(self, pull: Pull) -> None:
        pull.until = self._loop.time() + self.settings.request.own_timeout
        data = json.dumps(self.body(pull)).encode()
        reply = self.reply_subject()
        self.pending.asked(pull)
        self.line.publish(self.source.ref.next_subject, data, reply=reply)

    def body(self, pull: Pull) -> dict[str, Any]:
        return self.settings.request.body(pull.messages, pull.bytes, self._pin)

    def reply_subject(self) -> str:
        """All pull requests have the one subscription, and the same reply subject."""
        return self.inbox

    # Beside it

    def _look_at_clock(self) -> None:
        """Wakes up when the next timer is due."""
        if self._clock is not None:
            self._clock.cancel()
        if self.over:
            return
        look = min(self._heartbeat.next_look, self.pending.next_deadline())
        look = min(look, self._loop.time() + 60)
        self._clock = self._loop.call_at(look + 0.001, self._clock_rang)

    def _clock_rang(self) -> None:
        now = self._loop.time()
        if self._heartbeat.run_out(now):
            self.silence()
        if self.pending.overdue(now):
            self.refill()
        self._look_at_clock()

    def silence(self) -> None:
        """Nothing was heard for twice the heartbeat."""
        error = ClientError("MissedHeartbeat", "no heartbeat from the server")
        if self.silence_ends():
            self.end(error)
        else:
            self.notice(error)
            self.ask_anew()

    def silence_ends(self) -> bool:
        return self.conduct.draft

    def ask_anew(self) -> None:
        """The pull requests are taken for lost."""
        if self.source.renewable:
            self.renew()
        else:
            self.pending.forget()
            self.refill()

    def lost(self) -> None:
        """The connection is lost, and the pull requests with it."""
        self._heartbeat.pause(self._loop.time())
        self.pending.forget()

    def back(self) -> None:
        """The connection is there again."""
        self.restart_timer()
        self.pending.forget()
        if self.asks_for_its_consumer():
            self._do(self.check_and_go_on)
        else:
            self.pull_again()
        self._look_at_clock()

    def restart_timer(self) -> None:
        self._heartbeat.resume(self._loop.time())

    def asks_for_its_consumer(self) -> bool:
        return self.conduct.asks_after_reconnect

    async def check_and_go_on(self) -> None:
        """A consumer that is not there any more ends the consume."""
        try:
            await self.source.check()
        except ClientError as error:
            self.end(error)
            return
        self.go_on()

    def pull_again(self) -> None:
        self.go_on()

    def renew(self) -> None:
        """The consumer is made anew, and everything asked of the old one is forgotten."""
        self.pending.forget()
        self.buffer.clear()
        if not self._tasks:
            self._do(self._renew_and_go_on)

    async def _renew_and_go_on(self) -> None:
        self.pulling = False
        pace = Pace()
        while not self.over:
            try:
                await self.source.renew()
                break
            except ClientError as error:
                self.notice(error)
                await asyncio.sleep(pace.delay(self._loop.time()))
        self.pulling = True
        self._heartbeat.resume(self._loop.time())
        self.refill()
        self._look_at_clock()

    def _do(self, what: Callable[[], Coroutine[None, None, None]]) -> None:
        task = self._loop.create_task(what())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
