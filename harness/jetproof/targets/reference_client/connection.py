"""A connection that comes back: the raw driver, opened again and again.

Subscriptions survive with the subject they had, so an inbox stays what it was. Whoever has to act
on a loss or a return watches; nothing that was on its way is sent again.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError
from jetproof.wire.driver import Connection, MessageCallback
from jetproof.wire.errors import ConnectionLost, WireTimeout
from jetproof.wire.frames import Unsub
from jetproof.wire.headers import Headers

ConnectionEvent = Callable[[str, ClientError | None], None]
"""Called with `disconnected`, `reconnected`, `closed` or `error`, and why."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where to connect, as whom, and how persistently."""

    host: str
    port: int
    user: str | None = None
    password: str | None = None
    token: str | None = None
    name: str | None = None
    inbox_prefix: str = "_INBOX"
    reconnect_wait: float = 0.25
    max_reconnects: int = -1
    timeout: float = 5.0
    tls: ssl.SSLContext | None = None

    @staticmethod
    def address(url: str) -> dict[str, Any]:
        """The fields that a URL gives."""
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        user, password = parts.username, parts.password
        who = {"user": user, "password": password} if password is not None else {"token": user}
        said = {name: unquote(value) for name, value in who.items() if value is not None}
        return {"host": parts.hostname or "127.0.0.1", "port": parts.port or 4222, **said}


@dataclass(eq=False, slots=True)
class Subscription:
    """One that lasts beyond the connection it was made on."""

    subject: str
    callback: MessageCallback
    sid: int = 0


@dataclass(eq=False, slots=True)
class Watcher:
    """Somebody who has to act when the connection goes and comes."""

    lost: Callable[[], None]
    back: Callable[[], None]
    closed: Callable[[ClientError], None] = field(default=lambda error: None)


class Line:
    """The connection of the reference client, opened with `Line.open`."""

    def __init__(self, endpoint: Endpoint, conduct: Conduct, on_event: ConnectionEvent) -> None:
        self.endpoint = endpoint
        self.conduct = conduct
        self._on_event = on_event
        self._connection: Connection | None = None
        self._there = asyncio.Event()
        self._subscriptions: list[Subscription] = []
        self._watchers: list[Watcher] = []
        self._coming_back: asyncio.Task[None] | None = None
        self._ended = False
        self._inboxes = 0
        self.connects = 0
        """How often a connection was made."""
        self._own = f"{endpoint.inbox_prefix}.{secrets.token_hex(8)}"

    @classmethod
    async def open(cls, endpoint: Endpoint, conduct: Conduct, on_event: ConnectionEvent) -> Line:
        line = cls(endpoint, conduct, on_event)
        line._take(await line._connect())
        return line

    async def close(self) -> None:
        self._ended = True
        if self._coming_back is not None:
            self._coming_back.cancel()
        connection, self._connection = self._connection, None
        self._there.clear()
        if connection is not None:
            with contextlib.suppress(ConnectionLost, WireTimeout):
                await connection.flush(1.0)
            await connection.close()

    @property
    def connected(self) -> bool:
        return self._connection is not None and not self._connection.closed

    @property
    def max_payload(self) -> int | None:
        """How large a message may be, as the server told."""
        told = None if self._connection is None else self._connection.info.get("max_payload")
        return told if isinstance(told, int) else None

    def new_inbox(self) -> str:
        self._inboxes += 1
        return f"{self._own}.{self._inboxes}"

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        if watcher in self._watchers:
            self._watchers.remove(watcher)

    # Frames

    def subscribe(self, subject: str, callback: MessageCallback) -> Subscription:
        made = Subscription(subject, callback)
        self._subscriptions.append(made)
        if self._connection is not None and self.connected:
            made.sid = self._connection.subscribe(subject, callback)
        return made

    def unsubscribe(self, subscription: Subscription) -> None:
        if subscription not in self._subscriptions:
            return
        self._subscriptions.remove(subscription)
        if self._connection is not None and self.connected:
            self._connection.unsubscribe(subscription.sid)

    async def drain(self, subscription: Subscription) -> None:
        """Ends a subscription, and returns when what was on its way has come."""
        if subscription not in self._subscriptions:
            return
        self._subscriptions.remove(subscription)
        connection = self._connection
        if connection is None or connection.closed:
            return
        with contextlib.suppress(ConnectionLost, WireTimeout):
            # The driver forgets a subscription with `unsubscribe`, and its messages with it.
            connection.send(Unsub(str(subscription.sid)))
            await connection.flush(self.endpoint.timeout)

    def publish(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        reply: str | None = None,
        headers: Headers | None = None,
    ) -> None:
        """Publishes now; `Disconnected` if there is no connection."""
        if self._connection is None or not self.connected:
            raise ClientError("Disconnected", "the connection is lost")
        self._connection.publish(subject, payload, reply=reply, headers=headers)

    async def until_connected(self, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout):
                await self._there.wait()
        except TimeoutError:
            raise ClientError("Disconnected", "the connection is lost") from None

    async def flush(self, timeout: float) -> None:
        if self._connection is not None:
            with contextlib.suppress(ConnectionLost, WireTimeout):
                await self._connection.flush(timeout)

    # Coming and going

    def tell(self, kind: str, error: ClientError | None) -> None:
        """Tells the application what becomes of the connection."""
        self._on_event(kind, error)

    async def _connect(self) -> Connection:
        at = self.endpoint
        try:
            return await Connection.open(
                at.host,
                at.port,
                user=at.user,
                password=at.password,
                token=at.token,
                name=at.name,
                connect_timeout=at.timeout,
                tls=at.tls,
            )
        except ConnectionLost as lost:
            raise ClientError("ConnectionLost", lost.message) from None

    def _take(self, connection: Connection) -> None:
        self._connection = connection
        self.connects += 1
        connection.on_close(lambda reason: self._lost(connection, reason))
        connection.on_error(lambda text: self.tell("error", ClientError("ServerError", text)))
        for subscription in self._subscriptions:
            subscription.sid = connection.subscribe(subscription.subject, subscription.callback)
        self._there.set()

    def _lost(self, connection: Connection, reason: str) -> None:
        if self._ended or connection is not self._connection:
            return
        self._connection = None
        self._there.clear()
        self.tell("disconnected", ClientError("ConnectionLost", reason))
        for watcher in list(self._watchers):
            watcher.lost()
        self._coming_back = asyncio.get_running_loop().create_task(self._come_back())

    async def _come_back(self) -> None:
        tries = 0
        while not self._ended:
            if 0 <= self.endpoint.max_reconnects <= tries:
                return self._give_up(tries)
            tries += 1
            await asyncio.sleep(self.endpoint.reconnect_wait)
            try:
                connection = await self._connect()
            except ClientError:
                continue
            if self._ended:
                await connection.close()
                return None
            self._take(connection)
            self.tell("reconnected", None)
            for watcher in list(self._watchers):
                watcher.back()
            return None
        return None

    def _give_up(self, tries: int) -> None:
        error = ClientError("ConnectionClosed", f"no connection after {tries} attempts")
        self._ended = True
        self.tell("closed", error)
        for watcher in list(self._watchers):
            watcher.closed(error)
