"""A proxy between clients and one server that records every frame and applies rules to it.

    async with Tap("127.0.0.1", 4222, rules=[{"on": {"answers": "publish"}, "do": "drop"}]) as tap:
        connection = await Connection.open(tap.host, tap.port)
        ...
        assert tap.fired["rule-1"] == 1

Frames that no rule touches pass byte by byte; so do bytes that are no frames at all. Addresses of
other servers are taken out of INFO, so that clients stay on the tap.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

from jetproof.load.rules import parse_message, parse_rules
from jetproof.model.template import Env
from jetproof.targets.tap.book import Decision, Made, RuleBook
from jetproof.targets.tap.events import Event, TapEvent
from jetproof.targets.tap.listening import Listener
from jetproof.targets.tap.owner import Inline
from jetproof.targets.tap.record import Record, one_by_one
from jetproof.targets.tap.session import Session
from jetproof.targets.tap.timed_flag import TimedFlag
from jetproof.wire.errors import WireTimeout
from jetproof.wire.frames import Frame
from jetproof.wire.rules import Rule
from jetproof.wire.rules.model import Accept, Pause, Refuse, Reply, Resume

RuleLike = Rule | Mapping[str, Any]


class Tap:
    """Listens while its context lasts; `host` and `port` are where clients connect.

    `upstream` is the server's address and may be changed for connections to come. `opened`,
    `refused` and `failed` count the clients that came, that were turned away, and for which no
    server was found.
    """

    def __init__(
        self,
        upstream_host: str,
        upstream_port: int,
        rules: Sequence[RuleLike] = (),
        on_frame: Callable[[TapEvent], object] | None = None,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        connect_timeout: float = 5.0,
        inline: Inline | None = None,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        """`on_frame` sees every frame of both directions; `port` 0 takes a free one.

        `inline` is asked about every frame before the rules are, and may keep it.
        With `tls`, clients speak TLS with the tap, and the tap plainly with the server; without,
        TLS that client and server speak passes as bytes, and no rule can see a frame of it.
        """
        self.upstream = (upstream_host, upstream_port)
        self.opened = 0
        self.refused = 0
        self.failed = 0
        self._connect_timeout = connect_timeout
        self.inline = inline
        self.tls = tls
        self.book = RuleBook()
        self.record = Record()
        self._refusal = TimedFlag(lambda on: None if on else self._listener.start())
        self._pause = TimedFlag(self._set_pause)
        self._sessions: dict[int, Session] = {}
        self._connecting: set[asyncio.Task[None]] = set()
        self._listener = Listener(host, port, lambda: self._new_session().client)
        self._news = asyncio.Event()
        self.add_rules(rules)
        if on_frame is not None:
            self.on_event(_frames_only(on_frame))

    async def __aenter__(self) -> Self:
        await self._listener.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._refusal.stop()
        self._pause.stop()
        await self._listener.close()
        for task in self._connecting:
            task.cancel()
        await asyncio.gather(*self._connecting, return_exceptions=True)
        sessions = list(self._sessions.values())
        for session in sessions:
            session.abort("the tap was closed")
        for session in sessions:
            await session.wait_gone()

    @property
    def host(self) -> str:
        return self._listener.host

    @property
    def port(self) -> int:
        return self._listener.port

    @property
    def url(self) -> str:
        """Where clients connect, as they are told it."""
        return f"nats://{self.host}:{self.port}"

    # What it tells

    def on_event(self, callback: Callable[[Event], object]) -> Callable[[], None]:
        """Calls back for every frame and every connection from now on; returns how to end it."""
        return self.record.watch(one_by_one(callback))

    def on_events(self, callback: Callable[[Sequence[Event]], object]) -> Callable[[], None]:
        """Like `on_event`, but one call for all that came with one piece of the wire."""
        return self.record.watch(callback)

    # Rules

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules in force, in the order in which they apply."""
        return self.book.rules

    @property
    def fired(self) -> Mapping[str, int]:
        """By rule id: how often something was done to a frame."""
        return self.book.fired

    @property
    def matched(self) -> Mapping[str, int]:
        """By rule id: how many frames were selected, before counting."""
        return self.book.matched

    @property
    def problems(self) -> Sequence[str]:
        """Rules that could not be carried out on a frame, in words; the first hundred."""
        return self.book.problems

    def add_rules(self, rules: Sequence[RuleLike]) -> None:
        """Puts further rules in force; RuleError if one cannot be read, ValueError if it is there.

        A rule of plain data without an id is named `rule-<n>` by its place among those.
        """
        parsed = iter(parse_rules([rule for rule in rules if not isinstance(rule, Rule)]))
        self.book.add([rule if isinstance(rule, Rule) else next(parsed) for rule in rules])

    def know(self, variables: Env) -> None:
        """Rules may name these variables, besides those that they remember themselves.

        The mapping is asked again for every frame, so it may change.
        """
        self.book.know(variables)

    def clear(self, *ids: str) -> None:
        """Takes these rules out of force, or all; their counts can still be read."""
        self.book.remove(ids or None)

    async def wait_fired(self, rule: str, times: int = 1, within: float = 5.0) -> None:
        """Waits until a rule has fired so often; `WireTimeout` if it does not."""
        try:
            async with asyncio.timeout(within):
                while self.book.fired.get(rule, 0) < times:
                    self._news.clear()
                    await self._news.wait()
        except TimeoutError:
            fired = self.book.fired.get(rule, 0)
            raise WireTimeout(
                f"the rule {rule} fired {fired} times within {within:g} s, not {times}"
            ) from None

    # Connections

    @property
    def connections(self) -> tuple[int, ...]:
        """The numbers of the clients that are connected; the first client is 1."""
        return tuple(self._sessions)

    def forward(self, connection: int, frame: Frame) -> None:
        """Sends a frame to the server in a client's name; nothing, if that client is gone."""
        session = self._sessions.get(connection)
        if session is not None:
            session.forward(frame)

    def inject(self, message: Reply | Mapping[str, Any], connection: int | None = None) -> None:
        """Sends a message of the tap's own, in the form of `inject` in a rule, which needs `subject`.

        It goes to whoever listens, the given client first (else the last that came). ValueError if
        nobody does, RuleError if it cannot be read.
        """
        reply = message if isinstance(message, Reply) else parse_message(message)
        number = connection if connection is not None else max(self._sessions, default=0)
        self.deliver(self.book.compose(reply, number))
        self.record.flush()

    def refuse(
        self, refusing: bool = True, *, seconds: float | None = None, deaf: bool = False
    ) -> None:
        """From now on new clients are turned away before INFO, or taken again.

        Taken again by itself after `seconds`, if given. `deaf`: nobody listens, so that clients
        cannot even connect; such attempts are not seen.
        """
        self._refusal.change(refusing, seconds)
        if refusing and deaf:
            self._listener.stop()

    def accept(self) -> None:
        """New clients are taken again."""
        self.refuse(False)

    def pause(self, seconds: float | None = None) -> None:
        """Holds all that the server says, to these clients and those to come, until `resume`."""
        self._pause.change(True, seconds)

    def resume(self) -> None:
        """Lets go what was held since `pause`."""
        self._pause.change(False)

    def cut(self, connections: Iterable[int] | None = None) -> None:
        """Closes both ends of these connections, or of all."""
        numbers = self._sessions if connections is None else connections
        for session in [self._sessions[n] for n in numbers if n in self._sessions]:
            session.cut("cut by the tap")

    @asynccontextmanager
    async def outage(self) -> AsyncIterator[None]:
        """Cuts every connection, and refuses new ones for as long as the context lasts."""
        self.refuse()
        self.cut()
        try:
            yield
        finally:
            self.refuse(False)

    # What sessions ask for

    def client_came(self, session: Session) -> None:
        if self._refusal.on:
            self.refused += 1
            session.tell("refused")
            session.abort("the tap refuses connections")
            return
        task = asyncio.ensure_future(self._connect(session))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    def client_left(self, session: Session) -> None:
        self._sessions.pop(session.number, None)

    def deliver(self, made: Made) -> None:
        session = self._sessions.get(made.connection)
        if session is not None:
            session.deliver(made)

    def rules_fired(self, decision: Decision) -> None:
        self._news.set()
        for order in decision.orders:
            match order:
                case Refuse(seconds, deaf):
                    self.refuse(seconds=seconds, deaf=deaf)
                case Accept():
                    self.accept()
                case Pause(seconds):
                    self.pause(seconds)
                case Resume():
                    self.resume()

    def _new_session(self) -> Session:
        self.opened += 1
        session = Session(self.opened, self)
        if self._pause.on:
            session.pause()
        self._sessions[session.number] = session
        return session

    def _set_pause(self, on: bool) -> None:
        for session in tuple(self._sessions.values()):
            if on:
                session.pause()
            else:
                session.resume()

    async def _connect(self, session: Session) -> None:
        reason = await session.connect(*self.upstream, self._connect_timeout)
        if reason is not None:
            self.failed += 1
            session.tell("failed", reason)


def _frames_only(callback: Callable[[TapEvent], object]) -> Callable[[Event], object]:
    def pick(event: Event) -> None:
        if isinstance(event, TapEvent):
            callback(event)

    return pick
