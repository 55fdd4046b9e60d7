"""Atomic batches: headers on messages, a request to begin with, one pub ack for all.

open -> begun (the first message was answered empty) -> committed
  any -> failed (an error, from the server or from here) or discarded; nothing may follow
"""

from __future__ import annotations

import asyncio
import json
import uuid
from collections.abc import Sequence
from typing import Any, Final

from jetproof.targets.reference_client.errors import (
    ClientError,
    api_error,
    invalid,
    status_error,
    timed_out,
)
from jetproof.targets.reference_client.publishing import Outgoing, pub_ack
from jetproof.targets.reference_client.requests import Requests, answer_document
from jetproof.wire.frames import Msg

MAX_ID: Final = 64
MAX_MESSAGES: Final = 1000
RESERVED: Final = ("Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit")
"""Headers that are the batch's own: a caller who set one could commit early."""
NOTHING: Final = {"stream": "none", "seq": "0"}
"""The pub ack of a batch that was never sent."""
_CONDITIONS: Final = ("Nats-Expected-Last-Sequence", "Nats-Expected-Last-Msg-Id", "Nats-Msg-Id")


class Batch:
    """One atomic batch. Calls are taken one after the other, in the order in which they came."""

    def __init__(
        self,
        requests: Requests,
        *,
        batch_id: str | None = None,
        ack_first: bool | None = None,
        ack_every: int | None = None,
    ) -> None:
        self._requests = requests
        self.conduct = requests.line.conduct
        self._wrong = self.conduct.wrong
        self._connects = requests.line.connects
        own = batch_id is None or self._wrong("caller-id-ignored")
        self.id = self._made_up() if own else str(batch_id)
        if (
            batch_id is not None
            and not 1 <= len(batch_id) <= MAX_ID
            and not self._wrong("batch-id-unchecked")
        ):
            raise invalid(f"a batch id has 1 to {MAX_ID} characters, not {len(batch_id)}")
        if ack_every is not None and ack_every < 1:
            raise invalid(f"ack_every must be at least 1, not {ack_every}")
        self._ack_first = True if ack_first is None else ack_first
        self._ack_every = ack_every
        self._sequence = 0
        self._last_subject = ""
        self._over: ClientError | None = None
        self._turn = asyncio.Lock()
        self._first: asyncio.Future[Msg] | None = None

    def _made_up(self) -> str:
        made = uuid.uuid4().hex
        return made * 3 if self._wrong("batch-id-too-long") else made

    async def add(self, message: Outgoing, ack: bool | None = None) -> bool:
        """Adds a message; says whether the server acknowledged it."""
        async with self._turn:
            await self._check(message)
            self._sequence += 1
            first = self._sequence == 1
            if first and self._wrong("batch-starts-by-a-message-of-its-own"):
                await self._send(Outgoing(message.subject), answered=True)
                self._sequence += 1
            every = self._ack_every is not None and self._sequence % self._ack_every == 0
            if first:
                return await self._begin(message)
            if self._wrong("members-kept-back"):
                self._sequence -= 1
                return False
            asked = (ack or every) and not self._wrong("member-acks-ignored")
            if asked or self._wrong("every-member-acknowledged"):
                await self._acknowledged(message)
                return True
            await self._send(message)
            return False

    async def commit(self, message: Outgoing) -> dict[str, Any]:
        """Ends the batch with a message that is stored."""
        async with self._turn:
            await self._check(message)
            return await self._commit(message, "1")

    async def close(self) -> dict[str, Any] | None:
        """Ends the batch without a further message."""
        async with self._turn:
            await self._check()
            if self._sequence and self._wrong("close-gives-up"):
                self._over = ClientError("BatchDiscarded", "the batch was closed")
                return None
            if not self._sequence:
                if self._wrong("empty-batch-ends-quietly"):
                    return None
                raise self._failed(ClientError("EmptyBatch", "the batch has no message"))
            return await self._commit(Outgoing(self._last_subject), "eob")

    async def discard(self) -> None:
        """Gives the batch up: nothing is sent, and the server abandons it in time."""
        async with self._turn:
            await self._check()
            self._over = ClientError("BatchDiscarded", "the batch was discarded")

    # Steps

    async def _check(self, message: Outgoing | None = None) -> None:
        first = self._first
        if first is not None and first.done() and not first.cancelled() and self._over is None:
            self._first = None
            self._started(first.result())
        if self._over is not None and not self._wrong("batch-goes-on-after-its-end"):
            raise ClientError("BatchOver", f"the batch is over: {self._over.text}")
        line = self._requests.line
        if line.connects > self._connects and self._wrong("reconnects-end-batches"):
            raise self._failed(ClientError("Disconnected", "the connection was lost"))
        await line.until_connected(line.endpoint.timeout)
        if message is None:
            return
        names = {name for name, _ in message.items}
        for name in RESERVED:
            if name in names and not self._wrong("batch-headers-of-the-caller-sent"):
                raise invalid(f"the header {name} is the batch's own")
        if names & set(_CONDITIONS) and self._wrong("conditions-in-a-batch-refused"):
            raise invalid("a message of a batch has no conditions")
        if self._sequence == MAX_MESSAGES - 1 and self._wrong("batch-size-guarded-early"):
            raise invalid(f"a batch has less than {MAX_MESSAGES} messages")
        if self._sequence >= MAX_MESSAGES and not self._wrong("batch-size-unguarded"):
            raise invalid(f"a batch has at most {MAX_MESSAGES} messages")

    async def _begin(self, message: Outgoing) -> bool:
        if self._wrong("batch-start-without-reply"):
            await self._send(message)
            return False
        if not self._ack_first and self._wrong("unasked-start-without-reply"):
            await self._send(message)
            return False
        if not self._ack_first or self._wrong("first-answer-not-awaited"):
            # Still a request: an error reaches us, and ends the batch with the next call.
            self._first = await self._send(message, answered=True)
            return False
        answer = await self._answer(message)
        if answer.status is not None and self._wrong("no-responders-asked-again"):
            answer = await self._answer(message)
        self._started(answer)
        return True

    def _started(self, answer: Msg) -> None:
        """The answer to the first message: empty, or the batch has failed."""
        if answer.status is not None and answer.status >= 400:
            if self._wrong("first-error-ignored"):
                return
            raise self._failed(status_error("NoResponders", answer.status, answer.description))
        if not answer.payload:
            if self._wrong("empty-first-answer-refused"):
                raise self._failed(ClientError("BadAnswer", "the first answer is empty"))
            return
        document = json.loads(answer.payload)
        if document.get("error"):
            if self._wrong("first-error-loses-its-code"):
                raise self._failed(ClientError("BatchFailed", "the batch was refused"))
            if not self._wrong("first-error-ignored"):
                raise self._failed(api_error(document["error"]))
            return
        if not self._wrong("old-server-taken-for-new"):
            raise self._failed(
                ClientError("BatchUnsupported", "the server stored the message by itself")
            )

    async def _acknowledged(self, message: Outgoing) -> None:
        answer = await self._answer(message)
        if answer.payload:
            raise self._failed(_error_in(answer))
        if self._wrong("empty-ack-in-the-middle-refused"):
            raise self._failed(ClientError("BadAnswer", "an empty acknowledgement"))

    async def _commit(self, message: Outgoing, value: str) -> dict[str, Any]:
        self._sequence += 1
        if self._wrong("commit-value-unknown"):
            value = "yes"
        ending = ("Nats-Batch-Commit", value)
        try:
            answer = answer_document(await self._answered(message, ending))
        except ClientError as error:
            self._over = error
            if self._wrong("failed-commit-taken-for-one"):
                return {"stream": "unknown", "seq": str(self._sequence), "batch": self.id}
            if error.err_code is not None and self._wrong("commit-error-loses-its-code"):
                raise ClientError("BatchFailed", "the batch failed") from None
            raise
        told = pub_ack(answer)
        if told.get("batch") != self.id and not self._wrong("any-ack-taken-for-a-commit"):
            raise self._failed(ClientError("BadAnswer", "the message was stored by itself"))
        self._over = ClientError("BatchCommitted", "it was committed")
        if self._wrong("batch-count-untold"):
            told.pop("count", None)
            told.pop("batch", None)
        return told

    # Frames

    def _headed(self, message: Outgoing, *more: tuple[str, str]) -> Outgoing:
        sequence, batch_id = self._sequence, self.id
        if self._wrong("batch-starts-at-zero"):
            sequence -= 1
        if sequence > 1 and self._wrong("batch-sequence-skips"):
            sequence += 1
        if sequence > 1 and self._wrong("batch-id-changes"):
            batch_id += "x"
        if more and self._wrong("commit-repeats-the-sequence"):
            sequence = max(1, sequence - 1)
        own = (("Nats-Batch-Id", batch_id), ("Nats-Batch-Sequence", str(sequence)), *more)
        if more and self._wrong("commit-without-id"):
            own = own[1:]
        self._last_subject = message.subject
        if sequence > 1 and message.items and self._wrong("headers-of-members-dropped"):
            message = Outgoing(message.subject, message.payload)
        return message.having(*own)

    async def _send(
        self, message: Outgoing, *more: tuple[str, str], answered: bool = False
    ) -> asyncio.Future[Msg] | None:
        line = self._requests.line
        headed = self._headed(message, *more)
        reply, answer = self._requests.reply_subject() if answered else (None, None)
        line.publish(headed.subject, headed.payload, reply=reply, headers=headed.headers)
        return answer

    async def _answer(self, message: Outgoing, *more: tuple[str, str]) -> Msg:
        answer = await self._send(message, *more, answered=True)
        assert answer is not None
        seconds = self._requests.line.endpoint.timeout
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise self._failed(timed_out("an answer to the batch", seconds)) from None

    async def _answered(self, message: Outgoing, ending: tuple[str, str]) -> Msg:
        """The answer to the commit, which is sent once."""
        try:
            answer = await self._answer(message, ending)
        except ClientError:
            if not self._wrong("unanswered-commit-sent-again"):
                raise
        else:
            if answer.status is None or not self._wrong("unanswered-commit-sent-again"):
                return answer
        return await self._answer(message, ending)

    def _failed(self, error: ClientError) -> ClientError:
        self._over = error
        return error


async def publish_batch(batch: Batch, messages: Sequence[Outgoing]) -> dict[str, Any]:
    """A whole batch in one call: the last message commits it."""
    if not messages and batch.conduct.wrong("empty-batch-ends-quietly"):
        return dict(NOTHING)
    if not messages:
        raise invalid("a batch has at least one message")
    for message in messages[:-1]:
        await batch.add(message)
    return await batch.commit(messages[-1])


def _error_in(answer: Msg) -> ClientError:
    try:
        answer_document(answer)
    except ClientError as error:
        return error
    return ClientError("BadAnswer", "a pub ack in the middle of a batch")
