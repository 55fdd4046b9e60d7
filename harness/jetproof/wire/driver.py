"""A raw NATS connection: it sends what it is told, reports what it sees, and hides nothing.

There is no reconnect, no buffering of messages, no interpretation. Callbacks run in the event loop,
in wire order, with the monotonic time at which the bytes arrived. A connection that ends does so
loudly: `close_reason` says why, `on_close` callbacks run, and whoever waits gets `ConnectionLost`.

    async with await Connection.open("127.0.0.1", 4222) as connection:
        connection.subscribe("orders.>", lambda msg, at: print(msg.subject, msg.payload))
        connection.publish("orders.new", b"1", headers=Headers([("Nats-Msg-Id", "a")]))
        await connection.flush()

Writes made in one turn of the event loop go out together; `await drain()` waits while the socket
takes no more.
"""

from __future__ import annotations

import asyncio
import secrets
import ssl
from collections import deque
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

from jetproof import clock
from jetproof.wire.codec import Parser, encode
from jetproof.wire.errors import (
    ConnectionLost,
    ConnectTimeout,
    ProtocolError,
    WireTimeout,
    excerpt,
)
from jetproof.wire.frames import (
    Connect,
    Err,
    Frame,
    Info,
    Msg,
    Ping,
    Pong,
    Pub,
    Raw,
    Sub,
    Unsub,
)
from jetproof.wire.headers import Headers
from jetproof.wire.link import Link
from jetproof.wire.options import connect_options

Direction = Literal["sent", "received"]
MessageCallback = Callable[[Msg, float], object]
EventCallback = Callable[[Direction, Frame, float], object]


class _Subscription:
    __slots__ = ("callback", "limit", "received")

    def __init__(self, callback: MessageCallback) -> None:
        self.callback = callback
        self.received = 0
        self.limit: int | None = None


class Connection:
    """One TCP connection to a server, opened with `Connection.open`.

    Attributes: `info` is the newest INFO document; `errors` every `-ERR` text so far; `closed` and
    `close_reason` whether and why the connection ended.
    """

    def __init__(self, *, on_event: EventCallback | None = None, auto_pong: bool = True) -> None:
        """For `open` only: a connection that is not connected."""
        self.info: Mapping[str, Any] = {}
        self.errors: list[str] = []
        self._loop = asyncio.get_running_loop()
        self._on_event = on_event
        self._auto_pong = auto_pong
        self._link = Link(on_data=self._received, on_end=self._ended, peer="the server")
        self._ending: str | None = None
        self._parser = Parser("client")
        self._subscriptions: dict[str, _Subscription] = {}
        self._last_sid = 0
        self._waiters: set[asyncio.Future[Any]] = set()
        self._pongs: deque[asyncio.Future[None] | None] = deque()
        self._greeted: asyncio.Future[None] = self._loop.create_future()
        self._error_callbacks: list[Callable[[str], object]] = []
        self._close_callbacks: list[Callable[[str], object]] = []
        self._inbox: str | None = None
        self._requests: dict[str, asyncio.Future[Msg]] = {}
        self._last_request = 0

    @classmethod
    async def open(
        cls,
        host: str,
        port: int,
        *,
        options: Mapping[str, Any] | None = None,
        user: str | None = None,
        password: str | None = None,
        token: str | None = None,
        name: str | None = None,
        connect_timeout: float = 5.0,
        on_event: EventCallback | None = None,
        auto_pong: bool = True,
        write_limit: int | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> Self:
        """Connects, sends CONNECT and PING, and returns when the PONG is there.

        `options` overrides any field of CONNECT and wins over the other arguments; a value of None
        removes the field. `on_event(direction, frame, monotonic time)` sees every frame of both
        directions from the first INFO on. `auto_pong` answers the server's PINGs. `write_limit` is
        the number of unsent bytes from which `drain` waits. `tls` is used if the server wants it.

        `ConnectionLost` if there is no server, it refuses, talks something else, or stays silent
        for `connect_timeout` seconds.
        """
        connection = cls(on_event=on_event, auto_pong=auto_pong)
        where = f"{host}:{port}"
        said = connect_options(options, user=user, password=password, token=token, name=name)
        step = "answer"
        try:
            async with asyncio.timeout(connect_timeout):
                transport, _ = await connection._loop.create_connection(
                    lambda: connection._link, host, port
                )
                if write_limit is not None:
                    transport.set_write_buffer_limits(high=write_limit)
                step = "INFO"
                await connection._wait(connection._greeted)
                if connection.info.get("tls_required"):
                    step = "TLS"
                    await connection._secure(transport, tls, host)
                step = "answer to CONNECT"
                connection.send(Connect(said))
                await connection._ping()
        except TimeoutError:
            connection._link.abort(f"no {step} from {where} within {connect_timeout:g} s")
            lost = connection._lost()
            raise ConnectTimeout(lost.reason, lost.last_error) from None
        except OSError as error:
            raise ConnectionLost(
                f"cannot connect to {where}: {error.strerror or error}",
                hint="is a server listening there?",
            ) from error
        except BaseException:
            connection._link.abort("the connection was given up while it was opened")
            raise
        return connection

    async def _secure(
        self, transport: asyncio.Transport, tls: ssl.SSLContext | None, host: str
    ) -> None:
        if tls is None:
            raise ConnectionLost(f"{host} requires TLS", hint="use a server without TLS")
        secured = await self._loop.start_tls(transport, self._link, tls, server_hostname=host)
        self._link.transport = secured

    # Sending

    def publish(
        self,
        subject: str,
        payload: bytes = b"",
        *,
        reply: str | None = None,
        headers: Headers | None = None,
    ) -> Pub:
        """Sends PUB, or HPUB if `headers` is not None, and returns the frame as sent."""
        frame = Pub(subject, reply, headers, payload)
        self.send(frame)
        return frame

    def subscribe(
        self, subject: str, callback: MessageCallback, *, queue: str | None = None
    ) -> int:
        """Sends SUB; `callback(msg, monotonic arrival time)` then runs for every delivery.

        Returns the sid; frames carry it as text (`msg.sid == str(sid)`).
        """
        sid = self._last_sid + 1
        self.send(Sub(subject, queue, str(sid)))
        self._last_sid = sid
        self._subscriptions[str(sid)] = _Subscription(callback)
        return sid

    def unsubscribe(self, sid: int, max: int | None = None) -> None:
        """Sends UNSUB. With `max` deliveries go on until that many have come in all.

        Without it the callback does not run again, even for messages that are still on their way.
        """
        self.send(Unsub(str(sid), max))
        subscription = self._subscriptions.get(str(sid))
        if subscription is not None:
            subscription.limit = max
            if max is None or subscription.received >= max:
                del self._subscriptions[str(sid)]

    def send(self, frame: Frame) -> None:
        """Sends any frame; `Raw` for bytes that are none. `ConnectionLost` if there is no peer."""
        if not self._link.connected:
            raise self._lost()
        data = encode(frame)
        if isinstance(frame, Ping):
            self._pongs.append(None)
        self._write(frame, data)

    def send_raw(self, data: bytes) -> None:
        """Sends these bytes, whatever they are."""
        self.send(Raw(data))

    def _write(self, frame: Frame, data: bytes) -> None:
        self._link.write(data)
        if self._on_event is not None:
            self._call(self._on_event, "sent", frame, clock.now())

    # Waiting

    async def flush(self, timeout: float = 5.0) -> None:
        """A PING/PONG round trip: the server has processed everything sent before.

        `WireTimeout` if no PONG comes in time, `ConnectionLost` if the connection ends first.
        """
        try:
            async with asyncio.timeout(timeout):
                await self._ping()
        except TimeoutError:
            raise WireTimeout(f"the server did not answer PING within {timeout:g} s") from None

    async def _ping(self) -> None:
        pong: asyncio.Future[None] = self._loop.create_future()
        self.send(Ping())
        self._pongs[-1] = pong
        await self._wait(pong)

    async def drain(self) -> None:
        """Hands all writes to the socket and waits while it holds more than its limit."""
        await self._link.drain()
        if self.close_reason is not None:
            raise self._lost()

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        headers: Headers | None = None,
        timeout: float = 5.0,
    ) -> Msg:
        """Publishes with a fresh reply subject and returns the first reply, whatever it is.

        For set-up work: all requests share one inbox subscription. A status 503 (no responders) is
        a reply like any other. `WireTimeout` if none comes in time.
        """
        if self._inbox is None:
            inbox = f"_INBOX.{secrets.token_hex(11)}."
            self.subscribe(f"{inbox}*", self._answered)
            self._inbox = inbox
        self._last_request += 1
        reply = f"{self._inbox}{self._last_request}"
        answer: asyncio.Future[Msg] = self._loop.create_future()
        self.publish(subject, payload, reply=reply, headers=headers)
        self._requests[reply] = answer
        late = self._loop.call_later(timeout, _expire, answer, subject, timeout)
        try:
            return await answer
        finally:
            late.cancel()
            self._requests.pop(reply, None)

    def _answered(self, msg: Msg, at: float) -> None:
        answer = self._requests.get(msg.subject)
        if answer is not None and not answer.done():
            answer.set_result(msg)

    async def _wait(self, future: asyncio.Future[None]) -> None:
        if self.close_reason is not None:
            raise self._lost()
        self._waiters.add(future)
        try:
            await future
        finally:
            self._waiters.discard(future)

    # Ending

    @property
    def closed(self) -> bool:
        """Whether the connection has ended, by whichever side."""
        return self._link.close_reason is not None

    @property
    def close_reason(self) -> str | None:
        """Why the connection ended, or None while it lasts."""
        return self._ending or self._link.close_reason

    def on_error(self, callback: Callable[[str], object]) -> None:
        """`callback(text)` runs for every further `-ERR`."""
        self._error_callbacks.append(callback)

    def on_close(self, callback: Callable[[str], object]) -> None:
        """`callback(reason)` runs once, when the connection ends; soon, if it has already."""
        if self.close_reason is not None:
            self._loop.call_soon(callback, self.close_reason)
        else:
            self._close_callbacks.append(callback)

    async def wait_closed(self) -> str:
        """Waits for the end of the connection and returns its reason."""
        await self._link.wait_gone()
        return self.close_reason or ""

    async def close(self, timeout: float = 2.0) -> None:
        """Sends what is still buffered and closes; drops it after `timeout` seconds."""
        await self._link.close("closed by this side", timeout)

    def abort(self) -> None:
        """Closes at once; what is still buffered is lost."""
        self._link.abort("aborted by this side")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    def _lost(self) -> ConnectionLost:
        return ConnectionLost(
            self.close_reason or "not connected", self.errors[-1] if self.errors else None
        )

    def _ended(self, reason: str) -> None:
        rest = self._parser.pending
        if rest and not self._parser.failed:
            reason += f"; a frame was incomplete: {excerpt(rest)}"
        self._ending = reason
        waiters = [*self._waiters, *self._requests.values()]
        for future in waiters:
            if not future.done():
                future.set_exception(self._lost())
        callbacks, self._close_callbacks = self._close_callbacks, []
        for callback in callbacks:
            self._call(callback, reason)

    # Receiving

    def _received(self, data: bytes) -> None:
        if self.close_reason is not None:
            return
        at = clock.now()
        failure: ProtocolError | None = None
        try:
            frames: list[Frame] | tuple[Frame, ...] = self._parser.feed(data)
        except ProtocolError as error:
            failure = error
            frames = error.frames
        on_event = self._on_event
        for frame in frames:
            if on_event is not None:
                self._call(on_event, "received", frame, at)
            if type(frame) is Msg:
                subscription = self._subscriptions.get(frame.sid)
                if subscription is None:
                    continue
                subscription.received += 1
                if subscription.received == subscription.limit:
                    del self._subscriptions[frame.sid]
                try:
                    subscription.callback(frame, at)
                except Exception as error:
                    self._report(error)
            else:
                self._control(frame)
        if failure is not None:
            self._link.abort(f"the server broke the protocol: {failure.message}")

    def _control(self, frame: Frame) -> None:
        match frame:
            case Ping():
                if self._auto_pong and self.close_reason is None:
                    self._write(Pong(), b"PONG\r\n")
            case Pong():
                pong = self._pongs.popleft() if self._pongs else None
                if pong is not None and not pong.done():
                    pong.set_result(None)
            case Err(message):
                self.errors.append(message)
                for callback in self._error_callbacks:
                    self._call(callback, message)
            case Info(data):
                self.info = data
                if not self._greeted.done():
                    self._greeted.set_result(None)
            case _:
                pass

    def _call(self, callback: Callable[..., object], *arguments: object) -> None:
        try:
            callback(*arguments)
        except Exception as error:
            self._report(error)

    def _report(self, error: Exception) -> None:
        # One faulty callback must not take the connection from everybody else who shares it.
        self._loop.call_exception_handler(
            {"message": "a callback of a jetproof connection failed", "exception": error}
        )


def _expire(answer: asyncio.Future[Msg], subject: str, timeout: float) -> None:
    if not answer.done():
        answer.set_exception(
            WireTimeout(f"no reply on a request to {subject} within {timeout:g} s")
        )
