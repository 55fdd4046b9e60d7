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
from dataclasses import replace
from typing import Any
from typing import Final as Final_

from jetproof.targets.reference_client.batches import NOTHING
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
_ENDS: Final_ = tuple(f".{number}.$FI" for number in (Operation.COMMIT, Operation.END))
HEADERS_UNTIL: Final_ = 8
"""The first revision of ADR-50 that this client puts into reply subjects."""
Tell = Callable[[str, ClientError | None, int | None], None]
"""Told `ack`, `gap` or `error`, the error, and the highest sequence acknowledged."""


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
        self._line = requests.line
        self._wrong = requests.line.conduct.wrong
        self._tell = tell
        self._connects = requests.line.connects
        made = uuid.uuid4().hex
        if self._wrong("batch-id-too-long"):
            made *= 3
        if batch_id is not None and self._wrong("caller-id-ignored"):
            batch_id = None
        good = batch_id is None or _good_id(batch_id) or self._wrong("ingest-id-unchecked")
        if not good:
            raise invalid(f"a batch id has 1 to {MAX_ID} characters and is one token")
        if gap not in (None, "ok", "fail"):
            raise invalid(f"gap is ok or fail, not {gap!r}")
        if flow is not None and not 1 <= flow <= 65535:
            raise invalid(f"flow is 1 to 65535, not {flow}")
        if (
            outstanding is not None
            and not 1 <= outstanding <= MOST_OUTSTANDING
            and not self._wrong("outstanding-unbounded")
        ):
            raise invalid(f"max_outstanding is 1 to {MOST_OUTSTANDING}, not {outstanding}")
        if outstanding is None:
            outstanding = 3 if self._wrong("three-outstanding-by-default") else DEFAULT_OUTSTANDING
        elif self._wrong("outstanding-not-settable"):
            outstanding = DEFAULT_OUTSTANDING
        self._timeout = ack_timeout if ack_timeout is not None else self._line.endpoint.timeout
        if ack_timeout is not None and self._wrong("ack-timeout-not-settable"):
            self._timeout = 3600.0
        prefix = self._line.new_inbox()
        if (flow is None or gap is None) and self._wrong("other-defaults"):
            flow, gap = flow or 10, gap or "fail"
        said = (prefix, batch_id or made, flow or DEFAULT_FLOW)
        conduct = self._line.conduct
        self._channel: Channel = (
            HeaderForm(*said, gap, conduct)
            if conduct.adr50 < HEADERS_UNTIL
            else ReplySubjects(*said, gap or "ok", conduct)
        )
        self._flow = Flow(outstanding, self._line.conduct)
        self._heard = asyncio.Event()
        self._final: dict[str, Any] | None = None
        self._over: ClientError | None = None
        self._stopped: ClientError | None = None
        self._last_subject = ""
        self._last_sent: tuple[Outgoing, str] | None = None
        self._ending = False
        self._errors_told = 0
        self._pinging: asyncio.Task[None] | None = None
        self._turn = asyncio.Lock()
        self._subscription: Subscription | None = self._line.subscribe(
            self._channel.subscription, self._arrived
        )

    # Calls

    async def add(self, message: Outgoing) -> tuple[int, int]:
        """Sends a message; returns its batch sequence and the highest that is acknowledged."""
        async with self._turn:
            self._check(message)
            operation = Operation.APPEND if self._flow.sent else Operation.START
            if self._flow.sent and self._wrong("members-kept-back"):
                return self._flow.sent, self._flow.acked
            await self._send(message, operation)
            if self._pinging is None and self._wrong("pings-all-the-time"):
                self._pinging = asyncio.get_running_loop().create_task(self._ping_on())
            await self._until(lambda: not self._flow.must_wait, may_ping=True)
            return self._flow.sent, self._flow.acked

    async def commit(self, message: Outgoing) -> dict[str, Any]:
        """Sends the last message; returns the final PubAck."""
        async with self._turn:
            self._check(message)
            if not self._flow.sent and self._wrong("batch-of-one-refused"):
                raise invalid("a batch of one message is none")
            await self._send(message, Operation.COMMIT)
            try:
                return await self._finished()
            except ClientError:
                if self._wrong("failed-commit-taken-for-one"):
                    return {"stream": "unknown", "seq": str(self._flow.sent)}
                raise

    async def close(self) -> dict[str, Any]:
        """Ends the batch without a further message; returns the final PubAck."""
        async with self._turn:
            if self._stopped is not None and (self._over is None or self._final is not None):
                return await self._finished()
            self._check()
            if not self._flow.sent:
                if self._wrong("empty-batch-ends-quietly"):
                    return dict(NOTHING)
                self._finish(ClientError("EmptyBatch", "the batch has no message"))
                assert self._over is not None
                raise self._over
            await self._send(Outgoing(self._last_subject), Operation.END)
            return await self._finished()

    def abandon(self) -> None:
        """The connection is closed: nothing more is awaited."""
        self._finish(ClientError("ConnectionClosed", "the connection was closed"))

    # Steps

    def _check(self, message: Outgoing | None = None) -> None:
        if self._line.connects > self._connects and self._wrong("reconnects-end-batches"):
            self._finish(ClientError("Disconnected", "the connection was lost"))
        items = () if message is None else message.items
        if any(name.startswith("Nats-") for name, _ in items) and self._wrong(
            "ingest-headers-refused"
        ):
            raise invalid("a message of fast ingest has no headers of JetStream")
        if self._over is not None and not self._wrong("ingest-goes-on-after-its-end"):
            raise ClientError("BatchOver", f"the batch is over: {self._over.text}")
        if self._stopped is not None and not self._wrong("sends-on-after-a-gap"):
            raise self._stopped

    async def _send(self, message: Outgoing, operation: Operation) -> None:
        await self._line.until_connected(self._line.endpoint.timeout)
        ping = operation is Operation.PING
        takes_one = not ping or self._wrong("ping-takes-a-sequence")
        sequence = self._flow.sent + (1 if takes_one else 0)
        if ping and self._wrong("ping-names-the-acknowledged"):
            sequence = max(1, self._flow.acked)
        if operation in (Operation.COMMIT, Operation.END):
            self._ending = True
            if self._flow.sent and self._wrong("ingest-end-repeats-the-sequence"):
                sequence = self._flow.sent
        channel = self._channel
        if (
            isinstance(channel, ReplySubjects)
            and self._flow.every not in (0, channel.flow)
            and self._wrong("reply-tells-the-flow-in-force")
        ):
            channel = replace(channel, flow=self._flow.every)
        if sequence > 1 and message.items and self._wrong("headers-of-members-dropped"):
            message = replace(message, items=())
        sent, reply = channel.dressed(message, sequence, operation)
        self._flow.sent += 1 if takes_one else 0
        self._last_subject = message.subject
        if sequence > 1 and self._wrong("channel-for-each-message"):
            self._line.subscribe(reply, self._arrived)
        if not ping:
            self._last_sent = (sent, reply)
        self._line.publish(sent.subject, sent.payload, reply=reply, headers=sent.headers)

    def _send_again(self) -> None:
        assert self._last_sent is not None
        sent, reply = self._last_sent
        self._line.publish(sent.subject, sent.payload, reply=reply, headers=sent.headers)

    async def _ping_on(self) -> None:
        """Pings for as long as the batch lasts: what a knob does otherwise."""
        with contextlib.suppress(ClientError):
            while self._over is None:
                await asyncio.sleep(self._timeout / 3)
                if self._over is None:
                    await self._send(Outgoing(self._last_subject), Operation.PING)

    async def _until(self, done: Callable[[], bool], *, may_ping: bool) -> None:
        """Waits for the control channel; halfway, a ping may ask for what was lost."""
        # Before its first answer, and after its last message, there is nothing to ask a batch.
        pings = may_ping and self._channel.has_ping and self._flow.every > 0
        if pings and self._wrong("never-pings"):
            pings = False
        again = self._flow.every == 0 or self._ending
        while not done():
            self._heard.clear()
            self._raise_if_over()
            try:
                async with asyncio.timeout(self._timeout / 2 if pings else self._timeout):
                    await self._heard.wait()
            except TimeoutError:
                if again and self._wrong("unanswered-messages-sent-again"):
                    again = False
                    self._send_again()
                    continue
                if not pings:
                    error = timed_out("an answer of the batch", self._timeout)
                    if self._wrong("a-timeout-ends-nothing"):
                        raise error from None
                    self._finish(error)
                    continue
                pings = False
                with contextlib.suppress(ClientError):
                    await self._send(Outgoing(self._last_subject), Operation.PING)
        if self._final is None:
            self._raise_if_over()

    async def _finished(self) -> dict[str, Any]:
        await self._until(lambda: self._final is not None, may_ping=False)
        assert self._final is not None
        return self._final

    def _raise_if_over(self) -> None:
        if self._over is not None:
            raise self._over

    # The control channel

    def _arrived(self, msg: Msg, at: float) -> None:
        if self._over is not None:
            return
        if msg.status is not None and msg.status >= 400:
            if self._wrong("no-responders-overlooked"):
                return
            self._refused(status_error("NoResponders", msg.status, msg.description))
        else:
            told = self._told(msg.payload)
            final = any(isinstance(heard, Final) for heard in told)
            if final and not msg.subject.endswith(_ENDS) and self._wrong("final-ack-misplaced"):
                told = (Refused(ClientError("BatchClosed", "the batch has ended")),)
            for heard in told:
                self._take(heard)
            if not told and self._wrong("unknown-messages-end-the-batch"):
                self._refused(ClientError("BadAnswer", "an unknown message"))
        self._heard.set()

    def _told(self, payload: bytes) -> tuple[Heard, ...]:
        """What a message on the channel says; one that is not understood says nothing."""
        try:
            document = json.loads(payload)
        except ValueError:
            return ()
        if not isinstance(document, Mapping):
            return ()
        odd = document.get("type") == "ack" and not payload.startswith(b'{"type":"ack"')
        if odd and self._wrong("acks-known-by-their-bytes"):
            return (Refused(ClientError("BadAnswer", "an unknown message")),)
        return self._channel.heard(document)

    def _take(self, heard: Heard) -> None:
        match heard:
            case Acked(sequence, every):
                self._acknowledged(sequence, every)
            case Gap(first, sequence):
                self._flow.gap(sequence)
                lost = f"messages {first} to {sequence - 1} were lost"
                self._upset("gap", ClientError("BatchGap", lost))
            case Failed(_, error):
                self._errors_told += 1
                if self._errors_told == 1 or not self._wrong("errors-told-once"):
                    self._upset("error", self._known(error))
            case Refused(error):
                self._refused(self._known(error))
            case Final(document):
                self._last_ack(document)

    def _acknowledged(self, sequence: int, every: int) -> None:
        first = not self._flow.every
        self._flow.acknowledged(sequence, every)
        if first and self._wrong("channel-closed-early"):
            self._unsubscribe()
        if not first and not self._wrong("ack-sequence-untold"):
            self._tell("ack", None, self._flow.acked)

    def _upset(self, kind: str, error: ClientError) -> None:
        """A gap or an error of one message: told, and in mode `fail` nothing more is sent."""
        if self._wrong("gaps-and-errors-untold"):
            return
        self._tell(kind, error, self._flow.acked)
        if self._channel.fails_at_gaps or self._wrong("a-gap-ends-every-batch"):
            self._stopped = error

    def _known(self, error: ClientError) -> ClientError:
        """The error of the server, with its code."""
        if error.err_code is not None and self._wrong("ingest-errors-lose-their-code"):
            return ClientError("BatchFailed", "the batch failed")
        return error

    def _refused(self, error: ClientError) -> None:
        if self._flow.every and not self._wrong("gaps-and-errors-untold"):
            self._tell("error", error, self._flow.acked)
        self._finish(error)

    def _last_ack(self, document: Mapping[str, Any]) -> None:
        if self._wrong("final-ack-unrecognised"):
            return
        if not self._ending and self._wrong("end-by-the-server-untold"):
            self._stopped = None
            self._finish(ClientError("BatchClosed", "the batch has ended"))
            return
        self._final = pub_ack(document)
        self._finish(self._stopped or ClientError("BatchCommitted", "it has its final ack"))

    def _finish(self, error: ClientError) -> None:
        if self._over is None:
            self._over = error
            self._heard.set()
            if self._pinging is not None:
                self._pinging.cancel()
            kept = self._wrong("keeps-interest-after-the-end") or self._wrong("channel-shared")
            if not kept:
                self._unsubscribe()

    def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            self._line.unsubscribe(subscription)


def _good_id(value: str) -> bool:
    return 1 <= len(value) <= MAX_ID and not any(c in ".*>" or c.isspace() for c in value)
