"""One client of the tap and its own connection to the server, with the rules in between."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal

from jetproof import clock
from jetproof.targets.tap.book import Decision, Made
from jetproof.targets.tap.events import ConnectionEvent, TapEvent
from jetproof.targets.tap.lane import Lane
from jetproof.targets.tap.owner import Owner
from jetproof.targets.tap.private_inbox import PrivateInboxes, Request
from jetproof.targets.tap.requests import Noted
from jetproof.wire.codec import Parser, Part, encode
from jetproof.wire.frames import Frame, Info, Msg, Pub, Raw, Unsub
from jetproof.wire.link import Link
from jetproof.wire.rules.model import Sender

_OTHER_SERVERS: Final = ("connect_urls", "ws_connect_urls")


@dataclass(slots=True)
class _Way:
    """One direction: whose frames, how they are read, where they go."""

    sender: Sender
    source: Link
    parser: Parser
    lane: Lane
    opaque: bool = False
    """What comes is no protocol, TLS for example, and passes as it is."""


class Session:
    """Two links, a parser and a lane for each direction."""

    def __init__(self, number: int, owner: Owner) -> None:
        self.number = number
        self._owner = owner
        self._book = owner.book
        self._record = owner.record
        self._inline = owner.inline
        self._tls = owner.tls
        self._securing: asyncio.Task[None] | None = None
        self._inboxes = PrivateInboxes(number, owner.book.subscriptions)
        self._joined = False
        self._cut = False
        self.client = Link(
            on_data=lambda data: self._data(self._from_client, data),
            on_end=lambda reason: self._ended(self._from_client, reason),
            on_made=lambda: owner.client_came(self),
            on_gone=self._check_gone,
            on_paused=lambda paused: self._hold("server", "the client is slow", paused),
            peer="the client",
        )
        self.server = Link(
            on_data=lambda data: self._data(self._from_server, data),
            on_end=lambda reason: self._ended(self._from_server, reason),
            on_made=self._server_found,
            on_gone=self._check_gone,
            on_paused=lambda paused: self._hold("client", "the server is slow", paused),
            peer="the server",
        )
        self._links: Mapping[Sender, Link] = {"client": self.client, "server": self.server}
        # A client's frames are those that a server reads.
        self._from_client = _Way(
            "client",
            self.client,
            Parser("server", streams=lambda *message: self._streams("client", *message)),
            Lane(self.server, lambda full: self._hold("client", "held frames", full)),
        )
        self._from_server = _Way(
            "server",
            self.server,
            Parser("client", streams=lambda *message: self._streams("server", *message)),
            Lane(self.client, lambda full: self._hold("server", "held frames", full)),
        )
        self._holds: Mapping[Sender, set[str]] = {"client": set(), "server": set()}

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
        self._cut = True
        for way in (self._from_client, self._from_server):
            way.lane.drop()
        self.client.shut(reason)
        self.server.shut(reason)

    def abort(self, reason: str) -> None:
        """Closes both ends at once."""
        self._cut = True
        for way in (self._from_client, self._from_server):
            way.lane.drop()
        self.client.abort(reason)
        self.server.abort(reason)

    async def wait_gone(self) -> None:
        """Waits until both sockets are closed."""
        if self._securing is not None:
            self._securing.cancel()
            await asyncio.gather(self._securing, return_exceptions=True)
        for link in (self.client, self.server):
            if not link.gone:
                await link.wait_gone()

    def pause(self) -> None:
        """Holds what the server says from now on."""
        self._from_server.lane.pause("a pause")

    def resume(self) -> None:
        """Lets the client have what was held."""
        self._from_server.lane.resume("a pause")

    def deliver(self, made: Made) -> None:
        """Sends a frame of the tap's own to this client, in its turn."""
        self._from_server.lane.send(encode(made.frame))
        rules = () if made.rule is None else (made.rule,)
        event = TapEvent(self.number, "server", made.frame, clock.now(), rules=rules, made=True)
        self._tell_of(self._from_server, event)

    def forward(self, frame: Frame) -> None:
        """Sends a frame to the server in the client's name, unless the client is gone."""
        if self.server.connected:
            self._from_client.lane.send(encode(frame))
            if self._record.wanted:
                self._record.add(TapEvent(self.number, "client", frame, clock.now(), made=True))
                self._record.flush()

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

    # Bytes that came

    def _data(self, way: _Way, data: bytes) -> None:
        if way.opaque:
            self._pass_bytes(way, data)
        elif self._record.wanted or self._acts:
            self._take(way, way.parser.read(data))
        else:
            sids: dict[bytes, int] = {}
            self._take(way, way.parser.skim(data, sids))
            if way.sender == "server":
                self._book.subscriptions.delivered_all(self.number, sids.items())
        self._record.flush()

    @property
    def _acts(self) -> bool:
        """Whether something may become of a frame besides passing."""
        return self._inline is not None or self._book.active or bool(self._inboxes)

    def _streams(self, sender: Sender, op: str, subject: str, reply: str | None) -> bool:
        if self._inline is not None or (sender == "server" and self._inboxes):
            return False
        return not self._book.may_touch(sender, op, subject, reply)

    def _take(self, way: _Way, items: list[Frame | Part]) -> None:
        """Passes on what came, in one piece as far as nothing is done to it."""
        at = clock.now()
        acts, wanted = self._acts, self._record.wanted
        book = self._book
        all_of_them = self._inline is not None or (way.sender == "server" and bool(self._inboxes))
        sender, number, add = way.sender, self.number, self._record.add
        held = sender == "server" and way.lane.holds
        out: list[bytes] = []
        for item in items:
            if type(item) is Part:
                out.append(item.data)
                if item.frame is not None:
                    _send(way.lane, out)
                    self._note_long(way, item.frame, item.omitted, at)
            elif (type(item) is Msg or type(item) is Pub) and not (
                acts and (all_of_them or book.concerns(number, sender, item))
            ):
                out.append(item.raw)
                if type(item) is Msg:
                    book.subscriptions.delivered(number, item.sid)
                if held:
                    _send(way.lane, out)
                    self._tell_of(way, TapEvent(number, sender, item, at))
                elif wanted:
                    add(TapEvent(number, sender, item, at))
            else:
                self._frame(way, item, at, out)
                held = sender == "server" and way.lane.holds
                if way.source.close_reason is not None:
                    return  # a rule has cut the connection
        _send(way.lane, out)
        if way.parser.failed is not None:
            # Not ours to judge: whoever it is meant for shall see the very same bytes.
            way.opaque = True
            self._pass_bytes(way, way.parser.pending)

    def _note_long(self, way: _Way, frame: Frame, omitted: int, at: float) -> None:
        if way.sender == "server":
            self._book.subscriptions.note(self.number, frame)
        self._tell_of(way, TapEvent(self.number, way.sender, frame, at, omitted=omitted))

    def _pass_bytes(self, way: _Way, data: bytes) -> None:
        way.lane.send(data)
        self._tell_of(way, TapEvent(self.number, way.sender, Raw(data), clock.now()))

    def _frame(self, way: _Way, frame: Frame, at: float, out: list[bytes]) -> None:
        """Decides what becomes of a frame; what passes as it is goes to the end of `out`."""
        sender = way.sender
        request: Request | None = None
        if isinstance(frame, Msg) and sender == "server" and self._inboxes.knows(frame):
            request = self._inboxes.request(frame)
            shown = None if request is None else self._inboxes.shown(frame, request)
            if shown is None:  # it answers a request that is over
                self._tell_of(way, TapEvent(self.number, sender, frame, at, ()))
                return
            frame = shown
        arrived = frame
        if isinstance(frame, Info) and any(key in frame.data for key in _OTHER_SERVERS):
            # A client that learns of other addresses would reconnect past the tap.
            data = {key: value for key, value in frame.data.items() if key not in _OTHER_SERVERS}
            frame = replace(frame, data=data)
        if isinstance(frame, Info) and self._tls is not None:
            frame = replace(frame, data={**frame.data, "tls_required": True})
        if self._inline is not None:
            kept = self._inline.passes(self.number, sender, frame)
            if kept is None:
                self._tell_of(way, TapEvent(self.number, sender, arrived, at, ()))
                return
            frame = kept
        if sender == "client":
            self._note_wish(frame)
        noted = None if request is None else request.noted
        decision = self._book.decide(self.number, sender, frame, noted) or Decision(frame, frame)
        passed: tuple[Frame, ...] = ()
        if decision.cut != "before":
            passed = (decision.frame,) * decision.copies
        if sender == "server" and passed:
            self._book.subscriptions.note(self.number, decision.frame)
        if decision.aside:
            passed = tuple(self._sent_to_inbox(passed, decision.request))
        instead = None if passed == (arrived,) else passed
        event = TapEvent(
            self.number,
            sender,
            arrived,
            at,
            instead,
            tuple(decision.rules),
            stripped=decision.stripped,
        )
        if decision.acts:
            _send(way.lane, out)
            self._carry_out(way, decision, passed, event)
            if decision.blind and request is not None:
                self._end(request)
        else:
            out.extend(map(encode, passed))
            if way.lane.holds:
                _send(way.lane, out)
            self._tell_of(way, event)
        if isinstance(frame, Info) and self._tls is not None and self._securing is None:
            _send(way.lane, out)
            self._securing = asyncio.ensure_future(self._secure(self._tls))

    async def _secure(self, context: ssl.SSLContext) -> None:
        """Goes over to TLS with the client, which was told to by INFO."""
        transport = self.client.transport
        if transport is None or transport.is_closing():
            return
        transport.pause_reading()
        self._from_server.lane.pause("TLS")
        loop = asyncio.get_running_loop()
        try:
            secured = await loop.start_tls(transport, self.client, context, server_side=True)
        except (OSError, asyncio.CancelledError) as error:  # an ssl.SSLError is an OSError
            self.client.connection_lost(ConnectionError(f"no TLS with the client: {error}"))
            return
        self.client.transport = secured
        self._from_server.lane.resume("TLS")

    def _note_wish(self, frame: Frame) -> None:
        """Learns what the client listens to; it may have stopped to listen to some answers."""
        self._book.subscriptions.note(self.number, frame)
        if self._inboxes and isinstance(frame, Unsub):
            for request in self._inboxes.unheard():
                self._end(request)

    def _sent_to_inbox(self, frames: tuple[Frame, ...], noted: Noted | None) -> Iterator[Frame]:
        for frame in frames:
            instead = self._inboxes.take(frame, noted) if isinstance(frame, Pub) else None
            yield from (frame,) if instead is None else instead

    def _end(self, request: Request) -> None:
        """The server shall drop a request of the client's."""
        self.forward(self._inboxes.end(request))

    def _tell_of(
        self, way: _Way, event: TapEvent, delay: float = 0.0, *, reorder: bool = False
    ) -> None:
        """Tells of a frame whose bytes were sent: now, or if the client has to wait, when it has them."""

        def left(it_did: bool) -> None:
            passed = event.instead if it_did else ()
            self._record.add(event._replace(at=clock.now(), instead=passed))
            self._record.flush()

        if not self._record.wanted:
            return
        if way.sender == "server" and event.passed and (delay > 0 or way.lane.holds):
            way.lane.note(left, delay, reorder=reorder)
        else:
            self._record.add(event)

    def _carry_out(
        self, way: _Way, decision: Decision, passed: tuple[Frame, ...], event: TapEvent
    ) -> None:
        if decision.rules:
            self._owner.rules_fired(decision)
        for item in decision.before:
            self._owner.deliver(item)
        for frame in passed:
            way.lane.send(encode(frame), decision.delay, reorder=decision.reorder)
        self._tell_of(way, event, decision.delay, reorder=decision.reorder)
        for item in decision.after:
            self._owner.deliver(item)
        if decision.cut == "before":
            self.cut("cut by a rule")
        elif decision.cut == "after":
            self._cut = True
            way.lane.close("cut by a rule")
            way.source.shut("cut by a rule")

    # Ends

    def _ended(self, way: _Way, reason: str) -> None:
        # What came from this side still leaves in its turn; what was for it has nowhere to go.
        other = self._from_server if way is self._from_client else self._from_client
        other.lane.drop()
        if not (self._cut or way.opaque) and way.parser.pending:
            way.opaque = True  # the beginning of a frame that never ended
            self._pass_bytes(way, way.parser.pending)
        way.lane.close(reason)
        if self._joined:
            self._joined = False
            self.tell("closed", reason)
        self._check_gone()

    def _server_found(self) -> None:
        self._joined = True
        self.tell("opened")

    def tell(
        self, kind: Literal["opened", "closed", "refused", "failed"], reason: str = ""
    ) -> None:
        """Records what became of the connection."""
        if self._record.wanted:
            self._record.add(ConnectionEvent(self.number, kind, clock.now(), reason))
            self._record.flush()

    def _check_gone(self) -> None:
        if all(link.close_reason is not None and link.gone for link in self._links.values()):
            self._book.subscriptions.forget(self.number)
            if self._inline is not None:
                self._inline.gone(self.number)
            self._owner.client_left(self)


def _send(lane: Lane, out: list[bytes]) -> None:
    """Sends what was collected, and empties the list."""
    if out:
        lane.send(b"".join(out) if len(out) > 1 else out[0])
        out.clear()
