"""Reads without a consumer: message get, and direct get of one message, a batch, several subjects."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from jetproof.targets.reference_client.errors import ClientError, status_error, timed_out
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import digits, encoded, header_pairs
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

_GET = "$JS.API.DIRECT.GET"
_OWN = ("Nats-Stream", "Nats-Subject", "Nats-Sequence", "Nats-Time-Stamp")


@dataclass(frozen=True, slots=True)
class Stored:
    """A message as the stream holds it."""

    stream: str
    subject: str
    seq: int
    time: str
    payload: bytes
    headers: Headers | None

    @classmethod
    def of(cls, msg: Msg) -> Stored:
        """From the answer to a direct get; the headers tell what the message itself does not."""
        told = {name: msg.headers.get(name) if msg.headers else None for name in _OWN}
        stream, subject, sequence, time = told.values()
        if not sequence or not sequence.isdigit():
            raise ClientError("BadAnswer", "no Nats-Sequence in the answer to a direct get")
        return cls(stream or "", subject or "", int(sequence), time or "", msg.payload, msg.headers)

    def header(self, name: str) -> str | None:
        return None if self.headers is None else self.headers.get(name)

    def body(self) -> dict[str, Any]:
        told: dict[str, Any] = {
            "subject": self.subject,
            "data": encoded(self.payload),
            "stream": self.stream,
            "time": self.time,
        }
        if self.headers is not None:
            told["headers"] = header_pairs(self.headers)
        return told | digits({"seq": self.seq})


@dataclass(slots=True)
class Gathered:
    """What a batch brought, and the error it ended with."""

    messages: list[Stored] = field(default_factory=list)
    error: ClientError | None = None


class Reads:
    """Reads of a stream; `min_last_seq` guards each where it is given, and nowhere else."""

    def __init__(self, requests: Requests) -> None:
        self._requests = requests
        self._line = requests.line

    # One message

    async def direct(
        self,
        stream: str,
        *,
        seq: int | None = None,
        last_by_subject: str | None = None,
        next_by_subject: str | None = None,
        min_last_seq: int | None = None,
    ) -> Stored:
        """One message, by a direct get."""
        guard = self.guard(min_last_seq)
        if last_by_subject is not None:
            subject, body = self.last_request(stream, last_by_subject, guard)
        else:
            subject = f"{_GET}.{stream}"
            body = _given({"seq": self.start(seq), "next_by_subj": next_by_subject}) | guard
        data = json.dumps(body).encode() if body else b""
        return self.read(await self._requests.request(subject, data))

    def last_request(
        self, stream: str, subject: str, guard: Mapping[str, Any]
    ) -> tuple[str, dict[str, Any]]:
        """A subject's last message is asked for with the subject appended, and no other body."""
        return f"{_GET}.{stream}.{subject}", {**guard}

    def read(self, answer: Msg) -> Stored:
        if answer.status is not None:
            raise self.status_error(answer)
        return self.stored(answer)

    async def message(
        self,
        stream: str,
        *,
        seq: int | None = None,
        last_by_subject: str | None = None,
        min_last_seq: int | None = None,
    ) -> Stored:
        """One message through the API of the stream, which its leader answers."""
        body = _given({"seq": seq, "last_by_subj": last_by_subject}) | self.guard(min_last_seq)
        found = (await self._requests.api(f"STREAM.MSG.GET.{stream}", body))["message"]
        block = found.get("hdrs")
        return Stored(
            stream,
            found["subject"],
            int(found["seq"]),
            found.get("time", ""),
            base64.b64decode(found.get("data") or ""),
            Headers.from_raw(base64.b64decode(block)) if block else None,
        )

    # Many messages

    async def batch(
        self,
        stream: str,
        batch: int | None,
        *,
        max_bytes: int | None = None,
        seq: int | None = None,
        start_time: str | None = None,
        next_by_subject: str | None = None,
        min_last_seq: int | None = None,
    ) -> Gathered:
        """Up to so many messages from a start on: a sequence, or a time, and not both."""
        self.check_batch(batch)
        seq, start_time = self.batch_start(seq, start_time)
        asked = {
            "batch": batch,
            "max_bytes": max_bytes,
            "seq": self.start(seq),
            "start_time": start_time,
            "next_by_subj": next_by_subject or ">",
        }
        body = self.batch_body(_given(asked)) | self.guard(min_last_seq)
        gathered = Gathered()
        await self._page(stream, body, gathered)
        return gathered

    def check_batch(self, batch: int | None) -> None:
        if batch is None or batch < 1:
            raise ClientError("InvalidOption", f"a batch is above 0, not {batch}")

    def batch_start(self, seq: int | None, start_time: str | None) -> tuple[int | None, str | None]:
        """Every batch has one start, by default the first message."""
        if seq is not None and start_time is not None:
            raise ClientError("InvalidOption", "a batch starts at seq or at start_time")
        return (1, None) if seq is None and start_time is None else (seq, start_time)

    def batch_body(self, asked: dict[str, Any]) -> dict[str, Any]:
        """A batch names its size, its start and a subject; all subjects by default."""
        return asked

    async def multi(
        self,
        stream: str,
        subjects: Sequence[str],
        *,
        batch: int | None = None,
        max_bytes: int | None = None,
        seq: int | None = None,
        up_to_seq: int | None = None,
        up_to_time: str | None = None,
        min_last_seq: int | None = None,
    ) -> Gathered:
        """The last message of each subject; page by page unless the caller wants one batch."""
        asked = {
            "multi_last": list(subjects),
            "batch": batch,
            "max_bytes": max_bytes,
            "seq": seq,
            "up_to_seq": up_to_seq,
            "up_to_time": up_to_time,
        }
        body = self.multi_body(stream, _given(asked)) | self.guard(min_last_seq)
        gathered = Gathered()
        while True:
            end = await self._page(stream, body, gathered)
            if end is None or batch is not None:
                return gathered
            further = self.next_page(body, end)
            if further is None:
                return gathered
            body = further

    def multi_body(self, stream: str, asked: dict[str, Any]) -> dict[str, Any]:
        """All that the caller asks for is sent."""
        return asked

    def next_page(self, body: Mapping[str, Any], end: Msg) -> dict[str, Any] | None:
        """The request for what is pending: behind the last message, at the same point in time."""
        if not header_number(end, "Nats-Num-Pending"):
            return None
        further = {**body, "seq": (header_number(end, "Nats-Last-Sequence") or 0) + 1}
        up_to = header_number(end, "Nats-UpTo-Sequence")
        if up_to is not None:
            further["up_to_seq"] = up_to
            further.pop("up_to_time", None)
        return further

    async def _page(self, stream: str, body: Mapping[str, Any], gathered: Gathered) -> Msg | None:
        """One request and what comes of it; returns the end marker, unless it ended otherwise."""
        line, patience = self._line, self.patience()
        arrived: asyncio.Queue[Msg] = asyncio.Queue()
        await line.until_connected(line.endpoint.timeout)
        inbox = line.new_inbox()
        subscription = line.subscribe(inbox, lambda msg, at: arrived.put_nowait(msg))
        before: int | None = None
        try:
            line.publish(f"{_GET}.{stream}", json.dumps(body).encode(), reply=inbox)
            while True:
                async with asyncio.timeout(patience):
                    msg = await arrived.get()
                self.check_order(before, msg)
                before = header_number(msg, "Nats-Sequence")
                if self.is_end(msg):
                    return msg
                if msg.status is not None:
                    self.broken_off(msg, gathered)
                    return None
                if header_number(msg, "Nats-Num-Pending") is None:
                    self.unsupported(msg, gathered)
                    return None
                gathered.messages.append(self.stored(msg))
        except TimeoutError:
            self.unended(timed_out("direct get", patience), gathered)
            return None
        except ClientError as error:
            gathered.error = error
            return None
        finally:
            line.unsubscribe(subscription)

    def patience(self) -> float:
        """How many seconds to wait for each message of a batch."""
        return self._line.endpoint.timeout

    def check_order(self, before: int | None, msg: Msg) -> None:
        """Each message names the sequence before it: none may be missing in between."""
        told = header_number(msg, "Nats-Last-Sequence")
        if told is not None and before is not None and told != before:
            text = f"a message follows {told}, and {before} came before it"
            raise ClientError("BatchGap", text)

    def is_end(self, msg: Msg) -> bool:
        return msg.status == 204

    def broken_off(self, msg: Msg, gathered: Gathered) -> None:
        """A status other than the end marker."""
        gathered.error = self.status_error(msg)

    def unsupported(self, msg: Msg, gathered: Gathered) -> None:
        """A first reply without Nats-Num-Pending is that of an older server."""
        text = "the server does not know batches of direct get"
        gathered.error = ClientError("BatchUnsupported", text)

    def unended(self, error: ClientError, gathered: Gathered) -> None:
        """The end marker did not come."""
        gathered.error = error

    # Both

    def guard(self, min_last_seq: int | None) -> dict[str, Any]:
        return {} if min_last_seq is None else {"min_last_seq": min_last_seq}

    def start(self, seq: int | None) -> int | None:
        """The sequence that is asked for: the one that the caller names."""
        return seq

    def stored(self, msg: Msg) -> Stored:
        """A message, whatever its payload looks like."""
        return Stored.of(msg)

    def status_error(self, msg: Msg) -> ClientError:
        names = {404: "NotFound", 408: "BadRequest", 412: "MinLastSequence", 413: "TooManyResults"}
        kind = names.get(msg.status or 0, "NoResponders")
        return status_error(kind, msg.status, msg.description)


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def header_number(msg: Msg, name: str) -> int | None:
    value = None if msg.headers is None else msg.headers.get(name)
    return int(value) if value is not None and value.isdigit() else None
