"""What a smoke test stands on: streams that a raw connection made, a tap, findings, events heard."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from secrets import token_hex
from typing import Any, Literal

from jetproof import clock
from jetproof.errors import JetproofError
from jetproof.model.versions import Version
from jetproof.targets.clients.process import Adapter, Answer, Event
from jetproof.targets.tap import Tap
from jetproof.targets.topology import RunningTarget
from jetproof.wire.driver import Connection
from jetproof.wire.headers import Headers

Outcome = Literal["ok", "note", "broken", "n/a"]
_ORDER: tuple[Outcome, ...] = ("n/a", "ok", "note", "broken")
CALL_SECONDS = 20.0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at. `said` is the end of the adapter's standard error."""

    name: str
    outcome: Outcome
    detail: str
    said: str = ""


@dataclass(frozen=True, slots=True)
class Stage:
    """The server's side: a raw connection, a tap for the adapter, and names nobody else uses."""

    connection: Connection
    tap: Tap
    version: Version
    credentials: Mapping[str, str]
    token: str

    async def api(self, subject: str, body: object = None) -> dict[str, Any]:
        """One request to the JetStream API, which must succeed."""
        payload = b"" if body is None else json.dumps(body).encode()
        reply = await self.connection.request(f"$JS.API.{subject}", payload, timeout=20.0)
        answer: dict[str, Any] = json.loads(reply.payload or b"{}")
        if "error" in answer:
            raise JetproofError(f"{subject}: {answer['error']}", phase="play")
        return answer

    async def stream(self, name: str, **config: object) -> str:
        """A stream of its own name and subjects, unless `subjects` says otherwise."""
        full = f"{name}{self.token}"
        subjects = {"subjects": [f"{full}.>"], "storage": "memory", "allow_direct": True}
        await self.api(f"STREAM.CREATE.{full}", {"name": full, **subjects, **config})
        return full

    async def consumer(self, stream: str, name: str, **config: object) -> str:
        settings = {"durable_name": name, "name": name, "ack_policy": "explicit", **config}
        body = {"stream_name": stream, "config": settings}
        await self.api(f"CONSUMER.CREATE.{stream}.{name}", body)
        return name

    async def publish(self, subject: str, payload: bytes) -> int:
        """A message stored, and its sequence."""
        reply = await self.connection.request(subject, payload, timeout=20.0)
        return int(json.loads(reply.payload)["seq"])

    async def last(self, stream: str, subject: str) -> tuple[bytes, Headers]:
        """The newest message of a subject, as it is stored."""
        answer = await self.api(f"STREAM.MSG.GET.{stream}", {"last_by_subj": subject})
        message = answer["message"]
        block = base64.b64decode(message.get("hdrs", ""))
        headers = Headers.from_raw(block) if block else Headers()
        return base64.b64decode(message.get("data", "")), headers


@asynccontextmanager
async def staged(target: RunningTarget) -> AsyncIterator[Stage]:
    """A stage on a running target; its streams are gone afterwards, also on somebody's server."""
    host, port = target.address(next(iter(target.nodes)))
    credentials = target.credentials()
    token = token_hex(4)
    async with (
        Tap(host, port) as tap,
        await Connection.open(host, port, options=credentials) as connection,
    ):
        stage = Stage(connection, tap, target.version, credentials, token)
        try:
            yield stage
        finally:
            with contextlib.suppress(JetproofError):
                names = (await stage.api("STREAM.NAMES")).get("streams") or ()
                for name in names:
                    if name.endswith(token):
                        await stage.api(f"STREAM.DELETE.{name}")


class Bench:
    """The adapter's side: calls, what was heard, and the findings so far."""

    def __init__(self, stage: Stage, factor: float) -> None:
        self.stage = stage
        self.factor = factor
        self.events: list[Event] = []
        self._adapter: Adapter | None = None
        self._found: dict[str, Finding] = {}
        self._news = asyncio.Event()

    @property
    def adapter(self) -> Adapter:
        assert self._adapter is not None
        return self._adapter

    @property
    def findings(self) -> tuple[Finding, ...]:
        return tuple(self._found.values())

    def use(self, adapter: Adapter) -> None:
        self._adapter = adapter
        adapter.on_event = self._heard

    def can(self, *operations: str) -> bool:
        return self.adapter.hello.capabilities.issuperset(operations)

    def add(self, name: str, outcome: Outcome, detail: str = "", said: str = "") -> None:
        """A finding. Of several under one name the worst counts, and its detail."""
        before = self._found.get(name)
        if before is None or _ORDER.index(outcome) > _ORDER.index(before.outcome):
            self._found[name] = Finding(name, outcome, detail, said)
        elif outcome == before.outcome and detail and detail not in before.detail:
            both = f"{before.detail}; {detail}" if before.detail else detail
            self._found[name] = Finding(name, outcome, both, before.said or said)

    async def call(self, op: str, **params: object) -> Answer:
        return await self.adapter.call(op, params, timeout=CALL_SECONDS * self.factor)

    async def works(
        self, op: str, optional: Mapping[str, object] | None = None, /, **params: object
    ) -> dict[str, Any] | None:
        """Calls an operation that must succeed; what it returned, or None with a finding.

        What is not among the capabilities is not called: `protocol_checks` looks at those. A library
        may be without the optional parameters.
        """
        if not self.can(op):
            return None
        answer = await self.call(op, **params, **(optional or {}))
        if answer.kind == "unsupported" and optional:
            answer = await self.call(op, **params)
        if answer.kind == "ok":
            self.add(op, "ok")
            return dict(answer.body) if isinstance(answer.body, Mapping) else {}
        if answer.kind == "unsupported":
            self.add(op, "broken", f"a capability, and yet unsupported: {answer.body}")
        else:
            self.add(op, "broken", f"failed in the normal course: {error_text(answer.body)}")
        return None

    def expect(self, name: str, right: bool, wrong: str, outcome: Outcome = "broken") -> bool:
        """Adds a finding if something is not as it must be."""
        if not right:
            self.add(name, outcome, wrong)
        return right

    async def heard(self, enough: Callable[[list[Event]], bool], seconds: float = 10.0) -> bool:
        """Waits until what was heard is enough; whether it is."""
        deadline = clock.now() + seconds * self.factor
        while not enough(self.events):
            left = deadline - clock.now()
            if left <= 0 or self.adapter.fault is not None:
                return False
            self._news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, 0.5)):
                    await self._news.wait()
        return True

    def _heard(self, event: Event) -> None:
        self.events.append(event)
        self._news.set()


def error_text(body: object) -> str:
    if not isinstance(body, Mapping):
        return str(body)
    return f"{body.get('type')}: {body.get('text')}"
