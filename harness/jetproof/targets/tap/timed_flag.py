"""Something that is so for a while: until it is ended, or for a stated time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class TimedFlag:
    """A state that is on or off; `on_change` is told whenever it is set."""

    def __init__(self, on_change: Callable[[bool], None]) -> None:
        self.on = False
        self._on_change = on_change
        self._timer: asyncio.TimerHandle | None = None

    def change(self, on: bool, seconds: float | None = None) -> None:
        """Sets the state; one that is on goes off after `seconds`, if given."""
        self.stop()
        self.on = on
        if on and seconds is not None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(seconds, self.change, False)
        self._on_change(on)

    def stop(self) -> None:
        """Leaves the state as it is."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
