"""Acknowledgements of messages, of every kind."""

from __future__ import annotations

import json

from jetproof.targets.reference_client.errors import ClientError, invalid
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import MILLISECOND
from jetproof.wire.frames import Msg


class Acks:
    """Sends acknowledgements; a double one waits for the server's answer."""

    def __init__(self, requests: Requests) -> None:
        self.requests = requests
        self.line = requests.line

    async def acknowledge(
        self,
        reply: str,
        kind: str,
        *,
        delay_ms: int | None = None,
        reason: str | None = None,
        timeout: float | None = None,
    ) -> None:
        body = self.body(kind, delay_ms, reason)
        if kind == "double":
            await self.send_and_wait(reply, body, timeout)
        else:
            await self.send(kind, reply, body)

    def body(self, kind: str, delay_ms: int | None, reason: str | None) -> bytes:
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

    async def send(self, kind: str, reply: str, body: bytes) -> None:
        """Waits for a connection that is lost, and for nothing else."""
        await self.line.until_connected(self.line.endpoint.timeout)
        self.line.publish(reply, body)

    async def send_and_wait(self, reply: str, body: bytes, timeout: float | None) -> None:
        self.check(await self.requests.request(reply, body, timeout=timeout))

    def check(self, answer: Msg) -> None:
        """Only an empty answer confirms an ack."""
        if answer.status is not None or answer.payload:
            raise ClientError(
                "AckFailed",
                f"the ack was answered with {answer.status or answer.payload[:80]!r}",
                status=answer.status,
            )
