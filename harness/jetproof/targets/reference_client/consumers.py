"""Consumers as such: the messages they deliver, and where pulls are sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import (
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


class MessageSize:
    """The bytes that a message takes off a limit: as the server counts, headers included.

    The draft counts data, subject and reply subject only.
    """

    def __init__(self, conduct: Conduct) -> None:
        self.draft = conduct.draft

    def of(self, msg: Msg) -> int:
        return len(msg.payload) + self.headers(msg) + self.subjects(msg)

    def headers(self, msg: Msg) -> int:
        return 0 if self.draft else header_bytes(msg)

    def subjects(self, msg: Msg) -> int:
        return len(_octets(msg.subject)) + len(_octets(msg.reply or ""))


def header_bytes(msg: Msg) -> int:
    return 0 if msg.headers is None else len(msg.headers.encode())


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


class Consumers:
    """Consumers by the API: looked up, created, deleted."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests

    async def info(self, ref: ConsumerRef) -> dict[str, Any]:
        return await self.requests.api(f"CONSUMER.INFO.{ref.stream}.{ref.name}")

    async def get(self, ref: ConsumerRef) -> None:
        """Looks a consumer up; nothing about it is changed."""
        info = await self.look_up(ref)
        if info.get("config", {}).get("deliver_subject"):
            raise ClientError("PushConsumer", f"{ref.name} is a push consumer")

    async def look_up(self, ref: ConsumerRef) -> dict[str, Any]:
        return await self.info(ref)

    async def create(self, stream: str, config: Mapping[str, Any]) -> dict[str, Any]:
        """Creates a consumer as its configuration says; returns its info."""
        wanted = self.wanted(config)
        return await self.create_as(
            stream, wanted.get("name") or wanted.get("durable_name") or "", wanted
        )

    def wanted(self, config: Mapping[str, Any]) -> dict[str, Any]:
        """The configuration as it is sent, the guard of its reads included."""
        numbers = {
            name: int(config[name]) for name in ("min_last_seq", "opt_start_seq") if name in config
        }
        return {**config, **numbers}

    async def create_as(self, stream: str, name: str, config: Mapping[str, Any]) -> dict[str, Any]:
        subject = f"CONSUMER.CREATE.{stream}.{name}" if name else f"CONSUMER.CREATE.{stream}"
        return await self.requests.api(subject, {"stream_name": stream, "config": config})

    async def delete(self, ref: ConsumerRef) -> None:
        await self.requests.api(f"CONSUMER.DELETE.{ref.stream}.{ref.name}")
