"""Fast ingest, revision 10: many messages, few acknowledgements, one control channel.

    open -> begun (first answer is there) -> ended (the final PubAck, or an error)

In gap mode `fail` a gap or an error stops the sending; the final PubAck then tells what was stored.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import uuid
from collections.abc import Callable
from typing import Any

from jetproof.targets.reference_client.connection import Subscription
from jetproof.targets.reference_client.errors import (
    ClientError,
    api_error,
    invalid,
    status_error,
    timed_out,
)
from jetproof.targets.reference_client.flow import (
    DEFAULT_FLOW,
    DEFAULT_OUTSTANDING,
    MOST_OUTSTANDING,
    Channel,
    Flow,
    Operation,
)
from jetproof.targets.reference_client.publishing import Outgoing, pub_ack
from jetproof.targets.reference_client.requests import Requests
from jetproof.wire.frames import Msg

MAX_ID = 64
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
        made = uuid.uuid4().hex
        if batch_id is not None and not _good_id(batch_id):
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
        self._channel = Channel(prefix, batch_id or made, flow or DEFAULT_FLOW, gap or "ok")
        self._flow = Flow(outstanding, self._line.conduct)
        self._heard = asyncio.Event()
        self._final: dict[str, Any] | None = None
        self._over: ClientError | None = None
        self._stopped: ClientError | None = None
        self._last_subject = ""
        self._turn = asyncio.Lock()
        self._subscription: Subscription | None = self._subscribe()

    def _subscribe(self) -> Subscription:
        subject = self._channel.subscription
        if self._wrong("channel-too-wide"):
            subject = f"{self._channel.prefix}.>"
        if self._wrong("channel-shared"):
            subject = f"{self._channel.prefix.rpartition('.')[0]}.>"
        if self._wrong("channel-for-each-message"):
            subject = self._channel.reply(1, Operation.START)
        return self._line.subscribe(subject, self._arrived)

    # Calls

    async def add(self, message: Outgoing) -> tuple[int, int]:
        """Sends a message; returns its batch sequence and the highest that is acknowledged."""
        async with self._turn:
            self._check()
            operation = Operation.APPEND if self._flow.sent else Operation.START
            if self._flow.sent and self._wrong("appends-as-start"):
                operation = Operation.START
            self._flow.sent += 1
            await self._send(message, operation)
            await self._until(lambda: not self._flow.must_wait)
            return self._flow.sent, self._flow.acked

    async def commit(self, message: Outgoing) -> dict[str, Any]:
        """Sends the last message; returns the final PubAck."""
        async with self._turn:
            self._check()
            self._flow.sent += 1
            await self._send(message, Operation.COMMIT)
            return await self._finished()

    async def close(self) -> dict[str, Any]:
        """Ends the batch without a further message; returns the final PubAck."""
        async with self._turn:
            if self._stopped is not None and (self._over is None or self._final is not None):
                return await self._finished()
            self._check()
            if not self._flow.sent:
                self._finish(ClientError("EmptyBatch", "the batch has no message"))
                assert self._over is not None
                raise self._over
            self._flow.sent += 1
            await self._send(Outgoing(self._last_subject), Operation.END)
            return await self._finished()

    def abandon(self) -> None:
        """The connection is closed: nothing more is awaited."""
        self._finish(ClientError("ConnectionClosed", "the connection was closed"))

    # Steps

    def _check(self) -> None:
        if self._over is not None:
            raise ClientError("BatchOver", f"the batch is over: {self._over.text}")
        if self._stopped is not None and not self._wrong("sends-on-after-a-gap"):
            raise self._stopped

    async def _send(self, message: Outgoing, operation: Operation) -> None:
        await self._line.until_connected(self._line.endpoint.timeout)
        self._last_subject = message.subject
        reply = self._reply(operation)
        if self._flow.sent > 1 and self._wrong("channel-for-each-message"):
            self._line.subscribe(reply, self._arrived)
        self._line.publish(message.subject, message.payload, reply=reply, headers=message.headers)

    def _reply(self, operation: Operation) -> str:
        sequence = self._flow.sent
        if sequence > 2 and self._wrong("ingest-sequence-skips"):
            sequence += 1
        if operation is Operation.PING and self._wrong("ping-takes-a-sequence"):
            self._flow.sent += 1
            sequence = self._flow.sent
        if operation is Operation.PING and self._wrong("ping-names-the-acknowledged"):
            sequence = max(1, self._flow.acked)
        if sequence > 1 and self._wrong("replies-not-unique"):
            sequence = 1
        reply = self._channel.reply(sequence, operation)
        if self._wrong("reply-without-gap-mode"):
            reply = reply.replace(f".{self._channel.gap}.", ".", 1)
        if self._wrong("reply-outside-the-inbox"):
            reply = f"{self._line.new_inbox()}{reply.removeprefix(self._channel.prefix)}"
        return reply

    async def _until(self, done: Callable[[], bool]) -> None:
        """Waits for the control channel; halfway, a ping asks for what may have been lost."""
        pinged = self._wrong("never-pings")
        rest = self._timeout / 2 if not pinged else self._timeout
        while not done():
            self._heard.clear()
            self._raise_if_over()
            try:
                async with asyncio.timeout(rest):
                    await self._heard.wait()
                rest = self._timeout / 2 if not pinged else self._timeout
            except TimeoutError:
                if pinged or not self._flow.every:
                    self._finish(timed_out("an acknowledgement of the batch", self._timeout))
                    continue
                pinged = True
                with contextlib.suppress(ClientError):
                    await self._send(Outgoing(self._last_subject), Operation.PING)
        if self._final is None:
            self._raise_if_over()

    async def _finished(self) -> dict[str, Any]:
        await self._until(lambda: self._final is not None)
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
            self._refused(status_error("NoResponders", msg.status, msg.description))
        else:
            self._document(json.loads(msg.payload))
        self._heard.set()

    def _document(self, document: dict[str, Any]) -> None:
        match document.get("type"):
            case "ack":
                first = not self._flow.every
                self._flow.acknowledged(int(document["seq"]), int(document["msgs"]))
                if not first and not self._wrong("ack-sequence-untold"):
                    self._tell("ack", None, self._flow.acked)
                if first and self._wrong("channel-closed-early"):
                    self._unsubscribe()
            case "gap":
                lost = f"{document['last_seq']} to {int(document['seq']) - 1}"
                self._flow.gap(int(document["seq"]))
                self._upset("gap", ClientError("BatchGap", f"messages {lost} were lost"))
            case "err":
                self._upset("error", api_error(document["error"]))
            case _ if document.get("error"):
                self._refused(api_error(document["error"]))
            case _:
                self._last_ack(document)

    def _upset(self, kind: str, error: ClientError) -> None:
        """A gap or an error of one message: told, and in mode `fail` nothing more is sent."""
        if self._wrong("gaps-and-errors-untold"):
            return
        self._tell(kind, error, self._flow.acked)
        if self._channel.gap == "fail" or self._wrong("a-gap-ends-every-batch"):
            self._stopped = error

    def _refused(self, error: ClientError) -> None:
        if self._flow.every and not self._wrong("gaps-and-errors-untold"):
            self._tell("error", error, self._flow.acked)
        self._finish(error)

    def _last_ack(self, document: dict[str, Any]) -> None:
        if self._wrong("final-ack-unrecognised"):
            return
        self._final = pub_ack(document)
        self._finish(self._stopped or ClientError("BatchCommitted", "it has its final ack"))

    def _finish(self, error: ClientError) -> None:
        if self._over is None:
            self._over = error
            self._heard.set()
            kept = self._wrong("keeps-interest-after-the-end") or self._wrong("channel-shared")
            if not kept:
                self._unsubscribe()

    def _unsubscribe(self) -> None:
        subscription, self._subscription = self._subscription, None
        if subscription is not None:
            self._line.unsubscribe(subscription)


def _good_id(value: str) -> bool:
    return 1 <= len(value) <= MAX_ID and not any(c in ".*>" or c.isspace() for c in value)
