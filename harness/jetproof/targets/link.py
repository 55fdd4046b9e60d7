"""The link between a hub and its leaf node: a forwarder of bytes that can be cut and mended.

The leaf node is configured with the link's port, not with the hub's. A link that is cut closes its
connections and refuses new ones, as a broken line between two sites does; mended, it listens on the
same port again, and the leaf node finds the hub by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
from types import TracebackType
from typing import Self

from jetproof.targets.node import PortTaken
from jetproof.targets.ports import LOOPBACK

_CHUNK = 64 * 1024


class Link:
    """Forwards what comes to `port` to the port `to`, for the length of the block."""

    def __init__(self, port: int, to: int) -> None:
        self.port = port
        self.to = to
        self._server: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()

    @property
    def whole(self) -> bool:
        return self._server is not None

    async def mend(self) -> None:
        """Lets connections through again; nothing changes if it is whole."""
        if self._server is not None:
            return
        try:
            self._server = await asyncio.start_server(self._joined, LOOPBACK, self.port)
        except OSError as error:
            raise PortTaken(f"the link cannot listen on port {self.port}: {error}") from error

    async def cut(self) -> None:
        """Ends every connection and takes no more; nothing changes if it is cut."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        lines = list(self._lines)
        for line in lines:
            line.cancel()
        await asyncio.gather(*lines, return_exceptions=True)

    async def __aenter__(self) -> Self:
        await self.mend()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.cut()

    async def _joined(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = asyncio.current_task()
        assert line is not None
        if self._server is None:  # accepted in the moment of the cut
            writer.transport.abort()
            return
        self._lines.add(line)
        writers = [writer]
        try:
            far_reader, far_writer = await asyncio.open_connection(LOOPBACK, self.to)
            writers.append(far_writer)
            async with asyncio.TaskGroup() as both:
                both.create_task(_pass_on(reader, far_writer))
                both.create_task(_pass_on(far_reader, writer))
        except (OSError, ExceptionGroup, asyncio.CancelledError):
            pass  # either side went, or the link was cut: both sides are told by their end
        finally:
            for end in writers:
                end.transport.abort()
            self._lines.discard(line)


class _Ended(OSError):
    """One side has closed: the other is closed too."""


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError):
        while chunk := await reader.read(_CHUNK):
            writer.write(chunk)
            await writer.drain()
    raise _Ended
