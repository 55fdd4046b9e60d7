"""A mailbox: messages in arrival order, and one reader that waits for the next."""

from __future__ import annotations

import asyncio
from collections import deque

from jetproof.engine.judge import Seen


class Mailbox:
    def __init__(self) -> None:
        self.unread: deque[Seen] = deque()
        self.read: list[Seen] = []
        self._waiter: asyncio.Future[None] | None = None

    def put(self, seen: Seen) -> None:
        self.unread.append(seen)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def take(self) -> Seen:
        seen = self.unread.popleft()
        self.read.append(seen)
        return seen

    async def next(self, timeout: float) -> Seen | None:
        """The next message, or None if none came in time."""
        if not self.unread:
            await self.wait(timeout)
        return self.take() if self.unread else None

    async def wait(self, timeout: float) -> bool:
        """Waits until there is something unread; False if the time passed first."""
        if self.unread:
            return True
        if timeout <= 0:
            return False
        loop = asyncio.get_running_loop()
        self._waiter = loop.create_future()
        timer = loop.call_later(timeout, _wake, self._waiter)
        try:
            await self._waiter
        finally:
            timer.cancel()
            self._waiter = None
        return bool(self.unread)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
