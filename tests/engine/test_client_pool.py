"""Adapters of a library are used again, and few start at a time, however many libraries there are."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any, cast

from jetproof.engine.client_pool import ClientPool
from jetproof.targets.clients.process import Adapter


class Starts:
    """Counts adapters: started in all, and at most at the same time."""

    def __init__(self) -> None:
        self.all = self.now = self.most = 0

    @contextlib.asynccontextmanager
    async def adapter(self) -> AsyncIterator[Adapter]:
        self.all, self.now = self.all + 1, self.now + 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.01)
        self.now -= 1
        yield cast(Adapter, FakeAdapter())


class FakeAdapter:
    usable = True
    on_event: Any = None
    on_line: Any = None

    async def reset(self) -> bool:
        return True


async def use(pool: ClientPool, *, orderly: bool = True) -> None:
    async with pool.taken() as lease:
        await asyncio.sleep(0.001)
        if orderly:
            await lease.give_back()


def test_pools_that_share_their_starts_start_few_at_a_time() -> None:
    async def play() -> Starts:
        starts, starting = Starts(), asyncio.Semaphore(2)
        async with (
            ClientPool(starts.adapter, 8, starting) as one,
            ClientPool(starts.adapter, 8, starting) as other,
        ):
            await asyncio.gather(*(use(pool) for pool in (one, other) for _ in range(20)))
        return starts

    starts = asyncio.run(play())
    assert starts.most == 2
    assert starts.all < 16, "one that is free is taken rather than another started"


def test_one_that_a_case_left_in_disorder_is_not_used_again() -> None:
    async def play(orderly: bool) -> int:
        starts = Starts()
        async with ClientPool(starts.adapter, 1) as pool:
            for _ in range(3):
                await use(pool, orderly=orderly)
        return starts.all

    assert asyncio.run(play(orderly=True)) == 1
    assert asyncio.run(play(orderly=False)) == 3
