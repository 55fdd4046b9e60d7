"""How many servers may run at the same time."""

from __future__ import annotations

import asyncio
import contextlib
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
