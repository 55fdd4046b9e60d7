"""Writes lines to a stream. This is the only place that prints for people.

On a terminal there are colours, and a progress display below the lines. Elsewhere (CI, a file,
TERM=dumb) there are plain lines, without any control character.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, TextIO, cast

from rich.color import ColorSystem
from rich.console import Console as RichConsole
from rich.live import Live
from rich.style import Style
from rich.text import Text

from jetproof.sinks.console.lines import PLAIN_WIDTH, Layout, line

_ELLIPSIS = "…"


class Screen:
    """Prints lines to one stream, and shows progress below them.

    A reader that has gone (`| head`) ends the printing, not the work.
    """

    def __init__(self, stream: TextIO, env: Mapping[str, str] | None = None) -> None:
        given = os.environ if env is None else env
        self.interactive = is_terminal(stream, given)
        colour = not given.get("NO_COLOR") and (self.interactive or bool(given.get("FORCE_COLOR")))
        self._output = _Output(stream)
        self._console = RichConsole(
            file=cast(IO[str], self._output),
            force_terminal=self.interactive,
            force_interactive=self.interactive,
            force_jupyter=False,
            color_system="standard" if colour else None,
            no_color=False,
            width=_width(stream, given),
            markup=False,
            emoji=False,
            highlight=False,
            legacy_windows=False,
            _environ={},
        )
        self._styled = colour or self.interactive
        self._live: Live | None = None

    @property
    def layout(self) -> Layout:
        """How lines have to look now: a terminal may change its width."""
        unicode = self._output.unicode
        return Layout.of(self._console.width, unicode=unicode, terminal=self.interactive)

    @property
    def columns(self) -> int:
        """The width of the terminal, however narrow it is."""
        return self._console.width

    def print(self, lines: Iterable[Text | str]) -> None:
        """Print lines, above the progress display if there is one. None of them is broken or cut."""
        made = [one if isinstance(one, Text) else line(one) for one in lines]
        if not self._styled:
            self._output.write("".join(f"{one.plain}\n" for one in made))
            self._output.flush()
        elif made:
            self._console.print(Text("\n").join(made), soft_wrap=True)

    def say(self, text: str) -> None:
        """Print what a person should read besides the results."""
        self.print(self.layout.note(text))

    def show(self, lines: Sequence[Text]) -> None:
        """Show these lines as the progress display; only on a terminal."""
        if not self.interactive or self._output.gone:
            return
        if self._live is None:
            self._live = Live(
                console=self._console,
                auto_refresh=False,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
            # A process that is killed cannot bring a hidden cursor back.
            self._console.show_cursor(True)
        self._live.update(Text("\n", no_wrap=True).join(lines), refresh=True)

    def hide(self) -> None:
        """Erase the progress display."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def is_terminal(stream: TextIO, env: Mapping[str, str]) -> bool:
    """Whether the stream is a terminal on which lines can be drawn again."""
    try:
        return stream.isatty() and env.get("TERM", "dumb") != "dumb"
    except ValueError:  # a closed stream
        return False


def _width(stream: TextIO, env: Mapping[str, str]) -> int | None:
    """The width that was asked for; None if the terminal has to be asked."""
    columns = env.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    try:
        return None if stream.isatty() else PLAIN_WIDTH
    except ValueError:  # a closed stream
        return PLAIN_WIDTH


def painted(one: Text) -> str:
    """A line with its styles as escape sequences, for a terminal that another program writes to."""
    console = RichConsole(file=io.StringIO(), color_system="standard", _environ={})
    nothing = Style.null()
    return "".join(
        (style or nothing).render(text, color_system=ColorSystem.STANDARD)
        for text, style, _ in one.render(console)
    )


class _Output:
    """The stream as rich sees it: it can encode every character, and never breaks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.encoding = getattr(stream, "encoding", None) or "ascii"
        self.unicode = self.encoding.lower().replace("-", "").startswith("utf")
        self.gone = False

    def write(self, text: str) -> int:
        if self.gone:
            return len(text)
        if not self.unicode:
            text = text.replace(_ELLIPSIS, "...")
        try:
            self._stream.write(text.encode(self.encoding, "backslashreplace").decode(self.encoding))
        except (BrokenPipeError, ValueError):
            self.gone = True
        return len(text)

    def flush(self) -> None:
        if self.gone:
            return
        try:
            self._stream.flush()
        except (BrokenPipeError, ValueError):
            self.gone = True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()
