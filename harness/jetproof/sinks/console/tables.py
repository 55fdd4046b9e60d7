"""Rows and columns as lines, laid out by `rich`.

On a terminal a table takes no more than its width, and cells are wrapped. In a file it is as wide as
it needs, so that each row is one line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from rich.console import Console as RichConsole
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from jetproof.sinks.console.lines import Layout, Part, bold, line

_WIDEST = 20_000
_NUMBER = re.compile(r"\d[\d,]*(\.\d+)?( %)?|[·-]|")


def table_lines(
    head: Sequence[Part] | None,
    rows: Sequence[Sequence[Part]],
    layout: Layout,
    *,
    indent: int = 0,
    align_numbers: bool = True,
) -> list[Text]:
    """A table without borders. The first column names the row. Other columns that hold only numbers
    are aligned to the right, and are never wrapped."""
    table = Table(
        box=None,
        show_header=head is not None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        highlight=False,
    )
    body = [[line(cell) for cell in row] for row in rows]
    titles = [line(bold(cell) if isinstance(cell, str) else cell) for cell in head or ()]
    for at in range(max(map(len, [titles, *body]), default=0)):
        cells = [row[at].plain for row in body if at < len(row)]
        numbers = align_numbers and at > 0 and all(map(_NUMBER.fullmatch, cells)) and any(cells)
        column = [row[at] for row in [titles, *body] if at < len(row)]
        for cell in column:
            cell.no_wrap, cell.overflow = numbers or not layout.terminal, "fold"
        table.add_column(
            titles[at] if at < len(titles) else "",
            justify="right" if numbers else "left",
            overflow="fold",
            no_wrap=numbers or not layout.terminal,
        )
    for row in body:
        table.add_row(*row)
    return _lines(table, layout, indent)


def fits(lines: Sequence[Text], layout: Layout) -> bool:
    """Whether no line is wider than the layout."""
    return all(one.cell_len <= layout.width for one in lines)


def _lines(table: Table, layout: Layout, indent: int) -> list[Text]:
    console = RichConsole(
        file=io.StringIO(), width=_WIDEST, color_system=None, emoji=False, markup=False, _environ={}
    )
    options = console.options
    width = Measurement.get(console, options, table).maximum
    if layout.terminal:
        width = min(width, layout.width - indent)
    lines = []
    for segments in console.render_lines(table, options.update(width=width), pad=False):
        one = line(" " * indent)
        for segment in segments:
            one.append(segment.text, segment.style)
        one.rstrip()
        lines.append(one)
    return lines
