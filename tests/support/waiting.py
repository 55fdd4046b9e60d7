"""Waiting with an end: what hangs fails the test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 60.0


def bounded(awaited: Awaitable[T], seconds: float = PATIENCE) -> T:
    """Runs a test's coroutine; one that hangs is ended, and with it the test."""

    async def limited() -> T:
        async with asyncio.timeout(seconds):
            return await awaited

    return asyncio.run(limited())


def wait_for(what: Callable[[], object], why: str, seconds: float = PATIENCE) -> None:
    """Waits until something is so; `why` is what is wrong if it never is."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)
