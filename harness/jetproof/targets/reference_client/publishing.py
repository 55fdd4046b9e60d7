"""Publishing one message: what an application may ask for, as headers; the pub ack, as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.requests import Requests, answer_document
from jetproof.targets.reference_client.values import digits, header_items, number, payload, text
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

_NUMBERS: Final = {
    "expect_last_seq": "Nats-Expected-Last-Sequence",
    "expect_last_subject_seq": "Nats-Expected-Last-Subject-Sequence",
}
_TEXTS: Final = {
    "msg_id": "Nats-Msg-Id",
    "expect_stream": "Nats-Expected-Stream",
    "expect_last_subject_seq_subject": "Nats-Expected-Last-Subject-Sequence-Subject",
    "expect_last_msg_id": "Nats-Expected-Last-Msg-Id",
}


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message to send, with the headers that its options stand for."""

    subject: str
    payload: bytes = b""
    items: tuple[tuple[str, str], ...] = ()

    @property
    def headers(self) -> Headers | None:
        return Headers(self.items) if self.items else None

    def having(self, *items: tuple[str, str]) -> Outgoing:
        """The same with further headers."""
        return Outgoing(self.subject, self.payload, (*self.items, *items))


class Messages:
    """Makes messages to send of what calls describe."""

    def outgoing(self, params: Mapping[str, Any]) -> Outgoing:
        items = self.headers(params)
        subject = text(params, "subject")
        if not subject or any(character.isspace() for character in subject):
            raise invalid(f"{subject!r} is not a subject")
        return Outgoing(subject, payload(params), tuple(items))

    def headers(self, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        """The headers of the caller, and those that options stand for."""
        items = self.headers_of_the_caller(params)
        items += [
            (header, text(params, name))
            for name, header in _TEXTS.items()
            if params.get(name) is not None
        ]
        for name, header in _NUMBERS.items():
            value = number(params, name)
            if value is not None:
                items.append((header, str(value)))
        ttl = number(params, "ttl_ms")
        if ttl is not None:
            items.append(("Nats-TTL", f"{ttl}ms"))
        return items

    def headers_of_the_caller(self, params: Mapping[str, Any]) -> list[tuple[str, str]]:
        return header_items(params)


def pub_ack(document: Mapping[str, Any]) -> dict[str, Any]:
    """A pub ack in the form of the protocol."""
    if "stream" not in document or "seq" not in document:
        raise ClientError("BadAnswer", "not a pub ack")
    told: dict[str, Any] = {"stream": document["stream"]}
    told |= digits({"seq": document["seq"], "count": document.get("count")})
    for name in ("duplicate", "domain", "batch"):
        if document.get(name):
            told[name] = document[name]
    return told


class Publisher:
    """Publishes messages as requests: one is stored when its pub ack is there."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests

    async def publish(self, message: Outgoing, timeout: float | None = None) -> dict[str, Any]:
        self.check_size(message)
        return self.read(await self.ask(message, timeout))

    def check_size(self, message: Outgoing) -> None:
        limit = self.requests.line.max_payload
        if limit is not None and len(message.payload) > limit:  # a server would end the connection
            raise invalid(f"{len(message.payload)} bytes are more than the {limit} of the server")

    async def ask(self, message: Outgoing, timeout: float | None) -> Msg:
        return await self.requests.request(
            message.subject, message.payload, message.headers, timeout
        )

    def read(self, answer: Msg) -> dict[str, Any]:
        return pub_ack(answer_document(answer))
