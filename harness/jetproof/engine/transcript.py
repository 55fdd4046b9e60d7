"""The transcript of a case: every frame it sent or was sent, in order, with its time."""

from __future__ import annotations

import time

from jetproof.model.verdict import FrameRecord
from jetproof.wire import Headers, Msg, Pub


class Transcript:
    """Collects frames while a case runs; times are milliseconds since its start."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.frames: list[FrameRecord] = []
        self.step = ""

    def ms(self, at: float | None = None) -> float:
        return round(((at if at is not None else time.monotonic()) - self.started) * 1000, 3)

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
