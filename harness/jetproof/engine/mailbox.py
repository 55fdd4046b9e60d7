"""A mailbox: messages in arrival order, and readers that wait for the next."""

from __future__ import annotations

import asyncio
from collections import deque

from jetproof import clock
from jetproof.engine.judge import Seen


class Mailbox:
    def __init__(self) -> None:
        self.unread: deque[Seen] = deque()
        self.read: list[Seen] = []
        self._waiters: list[asyncio.Future[None]] = []  # who came first is woken first

    def put(self, seen: Seen) -> None:
        self.unread.append(seen)
        for waiter in self._waiters:
            _wake(waiter)

    def take(self) -> Seen:
        seen = self.unread.popleft()
        self.read.append(seen)
        return seen

    def take_all(self) -> list[Seen]:
        """Everything unread, which is read then."""
        return [self.take() for _ in range(len(self.unread))]

    async def next(self, timeout: float) -> Seen | None:
        """The next message, or None if none came in time."""
        deadline = clock.now() + timeout
        while not self.unread:
            left = deadline - clock.now()
            if left <= 0:
                return None
            await self.wait(left)  # and again, if another reader was faster
        return self.take()

    async def wait(self, timeout: float) -> bool:
        """Waits until there is something unread; False if the time passed first."""
        if self.unread:
            return True
        if timeout <= 0:
            return False
        loop = asyncio.get_running_loop()
        waiter = loop.create_future()
        self._waiters.append(waiter)
        timer = loop.call_later(timeout, _wake, waiter)
        try:
            await waiter
        finally:
            timer.cancel()
            self._waiters.remove(waiter)
        return bool(self.unread)


def _wake(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
