"""Fast ingest: many messages, few acknowledgements, one control channel.

    open -> begun (first answer is there) -> ended (the final PubAck, or an error)

In gap mode `fail` a gap or an error stops the sending; the final PubAck then tells what was stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable, Mapping
from typing import Any
from typing import Final as Final_

from jetproof.targets.reference_client.channel import (
    Acked,
    Channel,
    Failed,
    Final,
    Gap,
    HeaderForm,
    Heard,
    Operation,
    Refused,
    ReplySubjects,
)
from jetproof.targets.reference_client.connection import Subscription
from jetproof.targets.reference_client.errors import (
    ClientError,
    invalid,
    status_error,
    timed_out,
)
from jetproof.targets.reference_client.flow import (
    DEFAULT_FLOW,
    DEFAULT_OUTSTANDING,
    MOST_OUTSTANDING,
    Flow,
)
from jetproof.targets.reference_client.publishing import Outgoing, pub_ack
from jetproof.targets.reference_client.requests import Requests
from jetproof.wire.frames import Msg

MAX_ID: Final_ = 64
HEADERS_UNTIL: Final_ = 8
"""The first revision of ADR-50 that this client puts into reply subjects."""
Tell = Callable[[str, ClientError | None, int | None], None]
"""Called with `ack`, `gap` or `error`, the error, and the highest sequence acknowledged."""


class Ingest:
    """A fast publisher. Calls are taken one after the other, in the order in which they came."""

    def __init__(
        self,
        requests: Requests,
        tell: Tell,
        *,
        batch_id: str | None = None,
        flow: int | None = None,
        outstanding: int | None = None,
        gap: str | None = None,
        ack_timeout: float | None = None,
    ) -> None:
        conduct = requests.line.conduct
        self.line = requests.line
        self._tell = tell
        if gap not in (None, "ok", "fail"):
            raise invalid(f"gap is ok or fail, not {gap!r}")
        if flow is not None and not 1 <= flow <= 65535:
            raise invalid(f"flow is 1 to 65535, not {flow}")
        self.flow = conduct.part(Flow)(self.outstanding(outstanding))
        self.timeout = self.patience(ack_timeout)
        flow, gap = self.opening(flow, gap)
        said = (self.line.new_inbox(), self.chosen_id(batch_id), flow)
        self.channel: Channel = (
            conduct.part(HeaderForm)(*said, gap)
            if conduct.adr50 < HEADERS_UNTIL
            else conduct.part(ReplySubjects)(*said, gap or "ok")
        )
        self._heard = asyncio.Event()
        self._final: dict[str, Any] | None = None
        self.over: ClientError | None = None
        self.stopped: ClientError | None = None
        """The gap or error after which nothing more is sent."""
        self.last_subject = ""
        self.ending = False
        """Whether the last message was sent."""
        self._turn = asyncio.Lock()
        self._subscription: Subscription | None = self.line.subscribe(
            self.channel.subscription, self.arrived
        )

    # Options

    def chosen_id(self, batch_id: str | None) -> str:
        if batch_id is None:
            return self.new_id()
        self.check_id(batch_id)
        return batch_id

    def new_id(self) -> str:
        return uuid.uuid4().hex

    def check_id(self, batch_id: str) -> None:
        odd = any(character in ".*>" or character.isspace() for character in batch_id)
        if odd or not 1 <= len(batch_id) <= MAX_ID:
            raise invalid(f"a batch id has 1 to {MAX_ID} characters and is one token")

    def outstanding(self, given: int | None) -> int:
        """How many acknowledgements may be outstanding."""
        if given is None:
            return DEFAULT_OUTSTANDING
        self.check_outstanding(given)
        return given

    def check_outstanding(self, given: int) -> None:
        if not 1 <= given <= MOST_OUTSTANDING:
            raise invalid(f"max_outstanding is 1 to {MOST_OUTSTANDING}, not {given}")

    def patience(self, given: float | None) -> float:
        """How many seconds to wait for the control channel."""
        return self.line.endpoint.timeout if given is None else given

    def opening(self, flow: int | None, gap: str | None) -> tuple[int, str | None]:
        """The flow and the gap mode of the first message."""
        return flow or DEFAULT_FLOW, gap

    # Calls

    async def add(self, message: Outgoing) -> tuple[int, int]:
        """Sends a message; returns its batch sequence and the highest that is acknowledged."""
        async with self._turn:
            self.check(message)
            await self.append(message)
            return self.flow.sent, self.flow.acked

    async def append(self, message: Outgoing) -> None:
        await self.send(message, Operation.APPEND if self.flow.sent else Operation.START)
        await self._until(lambda: not self.flow.must_wait, may_ping=True)

    async def commit(self, message: Outgoing) -> dict[str, Any]:
        """Sends the last message; returns the final PubAck."""
        async with self._turn:
            self.check(message)
            return await self.commit_with(message)

    async def commit_with(self, message: Outgoing) -> dict[str, Any]:
        await self.send(message, Operation.COMMIT)
        return await self._finished()

    async def close(self) -> dict[str, Any]:
        """Ends the batch without a further message; returns the final PubAck."""
        async with self._turn:
            if self.stopped is not None and (self.over is None or self._final is not None):
                return await self._finished()
            self.check()
            if not self.flow.sent:
                return self.close_empty()
            await self.send(Outgoing(self.last_subject), Operation.END)
            return await self._finished()

    def close_empty(self) -> dict[str, Any]:
        error = ClientError("EmptyBatch", "the batch has no message")
        self.finish(error)
        raise error

    def abandon(self) -> None:
        """The connection is closed: nothing more is awaited."""
        self.finish(ClientError("ConnectionClosed", "the connection was closed"))

    # Steps

    def check(self, message: Outgoing | None = None) -> None:
        """What must be so before a call is taken."""
        self.check_open()
        self.check_not_stopped()

    def check_open(self) -> None:
        if self.over is not None:
            raise ClientError("BatchOver", f"the batch is over: {self.over.text}")

    def check_not_stopped(self) -> None:
        if self.stopped is not None:
            raise self.stopped

    async def send(self, message: Outgoing, operation: Operation) -> None:
        await self.line.until_connected(self.line.endpoint.timeout)
        if operation in (Operation.COMMIT, Operation.END):
            self.ending = True
        sent, reply = self.dressed(message, self.sequence_of(operation), operation)
        if self.takes_a_sequence(operation):
            self.flow.sent += 1
        self.last_subject = message.subject
        self.line.publish(sent.subject, sent.payload, reply=reply, headers=sent.headers)

    def takes_a_sequence(self, operation: Operation) -> bool:
        return operation is not Operation.PING

    def sequence_of(self, operation: Operation) -> int:
        """The next sequence; a ping names the last one."""
        return self.flow.sent + (1 if self.takes_a_sequence(operation) else 0)

    def dressed(
        self, message: Outgoing, sequence: int, operation: Operation
    ) -> tuple[Outgoing, str]:
        """The message as it is sent, and its reply subject."""
        return self.channel.dressed(message, sequence, operation)

    async def ping(self) -> None:
        """Asks for an acknowledgement that may have been lost."""
        with contextlib.suppress(ClientError):
            await self.send(Outgoing(self.last_subject), Operation.PING)

    async def _until(self, done: Callable[[], bool], *, may_ping: bool) -> None:
        """Waits for the control channel; halfway, a ping may ask for what was lost."""
        pings = may_ping and self.can_ping()
        while not done():
            self._heard.clear()
            self._raise_if_over()
            try:
                async with asyncio.timeout(self.timeout / 2 if pings else self.timeout):
                    await self._heard.wait()
            except TimeoutError:
                if pings:
                    pings = False
                    await self.ping()
                else:
                    self.unanswered(timed_out("an answer of the batch", self.timeout))
        if self._final is None:
            self._raise_if_over()

    def can_ping(self) -> bool:
        # Before its first answer, and after its last message, there is nothing to ask a batch.
        return self.channel.has_ping and self.flow.every > 0

    def unanswered(self, error: ClientError) -> None:
        self.finish(error)

    async def _finished(self) -> dict[str, Any]:
        await self._until(lambda: self._final is not None, may_ping=False)
        assert self._final is not None
        return self._final

    def _raise_if_over(self) -> None:
        if self.over is not None:
            raise self.over

    # The control channel

    def arrived(self, msg: Msg, at: float) -> None:
        if self.over is not None:
            return
        if msg.status is not None and msg.status >= 400:
            self.refused(status_error("NoResponders", msg.status, msg.description))
        else:
            for heard in self.understood(msg):
                self._take(heard)
        self._heard.set()

    def understood(self, msg: Msg) -> tuple[Heard, ...]:
        """What a message on the channel says; one that is not understood says nothing."""
        try:
            document = json.loads(msg.payload)
        except ValueError:
            return ()
        return self.channel.heard(document) if isinstance(document, Mapping) else ()

    def _take(self, heard: Heard) -> None:
        match heard:
            case Acked(sequence, every):
                self.acknowledged(sequence, every)
            case Gap(first, sequence):
                self.flow.gap(sequence)
                lost = f"messages {first} to {sequence - 1} were lost"
                self.upset("gap", ClientError("BatchGap", lost))
            case Failed(_, error):
                self.message_failed(self.known(error))
            case Refused(error):
                self.refused(self.known(error))
            case Final(document):
                self.last_ack(document)

    def acknowledged(self, sequence: int, every: int) -> None:
        first = not self.flow.every
        self.flow.acknowledged(sequence, every)
        if not first:
            self.tell_ack()

    def tell_ack(self) -> None:
        self._tell("ack", None, self.flow.acked)

    def message_failed(self, error: ClientError) -> None:
        self.upset("error", error)

    def upset(self, kind: str, error: ClientError) -> None:
        """A gap or an error of one message: told, and in mode `fail` nothing more is sent."""
        self._tell(kind, error, self.flow.acked)
        if self.channel.fails_at_gaps:
            self.stopped = error

    def known(self, error: ClientError) -> ClientError:
        """The error of the server, with its code."""
        return error

    def refused(self, error: ClientError) -> None:
        """The batch is refused, or the server has ended it with an error."""
        if self.flow.every:
            self._tell("error", error, self.flow.acked)
        self.finish(error)

    def last_ack(self, document: Mapping[str, Any]) -> None:
        """The final PubAck, asked for or not."""
        self._final = pub_ack(document)
        self.finish(self.stopped or ClientError("BatchCommitted", "it has its final ack"))

    def finish(self, error: ClientError) -> None:
        if self.over is None:
            self.over = error
            self._heard.set()
            self.leave()

    def leave(self) -> None:
        """Interest in the control channel ends with the batch."""
        self.unsubscribe()

    def unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            self.line.unsubscribe(subscription)
