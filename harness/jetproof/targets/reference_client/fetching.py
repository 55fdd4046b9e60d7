"""Fetch and next: one pull request, its messages, and one end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.connection import Line, Watcher
from jetproof.targets.reference_client.consumers import ConsumerRef, Delivery, message_size
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.settings import FetchSettings
from jetproof.targets.reference_client.statuses import (
    Told,
    is_heartbeat,
    is_status,
    meaning,
)
from jetproof.targets.reference_client.timers import Heartbeat
from jetproof.wire.frames import Msg

GAP: Final = "OrderedGap"
"""The error of a fetch from an ordered consumer of which a message got lost."""


@dataclass(slots=True)
class Fetched:
    """What a fetch brought: its messages, and the error that it ended with, if any."""

    deliveries: list[Delivery] = field(default_factory=list)
    error: ClientError | None = None


class Remaining:
    """What of a fetch is still to come: it is over when nothing is."""

    def __init__(self, settings: FetchSettings, conduct: Conduct) -> None:
        self.messages = settings.messages or 1
        self.bytes = settings.bytes
        self._by_bytes = settings.bytes > 0
        self._wrong = conduct.wrong

    def take(self, size: int) -> bool:
        """A message of this size came; says whether the fetch is over."""
        self.messages -= 1
        self.bytes -= size
        if self.messages <= 0:
            return not self._wrong("fetch-waits-for-expiry")
        used_up = self._by_bytes and self.bytes <= 0
        return used_up and not self._wrong("fetch-bytes-uncounted")


async def fetch(
    line: Line,
    ref: ConsumerRef,
    settings: FetchSettings,
    accept: Callable[[Delivery], bool] = lambda delivery: True,
) -> Fetched:
    """Sends one pull request and gathers what comes of it until it ends."""
    running = _Fetch(line, settings, accept)
    return await running.run(ref)


class _Fetch:
    def __init__(
        self, line: Line, settings: FetchSettings, accept: Callable[[Delivery], bool]
    ) -> None:
        self._line = line
        self._conduct = line.conduct
        self._settings = settings
        self._accept = accept
        self._remaining = Remaining(settings, line.conduct)
        self._fetched = Fetched()
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._heartbeat: Heartbeat | None = None
        self._beaten = False

    async def run(self, ref: ConsumerRef) -> Fetched:
        line, settings, wrong = self._line, self._settings, self._conduct.wrong
        patience = line.endpoint.timeout
        if not line.connected and wrong("fetch-survives-its-connection"):
            patience = 3600.0
        await line.until_connected(patience)
        inbox = line.new_inbox()
        subscription = line.subscribe(inbox, self._arrived)
        watcher = Watcher(self._lost, lambda: None, self._end)
        line.watch(watcher)
        request = settings.request
        if request.heartbeat_ms:
            idle = request.heartbeat_ms / 1000
            self._heartbeat = Heartbeat(idle, self._loop.time(), self._conduct)
        max_bytes = settings.bytes
        if max_bytes and wrong("fetch-max-bytes-dropped"):
            max_bytes = 0
        body = request.body(settings.messages, max_bytes)
        if "expires" in body and wrong("fetch-expires-in-milliseconds"):
            body["expires"] //= 1_000_000
        data = json.dumps(body).encode()
        line.publish(ref.next_subject, data, reply=inbox)
        if settings.messages > 1 and wrong("fetch-refills"):
            line.publish(ref.next_subject, data, reply=inbox)
        own = request.own_timeout if request.expires_ms else self._without_expiry()
        if wrong("no-timer-of-its-own") or wrong("fetch-outlives-expiry"):
            own = 3600.0
        if wrong("own-timer-before-expiry") and request.expires_ms:
            own = request.expires_ms / 2000
        try:
            await self._wait(self._loop.time() + own)
        finally:
            line.unwatch(watcher)
            if not wrong("fetch-leaves-its-subscription"):
                line.unsubscribe(subscription)
        if self._fetched.error is not None and wrong("fetch-error-drops-messages"):
            self._fetched.deliveries.clear()
        if wrong("fetch-end-untold"):
            await asyncio.sleep(3600)
        return self._fetched

    def _without_expiry(self) -> float:
        """How long to wait for an answer where the request itself does not wait."""
        return self._line.endpoint.timeout

    async def _wait(self, until: float) -> None:
        while not self._over.done():
            now = self._loop.time()
            silent = self._heartbeat is not None and self._heartbeat.run_out(now)
            if silent and not self._conduct.wrong("silence-untold"):
                self._end(ClientError("MissedHeartbeat", "no heartbeat from the server"))
                return
            if now >= until:
                return
            look = min(until, self._heartbeat.next_look if self._heartbeat else until)
            await asyncio.wait([self._over], timeout=max(0.0, look - now) + 0.001)

    def _lost(self) -> None:
        wrong = self._conduct.wrong
        if wrong("fetch-survives-its-connection") or wrong("fetch-survives-status"):
            return
        self._end(ClientError("ConnectionLost", "the connection was lost during the fetch"))

    def _end(self, error: ClientError | None) -> None:
        if not self._over.done():
            self._fetched.error = error
            self._over.set_result(None)

    def _arrived(self, msg: Msg, at: float) -> None:
        if self._over.done():
            return
        if self._heartbeat is not None:
            self._heartbeat.heard(self._loop.time())
        if is_heartbeat(msg):
            self._beaten = True
            if self._conduct.wrong("heartbeats-handed-over"):
                self._fetched.deliveries.append(Delivery.of(msg))
            return
        if is_status(msg):
            self._ended(msg)
            return
        if self._beaten and self._conduct.wrong("fetch-deaf-after-a-heartbeat"):
            return
        if msg.headers is not None and self._conduct.wrong("fetch-drops-headers"):
            msg = replace(msg, headers=None)
        delivery = Delivery.of(msg)
        if not self._accept(delivery):
            self._end(ClientError(GAP, "a message is missing"))
            return
        self._fetched.deliveries.append(delivery)
        if self._remaining.take(message_size(msg, self._conduct)):
            if len(self._fetched.deliveries) > 1 and self._conduct.wrong("fetch-ends-too-early"):
                self._fetched.deliveries.pop()
            self._end(None)

    def _ended(self, msg: Msg) -> None:
        """A status: the pull request is over, and the fetch with it."""
        wrong = self._conduct.wrong
        meant = meaning(msg, self._conduct)
        if msg.status == 408 and wrong("fetch-outlives-expiry"):
            return
        if wrong("fetch-survives-status"):
            return
        told = meant.told is not Told.NOT
        # Of a fetch the draft says only that it ends; the empty end is no error to its caller.
        if self._conduct.draft and msg.status in (404, 408):
            told = False
        if told and wrong("fetch-errors-untold"):
            told = False
        self._end(meant.error if told else None)
