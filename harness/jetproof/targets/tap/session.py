"""One client of the tap and its own connection to the server, with the rules in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import monotonic
from typing import Final, Protocol

from jetproof.targets.tap.book import Decision, Made, RuleBook
from jetproof.targets.tap.lane import Lane
from jetproof.wire.codec import Parser, encode
from jetproof.wire.errors import ProtocolError
from jetproof.wire.frames import Frame, Info, Raw
from jetproof.wire.link import Link
from jetproof.wire.rules.model import Sender

_OTHER_SERVERS: Final = ("connect_urls", "ws_connect_urls")


@dataclass(frozen=True, slots=True)
class TapEvent:
    """A frame that came by, or that the tap made (`made`).

    `frame` is what arrived, `passed` what went on instead: the same frame if no rule touched it,
    nothing if it was dropped. `rules` are the ids of the rules that fired. `at` is monotonic time.
    `sender` is the side it came from; the tap makes frames in the server's name.
    """

    connection: int
    sender: Sender
    frame: Frame
    at: float
    passed: tuple[Frame, ...]
    rules: tuple[str, ...] = ()
    made: bool = False


class Inline(Protocol):
    """What takes part in the exchange itself, before the rules see a frame: the reference layer."""

    def passes(self, connection: int, sender: Sender, frame: Frame) -> Frame | None:
        """The frame to pass on, another in its place, or None to keep it."""

    def gone(self, connection: int) -> None:
        """The client of this connection is no more."""


class Session:
    """Two links, a parser and a lane for each direction."""

    def __init__(
        self,
        number: int,
        book: RuleBook,
        *,
        on_event: Callable[[TapEvent], None],
        on_made: Callable[[Made], None],
        on_gone: Callable[[Session], None],
        on_client: Callable[[Session], None],
        inline: Inline | None = None,
    ) -> None:
        """`on_client` runs when the client is there; `on_made` delivers what the tap made."""
        self.number = number
        self._book = book
        self._inline = inline
        self._on_event = on_event
        self._on_made = on_made
        self._on_gone = on_gone
        self.client = Link(
            on_data=lambda data: self._data("client", data),
            on_end=lambda reason: self._ended("client", reason),
            on_made=lambda: on_client(self),
            on_gone=self._check_gone,
            on_paused=lambda paused: self._hold("server", "the client is slow", paused),
            peer="the client",
        )
        self.server = Link(
            on_data=lambda data: self._data("server", data),
            on_end=lambda reason: self._ended("server", reason),
            on_gone=self._check_gone,
            on_paused=lambda paused: self._hold("client", "the server is slow", paused),
            peer="the server",
        )
        self._links: Mapping[Sender, Link] = {"client": self.client, "server": self.server}
        # By sender: a client's frames are those that a server reads.
        self._parsers = {"client": Parser("server"), "server": Parser("client")}
        self._lanes: Mapping[Sender, Lane] = {
            "client": Lane(self.server, lambda full: self._hold("client", "held frames", full)),
            "server": Lane(self.client, lambda full: self._hold("server", "held frames", full)),
        }
        self._holds: Mapping[Sender, set[str]] = {"client": set(), "server": set()}
        self._opaque: set[Sender] = set()

    async def connect(self, host: str, port: int, timeout: float) -> str | None:
        """Connects to the server; what went wrong, or None."""
        self._hold("client", "no server yet", True)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout):
                await loop.create_connection(lambda: self.server, host, port)
        except OSError as error:
            reason = f"the tap cannot connect to {host}:{port}: {error or 'no answer in time'}"
            self.server.end(reason)
            self.client.abort(reason)
            return reason
        self._hold("client", "no server yet", False)
        return None

    def cut(self, reason: str) -> None:
        """Closes both ends; what was already written is still sent, what is held is not."""
        for lane in self._lanes.values():
            lane.drop()
        self.client.shut(reason)
        self.server.shut(reason)

    def abort(self, reason: str) -> None:
        """Closes both ends at once."""
        for lane in self._lanes.values():
            lane.drop()
        self.client.abort(reason)
        self.server.abort(reason)

    async def wait_gone(self) -> None:
        """Waits until both sockets are closed."""
        for link in (self.client, self.server):
            if not link.gone:
                await link.wait_gone()

    def deliver(self, made: Made) -> None:
        """Sends a frame of the tap's own to this client, in its turn."""
        self._lanes["server"].send(encode(made.frame))
        self._on_event(
            TapEvent(
                self.number, "server", made.frame, monotonic(), (made.frame,), (made.rule,), True
            )
        )

    def forward(self, frame: Frame) -> None:
        """Sends a frame to the server in the client's name, unless the client is gone."""
        if self.server.connected:
            self._lanes["client"].send(encode(frame))
            self._on_event(TapEvent(self.number, "client", frame, monotonic(), (frame,), made=True))

    def _hold(self, sender: Sender, why: str, hold: bool) -> None:
        """Stops or resumes reading from one side; every reason counts."""
        holds = self._holds[sender]
        if hold:
            holds.add(why)
        else:
            holds.discard(why)
        transport = self._links[sender].transport
        if transport is None or transport.is_closing():
            return
        if holds:
            transport.pause_reading()
        else:
            transport.resume_reading()

    def _data(self, sender: Sender, data: bytes) -> None:
        at = monotonic()
        if sender in self._opaque:
            self._pass_bytes(sender, data, at)
            return
        parser = self._parsers[sender]
        frames: Sequence[Frame]
        rest = b""
        try:
            frames = parser.feed(data)
        except ProtocolError as error:
            # Not ours to judge: whoever it is meant for shall see the very same bytes.
            frames, rest = error.frames, parser.pending
            self._opaque.add(sender)
        for frame in frames:
            if self._links[sender].close_reason is not None:
                return  # a rule has cut the connection
            self._frame(sender, frame, at)
        if rest and self._links[sender].close_reason is None:
            self._pass_bytes(sender, rest, at)

    def _pass_bytes(self, sender: Sender, data: bytes, at: float) -> None:
        self._lanes[sender].send(data)
        frame = Raw(data)
        self._on_event(TapEvent(self.number, sender, frame, at, (frame,)))

    def _frame(self, sender: Sender, frame: Frame, at: float) -> None:
        arrived = frame
        if isinstance(frame, Info) and any(key in frame.data for key in _OTHER_SERVERS):
            # A client that learns of other addresses would reconnect past the tap.
            data = {key: value for key, value in frame.data.items() if key not in _OTHER_SERVERS}
            frame = replace(frame, data=data)
        if self._inline is not None:
            kept = self._inline.passes(self.number, sender, frame)
            if kept is None:
                self._on_event(TapEvent(self.number, sender, arrived, at, ()))
                return
            frame = kept
        subscriptions = self._book.subscriptions
        if sender == "client":
            subscriptions.note(self.number, frame)
        decision = self._book.decide(self.number, sender, frame)
        passed: tuple[Frame, ...] = ()
        if decision.cut != "before":
            passed = (decision.frame,) * decision.copies
        if sender == "server" and passed:
            subscriptions.note(self.number, decision.frame)
        self._on_event(TapEvent(self.number, sender, arrived, at, passed, tuple(decision.rules)))
        self._carry_out(sender, decision, passed)

    def _carry_out(self, sender: Sender, decision: Decision, passed: tuple[Frame, ...]) -> None:
        for item in decision.before:
            self._on_made(item)
        lane = self._lanes[sender]
        for frame in passed:
            lane.send(encode(frame), decision.delay, reorder=decision.reorder)
        for item in decision.after:
            self._on_made(item)
        if decision.cut == "before":
            self.cut("cut by a rule")
        elif decision.cut == "after":
            lane.close("cut by a rule")
            self._links[sender].shut("cut by a rule")

    def _ended(self, sender: Sender, reason: str) -> None:
        # What came from this side still leaves in its turn; what was for it has nowhere to go.
        self._lanes["server" if sender == "client" else "client"].drop()
        self._lanes[sender].close(reason)
        self._check_gone()

    def _check_gone(self) -> None:
        links = (self.client, self.server)
        if all(link.close_reason is not None and link.gone for link in links):
            self._book.subscriptions.forget(self.number)
            if self._inline is not None:
                self._inline.gone(self.number)
            self._on_gone(self)
