"""Coroutines side by side, none of which outlives the others."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


async def all_of(*wanted: Coroutine[Any, Any, T]) -> list[T]:
    """The results in order. If one fails, the others have been cancelled and have ended by then.

    `asyncio.gather` would leave them running until the event loop ends, which then cancels asyncio's
    own tasks as well: a process that is just being started is never done with starting then, and
    the loop waits for it for ever.
    """
    tasks = [asyncio.ensure_future(one) for one in wanted]
    for task in tasks:
        task.add_done_callback(_seen)
    try:
        return await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        raise


def _seen(task: asyncio.Future[Any]) -> None:
    """Look at how a task ended, so that nothing complains that nobody did."""
    if not task.cancelled():
        task.exception()
