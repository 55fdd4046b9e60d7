"""Adapters of one client library: started as they are needed, and used again one case later."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from jetproof.engine.limiter import Turns
from jetproof.errors import JetproofError
from jetproof.targets.clients.process import Adapter

AT_ONCE = 20
Start = Callable[[], AbstractAsyncContextManager[Adapter]]


@dataclass(slots=True)
class Lease:
    """An adapter for the length of one case; `in_order` once it has closed its connection."""

    adapter: Adapter
    in_order: bool = False

    async def give_back(self) -> None:
        """Closes what the case left open, while the server can still be reached."""
        self.adapter.on_event = self.adapter.on_line = None
        with contextlib.suppress(JetproofError):
            self.in_order = await self.adapter.reset()


class ClientPool:
    """So many adapter processes at once, each with one case at a time.

    A process that a case left in order serves the next one; any other is ended with its case. Few
    are started at a time (`starting`, which pools can share): a machine that does nothing but start
    processes is of no use to those that are there.
    """

    def __init__(
        self, start: Start, at_once: int = AT_ONCE, starting: asyncio.Semaphore | None = None
    ) -> None:
        self._start = start
        self._turns = Turns(at_once)
        self._starting = starting or asyncio.Semaphore(at_once)
        self._idle: list[tuple[Adapter, AsyncExitStack]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await asyncio.gather(*(stack.aclose() for _, stack in self._idle))
        self._idle.clear()

    @contextlib.asynccontextmanager
    async def taken(self, urgency: float = 0.0) -> AsyncIterator[Lease]:
        """An adapter for the length of one case; whoever may take longest should not be the last."""
        async with self._turns.taken(urgency):
            adapter, stack = await self._ready()
            lease = Lease(adapter)
            try:
                yield lease
            finally:
                if lease.in_order and adapter.usable:
                    self._idle.append((adapter, stack))
                else:
                    await stack.aclose()

    async def _ready(self) -> tuple[Adapter, AsyncExitStack]:
        """One that another case is done with, were it while this one waits for a start."""
        if self._idle:
            return self._idle.pop()
        async with self._starting:
            return self._idle.pop() if self._idle else await self._started()

    async def _started(self) -> tuple[Adapter, AsyncExitStack]:
        stack = AsyncExitStack()
        return await stack.enter_async_context(self._start()), stack
