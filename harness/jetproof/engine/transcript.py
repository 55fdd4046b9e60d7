"""The transcript of a case: every frame it sent or was sent, in order, with its time.

A case may send a hundred thousand messages. Its first and its last frames are kept in memory, for
those who look at an end; what is between them lies in a file of its own until the journal takes it.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import IO, overload

from jetproof import clock
from jetproof.engine.identity import now
from jetproof.model.verdict import FrameRecord, Question
from jetproof.wire import Headers, Msg, Pub

HEAD = 2000
TAIL = 1000


class Frames(Sequence[FrameRecord]):
    """Frames in order. However many there are, no more than a few thousand are in memory."""

    def __init__(self, head: int = HEAD, tail: int = TAIL) -> None:
        self._most_first, self._most_last = head, tail
        self._first: list[FrameRecord] = []
        self._last: deque[FrameRecord] = deque()
        self._file: IO[bytes] | None = None
        self._chunks: list[int] = []

    @property
    def in_memory(self) -> int:
        return len(self._first) + len(self._last)

    def append(self, frame: FrameRecord) -> None:
        if len(self._first) < self._most_first:
            self._first.append(frame)
            return
        self._last.append(frame)
        if len(self._last) == 2 * self._most_last:
            self._put_away([self._last.popleft() for _ in range(self._most_last)])

    def __len__(self) -> int:
        return self.in_memory + len(self._chunks) * self._most_last

    def __iter__(self) -> Iterator[FrameRecord]:
        yield from self._first
        for place in tuple(self._chunks):
            yield from self._fetch(place)
        yield from tuple(self._last)

    @overload
    def __getitem__(self, index: int) -> FrameRecord: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[FrameRecord]: ...
    def __getitem__(self, index: int | slice) -> FrameRecord | Sequence[FrameRecord]:
        if isinstance(index, int):
            wanted = range(len(self))[index]
            return self[wanted : wanted + 1][0]
        start, stop, step = index.indices(len(self))
        if step != 1:
            return tuple(self)[index]
        stop = max(start, stop)
        in_file = len(self) - len(self._last)
        if start >= in_file:  # the end, which is what people look at
            return tuple(islice(self._last, start - in_file, stop - in_file))
        return tuple(islice(self, start, stop))

    def _put_away(self, frames: list[FrameRecord]) -> None:
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the frames
        self._chunks.append(self._file.seek(0, 2))
        pickle.dump(frames, self._file)

    def _fetch(self, place: int) -> list[FrameRecord]:
        assert self._file is not None
        self._file.seek(place)
        frames: list[FrameRecord] = pickle.load(self._file)
        return frames


class Transcript:
    """Collects frames while a case runs; times are milliseconds since its start."""

    def __init__(self, moment: Callable[[], float] = clock.now) -> None:
        self._moment = moment
        self.begin()
        self.frames = Frames()
        self.questions: list[Question] = []
        self.step = ""

    def begin(self) -> None:
        """The case starts now: what it waited for before is none of its time."""
        self.started, self.started_at = self._moment(), now()

    def ms(self, at: float | None = None) -> float:
        return round(((at if at is not None else self._moment()) - self.started) * 1000, 3)

    def sent(self, connection: str, frame: Pub) -> None:
        self.frames.append(self._record(">", connection, frame, None))

    def received(self, connection: str, frame: Msg, at: float) -> None:
        self.frames.append(self._record("<", connection, frame, at))

    def note(self, connection: str, op: str, text: str) -> None:
        """An event that is no message: a subscription, an action, an -ERR, a lost connection."""
        self.frames.append(FrameRecord(self.ms(), "!", connection, op, note=text, step=self.step))

    def _record(
        self, direction: str, connection: str, frame: Pub | Msg, at: float | None
    ) -> FrameRecord:
        return FrameRecord(
            ms=self.ms(at),
            direction=direction,
            connection=connection,
            op=frame.op,
            subject=frame.subject,
            reply=frame.reply or "",
            status=frame.status,
            description=frame.description,
            headers=header_items(frame.headers),
            payload=frame.payload,
            step=self.step,
        )


def header_items(headers: Headers | None) -> tuple[tuple[str, str], ...] | None:
    return None if headers is None else tuple(headers)
