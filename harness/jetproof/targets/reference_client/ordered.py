"""Where messages are consumed from: a consumer that is there, or an ordered one.

An ordered consumer is the client's own: it acknowledges nothing, notices from the consumer sequence
that a message is missing, and is then made anew behind the last message that came.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any, Final

from jetproof.targets.reference_client.consumers import (
    ConsumerRef,
    Consumers,
    Delivery,
)
from jetproof.targets.reference_client.errors import ClientError
from jetproof.targets.reference_client.requests import Requests
from jetproof.targets.reference_client.values import MILLISECOND

_INACTIVE_NS: Final = 300_000 * MILLISECOND


@dataclass(frozen=True, slots=True)
class Named:
    """A consumer that somebody made, and that this client leaves as it is."""

    consumers: Consumers
    ref: ConsumerRef

    @property
    def renewable(self) -> bool:
        return False

    def accept(self, delivery: Delivery) -> bool:
        return True

    def foreign(self, delivery: Delivery) -> bool:
        return False

    async def renew(self) -> None:
        raise ClientError("ConsumerGone", "the consumer is not this client's to make")

    async def check(self) -> None:
        await self.consumers.info(self.ref)


class Ordered:
    """An ordered consumer; `config` holds what it filters and where it starts."""

    def __init__(self, requests: Requests, stream: str, config: dict[str, Any]) -> None:
        self.requests = requests
        self.consumers = requests.line.conduct.part(Consumers)(requests)
        self.stream = stream
        self._config = config
        self.pending = 0
        """How many messages it had when it was made."""
        self._ref: ConsumerRef | None = None
        self._last_seq = 0
        self._consumer_seq = 0

    @property
    def ref(self) -> ConsumerRef:
        if self._ref is None:
            raise ClientError("ConsumerGone", "the ordered consumer was not made yet")
        return self._ref

    @property
    def renewable(self) -> bool:
        return True

    def accept(self, delivery: Delivery) -> bool:
        """Whether nothing is missing before this message."""
        if not self.follows(delivery):
            return False
        self._consumer_seq = delivery.consumer_seq or 0
        self._last_seq = delivery.seq or self._last_seq
        return True

    def follows(self, delivery: Delivery) -> bool:
        return delivery.consumer_seq == self._consumer_seq + 1

    def foreign(self, delivery: Delivery) -> bool:
        return self._ref is not None and delivery.consumer != self._ref.name

    async def renew(self) -> None:
        """Makes the consumer, again if need be, behind the last message that was handed over."""
        old, self._ref = self._ref, None
        if old is not None:
            with contextlib.suppress(ClientError):
                await self.consumers.delete(old)
        self._consumer_seq = 0
        info = await self.consumers.create(self.stream, self.config())
        self.pending = int(info.get("num_pending", 0))
        self._ref = ConsumerRef(self.stream, str(info["name"]))

    def config(self) -> dict[str, Any]:
        """It acknowledges nothing, lives in memory, and goes away by itself."""
        config = {
            "ack_policy": "none",
            "max_deliver": 1,
            "mem_storage": True,
            "num_replicas": 1,
            "inactive_threshold": _INACTIVE_NS,
            **self.options(),
        }
        start = self.continuation()
        if start:
            config.pop("opt_start_time", None)
        return config | start

    def options(self) -> dict[str, Any]:
        """What the caller wants of it: what it filters, where it starts, its guard."""
        return self._config

    def continuation(self) -> dict[str, Any]:
        """Where it starts when it is made anew."""
        if not self._last_seq:
            return {}
        return {"deliver_policy": "by_start_sequence", "opt_start_seq": self._last_seq + 1}

    async def check(self) -> None:
        await self.consumers.info(self.ref)

    async def delete(self) -> None:
        if self._ref is not None:
            await self.consumers.delete(self._ref)
