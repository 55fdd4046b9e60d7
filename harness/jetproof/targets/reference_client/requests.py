"""Requests and their answers: one inbox for all, and the JSON of the JetStream API."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from jetproof.targets.reference_client.connection import Line, Subscription
from jetproof.targets.reference_client.errors import ClientError, api_error, status_error, timed_out
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

NO_RESPONDERS = 503


class Requests:
    """Requests over a line; answers that come too late are dropped."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self._inbox = ""
        self._subscription: Subscription | None = None
        self.waiting: dict[str, asyncio.Future[Msg]] = {}
        self._last = 0

    def reply_subject(self) -> tuple[str, asyncio.Future[Msg]]:
        """A fresh reply subject below the common inbox, and its first answer."""
        if self._subscription is None:
            self._inbox = self.line.new_inbox()
            self._subscription = self.line.subscribe(f"{self._inbox}.*", self.answered)
        self._last += 1
        reply = f"{self._inbox}.{self._last}"
        answer: asyncio.Future[Msg] = asyncio.get_running_loop().create_future()
        self.waiting[reply] = answer
        answer.add_done_callback(lambda _: self.waiting.pop(reply, None))
        return reply, answer

    async def request(
        self,
        subject: str,
        payload: bytes = b"",
        headers: Headers | None = None,
        timeout: float | None = None,
    ) -> Msg:
        """The first answer, whatever it is; waits for a lost connection within its time."""
        seconds = self.patience(timeout)
        reply, answer = self.reply_subject()
        try:
            async with asyncio.timeout(seconds):
                await self.line.until_connected(seconds)
                self.line.publish(subject, payload, reply=reply, headers=headers)
                return await answer
        except TimeoutError:
            raise timed_out(f"request to {subject}", seconds) from None
        finally:
            answer.cancel()

    def patience(self, timeout: float | None) -> float:
        """How many seconds to wait for an answer."""
        return self.line.endpoint.timeout if timeout is None else timeout

    async def api(
        self, subject: str, body: object = None, timeout: float | None = None
    ) -> dict[str, Any]:
        """A request of the JetStream API; its error is raised."""
        data = b"" if body is None else json.dumps(body).encode()
        return answer_document(await self.request(f"$JS.API.{subject}", data, timeout=timeout))

    def answered(self, msg: Msg, at: float) -> None:
        """An answer belongs to the request whose reply subject it came to."""
        answer = self.waiting.get(msg.subject)
        if answer is not None and not answer.done():
            answer.set_result(msg)


def answer_document(msg: Msg) -> dict[str, Any]:
    """The JSON of an answer; its error, or a status, is raised."""
    if msg.status == NO_RESPONDERS:
        raise status_error("NoResponders", msg.status, msg.description or "no responders")
    try:
        document = json.loads(msg.payload)
    except ValueError:
        raise ClientError("BadAnswer", f"not JSON: {msg.payload[:80]!r}") from None
    if not isinstance(document, Mapping):
        raise ClientError("BadAnswer", f"not an object: {msg.payload[:80]!r}")
    if document.get("error"):
        raise api_error(document["error"])
    return dict(document)
