"""Servers that are right in what they say and odd in how, when or how often they say it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from jetproof.wire import Headers, Msg, Pub, Unsub
from jetproof.wire.frames import Frame

from .server import Client, Polite


class NewStatus(Polite):
    """Answers what is asked below `new` with a header line that nobody has seen yet."""

    def __init__(self, line: bytes = b"NATS/1.0 299 Something New", payload: bytes = b"") -> None:
        super().__init__()
        self._block = Headers.from_raw(line + b"\r\n\r\n")
        self._payload = payload

    def answer(self, frame: Pub) -> tuple[Headers | None, bytes] | None:
        if frame.subject.startswith("new."):
            return self._block, self._payload
        return super().answer(frame)


class AfterTheEnd(Polite):
    """Goes on delivering to a subscription that has been ended."""

    def received(self, client: Client, frame: Frame) -> None:
        if isinstance(frame, Unsub) and frame.sid in client.subscriptions:
            subject = client.subscriptions[frame.sid]
            super().received(client, frame)
            for _ in range(3):
                client.send(Msg(subject, frame.sid, None, None, b"after the end"))
        else:
            super().received(client, frame)


class Late(Polite):
    """Answers a subject that ends in `late` only before it answers one that begins with `wake`."""

    def __init__(self) -> None:
        super().__init__()
        self._owed: list[tuple[Client, Pub]] = []

    def requested(self, client: Client, frame: Pub) -> None:
        if frame.subject.startswith("wake."):
            owed, self._owed = self._owed, []
            for who, asked in owed:
                self.reply(who, asked, None, b'{"stream":"late","seq":99}')
        if frame.subject.endswith("late"):
            self._owed.append((client, frame))
        else:
            super().requested(client, frame)


class Twice(Polite):
    """Answers what is published two times, the second time with another number."""

    def reply(self, client: Client, frame: Pub, headers: Headers | None, payload: bytes) -> None:
        super().reply(client, frame, headers, payload)
        if not frame.subject.startswith("$JS."):
            again = json.dumps({**json.loads(payload), "seq": 77}).encode()
            super().reply(client, frame, headers, again)


class OddHeaders(Polite):
    """Right headers in odd case, and some of them more than once."""

    def answer(self, frame: Pub) -> tuple[Headers | None, bytes] | None:
        if not frame.subject.startswith("headers."):
            return super().answer(frame)
        lines = [("nats-sequence", "1"), ("NATS-STREAM", "S"), ("Nats-Subject", "a")]
        return Headers([*lines, ("Nats-Subject", "b"), ("Nats-Subject", "")]), b"x"


class AdvisoryFirst(Polite):
    """Tells of a batch that it gives up before it answers the message that made it do so."""

    def requested(self, client: Client, frame: Pub) -> None:
        if not frame.subject.endswith("gap"):
            super().requested(client, frame)
            return
        stream = frame.subject.split(".")[0]
        subject = f"$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED.{stream}"
        told = {
            "type": "io.nats.jetstream.advisory.v1.stream_batch_abandoned",
            "id": "x",
            "timestamp": "2026-01-01T00:00:00Z",
            "stream": stream,
            "batch": "b",
            "reason": "incomplete",
        }
        self.deliver(client, Pub(subject, None, None, json.dumps(told).encode()))
        asyncio.get_running_loop().call_later(0.05, super().requested, client, frame)


class NoPlaceYet(Polite):
    """Has no folder for the first stream that is asked for, as while it removes an account's."""

    def __init__(self) -> None:
        super().__init__()
        self.refused = 0

    def api(self, call: str, payload: bytes) -> dict[str, Any]:
        if call.startswith("STREAM.CREATE.") and not self.refused:
            self.refused += 1
            error = {
                "code": 500,
                "err_code": 10049,
                "description": "error creating store for stream",
            }
            return {"type": "io.nats.jetstream.api.v1.stream_create_response", "error": error}
        return super().api(call, payload)
