"""Publishing one message: what an application may ask for, as headers; the pub ack, as it came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.requests import Requests, answer_document
from jetproof.targets.reference_client.values import digits, header_items, number, payload, text
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


def outgoing(params: Mapping[str, Any], conduct: Conduct) -> Outgoing:
    """The message to send that a call describes."""
    items = header_items(params)
    if items and conduct.wrong("headers-of-the-caller-dropped"):
        items = []
    if any(name == "Nats-Msg-Id" for name, _ in items) and conduct.wrong("msg-id-dropped"):
        items = [item for item in items if item[0] != "Nats-Msg-Id"]
    for name, header in _TEXTS.items():
        if params.get(name) is not None:
            if name == "msg_id" and conduct.wrong("msg-id-dropped"):
                continue
            items.append((header, text(params, name)))
    for name, header in _NUMBERS.items():
        value = number(params, name)
        if value is not None:
            items.append((header, str(value)))
    ttl = number(params, "ttl_ms")
    if ttl is not None:
        items.append(("Nats-TTL", f"{ttl}ms"))
    subject = text(params, "subject")
    if not subject or any(character.isspace() for character in subject):
        raise invalid(f"{subject!r} is not a subject")
    return Outgoing(subject, payload(params), tuple(items))


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


async def publish(requests: Requests, message: Outgoing, timeout: float | None) -> dict[str, Any]:
    """A message as a request: it is stored when its pub ack is there."""
    limit = requests.line.max_payload
    if limit is not None and len(message.payload) > limit:  # a server would end the connection
        raise invalid(f"{len(message.payload)} bytes are more than the {limit} of the server")
    if requests.line.conduct.wrong("publish-without-reply"):
        requests.line.publish(message.subject, message.payload, headers=message.headers)
        return {"stream": "unknown", "seq": "0"}
    try:
        answer = await requests.request(message.subject, message.payload, message.headers, timeout)
    except ClientError:
        if requests.line.conduct.wrong("no-answer-taken-for-an-ack"):
            return {"stream": "unknown", "seq": "0"}
        raise
    try:
        return pub_ack(answer_document(answer))
    except ClientError:
        if requests.line.conduct.wrong("publish-error-untold"):
            return {"stream": "unknown", "seq": "0"}
        raise
