"""Faults of consumers that wait for their min_last_seq."""

from __future__ import annotations

import json
from typing import Any, Final

from jetproof.targets.faults import harmless
from jetproof.targets.reference.consumers import Asked, Consumers, Waiting
from jetproof.targets.reference.faults.fault import fault
from jetproof.targets.reference.guard import Copy

_REFUSED: Final = {
    "type": "io.nats.jetstream.api.v1.consumer_create_response",
    "error": {"code": 412, "err_code": 10180, "description": "min last sequence"},
}


@fault("consumers-are-refused")
class ConsumersAreRefused(Consumers):
    """A consumer whose min_last_seq is not reached is not created."""

    async def make(self, asked: Asked, *, held: bool) -> None:
        if held:
            await self.ground.answer(asked.client, asked.message, json.dumps(_REFUSED).encode())
        else:
            harmless(None)
            await super().make(asked, held=held)


@fault("consumers-never-wait")
class ConsumersNeverWait(Consumers):
    """A consumer delivers at once, whatever its min_last_seq."""

    async def is_behind(self, account: str, stream: str, minimum: int) -> bool:
        return False if await super().is_behind(account, stream, minimum) else harmless(False)


@fault("consumers-never-start")
class ConsumersNeverStart(Consumers):
    """A consumer that waits goes on waiting when its min_last_seq is reached."""

    def can_start(self, floor: int, copy: Copy) -> bool:
        return False if super().can_start(floor, copy) else harmless(False)


@fault("consumers-wait-for-one-more")
class ConsumersWaitForOneMore(Consumers):
    """A consumer waits for a sequence beyond its min_last_seq."""

    def reached(self, minimum: int, copy: Copy) -> bool:
        return False if copy.last_seq == minimum else harmless(super().reached(minimum, copy))


@fault("consumers-always-wait")
class ConsumersAlwaysWait(Consumers):
    """A consumer waits although min_last_seq is reached, and starts with the next message."""

    async def is_behind(self, account: str, stream: str, minimum: int) -> bool:
        if await super().is_behind(account, stream, minimum):
            return harmless(True)
        there = bool((await self.ground.views.copies(account, stream)).own)
        return there or harmless(False)

    def floor(self, waiting: Waiting, first_seen: Copy) -> int:
        return harmless(max(super().floor(waiting, first_seen), first_seen.last_seq + 1))


@fault("consumers-forget")
class ConsumersForget(Consumers):
    """The configuration of a consumer is reported without its min_last_seq."""

    def show_minimum(self, config: dict[str, Any], minimum: int) -> None:
        pass
