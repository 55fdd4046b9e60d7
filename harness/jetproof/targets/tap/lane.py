"""One direction of one connection: frames leave in the order they came, also when one is held.

A held frame holds all that follow it. Only a frame that may be overtaken waits beside the lane.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from typing import Final

from jetproof.wire.link import Link

_MAX_HELD: Final = 8 * 1024 * 1024
Note = Callable[[bool], None]
"""Called when it is its turn (True), or will never be (False)."""


class Lane:
    """Bytes on their way to one end; `close` waits for its turn like any frame."""

    def __init__(self, target: Link, on_full: Callable[[bool], None]) -> None:
        """`on_full(True)` when too much is held to take more, `on_full(False)` when it is not."""
        self._target = target
        self._on_full = on_full
        self._loop = asyncio.get_running_loop()
        self._queue: deque[tuple[float, bytes | Note | None]] = deque()
        self._held = 0
        self._full = False
        self._paused: set[str] = set()
        self._reason = ""
        self._timer: asyncio.TimerHandle | None = None
        self._beside: dict[asyncio.TimerHandle, Note | None] = {}

    @property
    def holds(self) -> bool:
        """Whether what is sent now does not leave at once."""
        return bool(self._queue or self._paused)

    def send(self, data: bytes, delay: float = 0.0, *, reorder: bool = False) -> None:
        """Sends bytes now, or after `delay` seconds."""
        if reorder and delay > 0:
            self._send_beside(data, delay)
        elif self._queue or delay > 0 or self._paused:
            self._queue.append((self._loop.time() + delay, data))
            self._held += len(data)
            self._note_full()
            self._wait()
        else:
            self._target.send(data)

    def note(self, told: Note, delay: float = 0.0, *, reorder: bool = False) -> None:
        """Tells when bytes that were sent just before, with the same delay, have left."""
        if reorder and delay > 0:
            self._note_beside(told, delay)
        elif self.holds:
            self._queue.append((self._loop.time() + delay, told))
            self._wait()
        else:
            told(True)

    def pause(self, why: str) -> None:
        """Holds everything from now on; every reason counts."""
        self._paused.add(why)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def resume(self, why: str) -> None:
        """Lets go what was held for this reason, and is not delayed besides."""
        if why in self._paused:
            self._paused.discard(why)
            if not self._paused:
                self._leave()

    def close(self, reason: str) -> None:
        """Closes the far end once everything before has left."""
        self._reason = reason
        if self._queue or self._paused:
            self._queue.append((0.0, None))
        else:
            self._finish()

    def drop(self) -> None:
        """Forgets what is held."""
        unsaid = [each for _, each in self._queue if callable(each)]
        unsaid += [each for each in self._beside.values() if each is not None]
        self._queue.clear()
        self._held = 0
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for handle in self._beside:
            handle.cancel()
        self._beside.clear()
        for told in unsaid:
            told(False)

    def _send_beside(self, data: bytes, delay: float) -> None:
        def leave() -> None:
            del self._beside[handle]
            if self._paused:
                self.send(data)
            else:
                self._target.send(data)

        handle = self._loop.call_later(delay, leave)
        self._beside[handle] = None

    def _note_beside(self, told: Note, delay: float) -> None:
        def say() -> None:
            del self._beside[handle]
            if self._paused:
                self.note(told)
            else:
                told(True)

        handle = self._loop.call_later(delay, say)
        self._beside[handle] = told

    def _wait(self) -> None:
        if self._timer is None and self._queue and not self._paused:
            self._timer = self._loop.call_at(self._queue[0][0], self._leave)

    def _leave(self) -> None:
        self._timer = None
        now = self._loop.time()
        while self._queue and self._queue[0][0] <= now:
            _, data = self._queue.popleft()
            if data is None:
                self._finish()
                return
            if isinstance(data, bytes):
                self._held -= len(data)
                self._target.send(data)
            else:
                data(True)
        self._note_full()
        self._wait()

    def _note_full(self) -> None:
        full = self._held > _MAX_HELD
        if full != self._full:
            self._full = full
            self._on_full(full)

    def _finish(self) -> None:
        self.drop()
        self._target.shut(self._reason)
