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

from jetproof.targets.reference_client.connection import Line, Subscription, Watcher
from jetproof.targets.reference_client.consumers import Delivery, message_size
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.pulls import Pending, Pull
from jetproof.targets.reference_client.roles import Nobody, Source, Teller
from jetproof.targets.reference_client.settings import ConsumeSettings
from jetproof.targets.reference_client.statuses import Told, is_heartbeat, is_status, meaning
from jetproof.targets.reference_client.timers import Heartbeat, Pace
from jetproof.wire.frames import Msg


class Consuming:
    """A consume under way. `start` returns when its first pull request is published."""

    def __init__(
        self, line: Line, source: Source, settings: ConsumeSettings, teller: Teller
    ) -> None:
        self._line = line
        self._conduct = line.conduct
        self._source = source
        self._settings = settings
        self._teller = teller
        self._loop = asyncio.get_running_loop()
        self._pending = Pending(settings.limits, line.conduct)
        self._buffer: deque[Msg] = deque()
        self._turn_is_due = False
        self._held_back: asyncio.TimerHandle | None = None
        self._pace = Pace()
        self._pin: str | None = None
        self._pulling = True
        self._asked = 0
        self._after_status = False
        self._over = False
        self._inbox = line.new_inbox()
        self._subscriptions: list[Subscription] = []
        self._watcher = Watcher(self._lost, self._back, self._end)
        self._tasks: set[asyncio.Task[None]] = set()
        idle = settings.request.heartbeat_ms / 1000
        self._heartbeat = Heartbeat(idle, self._loop.time(), line.conduct)
        self._clock: asyncio.TimerHandle | None = None

    # Beginning and ending

    def start(self) -> None:
        wrong = self._conduct.wrong
        varies = wrong("reply-subject-varies")
        self._subscribe(f"{self._inbox}.*" if varies else self._inbox)
        self._line.watch(self._watcher)
        if wrong("consume-creates-the-consumer"):
            self._create_needlessly()
        self._heartbeat.resume(self._loop.time())
        if wrong("first-pull-late"):
            self._hold_back(5.0)
        else:
            self._refill()
        self._look_at_clock()

    def stop(self) -> None:
        """Ends now; what is buffered is dropped."""
        if self._conduct.wrong("stop-goes-on"):
            self._teller.end(None)
            return
        self._end(None)

    def abandon(self) -> None:
        """Ends without a word: the connection is being closed."""
        self._teller = Nobody()
        self._end(None)

    async def drain(self) -> None:
        """Asks for no more, hands over what is buffered or on its way, and ends."""
        if self._over:
            return
        if self._conduct.wrong("drain-goes-on"):
            self._teller.end(None)
            return
        if self._conduct.wrong("drain-drops-the-buffer"):
            self._end(None)
            return
        self._pulling = self._conduct.wrong("drain-pulls-more")
        if self._pulling:
            self._pending.forget()
            self._refill()
        for subscription in self._subscriptions:
            await self._line.drain(subscription)
        self._turn()
        self._end(None)

    def _end(self, error: ClientError | None) -> None:
        if self._over:
            return
        self._over = True
        for handle in (self._clock, self._held_back):
            if handle is not None:
                handle.cancel()
        for task in self._tasks:
            task.cancel()
        self._line.unwatch(self._watcher)
        for subscription in self._subscriptions:
            self._line.unsubscribe(subscription)
        self._teller.end(error)

    # Arriving and handling

    def _subscribe(self, subject: str) -> None:
        self._subscriptions.append(self._line.subscribe(subject, self._arrived))

    def _arrived(self, msg: Msg, at: float) -> None:
        if self._over:
            return
        self._hear(msg)
        self._buffer.append(msg)
        if not self._turn_is_due:
            self._turn_is_due = True
            self._loop.call_soon(self._turn)

    def _hear(self, msg: Msg) -> None:
        wrong = self._conduct.wrong
        if is_heartbeat(msg):
            deaf = wrong("heartbeats-unheard")
        elif is_status(msg):
            deaf = wrong("statuses-unheard")
        else:
            deaf = wrong("messages-unheard")
        if not deaf:
            self._heartbeat.heard(self._loop.time())

    def _turn(self) -> None:
        self._turn_is_due = False
        if len(self._buffer) > 1 and self._conduct.wrong("order-reversed"):
            self._buffer.reverse()
        while self._buffer and not self._over:
            self._handle(self._buffer.popleft())
        self._refill()

    def _handle(self, msg: Msg) -> None:
        if is_heartbeat(msg):
            self._pace.calm()
            if self._conduct.wrong("heartbeats-handed-over"):
                self._teller.message(Delivery.of(msg))
        elif is_status(msg):
            self._status(msg)
        else:
            self._message(msg)

    def _message(self, msg: Msg) -> None:
        delivery = Delivery.of(msg)
        if self._source.foreign(delivery):
            return
        if not self._source.accept(delivery):
            self._renew()
            return
        self._pace.calm()
        pin = None if msg.headers is None else msg.headers.get("Nats-Pin-Id")
        if pin is not None:
            self._pin = pin
        if delivery.seq != 3 or not self._conduct.wrong("third-message-dropped"):
            self._teller.message(delivery)
        self._pending.processed(message_size(msg, self._conduct))

    def _status(self, msg: Msg) -> None:
        meant = meaning(msg, self._conduct)
        wrong = self._conduct.wrong
        if meant.forget_pin and not wrong("pin-kept"):
            self._pin = None
        if wrong("a-status-forgets-the-counts"):
            self._pending.forget()
        elif meant.left is None:
            self._pending.ended_unsaid()
        else:
            self._pending.ended(meant.left.messages, meant.left.bytes)
        gone = meant.ends or msg.status == 503
        if gone and self._source.renewable:
            self._renew()
            return
        if meant.ends:
            self._end(meant.error if meant.told is not Told.NOT else None)
            return
        if meant.told is not Told.NOT and not wrong("consume-reports-no-errors"):
            self._teller.notice(meant.error)
        if wrong("no-pull-after-a-status"):
            self._pulling = False
        self._after_status = True

    # Asking

    def _hold_back(self, seconds: float) -> None:
        if self._held_back is not None:
            self._held_back.cancel()
        self._held_back = self._loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        if self._held_back is not None:
            self._held_back.cancel()
            self._held_back = None
        self._refill()

    def _refill(self) -> None:
        """Publishes the pull request that is due, if one is and may be."""
        if self._over or not self._pulling or self._held_back is not None:
            return
        connected = self._line.connected
        if not connected and not self._conduct.wrong("pulls-while-disconnected"):
            return
        if self._after_status and self._pending.wanted() is not None:
            self._after_status = False
            rest = self._pace.delay(self._loop.time())
            if rest:
                self._hold_back(rest)
                return
        # Refills of the draft have a fixed size: more than one may be due.
        before = -1
        while before < self._pending.amount and (pull := self._pending.wanted()) is not None:
            before = self._pending.amount
            self._ask(pull, connected)
        self._look_at_clock()

    def _ask(self, pull: Pull, connected: bool) -> None:
        request, wrong = self._settings.request, self._conduct.wrong
        pull.until = self._loop.time() + request.own_timeout
        batch = pull.messages
        if pull.bytes and wrong("max-bytes-without-batch"):
            batch = 0
        body = request.body(batch, pull.bytes, self._pin)
        if not pull.bytes and wrong("max-bytes-always-sent"):
            body["max_bytes"] = 1_048_576
        if wrong("no-heartbeats-asked"):
            body.pop("idle_heartbeat", None)
        reply = self._reply_subject()
        self._pending.asked(pull)
        data = json.dumps(body).encode()
        if connected:
            self._line.publish(self._source.ref.next_subject, data, reply=reply)
        else:
            self._line.hold(self._source.ref.next_subject, data, reply)

    def _reply_subject(self) -> str:
        if self._pending.pulls and self._conduct.wrong("a-subscription-for-each-pull"):
            inbox = self._line.new_inbox()
            self._subscribe(inbox)
            return inbox
        if self._conduct.wrong("reply-subject-varies"):
            self._asked += 1
            return f"{self._inbox}.{self._asked}"
        return self._inbox

    # Beside it

    def _look_at_clock(self) -> None:
        """Wakes up when the next timer is due."""
        if self._clock is not None:
            self._clock.cancel()
        if self._over:
            return
        look = min(self._heartbeat.next_look, self._pending.next_deadline())
        look = min(look, self._loop.time() + 60)
        self._clock = self._loop.call_at(look + 0.001, self._clock_rang)

    def _clock_rang(self) -> None:
        now = self._loop.time()
        if self._heartbeat.run_out(now):
            self._silence()
        given_up = not self._conduct.wrong("no-timer-of-its-own") and self._pending.overdue(now)
        if given_up:
            self._refill()
        self._look_at_clock()

    def _silence(self) -> None:
        """Nothing was heard for twice the heartbeat: the pull requests are taken for lost."""
        wrong = self._conduct.wrong
        error = ClientError("MissedHeartbeat", "no heartbeat from the server")
        ends = self._conduct.draft or wrong("silence-ends-consume")
        untold = wrong("silence-untold") or wrong("consume-reports-no-errors")
        if ends and not untold and not wrong("silence-survived"):
            self._end(error)
            return
        if not untold:
            self._teller.notice(error)
        if self._source.renewable:
            self._renew()
            return
        self._pending.forget()
        self._refill()

    def _lost(self) -> None:
        self._heartbeat.pause(self._loop.time())
        if self._conduct.wrong("reconnect-ends-consume"):
            self._end(ClientError("ConnectionLost", "the connection was lost"))
            return
        self._pending.forget()
        if self._conduct.wrong("pulls-while-disconnected"):
            self._refill()

    def _back(self) -> None:
        wrong = self._conduct.wrong
        if not wrong("timer-stays-paused"):
            self._heartbeat.resume(self._loop.time())
        self._pending.forget()
        asks = self._conduct.asks_after_reconnect
        if asks and wrong("no-info-after-reconnect"):
            asks = False
        if not asks and wrong("info-after-reconnect"):
            asks = True
        if asks:
            self._do(self._check_and_go_on)
        elif not wrong("no-pull-after-reconnect"):
            self._go_on()
        self._look_at_clock()

    async def _check_and_go_on(self) -> None:
        try:
            await self._source.check()
        except ClientError as error:
            if not self._conduct.wrong("missing-consumer-survived"):
                self._end(error)
                return
        self._go_on()

    def _renew(self) -> None:
        """The consumer is made anew, and everything asked of the old one is forgotten."""
        self._pending.forget()
        self._buffer.clear()
        if not self._tasks:
            self._do(self._renew_and_go_on)

    async def _renew_and_go_on(self) -> None:
        self._pulling = False
        pace = Pace()
        while not self._over:
            try:
                await self._source.renew()
                break
            except ClientError as error:
                self._teller.notice(error)
                await asyncio.sleep(pace.delay(self._loop.time()))
        self._pulling = True
        self._heartbeat.resume(self._loop.time())
        self._refill()
        self._look_at_clock()

    def _do(self, what: Callable[[], Coroutine[None, None, None]]) -> None:
        task = self._loop.create_task(what())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _create_needlessly(self) -> None:
        ref = self._source.ref
        config = {"durable_name": ref.name, "ack_policy": "explicit"}
        body = json.dumps({"stream_name": ref.stream, "config": config}).encode()
        subject = f"$JS.API.CONSUMER.CREATE.{ref.stream}.{ref.name}"
        self._line.publish(subject, body, reply=self._line.new_inbox())
