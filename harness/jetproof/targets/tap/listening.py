"""Where a tap listens. It may be deaf for a while, and keeps its port meanwhile."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

from jetproof.errors import JetproofError


class Listener:
    """A listening socket that can be stopped and started again at the same address."""

    def __init__(self, host: str, port: int, factory: Callable[[], asyncio.Protocol]) -> None:
        self.host = host
        self.port = port
        self._factory = factory
        self._wanted = True
        self._server: asyncio.Server | None = None
        self._kept: socket.socket | None = None  # bound and not listening: connecting fails
        self._starting: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Listens; JetproofError if the port is taken. A port of 0 becomes the one that was free."""
        loop = asyncio.get_running_loop()
        try:
            self._server = await loop.create_server(self._factory, self.host, self.port)
        except OSError as error:
            raise JetproofError(
                f"the tap cannot listen on {self.host}:{self.port}: {error}",
                phase="start",
                hint="choose another port, or 0 for a free one",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Stops for good."""
        if self._starting is not None:
            self._starting.cancel()
            await asyncio.gather(self._starting, return_exceptions=True)
        if self._server is not None:
            self._server.close()
        if self._kept is not None:
            self._kept.close()

    def stop(self) -> None:
        """From now on connecting is refused by the system itself."""
        self._wanted = False
        if self._server is not None:
            self._keep(self._server)

    def start(self) -> None:
        """Listens again, from the next turn of the event loop on."""
        self._wanted = True
        if self._kept is not None and self._starting is None:
            self._starting = asyncio.ensure_future(self._start(self._kept))

    def _keep(self, server: asyncio.Server) -> None:
        address = server.sockets[0].getsockname()
        kept = socket.socket(server.sockets[0].family, socket.SOCK_STREAM)
        kept.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        server.close()
        self._server = None
        try:
            kept.bind(address)
        except OSError as error:
            kept.close()
            raise JetproofError(
                f"the tap has lost its port {self.port}: {error}", phase="play"
            ) from error
        self._kept = kept

    async def _start(self, kept: socket.socket) -> None:
        server = await asyncio.get_running_loop().create_server(self._factory, sock=kept)
        self._kept = self._starting = None
        self._server = server
        if not self._wanted:
            self._keep(server)
