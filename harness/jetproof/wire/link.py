"""One TCP connection as the event loop sees it: bytes in, bytes out, one end with one reason.

Both the driver and the tap stand on it. It knows nothing of frames.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections.abc import Callable

_REST = 65536


class Link(asyncio.Protocol):
    """Bytes in by callback, bytes out with coalesced writes and back-pressure.

    `on_data(bytes)` runs for whatever arrives; `on_end(reason)` runs once, when the connection ends
    for whichever side's cause, and `on_gone()` when the socket is closed after that; `on_made()`
    when the connection is there; `on_paused(bool)` when the peer stops or resumes taking our bytes.
    """

    def __init__(
        self,
        *,
        on_data: Callable[[bytes], None],
        on_end: Callable[[str], None],
        on_made: Callable[[], None] | None = None,
        on_gone: Callable[[], None] | None = None,
        on_paused: Callable[[bool], None] | None = None,
        peer: str = "the peer",
    ) -> None:
        self.close_reason: str | None = None
        self.transport: asyncio.Transport | None = None
        self.data_received = on_data  # type: ignore[method-assign,assignment]
        self._on_end = on_end
        self._on_made = on_made
        self._on_gone = on_gone
        self._on_paused = on_paused
        self._peer = peer
        self._loop = asyncio.get_running_loop()
        self._outgoing: list[bytes] = []
        self._paused = False
        self._drained = asyncio.Event()
        self._gone = asyncio.Event()

    @property
    def connected(self) -> bool:
        """Whether bytes can be sent."""
        return self.transport is not None and self.close_reason is None

    @property
    def gone(self) -> bool:
        """Whether there is no socket (any more)."""
        return self.transport is None or self._gone.is_set()

    def write(self, data: bytes) -> None:
        """Sends bytes with all others of this turn of the loop; they vanish if there is no peer."""
        if not self._outgoing:
            self._loop.call_soon(self.write_out)
        self._outgoing.append(data)

    def send(self, data: bytes) -> None:
        """Hands bytes to the socket now, after what was written before."""
        if self._outgoing:
            self._outgoing.append(data)
            self.write_out()
        elif self.transport is not None and not self.transport.is_closing():
            self.transport.write(data)

    def write_out(self) -> None:
        """Hands what was written to the socket now."""
        outgoing, self._outgoing = self._outgoing, []
        if outgoing and self.transport is not None and not self.transport.is_closing():
            self.transport.write(b"".join(outgoing) if len(outgoing) > 1 else outgoing[0])

    async def drain(self) -> None:
        """Hands all writes to the socket and waits while it holds more than its limit."""
        self.write_out()
        while self._paused and self.close_reason is None:
            self._drained.clear()
            await self._drained.wait()

    def shut(self, reason: str) -> None:
        """Closes once everything written has been sent, however long that takes."""
        self.write_out()
        self.end(reason)
        if self.transport is not None:
            self.transport.close()

    async def close(self, reason: str, timeout: float = 2.0) -> None:
        """Sends what is buffered and closes; gives the rest up after `timeout` seconds."""
        self.shut(reason)
        if self.transport is None:
            return
        try:
            async with asyncio.timeout(timeout):
                await self._gone.wait()
        except TimeoutError:
            self.transport.abort()
            await self._gone.wait()

    def abort(self, reason: str) -> None:
        """Closes at once; what is buffered is lost."""
        self.end(reason)
        if self.transport is not None:
            self.transport.abort()

    async def wait_gone(self) -> None:
        """Waits until the socket is closed."""
        await self._gone.wait()

    def end(self, reason: str) -> None:
        """Notes the end; the first reason counts."""
        if self.close_reason is None:
            self.close_reason = reason
            self._drained.set()
            self._on_end(reason)

    # The event loop calls these.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self.close_reason is not None:
            transport.abort()  # given up while it was being made
        elif self._on_made is not None:
            self._on_made()

    def pause_writing(self) -> None:
        self._paused = True
        if self._on_paused is not None:
            self._on_paused(True)

    def resume_writing(self) -> None:
        self._paused = False
        self._drained.set()
        if self._on_paused is not None:
            self._on_paused(False)

    def connection_lost(self, exc: Exception | None) -> None:
        if isinstance(exc, OSError):
            self._read_rest()
        if exc is None:
            self.end(f"{self._peer} closed the connection")
        else:
            self.end(f"the connection broke: {type(exc).__name__}: {exc}")
        self._gone.set()
        if self._on_gone is not None:
            self._on_gone()

    def _read_rest(self) -> None:
        """Reads what came before the connection broke.

        A peer that closes while we still send breaks the connection: the loop gives up at the first
        write that fails, with the peer's last words unread in the socket.
        """
        assert self.transport is not None
        if self.close_reason is not None or self.transport.get_extra_info("sslcontext"):
            return  # nobody listens, or they are not readable by themselves
        socket = self.transport.get_extra_info("socket")
        with contextlib.suppress(OSError):
            while socket is not None and (data := os.read(socket.fileno(), _REST)):
                self.data_received(data)
