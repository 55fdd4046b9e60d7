"""One running target as its cases see it: shared connections, observers, and its end.

Cases share a few connections, because a connection a case costs ten times a request, and one
observer an account for advisories, because fifty observers slow a server down. What arrives is
handed to the case whose token it carries.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self

from jetproof.errors import JetproofError
from jetproof.targets.topology import RunningTarget
from jetproof.wire import Connection, ConnectionLost, Msg, WireTimeout

SHARED_CONNECTIONS = 4
KEEPER = "JETPROOF_KEEPER"
TOKEN = re.compile(r"jp[0-9a-z]{12}")

AdvisoryCallback = Callable[[Msg, float], None]
Address = Callable[[str], tuple[str, int]]


class TargetDied(JetproofError):
    """The target is gone, or answers no more: its cases get no verdict."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, phase="play")


class Session:
    """The connections of one group. `address` maps a node to where it is reached (a tap, say)."""

    def __init__(
        self, target: RunningTarget, *, factor: float, address: Address | None = None
    ) -> None:
        self.target = target
        self.factor = factor
        self.down: set[str] = set()
        self._address = address or self._direct
        self._pool: list[Connection] = []
        self._turn = 0
        self._opened: dict[Connection, str] = {}
        self._observers: dict[str | None, Connection] = {}
        self._watchers: dict[str, AdvisoryCallback] = {}
        self._observing = asyncio.Lock()
        self._dead: str | None = None
        self._on_death: list[Callable[[str], None]] = []

    async def __aenter__(self) -> Self:
        try:
            self._pool = [
                await self.open(self._first_node(), None) for _ in range(SHARED_CONNECTIONS)
            ]
            await self.observe(None)
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close()

    @property
    def dead(self) -> str | None:
        """Why no case can get a verdict here any more, or None."""
        return self._dead

    def die(self, reason: str) -> None:
        """Marks the target as gone and tells every case that is being played."""
        if self._dead is None:
            self._dead = reason
            for tell in list(self._on_death):
                tell(reason)

    def on_death(self, tell: Callable[[str], None]) -> Callable[[], None]:
        self._on_death.append(tell)
        return lambda: self._on_death.remove(tell)

    async def shared(self) -> Connection:
        """One of the shared connections; a lost one is replaced."""
        self._turn = (self._turn + 1) % SHARED_CONNECTIONS
        connection = self._pool[self._turn]
        if connection.closed:
            connection = await self.open(self._first_node(), None)
            self._pool[self._turn] = connection
        return connection

    async def open(
        self, node: str, account: str | None, options: Mapping[str, object] | None = None
    ) -> Connection:
        """A connection to a node, in an account, with exact CONNECT options."""
        host, port = self._address(node)
        wanted = {**self.target.credentials(account), **(options or {})}
        connection = await Connection.open(
            host, port, options=wanted, connect_timeout=5.0 * self.factor
        )
        self._opened[connection] = node
        return connection

    async def close(self, connection: Connection) -> None:
        self._opened.pop(connection, None)
        await connection.close()

    def expect_loss(self, node: str) -> None:
        """A planned death: connections to this node may end without being an error."""
        self.down.add(node)

    async def returned(self, node: str) -> None:
        """The node is back: observers that were on it are made anew."""
        self.down.discard(node)
        for account, observer in list(self._observers.items()):
            if observer.closed:
                del self._observers[account]
                await self.observe(account)

    def is_planned_loss(self, connection: Connection) -> bool:
        return self._opened.get(connection) in self.down

    async def observe(self, account: str | None) -> None:
        """Receives the advisories of an account; the first call for it subscribes."""
        async with self._observing:
            if account in self._observers:
                return
            observer = await self.open(self._first_node(), account)
            observer.subscribe("$JS.EVENT.ADVISORY.>", self._advised)
            await observer.flush(5.0 * self.factor)
            await keep_one_stream(observer, self.target.provider, self.factor)
            self._observers[account] = observer

    def watch(self, token: str, callback: AdvisoryCallback) -> Callable[[], None]:
        self._watchers[token] = callback
        return lambda: self._watchers.pop(token, None) and None

    async def api(
        self, subject: str, document: Mapping[str, object] | None = None, *, account: str | None
    ) -> dict[str, Any]:
        """A JetStream API call of the harness's own, outside every transcript."""
        observer = self._observers.get(account)
        if observer is None or observer.closed:
            raise ConnectionLost("the harness has no connection to ask the API")
        payload = b"" if document is None else json.dumps(document).encode()
        answer = await observer.request(subject, payload, timeout=5.0 * self.factor)
        return json.loads(answer.payload) if answer.payload else {"status": answer.status}

    async def is_alive(self, connection: Connection) -> bool:
        """Whether the server still answers a PING on this connection."""
        try:
            await connection.flush(2.0 * self.factor)
        except (ConnectionLost, WireTimeout):
            return False
        return True

    def live_nodes(self) -> list[str]:
        return [name for name in self.target.nodes if name not in self.down]

    async def sweep(self, token_prefix: str) -> None:
        """Deletes every stream that this run left, for servers that outlive it."""
        listed = await self.api("$JS.API.STREAM.NAMES", {}, account=None)
        for name in listed.get("streams") or []:
            if token_prefix in name or name == KEEPER:
                await self.api(f"$JS.API.STREAM.DELETE.{name}", account=None)

    def _advised(self, message: Msg, at: float) -> None:
        found = TOKEN.search(message.subject)
        watcher = self._watchers.get(found.group()) if found else None
        if watcher is not None:
            watcher(message, at)

    def _first_node(self) -> str:
        live = self.live_nodes()
        if not live:
            raise ConnectionLost("every node of the target is down")
        return live[0]

    def _direct(self, node: str) -> tuple[str, int]:
        reached = self.target.nodes[node]
        return reached.host, reached.port

    async def _close(self) -> None:
        for connection in list(self._opened):
            with contextlib.suppress(JetproofError, OSError):
                await connection.close()
        self._opened.clear()


async def keep_one_stream(connection: Connection, provider: str, factor: float) -> None:
    """Makes a stream that stays: deleting an account's last one makes the next creation fail."""
    if provider == "external":
        return
    config = {"name": KEEPER, "subjects": ["jetproof.keeper"], "storage": "memory"}
    subject = f"$JS.API.STREAM.CREATE.{KEEPER}"
    await connection.request(subject, json.dumps(config).encode(), timeout=5.0 * factor)
