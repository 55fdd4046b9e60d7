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
from typing import Self

from jetproof.engine.documents import read_json
from jetproof.errors import JetproofError
from jetproof.model.matching import at_path
from jetproof.targets.node import Death, Release
from jetproof.targets.topology import RunningTarget
from jetproof.wire import Connection, ConnectionLost, Msg

SHARED_CONNECTIONS = 4
EPITAPH_SECONDS = 0.5
KEEPER = "JETPROOF_KEEPER"
HARNESS = "harness"
"""What transcripts call the connections of the harness itself."""
ANSWER_WITHIN = 5.0
CATCH_UP_WITHIN = 8.0
PONG_WITHIN = 5.0
TOKEN = re.compile(r"jp[0-9a-z]{12}")

AdvisoryCallback = Callable[[Msg, float], None]
Address = Callable[[str], tuple[str, int]]
Tell = Callable[[str], None]
Listeners = dict[Connection, list[Tell]]


class TargetDied(JetproofError):
    """The target is gone, or answers no more: its cases get no verdict."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason, phase="play")


class Session:
    """The connections of one group.

    `address` maps a node to where it is reached (a tap, say), `release` the name of a release to
    what a node is started with, and `foreign` says that the nodes start with another release.
    """

    def __init__(
        self,
        target: RunningTarget,
        *,
        factor: float,
        address: Address | None = None,
        release: Callable[[str], Release] = lambda _: None,
        foreign: bool = False,
    ) -> None:
        self.target = target
        self.factor = factor
        self.down: set[str] = set()
        self.release = release
        self.foreign = set(target.nodes) if foreign else set()
        """Nodes that run another release than the one under test."""
        self.api_answers = False
        self._address = address or self._direct
        self._pool: list[Connection] = []
        self._turn = 0
        self._opened: dict[Connection, str] = {}
        self._let_go: set[Connection] = set()
        """Connections to servers that a case has ended; a server that is started has others."""
        self._observers: dict[str | None, Connection] = {}
        self._watchers: dict[str, AdvisoryCallback] = {}
        self._observing = asyncio.Lock()
        self.crash: str | None = None
        """The line with which a server's own code gave up."""
        self._dead: str | None = None
        self._died = asyncio.Event()
        self._on_death: list[Callable[[str], None]] = []
        self._on_loss: Listeners = {}
        self._on_complaint: Listeners = {}
        self._kept: set[str | None] = set()
        self._closing = False

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

    def lose(self, death: Death) -> None:
        """A node died. What another release than the one under test does says nothing about it."""
        if self._dead is None and death.node not in self.foreign:
            self.crash = death.crash
        self.die(str(death))

    def die(self, reason: str) -> None:
        """Marks the target as gone and ends every case that is being played."""
        if self._dead is None:
            self._dead = reason
            self._died.set()
            for tell in list(self._on_death):
                tell(reason)

    async def epitaph(self) -> str | None:
        """Why the target is gone, if it is: a lost connection is noticed before its cause."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(EPITAPH_SECONDS):
                await self._died.wait()
        return self._dead

    def on_death(self, tell: Callable[[str], None]) -> Callable[[], None]:
        self._on_death.append(tell)
        return lambda: self._on_death.remove(tell)

    async def shared(self) -> Connection:
        """One of the shared connections; a lost one is replaced."""
        self._turn = turn = (self._turn + 1) % SHARED_CONNECTIONS
        connection = self._pool[turn]
        if connection.closed:
            try:
                connection = await self.open(self._first_node(), None)
            except ConnectionLost as problem:
                self.die(f"the server cannot be reached any more: {problem.reason}")
                raise
            self._pool[turn] = connection
        return connection

    async def open(
        self,
        node: str,
        account: str | None,
        options: Mapping[str, object] | None = None,
        *,
        user: str | None = None,
    ) -> Connection:
        """A connection to a node, in an account or as a user, with exact CONNECT options."""
        host, port = self._address(node)
        who = {"user": user, "pass": user} if user else self.target.credentials(account)
        wanted = {**who, **(options or {})}
        connection = await Connection.open(
            host, port, options=wanted, connect_timeout=5.0 * self.factor
        )
        self._opened[connection] = node
        connection.on_close(lambda reason: self._tell(self._on_loss, connection, reason))
        connection.on_error(lambda text: self._tell(self._on_complaint, connection, text))
        return connection

    def reached_at(self, node: str | None) -> tuple[str, int]:
        """Where a client library reaches a node, or any that is up."""
        return self._address(node or self._first_node())

    async def close(self, connection: Connection) -> None:
        self._opened.pop(connection, None)
        await connection.close()
        self._on_loss.pop(connection, None)
        self._on_complaint.pop(connection, None)

    def on_loss(self, connection: Connection, tell: Tell) -> Callable[[], None]:
        """`tell(reason)` runs when the connection ends, unless it has been let go of before."""
        if connection.closed:
            asyncio.get_running_loop().call_soon(tell, connection.close_reason or "closed")
            return lambda: None
        return _listen(self._on_loss, connection, tell)

    def on_complaint(self, connection: Connection, tell: Tell) -> Callable[[], None]:
        """`tell(text)` runs for every -ERR on the connection, until it is let go of."""
        return _listen(self._on_complaint, connection, tell)

    async def expect_loss(self, node: str) -> None:
        """A planned death: connections to this node may end without being an error.

        Advisories are heard from another node before this one goes, if there is another.
        """
        self.down.add(node)
        self._let_go |= {one for one, its in self._opened.items() if its == node}
        if self.live_nodes():
            for account, observer in list(self._observers.items()):
                if self._opened.get(observer) == node:
                    del self._observers[account]
                    await self.observe(account)
                    await self.close(observer)

    async def returned(self, node: str) -> None:
        """The node is back: observers that were on it are made anew."""
        self.down.discard(node)
        for account, observer in list(self._observers.items()):
            if observer.closed:
                del self._observers[account]
                await self.observe(account)

    def is_planned_loss(self, connection: Connection) -> bool:
        return connection in self._let_go or self._opened.get(connection) in self.down

    async def observe(self, account: str | None) -> None:
        """Receives the advisories of an account; the first call for it subscribes."""
        async with self._observing:
            if account in self._observers:
                return
            observer = await self.open(self._first_node(), account)
            observer.subscribe("$JS.EVENT.ADVISORY.>", self._advised)
            await observer.flush(5.0 * self.factor)
            if account not in self._kept:
                await keep_one_stream(observer, self.target.provider, self.factor)
                self._kept.add(account)
            self._observers[account] = observer
            self.on_loss(observer, lambda reason: self._deaf(observer, reason))

    def watch(self, token: str, callback: AdvisoryCallback) -> Callable[[], None]:
        self._watchers[token] = callback
        return lambda: self._watchers.pop(token, None) and None

    async def ask(
        self, subject: str, payload: bytes, *, account: str | None, within: float = ANSWER_WITHIN
    ) -> Msg:
        """A request on the harness's own connection to an account."""
        observer = self._observers.get(account)
        if observer is None or observer.closed:
            raise ConnectionLost("the harness has no connection to ask the API")
        return await observer.request(subject, payload, timeout=within * self.factor)

    def observer(self, account: str | None) -> Connection | None:
        """The harness's own connection to an account, if it has one."""
        return self._observers.get(account)

    @property
    def can_catch_up(self) -> bool:
        """Whether somebody answers questions, so that an answer can be waited for."""
        observer = self.observer(None)
        return self.api_answers and observer is not None and not observer.closed and not self.down

    async def caught_up(self) -> Msg:
        """The answer to a question that JetStream comes to after everything asked before."""
        return await self.ask("$JS.API.INFO", b"", account=None, within=CATCH_UP_WITHIN)

    async def ping(self, connection: Connection) -> None:
        """Returns when the server has answered a PING on this connection."""
        await connection.flush(PONG_WITHIN * self.factor)

    def live_nodes(self) -> list[str]:
        return [name for name in self.target.nodes if name not in self.down]

    async def sweep(self, token_prefix: str) -> None:
        """Deletes every stream that this run left, for servers that outlive it."""
        answer = await self.ask("$JS.API.STREAM.NAMES", b"{}", account=None)
        listed = at_path(read_json(answer.payload), "streams")
        for name in listed if isinstance(listed, list) else ():
            if isinstance(name, str) and token_prefix in name:
                await self.ask(f"$JS.API.STREAM.DELETE.{name}", b"", account=None)

    def _advised(self, message: Msg, at: float) -> None:
        found = TOKEN.search(message.subject)
        watcher = self._watchers.get(found.group()) if found else None
        if watcher is not None:
            watcher(message, at)

    def _tell(self, listeners: Listeners, connection: Connection, text: str) -> None:
        for tell in list(listeners.get(connection, ())):
            tell(text)

    def _deaf(self, observer: Connection, reason: str) -> None:
        """Without its observer a case would take a missed advisory for none.

        If the server died, that is told in a moment, and says more than a lost connection.
        """
        in_use = observer in self._observers.values()
        if in_use and not self._closing and not self.is_planned_loss(observer):
            lost = f"the connection that hears advisories was lost: {reason}"
            asyncio.get_running_loop().call_later(EPITAPH_SECONDS / 2, self.die, lost)

    def _first_node(self) -> str:
        live = self.live_nodes()
        if not live:
            raise ConnectionLost("every node of the target is down")
        return live[0]

    def _direct(self, node: str) -> tuple[str, int]:
        return self.target.address(node)

    async def _close(self) -> None:
        self._closing = True
        await asyncio.gather(
            *(connection.close() for connection in self._opened), return_exceptions=True
        )
        self._opened.clear()


def _listen(listeners: Listeners, connection: Connection, tell: Tell) -> Callable[[], None]:
    heard = listeners.setdefault(connection, [])
    heard.append(tell)
    return lambda: heard.remove(tell) if tell in heard else None


async def keep_one_stream(connection: Connection, provider: str, factor: float) -> None:
    """Makes a stream that stays: deleting an account's last one makes the next creation fail."""
    if provider == "external":
        return
    config = {"name": KEEPER, "subjects": ["jetproof.keeper"], "storage": "memory"}
    subject = f"$JS.API.STREAM.CREATE.{KEEPER}"
    await connection.request(subject, json.dumps(config).encode(), timeout=5.0 * factor)
