"""What the parts of the reference layer stand on: the servers, and a way to speak to both sides.

A part keeps a client's message and works on it. It can pass it on in the client's name, ask the
server a question of its own in the client's account, and answer the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from jetproof.targets.node import Node
from jetproof.targets.parts import Parts
from jetproof.targets.reference.guard import Guard
from jetproof.targets.reference.views import View, Views
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Msg, Pub
from jetproof.wire.headers import Headers

_WHO: Final = ("user", "pass", "auth_token")
_ASK_SECONDS: Final = 15.0

Forward = Callable[["Client", Pub], None]
Work = Coroutine[Any, Any, None]
_Key = tuple[str, tuple[tuple[str, str], ...]]


@dataclass(slots=True)
class Client:
    """A client's connection: the node it came to, its number there, and who it said it is."""

    node: str
    number: int
    who: Mapping[str, str] = field(default_factory=dict)

    @property
    def account(self) -> str:
        """The account, as far as its name is known: users are called like their accounts."""
        return self.who.get("user", "")

    def connects(self, options: Mapping[str, Any]) -> None:
        """Learns from CONNECT who it is."""
        self.who = {key: str(options[key]) for key in _WHO if options.get(key)}


class Part(Protocol):
    """One thing that the text demands and no release has."""

    def takes(self, client: Client, message: Pub) -> Work | None:
        """The work on a client's message that is now this part's, or None to let it pass."""

    def shows(self, client: Client, message: Msg) -> Msg | None:
        """What the client is shown of a server's message; None for nothing."""


class Ground:
    """The servers of a target, with connections of the layer's own to each."""

    def __init__(
        self,
        nodes: Mapping[str, Node],
        *,
        system: Mapping[str, str],
        main: Mapping[str, str],
        parts: Parts,
        factor: float,
        forward: Forward,
    ) -> None:
        self.parts = parts
        self.guard = parts.part(Guard)()
        self.forward = forward
        self._nodes = nodes
        self._main = main
        self._factor = factor
        self._connections: dict[_Key, Connection] = {}
        self._opening: dict[_Key, asyncio.Lock] = {}
        connect = self._connection
        self.views = Views(
            {name: View(name, partial(connect, name, system)) for name in nodes}, factor
        )

    def account(self, client: Client) -> str:
        return client.account or self._main["user"]

    async def ask(
        self,
        client: Client,
        subject: str,
        payload: bytes = b"",
        headers: Headers | None = None,
        *,
        within: float = _ASK_SECONDS,
    ) -> Msg:
        """A question of the layer's own, in the client's account and through its server."""
        connection = await self._connection(client.node, client.who or self._main)
        return await connection.request(subject, payload, headers, timeout=within * self._factor)

    async def answer(
        self, client: Client, to: Pub, payload: bytes = b"", headers: Headers | None = None
    ) -> None:
        """Answers a client's message, if it wants an answer."""
        if to.reply is not None:
            await self.tell(client, to.reply, payload, headers)

    async def tell(
        self, client: Client, subject: str, payload: bytes = b"", headers: Headers | None = None
    ) -> None:
        """Sends a message of the layer's own into a client's account."""
        connection = await self._connection(client.node, client.who or self._main)
        connection.publish(subject, payload, headers=headers)

    async def close(self) -> None:
        await self.views.close()
        connections, self._connections = list(self._connections.values()), {}
        await asyncio.gather(*(connection.close() for connection in connections))

    async def _connection(self, node: str, who: Mapping[str, str]) -> Connection:
        """The layer's own connection to a server in an account; a lost one is made anew."""
        key = (node, tuple(sorted(who.items())))
        async with self._opening.setdefault(key, asyncio.Lock()):
            connection = self._connections.get(key)
            if connection is None or connection.closed:
                server = self._nodes[node]
                connection = await Connection.open(
                    server.host,
                    server.port,
                    options=dict(who),
                    name="jetproof reference layer",
                    connect_timeout=_ASK_SECONDS * self._factor,
                )
                self._connections[key] = connection
        return connection
