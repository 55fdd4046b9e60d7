"""One thread with one event loop plays the campaign, and hands over each cell as it is finished.

pytest keeps the main thread: it reports, and hears Ctrl-C. Servers are forked from the player's
thread, and the kernel ends them with it; so the thread lives until they are down, and nothing is
left if pytest is killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType

from jetproof.campaigns.campaign import Campaign
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event, Notice, SchemaJudged
from jetproof.model.verdict import Verdict
from jetproof.sinks import FanOut, Sink
from jetproof.sinks.record import LAST_FRAMES, Outcome, frames_before_failure
from jetproof.targets.redaction import without_passwords
from jetproof.targets.sweep import own_run

Key = tuple[str, str]
"""A cell of this run: its case, and its target as it was given."""

_WITH_EVIDENCE = frozenset(Verdict) - {Verdict.PASS, Verdict.POSITION, Verdict.NOT_APPLICABLE}


class Player:
    """Plays while the block lasts; leaving the block early stops what is still being played."""

    def __init__(
        self,
        campaign: Campaign,
        *,
        sinks: Sequence[Sink] = (),
        frames: int | None = LAST_FRAMES,
    ) -> None:
        self.error: Exception | None = None
        """Why playing broke off, if it did."""
        self.notices: list[str] = []
        self.cut_short = True
        """Whether some of the plan was not played."""
        self._campaign = campaign
        self._fan = FanOut(sinks)
        self._frames = frames
        self._cells: queue.SimpleQueue[tuple[Key, Outcome] | None] = queue.SimpleQueue()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._started = threading.Event()
        self._ended = threading.Event()
        # A daemon: somebody who interrupts again and again gets their prompt back.
        self._thread = threading.Thread(target=self._work, name="jetproof-player", daemon=True)

    @property
    def failures(self) -> Sequence[JetproofError]:
        """What could not be written."""
        return self._fan.failures

    def __enter__(self) -> Player:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self._call(lambda: self._campaign.stop.now("pytest stopped"))
        try:
            self._ended.wait()
        except KeyboardInterrupt:
            self._call(self._cancel)
            self._ended.wait()
            raise
        self._thread.join()

    def cells(self) -> Iterator[tuple[Key, Outcome]]:
        """Each cell when it is finished, until the run is over and its servers are down."""
        while (cell := self._cells.get()) is not None:
            yield cell

    def _work(self) -> None:
        try:
            asyncio.run(self._play())
        except asyncio.CancelledError:
            pass  # interrupted twice
        except Exception as error:
            self.error = error
        finally:
            with contextlib.suppress(Exception):
                self._fan.close()
            self._started.set()
            self._cells.put(None)
            self._ended.set()

    async def _play(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self._started.set()
        with own_run() as owner:
            await self._campaign.play(self._handle, owner)
            self.cut_short = self._campaign.stop.reason is not None

    def _handle(self, event: Event) -> None:
        if isinstance(event, CaseFinished):
            key = (event.cell.case, event.cell.target)
            self._fan(event)
            shown = without_passwords(event)
            assert isinstance(shown, CaseFinished)
            self._cells.put((key, self._evidence(shown)))
            return
        self._fan(event)
        if isinstance(event, SchemaJudged):
            told = without_passwords(event)
            assert isinstance(told, SchemaJudged)
            key = (event.result.about, event.result.target)
            self._cells.put((key, Outcome(told.result, told.result.checks)))
        if isinstance(event, Notice):
            self.notices.append(event.text)

    def _evidence(self, event: CaseFinished) -> Outcome:
        """What is kept of a case until pytest reports it: of one that passes, next to nothing."""
        count = len(event.frames)
        if event.cell.verdict not in _WITH_EVIDENCE:
            return Outcome(event.cell, frames_seen=count)
        failed = tuple(check for check in event.checks if not check.ok)
        frames = tuple(event.frames)
        if self._frames is not None:
            frames = frames_before_failure(frames, failed, self._frames)
        return Outcome(event.cell, failed, frames, count)

    def _call(self, function: Callable[[], object]) -> None:
        loop = self._loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # it is closed: playing is over
                loop.call_soon_threadsafe(function)

    def _cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()
