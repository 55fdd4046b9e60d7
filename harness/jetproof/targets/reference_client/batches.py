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
Item = tuple[str, str]


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
        self.requests = requests
        self.line = requests.line
        if batch_id is not None:
            self.check_id(batch_id)
        self.id = self.chosen_id(batch_id)
        if ack_every is not None and ack_every < 1:
            raise invalid(f"ack_every must be at least 1, not {ack_every}")
        self.ack_first = True if ack_first is None else ack_first
        self._ack_every = ack_every
        self.sequence = 0
        """The number of the last message."""
        self._last_subject = ""
        self.over: ClientError | None = None
        self._turn = asyncio.Lock()
        self.first: asyncio.Future[Msg] | None = None
        """The answer to the first message, if nobody waits for it."""

    def check_id(self, batch_id: str) -> None:
        if not 1 <= len(batch_id) <= MAX_ID:
            raise invalid(f"a batch id has 1 to {MAX_ID} characters, not {len(batch_id)}")

    def chosen_id(self, batch_id: str | None) -> str:
        return self.new_id() if batch_id is None else batch_id

    def new_id(self) -> str:
        return uuid.uuid4().hex

    # Calls

    async def add(self, message: Outgoing, ack: bool | None = None) -> bool:
        """Adds a message; says whether the server acknowledged it."""
        async with self._turn:
            await self._check(message)
            self.sequence += 1
            if self.sequence == 1:
                return await self.begin(message)
            return await self.append(message, ack)

    async def commit(self, message: Outgoing) -> dict[str, Any]:
        """Ends the batch with a message that is stored."""
        async with self._turn:
            await self._check(message)
            return await self.commit_with(message, "1")

    async def close(self) -> dict[str, Any] | None:
        """Ends the batch without a further message."""
        async with self._turn:
            await self._check()
            return await (self.end() if self.sequence else self.end_empty())

    async def discard(self) -> None:
        """Gives the batch up: nothing is sent, and the server abandons it in time."""
        async with self._turn:
            await self._check()
            self.over = ClientError("BatchDiscarded", "the batch was discarded")

    async def publish(self, messages: Sequence[Outgoing]) -> dict[str, Any]:
        """A whole batch in one call: the last message commits it."""
        if not messages:
            return self.publish_nothing()
        for message in messages[:-1]:
            await self.add(message)
        return await self.commit(messages[-1])

    def publish_nothing(self) -> dict[str, Any]:
        raise invalid("a batch has at least one message")

    # What must be so before a call is taken

    async def _check(self, message: Outgoing | None = None) -> None:
        first = self.first
        if first is not None and first.done() and not first.cancelled() and self.over is None:
            self.first = None
            self._started(first.result())
        self.check_open()
        await self.check_connection()
        if message is not None:
            self.check_headers({name for name, _ in message.items})
            self.check_count()

    def check_open(self) -> None:
        if self.over is not None:
            raise ClientError("BatchOver", f"the batch is over: {self.over.text}")

    async def check_connection(self) -> None:
        """A batch outlives its connection."""
        await self.line.until_connected(self.line.endpoint.timeout)

    def check_headers(self, names: set[str]) -> None:
        for name in RESERVED:
            if name in names:
                raise invalid(f"the header {name} is the batch's own")

    def check_count(self) -> None:
        if self.sequence >= MAX_MESSAGES:
            raise invalid(f"a batch has at most {MAX_MESSAGES} messages")

    # The first message

    async def begin(self, message: Outgoing) -> bool:
        if not self.ack_first:
            # Still a request: an error reaches us, and ends the batch with the next call.
            self.first = await self.send(message, answered=True)
            return False
        self._started(await self.first_answer(message))
        return True

    async def first_answer(self, message: Outgoing) -> Msg:
        return await self.answer(message)

    def _started(self, answer: Msg) -> None:
        error = self.start_error(answer)
        if error is not None:
            raise self.failed(error)

    def start_error(self, answer: Msg) -> ClientError | None:
        """What is wrong with the answer to the first message, which must be empty."""
        if answer.status is not None and answer.status >= 400:
            return status_error("NoResponders", answer.status, answer.description)
        if not answer.payload:
            return None
        document = json.loads(answer.payload)
        if document.get("error"):
            return api_error(document["error"])
        return ClientError("BatchUnsupported", "the server stored the message by itself")

    # Further messages

    async def append(self, message: Outgoing, ack: bool | None) -> bool:
        if not self.wants_answer(ack):
            await self.send(message)
            return False
        error = self.member_error(await self.answer(message))
        if error is not None:
            raise self.failed(error)
        return True

    def wants_answer(self, ack: bool | None) -> bool:
        """Whether this message is a request: the caller says so, or its turn has come."""
        every = self._ack_every is not None and self.sequence % self._ack_every == 0
        return bool(ack or every)

    def member_error(self, answer: Msg) -> ClientError | None:
        """What is wrong with the answer to a message in the middle, which must be empty."""
        return _error_in(answer) if answer.payload else None

    # The end

    async def end(self) -> dict[str, Any] | None:
        """Commits what was sent, by a message that is not stored."""
        return await self.commit_with(Outgoing(self._last_subject), "eob")

    async def end_empty(self) -> dict[str, Any] | None:
        raise self.failed(ClientError("EmptyBatch", "the batch has no message"))

    async def commit_with(self, message: Outgoing, value: str) -> dict[str, Any]:
        self.sequence += 1
        try:
            answer = await self.commit_answer(message, ("Nats-Batch-Commit", value))
            document = answer_document(answer)
        except ClientError as error:
            return self.commit_failed(error)
        ack = pub_ack(document)
        if not self.is_commit(ack):
            raise self.failed(ClientError("BadAnswer", "the message was stored by itself"))
        self.over = ClientError("BatchCommitted", "it was committed")
        return ack

    async def commit_answer(self, message: Outgoing, ending: Item) -> Msg:
        """The answer to the commit, which is sent once."""
        return await self.answer(message, ending)

    def commit_failed(self, error: ClientError) -> dict[str, Any]:
        raise self.failed(error)

    def is_commit(self, ack: dict[str, Any]) -> bool:
        return bool(ack.get("batch") == self.id)

    # Frames

    def headers(self, sequence: int, ending: Item | None) -> tuple[Item, ...]:
        """The headers that make a message one of the batch; `ending` makes it the last."""
        own = (("Nats-Batch-Id", self.id), ("Nats-Batch-Sequence", str(sequence)))
        return own if ending is None else (*own, ending)

    def member(self, message: Outgoing, ending: Item | None) -> Outgoing:
        """The message as it is sent: the headers of the caller stay."""
        return message.having(*self.headers(self.sequence, ending))

    async def send(
        self, message: Outgoing, ending: Item | None = None, *, answered: bool = False
    ) -> asyncio.Future[Msg] | None:
        self._last_subject = message.subject
        sent = self.member(message, ending)
        reply, answer = self.requests.reply_subject() if answered else (None, None)
        self.line.publish(sent.subject, sent.payload, reply=reply, headers=sent.headers)
        return answer

    async def answer(self, message: Outgoing, ending: Item | None = None) -> Msg:
        answer = await self.send(message, ending, answered=True)
        assert answer is not None
        seconds = self.line.endpoint.timeout
        try:
            async with asyncio.timeout(seconds):
                return await answer
        except TimeoutError:
            raise self.failed(timed_out("an answer to the batch", seconds)) from None

    def failed(self, error: ClientError) -> ClientError:
        self.over = error
        return error


def _error_in(answer: Msg) -> ClientError:
    try:
        answer_document(answer)
    except ClientError as error:
        return error
    return ClientError("BadAnswer", "a pub ack in the middle of a batch")
