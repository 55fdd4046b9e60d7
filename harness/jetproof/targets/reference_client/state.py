"""The state of an adapter process: one connection, and what has a name on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.connection import Endpoint, Line
from jetproof.targets.reference_client.consumers import Delivery
from jetproof.targets.reference_client.consuming import Consuming
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.ingest import Ingest
from jetproof.targets.reference_client.protocol import Writer
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import bad_call, not_open, number, text

Params = Mapping[str, Any]
Result = dict[str, Any]
T = TypeVar("T")


class State:
    """What the operations share."""

    def __init__(self, conduct: Conduct, writer: Writer) -> None:
        self.conduct = conduct
        self.writer = writer
        self._requests: Requests | None = None
        self.named: dict[str, object] = {}
        self._replies: dict[str, str] = {}
        self._messages = 0

    @property
    def requests(self) -> Requests:
        if self._requests is None:
            raise ClientError("NotConnected", "there is no connection")
        return self._requests

    async def connect(self, endpoint: Endpoint) -> None:
        if self._requests is not None:
            raise bad_call("there is a connection already")
        part = self.conduct.part
        line = await part(Line).open(endpoint, self.conduct, self.connection_event)
        self._requests = part(Requests)(line)

    async def close(self) -> None:
        """Ends everything that has a name, and the connection."""
        named, self.named = list(self.named.values()), {}
        requests, self._requests = self._requests, None
        self._replies.clear()
        for thing in named:
            if isinstance(thing, Consuming | Ingest):
                thing.abandon()
        if requests is not None:
            await requests.line.close()

    def connection_event(self, kind: str, error: ClientError | None) -> None:
        more = {} if error is None else {"error": error.body()}
        self.writer.event("connection", None, kind=kind, name=kind, **more)

    def name(self, params: Params, thing: object) -> None:
        """Gives a new thing the name that the call wants for it."""
        self.named[text(params, "as")] = thing

    def thing(self, params: Params, kind: type[T]) -> T:
        """What the call refers to."""
        thing = self.named.get(text(params, "of"))
        if not isinstance(thing, kind):
            raise not_open(params["of"])
        return thing

    def handed_over(self, delivery: Delivery) -> Result:
        """A message in the form of the protocol, with a name that it can be acknowledged by."""
        self._messages += 1
        name = f"m{self._messages}"
        if delivery.msg.reply:
            self._replies[name] = delivery.msg.reply
        return delivery.body(name)

    def reply_of(self, name: str) -> str:
        """Where a message is acknowledged."""
        if name not in self._replies:
            raise bad_call(f"there is no message {name!r}")
        return self._replies[name]


def seconds(params: Params) -> float | None:
    """The time that the call allows, if it says."""
    value = number(params, "timeout_ms")
    return None if value is None else value / 1000
