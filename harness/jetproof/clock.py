"""The clock of a run is the clock of its event loop.

Timeouts and sleeps of asyncio follow the time of the loop. So whatever measures a moment, in the engine,
the driver, the tap and the targets, asks `now()`, which is the same time. A run on another loop has
another time: `VirtualLoop` lets an hour of silence pass in a moment, wherever both sides of an exchange
live in the loop.
"""

from __future__ import annotations

import asyncio
import selectors
from typing import Any


def now() -> float:
    """Seconds on the clock of the running loop."""
    return asyncio.get_running_loop().time()


class VirtualLoop(asyncio.SelectorEventLoop):
    """A loop whose time stands still while there is something to do, and jumps to the next timer.

    What happens outside of the loop (another process, a thread) takes no time here, so a timeout may
    pass before it answers. `QUIET` seconds without input or output count as nothing to do.
    """

    QUIET = 0.002

    def __init__(self) -> None:
        self._passed = 0.0
        super().__init__(_Jumping(self))

    def time(self) -> float:
        return self._passed

    def jump(self, seconds: float) -> None:
        self._passed += seconds


class _Jumping(selectors.DefaultSelector):
    """Waits for input and output as ever, and for timers not at all."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._its_loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, Any]]:
        if timeout is None or timeout <= 0:
            return super().select(timeout)
        ready = super().select(VirtualLoop.QUIET)
        if not ready:
            self._its_loop.jump(timeout)
        return ready
