"""Guarded reads: direct get in all its forms, and message get, with `min_last_seq` (ADR-53).

The real server never sees the field. A read that may be served is passed on without it; one that a
follower may not serve is read from the leader; one that nobody can serve is refused after a while.
"""

from __future__ import annotations

import asyncio
import base64
import json
import re
from dataclasses import dataclass
from typing import Any, Final

from jetproof import clock
from jetproof.targets.reference.fields import FIELD, minimum_of, without
from jetproof.targets.reference.ground import Client, Ground, Work
from jetproof.targets.reference.guard import Ruling
from jetproof.targets.reference.views import Copies
from jetproof.wire.frames import Msg, Pub
from jetproof.wire.headers import Headers

REFUSAL_DELAY: Final = 0.5
"""Seconds from a request to its refusal. The text gives no number."""

_API = r"\$JS(?:\.[^.]+)?\.API\."
_DIRECT = re.compile(_API + r"DIRECT\.GET\.(?P<stream>[^.]+)(?:\.(?P<subject>.+))?")
_MESSAGE = re.compile(_API + r"STREAM\.MSG\.GET\.(?P<stream>[^.]+)")
_SEVERAL: Final = ("batch", "multi_last", "max_bytes")
_AGAIN: Final = 0.02
_SETTLED: Final = 8.0
_ERROR: Final = {
    "type": "io.nats.jetstream.api.v1.stream_msg_get_response",
    "error": {"code": 412, "err_code": 10180, "description": "min last sequence"},
}


@dataclass(frozen=True, slots=True)
class Read:
    """A guarded read. `subject` is the one appended to the request's subject, if one is."""

    client: Client
    frame: Pub
    stream: str
    minimum: int
    body: dict[str, Any]
    arrived: float
    subject: str | None = None
    message_get: bool = False

    @property
    def several(self) -> bool:
        return any(name in self.body for name in _SEVERAL)

    @property
    def unguarded(self) -> Pub:
        """The request as the real server may see it."""
        return without(self.frame, self.body)


class Reads:
    """The part of the layer that answers guarded reads."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground

    def takes(self, client: Client, message: Pub) -> Work | None:
        if FIELD not in message.payload or message.reply is None:
            return None
        direct = _DIRECT.fullmatch(message.subject)
        found = direct or _MESSAGE.fullmatch(message.subject)
        asked = minimum_of(message.payload) if found else None
        if found is None or asked is None:
            return None
        minimum, body = asked
        if minimum is None:
            # The server does not know the field in a direct get, and would not complain.
            return self._malformed(client, message) if direct else None
        read = Read(
            client,
            message,
            found["stream"],
            minimum,
            body,
            clock.now(),
            subject=direct["subject"] if direct else None,
            message_get=direct is None,
        )
        if not self.guarded(read):
            return self._unguarded(read)
        return self._message_get(read) if read.message_get else self._direct_get(read)

    def shows(self, client: Client, message: Msg) -> Msg | None:
        return message

    def guarded(self, read: Read) -> bool:
        """Whether the read is one with a guard; every stream has reached 0."""
        return read.minimum > 0

    # -- direct get -----------------------------------------------------------------------------

    async def _direct_get(self, read: Read) -> None:
        guard = self.ground.guard
        while True:
            copies = await self._copies(read)
            if not copies.direct:
                if copies.sure:
                    self.pass_on(read)  # nobody answers this: the server says so
                return
            ruling = guard.rule(read.minimum, [*copies.own, *copies.others])
            late = clock.now() - read.arrived > REFUSAL_DELAY
            if ruling is not Ruling.REDIRECT or not read.several or late:
                break
            # Only the leader's single messages can be asked for: wait until all are far enough.
            await asyncio.sleep(_AGAIN)
        if ruling is Ruling.SERVE:
            await self.serve(read)
        elif ruling is Ruling.REDIRECT and not read.several:
            await self._from_leader(read, copies.mirror_of or read.stream)
        else:
            await self.refuse(read)

    async def serve(self, read: Read) -> None:
        """Whoever picks the request up answers it, once."""
        self.pass_on(read)

    async def _from_leader(self, read: Read, stream: str) -> None:
        """Answers with what the leader has, in the form of a direct get."""
        found = await self.leaders_message(read, stream)
        if found is None:
            headers = Headers(status=404, description="Message Not Found")
            await self.ground.answer(read.client, read.frame, headers=headers)
            return
        stored = base64.b64decode(found.get("hdrs") or "") or b"NATS/1.0\r\n\r\n"
        told = (
            ("Nats-Stream", stream),
            ("Nats-Subject", found["subject"]),
            ("Nats-Sequence", str(found["seq"])),
            ("Nats-Time-Stamp", found["time"]),
        )
        lines = "".join(f"{name}: {value}\r\n" for name, value in told)
        headers = Headers.from_raw(stored.removesuffix(b"\r\n") + lines.encode() + b"\r\n")
        payload = base64.b64decode(found.get("data") or "")
        await self.ground.answer(read.client, read.frame, payload, headers)

    async def leaders_message(self, read: Read, stream: str) -> dict[str, Any] | None:
        body = read.body if read.subject is None else {"last_by_subj": read.subject}
        prefix = read.frame.subject.partition(".API.")[0]
        answer = await self.ground.ask(
            read.client, f"{prefix}.API.STREAM.MSG.GET.{stream}", json.dumps(body).encode()
        )
        message = json.loads(answer.payload or b"{}").get("message")
        return message if isinstance(message, dict) else None

    async def _malformed(self, client: Client, message: Pub) -> None:
        headers = Headers(status=408, description="Malformed Request")
        await self.ground.answer(client, message, headers=headers)

    # -- message get ----------------------------------------------------------------------------

    async def _message_get(self, read: Read) -> None:
        """Only the leader answers. One that does not know yet that it is none must not: while two
        servers say that they lead, a read that the real one can satisfy waits for the other to
        give in. (The real server, which does not know the guard, would let both answer.)"""
        copies = await self._copies(read)
        while copies.own and copies.leader is None:
            far_enough = any(copy.last_seq >= read.minimum for copy in copies.own if copy.answers)
            patience = _SETTLED if far_enough else REFUSAL_DELAY
            if clock.now() - read.arrived > patience:
                break
            await asyncio.sleep(_AGAIN)
            copies = await self._copies(read)
        leader = copies.leader
        if not copies.own:
            if copies.sure:
                self.pass_on(read)
        elif leader is not None and self.ground.guard.leader_serves(read.minimum, leader):
            # One answer: a former leader that sleeps now would send another when it wakes up.
            frame = read.unguarded
            answer = await self.ground.ask(read.client, frame.subject, frame.payload, frame.headers)
            await self.ground.answer(read.client, read.frame, answer.payload, answer.headers)
        else:
            await self.refuse(read)

    # -- both -----------------------------------------------------------------------------------

    async def _copies(self, read: Read) -> Copies:
        account = self.ground.account(read.client)
        return await self.ground.views.copies(account, read.stream)

    async def _unguarded(self, read: Read) -> None:
        self.pass_on(read)

    def pass_on(self, read: Read) -> None:
        self.ground.forward(read.client, read.unguarded)

    async def refuse(self, read: Read) -> None:
        await self.wait_to_refuse(read)
        if read.message_get:
            await self.ground.answer(read.client, read.frame, json.dumps(_ERROR).encode())
        else:
            headers = Headers(status=412, description="Min Last Sequence")
            await self.ground.answer(read.client, read.frame, headers=headers)

    async def wait_to_refuse(self, read: Read) -> None:
        """Not at once: a client shall not ask again and again, and servers can catch up."""
        await asyncio.sleep(max(0.0, read.arrived + REFUSAL_DELAY - clock.now()))
