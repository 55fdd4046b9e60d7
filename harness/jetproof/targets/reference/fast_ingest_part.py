"""Fast ingest in the form of ADR-50's revision 7, in front of a real server.

What becomes of a message is decided by the state machine of `fast_ingest`. Here it is carried out:
messages are stored by publishing them to the real server, with their headers as they came, and
clients are answered on the reply subject of their batch.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from jetproof import clock
from jetproof.targets.reference.fast_ingest import Advise, Batch, Effect, Ingest, Store, Tell
from jetproof.targets.reference.fast_ingest_message import Message
from jetproof.targets.reference.fields import read_object
from jetproof.targets.reference.ground import Client, Ground, Work
from jetproof.wire.errors import WireTimeout
from jetproof.wire.frames import Msg, Pub
from jetproof.wire.headers import Headers
from jetproof.wire.rules.selecting import subject_matches

_DELETE = re.compile(r"\$JS(?:\.[^.]+)?\.API\.STREAM\.DELETE\.(?P<stream>[^.]+)")
_CONFIGURED = re.compile(rb"io\.nats\.jetstream\.api\.v1\.stream_(?:create|update)_response")
_ACCOUNT: Final = "$JS.API.INFO"
_INFO: Final = "$JS.API.STREAM.INFO"
_ADVISORIES: Final = "$JS.EVENT.ADVISORY.STREAM"
_ABANDONED: Final = "io.nats.jetstream.advisory.v1.batch_abandoned"
_STORE_SECONDS: Final = 5.0
_ANSWER_SECONDS: Final = 1.0
_LOOK_AGAIN: Final = 0.1


@dataclass(slots=True)
class _Lane:
    """A stream: its batches, and the messages for it in the order in which they came."""

    stream: str
    ingest: Ingest
    leader: str | None = None
    """The server that leads it, if it has replicas and one is known."""
    last: asyncio.Future[None] | None = None

    def queue(self) -> contextlib.AbstractAsyncContextManager[None]:
        """A place behind all that wait; entered when it is its turn."""
        before, own = self.last, asyncio.get_running_loop().create_future()
        self.last = own
        return _turn(before, own)


@contextlib.asynccontextmanager
async def _turn(
    before: asyncio.Future[None] | None, own: asyncio.Future[None]
) -> AsyncIterator[None]:
    try:
        if before is not None:
            await asyncio.wait({before})
        yield
    finally:
        own.set_result(None)


@dataclass(frozen=True, slots=True)
class _Known:
    """What a stream's configuration says, as far as it matters here."""

    subjects: tuple[str, ...]
    enabled: bool
    replicated: bool


class FastIngest:
    """The part of the layer that takes messages with `Nats-Fast-Batch-Id`.

    Which stream a message is for is learned from the answers to whoever creates and updates
    streams. One that came to be behind the layer's back is asked for.
    """

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self._places: Counter[str] = Counter()
        self._doors: dict[str, asyncio.Lock] = {}
        self._known: dict[str, dict[str, _Known]] = {}
        self._found: dict[tuple[str, str], str] = {}
        self._lanes: dict[tuple[str, str], _Lane] = {}

    def takes(self, client: Client, message: Pub) -> Work | None:
        account = self.ground.account(client)
        if deleted := _DELETE.fullmatch(message.subject):
            self._forget(account, deleted["stream"])
            return None
        if message.subject == _ACCOUNT and (busy := self._busy()):
            return self._pass_after(busy, client, message)
        read = self.read(message)
        if read is None:
            return None
        stream = self._stream_of(account, message.subject)
        if stream is None:
            return self._ask_and_work(client, message, read)
        lane = self._lane(account, stream)
        return self._work(client, message, read, lane, lane.queue())

    def read(self, frame: Pub) -> Message | None:
        """The message of fast ingest that a frame is, if it is one."""
        return Message.read(frame)

    def shows(self, client: Client, message: Msg) -> Msg | None:
        if _CONFIGURED.search(message.payload):
            self._learn(self.ground.account(client), read_object(message.payload) or {})
        return message

    # -- one message after the other ------------------------------------------------------------

    def _busy(self) -> set[asyncio.Future[None]]:
        """The ends of all queues in which somebody waits."""
        ends = (lane.last for lane in self._lanes.values())
        return {end for end in ends if end is not None and not end.done()}

    async def _pass_after(
        self, busy: set[asyncio.Future[None]], client: Client, frame: Pub
    ) -> None:
        """A question to JetStream itself is answered when what came before it is done.

        Servers do it so; whoever misses an answer asks, and knows then that none will come.
        """
        await asyncio.wait(busy)
        self.ground.forward(client, frame)

    async def _ask_and_work(self, client: Client, frame: Pub, message: Message) -> None:
        """For a subject whose stream is not known: whoever comes first, asks and queues first."""
        account = self.ground.account(client)
        async with self._doors.setdefault(account, asyncio.Lock()):
            stream = self._stream_of(account, frame.subject)
            if stream is None:
                asked = {"subject": frame.subject}
                found = await self._told(client, "$JS.API.STREAM.NAMES", asked)
                for name in found.get("streams") or ():
                    self._learn(account, await self._told(client, f"{_INFO}.{name}"))
                stream = self._stream_of(account, frame.subject)
            if stream is None:
                self.ground.forward(client, frame)  # nobody listens: the server says so
                return
            lane = self._lane(account, stream)
            turn = lane.queue()
        await self._work(client, frame, message, lane, turn)

    async def _work(
        self,
        client: Client,
        frame: Pub,
        message: Message,
        lane: _Lane,
        turn: contextlib.AbstractAsyncContextManager[None],
    ) -> None:
        async with turn:
            begun = await self._handle(lane, client, frame, message)
        if begun is not None:
            await self._watch(lane, client, begun)

    async def _handle(
        self, lane: _Lane, client: Client, frame: Pub, message: Message
    ) -> Batch | None:
        """Works on a message; the batch that it has begun, if it has."""
        known = lane.ingest.batches.get(message.batch)
        stream = self._known.get(self.ground.account(client), {}).get(lane.stream)
        if stream is None:
            return None  # it is deleted, and with it all that waits
        if stream.replicated:
            if not await self._there_is_a_leader(lane, client):
                return None  # lost, like any message to a stream that nobody leads
            known = lane.ingest.batches.get(message.batch)
        enabled = known is not None or stream.enabled
        effects = lane.ingest.arrives(
            message, clock.now(), enabled=enabled, leader=lane.leader or ""
        )
        batch = lane.ingest.batches.get(message.batch)
        for effect in effects:
            if isinstance(effect, Store):
                await self._store(lane, client, frame, message)
            else:
                await self._carry_out(lane, client, (effect,))
        return batch if batch is not known else None

    async def _store(self, lane: _Lane, client: Client, frame: Pub, message: Message) -> None:
        headers = self.stored_headers(frame, message)
        # The leader has heard of its election before the others.
        store = replace(client, node=lane.leader) if lane.leader else client
        until = clock.now() + _STORE_SECONDS
        try:
            answer = await self.ground.ask(
                store, frame.subject, frame.payload, headers, within=_STORE_SECONDS
            )
            while answer.status is not None and clock.now() < until:
                await asyncio.sleep(_LOOK_AGAIN)  # nobody has heard it
                answer = await self.ground.ask(
                    store, frame.subject, frame.payload, headers, within=_STORE_SECONDS
                )
        except WireTimeout:
            return  # lost, as messages may be while a leader is elected
        told = read_object(answer.payload) or {}
        if "error" in told:
            effects = lane.ingest.refused(message, told)
        elif "seq" in told:
            duplicate = bool(told.get("duplicate"))
            effects = lane.ingest.stored(message, int(told["seq"]), duplicate=duplicate)
        else:
            return  # lost as well: nobody was there to store it
        await self._carry_out(lane, client, effects)

    def stored_headers(self, frame: Pub, message: Message) -> Headers | None:
        """A message is stored with its headers as they came."""
        return frame.headers

    async def _carry_out(self, lane: _Lane, client: Client, effects: Iterable[Effect]) -> None:
        for effect in effects:
            match effect:
                case Tell(to, body) if to is not None:
                    await self.ground.tell(client, to, json.dumps(body).encode())
                case Advise(batch, reason):
                    advisory = {
                        "type": _ABANDONED,
                        "id": secrets.token_hex(11),
                        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
                        "stream": lane.stream,
                        "batch": batch,
                        "reason": reason,
                    }
                    subject = f"{_ADVISORIES}.BATCH_ABANDONED.{lane.stream}"
                    await self.ground.tell(client, subject, json.dumps(advisory).encode())
                case _:
                    pass

    async def _watch(self, lane: _Lane, client: Client, batch: Batch) -> None:
        """Waits beside a batch for its time to be over, and looks for another leader."""
        ingest = lane.ingest
        while ingest.batches.get(batch.id) is batch:
            await self._carry_out(lane, client, ingest.idle(batch, clock.now()))
            left = max(0.0, ingest.expires(batch) - clock.now())
            if lane.leader is None:
                await asyncio.sleep(left)
                continue
            await asyncio.sleep(min(left, _LOOK_AGAIN))
            await self._ask_who_leads(lane, client)

    # -- streams --------------------------------------------------------------------------------

    def _stream_of(self, account: str, subject: str) -> str | None:
        """The stream that stores a subject, as far as it is known."""
        found = self._found.get((account, subject))
        if found is not None:
            return found
        for name, known in self._known.get(account, {}).items():
            if any(subject_matches(pattern, subject) for pattern in known.subjects):
                self._found[account, subject] = name
                return name
        return None

    def _learn(self, account: str, told: Mapping[str, Any]) -> None:
        """What the answer to a create, an update or a question says of a stream."""
        config = told.get("config") or {}
        if "name" in config:
            self._found.clear()
            self._known.setdefault(account, {})[str(config["name"])] = _Known(
                tuple(config.get("subjects") or ()),
                bool(config.get("allow_batched")),
                config.get("num_replicas", 1) > 1,
            )

    async def _there_is_a_leader(self, lane: _Lane, client: Client) -> bool:
        """Asks for it until there is one, but not for ever."""
        until = clock.now() + _STORE_SECONDS
        while not await self._ask_who_leads(lane, client):
            if clock.now() > until:
                return False
        return True

    async def _ask_who_leads(self, lane: _Lane, client: Client) -> bool:
        """Asks the stream's leader, and tells those of its batches that began with another."""
        try:
            told = await self._told(client, f"{_INFO}.{lane.stream}", within=_ANSWER_SECONDS)
        except WireTimeout:
            return False
        leader = (told.get("cluster") or {}).get("leader")
        if not leader:
            return False
        lane.leader = str(leader)
        for batch in list(lane.ingest.batches.values()):
            await self._carry_out(lane, client, lane.ingest.leads(batch, lane.leader))
        return True

    async def _told(
        self, client: Client, subject: str, body: object = None, within: float = _STORE_SECONDS
    ) -> dict[str, Any]:
        payload = b"" if body is None else json.dumps(body).encode()
        answer = await self.ground.ask(client, subject, payload, within=within)
        return read_object(answer.payload) or {}

    def _lane(self, account: str, stream: str) -> _Lane:
        key = (account, stream)
        if key not in self._lanes:
            ingest = self.ground.parts.part(Ingest)(stream, self._places)
            self._lanes[key] = _Lane(stream, ingest)
        return self._lanes[key]

    def _forget(self, account: str, stream: str) -> None:
        """A stream that is deleted has no batches."""
        self._found.clear()
        self._known.get(account, {}).pop(stream, None)
        if (lane := self._lanes.pop((account, stream), None)) is not None:
            lane.ingest.clear()
