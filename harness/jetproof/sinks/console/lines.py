"""Lines for people: text with styles. No text in a line can act on a terminal.

`line` escapes every text that it gets, so that no caller can forget to. Styles are kept beside the
text; `screen` decides whether they are printed. `[red]` in a text is text, never markup.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rich.cells import cell_len, set_cell_size
from rich.text import Text

from jetproof.model.verdict import Verdict
from jetproof.sinks.text import visible

ALARM = "bold red"
_NOTE = "note "
PLAIN_WIDTH = 110
"""The width of lines that do not go to a terminal."""
_LEAST_WIDTH, _MOST_WIDTH = 40, 160
_LOOKS: Mapping[Verdict, tuple[str, str, str]] = {
    Verdict.PASS: ("✓", "+", "green"),
    Verdict.FAIL: ("✗", "x", ALARM),
    Verdict.STALE: ("≠", "s", ALARM),
    Verdict.UNSTABLE: ("≀", "u", "yellow"),
    Verdict.ERROR: ("‼", "E", ALARM),
    Verdict.WARN: ("▲", "!", "yellow"),
    Verdict.KNOWN: ("≈", "~", "magenta"),
    Verdict.POSITION: ("◆", "?", "cyan"),
    Verdict.NOT_APPLICABLE: ("–", "-", "dim"),  # noqa: RUF001
}
ORDER = tuple(_LOOKS)
"""The verdicts in the order in which tables and counts name them."""

Part = str | tuple[str, str] | Text
"""Text, text with a style, or a part of a line that `line` made."""


def line(*parts: Part) -> Text:
    """One line. Text is escaped here; a line break in it is visible as `\\n`."""
    made = Text(no_wrap=True, overflow="ignore", end="")
    for part in parts:
        if isinstance(part, Text):
            made.append_text(part)
        elif isinstance(part, str):
            made.append(visible(part))
        else:
            text, style = part
            made.append(visible(text), style)
    return made


def joined(separator: str, parts: Iterable[Part]) -> Text:
    """Parts with a separator between them."""
    made: list[Part] = []
    for part in parts:
        made += [separator, part] if made else [part]
    return line(*made)


def bold(text: str) -> tuple[str, str]:
    return text, "bold"


def dim(text: str) -> tuple[str, str]:
    return text, "dim"


def verdict_style(verdict: Verdict) -> str:
    return _LOOKS[verdict][2]


def worded(verdict: Verdict, text: str | None = None) -> tuple[str, str]:
    """The verdict's name, or another text, in the verdict's colour."""
    return verdict.value if text is None else text, verdict_style(verdict)


def pad(text: str, columns: int) -> str:
    """Escaped text, filled with blanks to `columns`."""
    shown = visible(text)
    return shown + " " * max(0, columns - cell_len(shown))


def plain(lines: Iterable[Text]) -> list[str]:
    """Lines without their styles."""
    return [one.plain for one in lines]


@dataclass(frozen=True, slots=True)
class Layout:
    """How wide lines may be, and which symbols the reader can see."""

    width: int = PLAIN_WIDTH
    unicode: bool = True
    terminal: bool = False
    """Whether the terminal breaks lines beyond `width`. Tables in files are as wide as they need."""

    @classmethod
    def of(cls, columns: int, *, unicode: bool, terminal: bool) -> Layout:
        """The layout for so many columns: a very wide line is hard to read."""
        if not unicode:
            columns -= 2  # an ellipsis in the text becomes three dots
        return cls(max(_LEAST_WIDTH, min(_MOST_WIDTH, columns)), unicode, terminal)

    @property
    def dot(self) -> str:
        return "·" if self.unicode else "-"

    @property
    def separator(self) -> str:
        return f" {self.dot} "

    @property
    def ellipsis(self) -> str:
        return "…" if self.unicode else "..."

    def symbol(self, verdict: Verdict) -> tuple[str, str]:
        pretty, simple, style = _LOOKS[verdict]
        return pretty if self.unicode else simple, style

    def fit(self, text: str, columns: int) -> str:
        """Escaped text, cut with an ellipsis so that it takes at most `columns`."""
        shown = visible(text)
        if cell_len(shown) <= columns:
            return shown
        mark = self.ellipsis
        if columns <= len(mark):
            return mark[: max(0, columns)]
        return set_cell_size(shown, columns - len(mark)).rstrip() + mark

    def flow(
        self,
        parts: Iterable[Part],
        *,
        head: Text | None = None,
        indent: int = 0,
        separator: str = "",
    ) -> list[Text]:
        """Parts behind a head, in one line. A terminal gets more lines, with an indent, if they do not
        fit."""
        separator = separator or self.separator
        lines, empty = [line(" " * indent) if head is None else head], True
        for part in parts:
            one = line(part)
            taken = lines[-1].cell_len + (0 if empty else len(separator))
            if self.terminal and not empty and taken + one.cell_len > self.width:
                lines.append(line(" " * indent))
                empty = True
            lines[-1] = line(lines[-1], "" if empty else separator, one)
            empty = False
        return lines

    def note(self, text: str) -> list[Text]:
        """What a person should read besides the results."""
        words = visible(text, 2000)
        room = max(20, self.width - len(_NOTE)) if self.terminal else len(words) + 1
        first, *more = textwrap.wrap(words, room, break_on_hyphens=False) or [""]
        head = line((_NOTE, "yellow"), first)
        return [head, *(line(" " * len(_NOTE), one) for one in more)]

    def wrapped(self, text: str, indent: str = "", style: str = "") -> Iterator[Text]:
        """Escaped text in lines of this layout's width, each with the indent."""
        room = max(20, self.width - len(indent))
        for one in textwrap.wrap(visible(text), room, break_on_hyphens=False):
            yield line(indent, (one, style))
