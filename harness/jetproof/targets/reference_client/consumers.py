"""Consumers as such: the messages they deliver, acknowledgements, and where pulls are sent."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import (
    MILLISECOND,
    digits,
    encoded,
    header_pairs,
    rfc3339,
)
from jetproof.wire.frames import Msg

_ACK_PREFIX: Final = "$JS.ACK."


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message of a stream with what its reply subject says about it."""

    msg: Msg
    stream: str = ""
    consumer: str = ""
    delivered: int | None = None
    seq: int | None = None
    consumer_seq: int | None = None
    time: str | None = None
    pending: int | None = None

    @classmethod
    def of(cls, msg: Msg) -> Delivery:
        """Reads both forms of the reply subject: with domain and account hash, and without."""
        reply = msg.reply or ""
        tokens = reply.split(".")
        if reply.startswith(_ACK_PREFIX) and len(tokens) >= 11:
            tokens = tokens[:2] + tokens[4:]
        if not reply.startswith(_ACK_PREFIX) or len(tokens) < 9:
            return cls(msg)
        try:
            delivered, seq, consumer_seq, time, pending = (int(token) for token in tokens[4:9])
        except ValueError:
            return cls(msg)
        return cls(msg, tokens[2], tokens[3], delivered, seq, consumer_seq, rfc3339(time), pending)

    def body(self, name: str) -> dict[str, Any]:
        """The message in the form of the protocol; `name` is what it can be acknowledged by."""
        told: dict[str, Any] = {"subject": self.msg.subject, "data": encoded(self.msg.payload)}
        if self.msg.reply:
            told["msg"] = name
        if self.msg.headers is not None:
            told["headers"] = header_pairs(self.msg.headers)
        if self.seq is not None:
            told |= {"stream": self.stream, "consumer": self.consumer, "time": self.time}
            told |= digits(
                {
                    "seq": self.seq,
                    "consumer_seq": self.consumer_seq,
                    "delivered": self.delivered,
                    "pending": self.pending,
                }
            )
        return told


def message_size(msg: Msg, conduct: Conduct) -> int:
    """The bytes that a message takes off a limit: as the server counts, headers included.

    The draft counts data, subject and reply subject only.
    """
    headers = 0 if msg.headers is None else len(msg.headers.encode())
    with_headers = not conduct.draft
    if headers and conduct.wrong("header-size-misjudged"):
        with_headers = not with_headers
    size = len(msg.payload) + (headers if with_headers else 0)
    if conduct.wrong("only-payload-counted"):
        return size
    return size + len(_octets(msg.subject)) + len(_octets(msg.reply or ""))


def _octets(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


@dataclass(frozen=True, slots=True)
class ConsumerRef:
    """A consumer by the names of its stream and its own."""

    stream: str
    name: str

    @property
    def next_subject(self) -> str:
        return f"$JS.API.CONSUMER.MSG.NEXT.{self.stream}.{self.name}"


async def consumer_info(requests: Requests, ref: ConsumerRef) -> dict[str, Any]:
    return await requests.api(f"CONSUMER.INFO.{ref.stream}.{ref.name}")


async def get_consumer(requests: Requests, ref: ConsumerRef) -> None:
    """Looks a consumer up; nothing about it is changed."""
    if requests.line.conduct.wrong("look-up-asks-for-the-stream"):
        await requests.api(f"STREAM.INFO.{ref.stream}")
        return
    try:
        info = await consumer_info(requests, ref)
    except ClientError:
        if not requests.line.conduct.wrong("get-makes-the-consumer"):
            raise
        info = await _create(requests, ref.stream, ref.name, {"name": ref.name})
    if info.get("config", {}).get("deliver_subject"):
        raise ClientError("PushConsumer", f"{ref.name} is a push consumer")
    wrong = requests.line.conduct.wrong
    if wrong("get-changes-the-consumer"):
        config = {**info["config"], "description": "touched"}
        await _create(requests, ref.stream, ref.name, config)
    if wrong("next-pulls-early"):
        body = {"batch": 1, "expires": 1000 * MILLISECOND}
        requests.line.publish(
            ref.next_subject, json.dumps(body).encode(), reply=requests.line.new_inbox()
        )


async def create_consumer(
    requests: Requests, stream: str, config: Mapping[str, Any]
) -> dict[str, Any]:
    """Creates a consumer as its configuration says, the guard of its reads included: its info."""
    wanted = dict(config)
    if "min_last_seq" in wanted:
        wanted["min_last_seq"] = int(wanted["min_last_seq"])
        if requests.line.conduct.wrong("consumer-guard-dropped"):
            del wanted["min_last_seq"]
    elif requests.line.conduct.wrong("consumers-guarded-unasked"):
        wanted["min_last_seq"] = 1
    if "opt_start_seq" in wanted:
        wanted["opt_start_seq"] = int(wanted["opt_start_seq"])
    if requests.line.conduct.wrong("makes-a-push-consumer"):
        wanted["deliver_subject"] = requests.line.new_inbox()
    name = wanted.get("name") or wanted.get("durable_name") or ""
    return await _create(requests, stream, name, wanted)


async def _create(
    requests: Requests, stream: str, name: str, config: Mapping[str, Any]
) -> dict[str, Any]:
    subject = f"CONSUMER.CREATE.{stream}.{name}" if name else f"CONSUMER.CREATE.{stream}"
    return await requests.api(subject, {"stream_name": stream, "config": config})


async def delete_consumer(requests: Requests, ref: ConsumerRef) -> None:
    if requests.line.conduct.wrong("delete-does-nothing"):
        return
    await requests.api(f"CONSUMER.DELETE.{ref.stream}.{ref.name}")


async def acknowledge(
    requests: Requests,
    reply: str,
    kind: str,
    *,
    delay_ms: int | None = None,
    reason: str | None = None,
    timeout: float | None = None,
) -> None:
    """Sends an acknowledgement of any kind; a double one waits for the server's answer."""
    body = _ack_body(kind, delay_ms, reason)
    line = requests.line
    if kind in ("nak", "progress", "term") and line.conduct.wrong(f"{kind}-sent-as-ack"):
        body = b"+ACK"
    if kind == "ack" and line.conduct.wrong("ack-never-sent"):
        return
    if kind != "double":
        if not line.connected and line.conduct.wrong("ack-lost-while-disconnected"):
            return
        await line.until_connected(line.endpoint.timeout)
        line.publish(reply, body)
        return
    if line.conduct.wrong("double-ack-without-reply"):
        line.publish(reply, body)
        return
    if line.conduct.wrong("double-ack-does-not-wait"):
        inbox, _ = requests.reply_subject()
        line.publish(reply, body, reply=inbox)
        return
    answer = await requests.request(reply, body, timeout=timeout)
    failed = answer.status is not None or bool(answer.payload)
    if failed and not line.conduct.wrong("double-ack-takes-any-answer"):
        raise ClientError(
            "AckFailed",
            f"the ack was answered with {answer.status or answer.payload[:80]!r}",
            status=answer.status,
        )


def _ack_body(kind: str, delay_ms: int | None, reason: str | None) -> bytes:
    if delay_ms is not None and kind != "nak":
        raise invalid("only a nak has a delay")
    if reason is not None and kind != "term":
        raise invalid("only a term has a reason")
    match kind:
        case "ack" | "double":
            return b"+ACK"
        case "nak" if delay_ms is not None:
            return b"-NAK " + json.dumps({"delay": delay_ms * MILLISECOND}).encode()
        case "nak":
            return b"-NAK"
        case "progress":
            return b"+WPI"
        case "term":
            return b"+TERM" + (b" " + reason.encode() if reason else b"")
        case _:
            raise invalid(f"there is no acknowledgement {kind!r}")
