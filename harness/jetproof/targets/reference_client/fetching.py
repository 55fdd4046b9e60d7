"""Fetch and next: one pull request, its messages, and one end."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from jetproof.targets.reference_client.connection import Line, Subscription, Watcher
from jetproof.targets.reference_client.consumers import ConsumerRef, Delivery, MessageSize
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.settings import FetchSettings
from jetproof.targets.reference_client.statuses import (
    Meaning,
    Notify,
    Statuses,
    is_heartbeat,
    is_status,
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

    def __init__(self, settings: FetchSettings) -> None:
        self.messages = settings.messages or 1
        self.bytes = settings.bytes
        self._by_bytes = settings.bytes > 0

    def take(self, size: int) -> None:
        """A message of this size came."""
        self.messages -= 1
        self.bytes -= size

    def over(self) -> bool:
        return self.messages <= 0 or self.bytes_used_up()

    def bytes_used_up(self) -> bool:
        return self._by_bytes and self.bytes <= 0


class Fetch:
    """One fetch: it sends a pull request and gathers what comes of it until it ends.

    `accept` says of each message whether it is the one to come.
    """

    def __init__(
        self,
        line: Line,
        ref: ConsumerRef,
        settings: FetchSettings,
        accept: Callable[[Delivery], bool] = lambda delivery: True,
    ) -> None:
        part = line.conduct.part
        self.line = line
        self.ref = ref
        self.settings = settings
        self._accept = accept
        self._statuses = part(Statuses)(line.conduct)
        self._size = part(MessageSize)(line.conduct)
        self._remaining = part(Remaining)(settings)
        self.fetched = Fetched()
        self._loop = asyncio.get_running_loop()
        self._over: asyncio.Future[None] = self._loop.create_future()
        self._heartbeat: Heartbeat | None = None

    async def run(self) -> Fetched:
        line, request = self.line, self.settings.request
        await line.until_connected(self.patience())
        inbox = line.new_inbox()
        subscription = line.subscribe(inbox, self._arrived)
        watcher = Watcher(self.lost, lambda: None, self.end)
        line.watch(watcher)
        if request.heartbeat_ms:
            idle = request.heartbeat_ms / 1000
            self._heartbeat = line.conduct.part(Heartbeat)(idle, self._loop.time())
        self.ask(json.dumps(self.body()).encode(), inbox)
        try:
            await self._wait(self._loop.time() + self.own_timeout())
        finally:
            line.unwatch(watcher)
            self.leave(subscription)
        return self.result()

    # Asking

    def patience(self) -> float:
        """How long to wait for a connection that is lost."""
        return self.line.endpoint.timeout

    def body(self) -> dict[str, Any]:
        return self.settings.request.body(self.settings.messages, self.settings.bytes)

    def ask(self, data: bytes, inbox: str) -> None:
        """Sends the pull request, once."""
        self.line.publish(self.ref.next_subject, data, reply=inbox)

    def own_timeout(self) -> float:
        """After how many seconds the client ends the fetch by itself."""
        request = self.settings.request
        return request.own_timeout if request.expires_ms else self.line.endpoint.timeout

    # Ending

    async def _wait(self, until: float) -> None:
        while not self._over.done():
            now = self._loop.time()
            if self._heartbeat is not None and self._heartbeat.run_out(now):
                self.silence()
            if now >= until or self._over.done():
                return
            look = min(until, self._heartbeat.next_look if self._heartbeat else until)
            await asyncio.wait([self._over], timeout=max(0.0, look - now) + 0.001)

    def silence(self) -> None:
        """Nothing was heard for twice the heartbeat."""
        self.end(ClientError("MissedHeartbeat", "no heartbeat from the server"))

    def lost(self) -> None:
        self.end(ClientError("ConnectionLost", "the connection was lost during the fetch"))

    def end(self, error: ClientError | None) -> None:
        if not self._over.done():
            self.fetched.error = error
            self._over.set_result(None)

    def leave(self, subscription: Subscription) -> None:
        self.line.unsubscribe(subscription)

    def result(self) -> Fetched:
        """Messages that came before an error are kept."""
        return self.fetched

    # Arriving

    def _arrived(self, msg: Msg, at: float) -> None:
        if self._over.done():
            return
        if self._heartbeat is not None:
            self._heartbeat.heard(self._loop.time())
        if is_heartbeat(msg):
            self.heartbeat(msg)
        elif is_status(msg):
            self.status(msg)
        else:
            self.message(msg)

    def heartbeat(self, msg: Msg) -> None:
        """Only the timer hears it."""

    def message(self, msg: Msg) -> None:
        delivery = Delivery.of(msg)
        if not self._accept(delivery):
            self.end(ClientError(GAP, "a message is missing"))
            return
        self.fetched.deliveries.append(delivery)
        self._remaining.take(self._size.of(msg))
        if self._remaining.over():
            self.filled()

    def filled(self) -> None:
        """Everything that was asked for has come."""
        self.end(None)

    def status(self, msg: Msg) -> None:
        """The pull request is over, and the fetch with it."""
        meant = self._statuses.meaning(msg)
        self.end(meant.error if self.told(msg, meant) else None)

    def told(self, msg: Msg, meant: Meaning) -> bool:
        """Whether the caller is told of the status."""
        # Of a fetch the draft says only that it ends; the empty end is no error to its caller.
        if self.line.conduct.draft and msg.status in (404, 408):
            return False
        return meant.notify is not Notify.NOT


async def fetch(
    line: Line,
    ref: ConsumerRef,
    settings: FetchSettings,
    accept: Callable[[Delivery], bool] = lambda delivery: True,
) -> Fetched:
    return await line.conduct.part(Fetch)(line, ref, settings, accept).run()
