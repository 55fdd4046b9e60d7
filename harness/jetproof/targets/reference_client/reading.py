"""Reads without a consumer: message get, and direct get of one message, a batch, several subjects."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from jetproof.targets.reference_client.errors import ClientError, status_error, timed_out
from jetproof.targets.reference_client.requests import NO_RESPONDERS, Requests, answer_document
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
        self._wrong = requests.line.conduct.wrong

    async def direct(
        self,
        stream: str,
        *,
        seq: int | None = None,
        last_by_subject: str | None = None,
        next_by_subject: str | None = None,
        min_last_seq: int | None = None,
    ) -> Stored:
        """One message; a subject's last one is asked for with the subject appended."""
        guard = self._guard(min_last_seq)
        if guard and self._wrong("guarded-read-by-message-get"):
            return await self.message(stream, seq=seq, last_by_subject=last_by_subject)
        if next_by_subject is not None and self._wrong("next-asked-for-as-last"):
            seq, last_by_subject, next_by_subject = None, next_by_subject, None
        elif last_by_subject is not None and self._wrong("last-asked-for-as-next"):
            last_by_subject, next_by_subject = None, last_by_subject
        if last_by_subject is not None:
            subject = f"{_GET}.{stream}.{last_by_subject}"
            body: dict[str, Any] = {**guard}
            if guard and self._wrong("guarded-last-by-body"):
                subject, body = f"{_GET}.{stream}", {"last_by_subj": last_by_subject, **guard}
            elif self._wrong("appended-subject-with-a-payload"):
                body["last_by_subj"] = last_by_subject
        else:
            subject = f"{_GET}.{stream}"
            asked = {"seq": self._start(seq), "next_by_subj": next_by_subject}
            body = _given(asked) | guard
        data = json.dumps(body).encode() if body else b""
        answer = await self._requests.request(subject, data)
        if answer.status == NO_RESPONDERS and self._wrong("direct-get-falls-back"):
            return await self.message(stream, seq=seq, last_by_subject=last_by_subject)
        if answer.status is not None and not self._wrong("statuses-taken-for-messages"):
            raise self._status(answer)
        return self._stored(answer)

    async def message(
        self,
        stream: str,
        *,
        seq: int | None = None,
        last_by_subject: str | None = None,
        min_last_seq: int | None = None,
    ) -> Stored:
        """One message through the API of the stream, which its leader answers."""
        asked = {"seq": seq, "last_by_subj": last_by_subject}
        body = {name: value for name, value in asked.items() if value is not None}
        body |= {} if self._wrong("message-get-unguarded") else self._guard(min_last_seq)
        try:
            found = (await self._requests.api(f"STREAM.MSG.GET.{stream}", body))["message"]
        except ClientError as error:
            if self._wrong("message-get-loses-the-code"):
                raise ClientError("Error", error.text) from None
            raise
        block = found.get("hdrs")
        return Stored(
            stream,
            found["subject"],
            int(found["seq"]),
            found.get("time", ""),
            base64.b64decode(found.get("data") or ""),
            Headers.from_raw(base64.b64decode(block)) if block else None,
        )

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
        if (batch is None or batch < 1) and not self._wrong("batch-number-unchecked"):
            raise ClientError("InvalidOption", f"a batch is above 0, not {batch}")
        if start_time is not None and self._wrong("batch-with-two-starts"):
            seq = seq or 1
        elif seq is not None and start_time is not None:
            raise ClientError("InvalidOption", "a batch starts at seq or at start_time")
        elif seq is None and start_time is None:
            seq = 1
        if seq == 1 and self._wrong("batch-without-a-start"):
            seq = None
        if start_time is not None and self._wrong("start-time-dropped"):
            seq, start_time = 1, None
        asked = {
            "batch": None if self._wrong("batch-without-its-number") else batch,
            "max_bytes": None if self._wrong("max-bytes-dropped") else max_bytes,
            "seq": self._start(seq),
            "start_time": start_time,
            "next_by_subj": next_by_subject or ">",
        }
        if self._wrong("batch-without-a-subject"):
            del asked["next_by_subj"]
        gathered = Gathered()
        await self._page(stream, _given(asked) | self._guard(min_last_seq), gathered)
        return gathered

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
        if self._wrong("only-the-first-subject"):
            subjects = subjects[:1] if len(subjects) > 1 else [f"{stream}.none"]
        if self._wrong("point-in-time-dropped"):
            up_to_seq = up_to_time = None
        asked = {
            "multi_last": list(subjects),
            "batch": None if self._wrong("subjects-without-a-number") else batch,
            "max_bytes": max_bytes,
            "seq": None if self._wrong("page-starts-over") else seq,
            "up_to_seq": up_to_seq,
            "up_to_time": up_to_time,
        }
        body = _given(asked) | self._guard(min_last_seq)
        gathered = Gathered()
        while True:
            end = await self._page(stream, body, gathered)
            if end is None or batch is not None:
                return gathered
            if "seq" in body and self._wrong("paging-stops-early"):
                return gathered
            if not _header_number(end, "Nats-Num-Pending"):
                return gathered
            last = _header_number(end, "Nats-Last-Sequence") or 0
            body["seq"] = last + (0 if self._wrong("paging-repeats-the-last") else 1)
            up_to = _header_number(end, "Nats-UpTo-Sequence")
            if up_to is not None and not self._wrong("paging-forgets-the-point-in-time"):
                body["up_to_seq"] = up_to
                body.pop("up_to_time", None)

    async def _page(self, stream: str, body: Mapping[str, Any], gathered: Gathered) -> Msg | None:
        """One request and what comes of it; returns the end marker, unless it ended otherwise."""
        line = self._line
        patience = line.endpoint.timeout
        if self._wrong("batches-never-time-out"):
            patience = 3600.0
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
                told = _header_number(msg, "Nats-Last-Sequence")
                follows = told is None or before is None or told == before
                if not follows and not self._wrong("batch-gaps-untold"):
                    text = f"a message follows {told}, and {before} came before it"
                    gathered.error = ClientError("BatchGap", text)
                    return None
                before = _header_number(msg, "Nats-Sequence")
                if msg.status == 204 and not self._wrong("end-of-a-batch-unknown"):
                    return msg
                if msg.status is not None:
                    if not self._wrong("batch-errors-untold"):
                        gathered.error = self._status(msg)
                    return None
                if _header_number(msg, "Nats-Num-Pending") is None:
                    if self._wrong("old-server-unnoticed"):
                        gathered.messages.append(Stored.of(msg))
                        return None
                    gathered.error = ClientError(
                        "BatchUnsupported", "the server does not know batches of direct get"
                    )
                    return None
                gathered.messages.append(self._stored(msg))
        except TimeoutError:
            if not self._wrong("unended-batch-in-peace"):
                gathered.error = timed_out("direct get", patience)
            return None
        except ClientError as error:
            gathered.error = error
            return None
        finally:
            line.unsubscribe(subscription)

    def _guard(self, min_last_seq: int | None) -> dict[str, Any]:
        if min_last_seq is None:
            return {"min_last_seq": 1} if self._wrong("guards-every-read") else {}
        return {} if self._wrong("read-guard-dropped") else {"min_last_seq": min_last_seq}

    def _start(self, seq: int | None) -> int | None:
        return seq + 1 if seq is not None and self._wrong("sequence-off-by-one") else seq

    def _stored(self, msg: Msg) -> Stored:
        if not msg.payload and self._wrong("empty-messages-taken-for-none"):
            raise ClientError("NotFound", "an empty message")
        if msg.payload[:1] == b"{" and self._wrong("payloads-read-as-answers"):
            answer_document(msg)
        if msg.status is not None:
            return Stored("", "", 0, "", msg.payload, msg.headers)
        stored = Stored.of(msg)
        if stored.headers is not None and self._wrong("one-value-per-header"):
            kept = dict(tuple(stored.headers))
            stored = replace(stored, headers=Headers(kept.items()))
        return stored

    def _status(self, msg: Msg) -> ClientError:
        status, description = msg.status, msg.description
        if status == 412 and self._wrong("guard-status-as-not-found"):
            status, description = 404, "Message Not Found"
        names = {404: "NotFound", 408: "BadRequest", 412: "MinLastSequence", 413: "TooManyResults"}
        return status_error(names.get(status or 0, "NoResponders"), status, description)


def _given(asked: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in asked.items() if value is not None}


def _header_number(msg: Msg, name: str) -> int | None:
    value = None if msg.headers is None else msg.headers.get(name)
    return int(value) if value is not None and value.isdigit() else None
