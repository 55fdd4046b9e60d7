"""Symbols and colours: one table, so that a verdict looks the same wherever it is printed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO

from jetproof.model.verdict import Verdict

_STYLES = {
    "bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "blue": "34",
    "magenta": "35", "cyan": "36", "alarm": "1;31",
}  # fmt: skip
_LOOKS: Mapping[Verdict, tuple[str, str, str]] = {
    Verdict.PASS: ("✓", "+", "green"),
    Verdict.FAIL: ("✗", "x", "alarm"),
    Verdict.STALE: ("≠", "s", "alarm"),
    Verdict.UNSTABLE: ("≀", "u", "yellow"),
    Verdict.ERROR: ("‼", "E", "alarm"),
    Verdict.WARN: ("▲", "!", "yellow"),
    Verdict.KNOWN: ("≈", "~", "magenta"),
    Verdict.POSITION: ("◆", "?", "cyan"),
    Verdict.NOT_APPLICABLE: ("–", "-", "dim"),  # noqa: RUF001
}
ORDER = tuple(_LOOKS)
_PLAIN_WIDTH = 110
_LEAST_WIDTH, _MOST_WIDTH = 60, 160


@dataclass(frozen=True, slots=True)
class Paint:
    """How to print: with colours or without, with symbols beyond ASCII or without, how wide."""

    colour: bool = False
    unicode: bool = True
    width: int = _PLAIN_WIDTH
    columns: int = _PLAIN_WIDTH
    """What a line that is drawn anew may take: the terminal's own width, however narrow."""

    def style(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.colour and text else text

    def bold(self, text: str) -> str:
        return self.style(text, "bold")

    def dim(self, text: str) -> str:
        return self.style(text, "dim")

    def symbol(self, verdict: Verdict) -> str:
        pretty, plain, style = _LOOKS[verdict]
        return self.style(pretty if self.unicode else plain, style)

    def verdict(self, verdict: Verdict, text: str | None = None) -> str:
        """The verdict's name, or another text, in the verdict's colour."""
        return self.style(verdict.value if text is None else text, _LOOKS[verdict][2])

    @property
    def dot(self) -> str:
        return "·" if self.unicode else "-"


def paint_for(stream: TextIO, env: Mapping[str, str] | None = None) -> Paint:
    """Colours on a terminal unless NO_COLOR or TERM=dumb; FORCE_COLOR asks for them anywhere."""
    given = os.environ if env is None else env
    terminal = is_terminal(stream, given)
    colour = not given.get("NO_COLOR") and (terminal or bool(given.get("FORCE_COLOR")))
    encoding = (getattr(stream, "encoding", None) or "ascii").lower().replace("-", "")
    columns = _PLAIN_WIDTH
    if terminal or given.get("COLUMNS"):
        columns = shutil.get_terminal_size((_PLAIN_WIDTH, 24)).columns
    width = max(_LEAST_WIDTH, min(_MOST_WIDTH, columns))
    return Paint(colour, encoding.startswith("utf"), width, columns)


def is_terminal(stream: TextIO, env: Mapping[str, str] | None = None) -> bool:
    """Whether a line on this stream can be drawn anew."""
    given = os.environ if env is None else env
    try:
        return stream.isatty() and given.get("TERM", "dumb") != "dumb"
    except ValueError:  # a closed stream
        return False
