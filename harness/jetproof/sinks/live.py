"""Lines on a terminal with one line below them that is drawn anew."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TextIO

from jetproof.sinks.paint import Paint, is_terminal, paint_for
from jetproof.sinks.text import fit

_ERASE = "\r\x1b[2K"
_REDRAW_SECONDS = 0.1


class Screen:
    """Prints lines; a reader that has gone (`| head`) ends the printing, not the work."""

    def __init__(
        self, stream: TextIO, *, paint: Paint | None = None, live: bool | None = None
    ) -> None:
        self.paint = paint or paint_for(stream)
        self._stream = stream
        self._live = is_terminal(stream) if live is None else live
        self._drawn = False
        self._drawn_at = 0.0
        self._gone = False

    @property
    def due(self) -> bool:
        """Whether the live line may be drawn anew."""
        return self._live and time.monotonic() - self._drawn_at >= _REDRAW_SECONDS

    def draw(self, line: str) -> None:
        """Draw the live line anew."""
        self._drawn_at, self._drawn = time.monotonic(), True
        self._write(f"{_ERASE}{self.paint.dim(fit(line, self.paint.columns - 1))}")

    def print(self, lines: Sequence[str]) -> None:
        """Print lines in the place of the live line."""
        text = "".join(f"{line}\n" for line in lines)
        if self._drawn:
            text, self._drawn = f"{_ERASE}{text}", False
        self._write(text)

    def _write(self, text: str) -> None:
        if self._gone or not text:
            return
        try:
            encoding = self._stream.encoding or "ascii"
            self._stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self._gone = True
