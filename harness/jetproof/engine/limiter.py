"""How many servers, or adapters, may run at the same time."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import itertools
from collections.abc import AsyncIterator


class Places:
    """So many server processes at once; a cluster takes one place a node."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._all = places
        self._change = asyncio.Condition()

    @contextlib.asynccontextmanager
    async def taken(self, wanted: int) -> AsyncIterator[None]:
        wanted = min(wanted, self._all)
        async with self._change:
            await self._change.wait_for(lambda: self._free >= wanted)
            self._free -= wanted
        try:
            yield
        finally:
            async with self._change:
                self._free += wanted
                self._change.notify_all()


class Turns:
    """So many at once; of those that wait, the most urgent is next, and then whoever came first."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    @contextlib.asynccontextmanager
    async def taken(self, urgency: float = 0.0) -> AsyncIterator[None]:
        if self._free:
            self._free -= 1
        else:
            await self._turn(urgency)
        try:
            yield
        finally:
            self._pass_on()

    async def _turn(self, urgency: float) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        heapq.heappush(self._waiting, (-urgency, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was called just before it gave up
                self._pass_on()
            raise

    def _pass_on(self) -> None:
        while self._waiting:
            _, _, turn = heapq.heappop(self._waiting)
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1
