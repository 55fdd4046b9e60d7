"""Campaigns with a person in front of them: Ctrl-C, ticks for the live line, and the exit code.

Ctrl-C once starts no further case, takes the servers down and writes what there is. Twice waits
for nothing while taking them down. A third time ends the process; the servers die with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field

from jetproof.engine.run import Stop
from jetproof.errors import JetproofError
from jetproof.events import INTERRUPTED
from jetproof.targets.sweep import Owner, own_run

_TICK_SECONDS = 0.1
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(slots=True)
class Interrupts:
    """What Ctrl-C does. `hold` is set while a server is only kept for somebody to look at."""

    stop: Stop
    signal: int | None = None
    hold: asyncio.Event | None = None
    notify: Callable[[str], None] = field(default=lambda _: None)

    @property
    def exit_code(self) -> int | None:
        """128 plus the signal's number, as shells count; None if nobody interrupted."""
        return None if self.signal is None else 128 + self.signal

    @contextlib.asynccontextmanager
    async def heard(self) -> AsyncIterator[None]:
        """Listen to signals for the length of the block."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def on_signal(number: int) -> None:
            if self.hold is not None and not self.hold.is_set():
                self.hold.set()
            elif self.signal is None:
                self.signal = number
                self.notify(
                    "stopping: the servers are taken down; press Ctrl-C again to force quit"
                )
                self.stop.now(INTERRUPTED)
            else:
                for each in _SIGNALS:
                    loop.remove_signal_handler(each)
                    signal.signal(each, signal.SIG_DFL)
                task.cancel()

        for each in _SIGNALS:
            loop.add_signal_handler(each, on_signal, each)
        try:
            yield
        finally:
            for each in _SIGNALS:
                # Who was interrupted has only to write what there is: that is not cut short.
                if loop.remove_signal_handler(each) and self.signal is not None:
                    signal.signal(each, signal.SIG_IGN)


def exit_code(
    interrupts: Interrupts, failures: Sequence[JetproofError], verdicts: Callable[[], int]
) -> int:
    """An interruption decides over everything, results that could not be written over verdicts."""
    if interrupts.exit_code is not None:
        return interrupts.exit_code
    return 2 if failures else verdicts()


@contextlib.asynccontextmanager
async def attended(
    interrupts: Interrupts, tick: Callable[[], None] | None = None
) -> AsyncIterator[Owner]:
    """A block that plays with a person in front of it; gives who owns the servers it starts.

    It is left early, and quietly, by whoever interrupts twice.
    """
    ticker = asyncio.create_task(_ticking(tick)) if tick else None
    # Looking for garbage among all cases takes a third of a second, in which no frame passes a tap.
    gc.freeze()
    try:
        with own_run() as owner:
            async with interrupts.heard():
                try:
                    yield owner
                except asyncio.CancelledError:
                    if interrupts.signal is None:
                        raise
    finally:
        gc.unfreeze()
        if ticker is not None:
            ticker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ticker


async def _ticking(tick: Callable[[], None]) -> None:
    while True:
        tick()
        await asyncio.sleep(_TICK_SECONDS)
