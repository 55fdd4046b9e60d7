"""Lines, tables and what they do with text that is not theirs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.sinks.console.lines import Layout, bold, joined, line, pad, plain
from jetproof.sinks.console.screen import painted
from jetproof.sinks.console.tables import table_lines

from .samples import HOSTILE

PLAIN = Layout()
TERMINAL = Layout(width=40, terminal=True)
MARKUP = "[bold red]x[/] :warning: [/nothing]"


@given(st.text(st.characters()) | st.text(st.characters(categories=("Cc", "Cf", "Cs"))))
def test_every_text_in_a_line_is_escaped(text: str) -> None:
    assert line(text, (text, "red"), joined(text, [text, bold(text)])).plain.isprintable()


@given(st.text(st.characters(), max_size=60), st.integers(1, 60))
def test_a_text_that_is_cut_fits(text: str, columns: int) -> None:
    for layout in (PLAIN, Layout(unicode=False)):
        shown = layout.fit(text, columns)
        assert shown.isprintable()
        assert line(shown).cell_len <= columns


def test_markup_is_text() -> None:
    assert line(MARKUP).plain == MARKUP
    assert plain(table_lines([MARKUP], [[MARKUP]], PLAIN)) == [MARKUP, MARKUP]
    assert painted(line((MARKUP, "red"))) == f"\x1b[31m{MARKUP}\x1b[0m"


def test_wide_characters_count_twice_and_combining_ones_not_at_all() -> None:
    assert line("日本").cell_len == 4
    assert line("e\u0301").cell_len == 1
    assert PLAIN.fit("日本語", 5) == "日本…"
    assert pad("日", 4) == "日  "


def test_without_unicode_a_cut_is_three_dots() -> None:
    assert Layout(unicode=False).fit("abcdefgh", 6) == "abc..."


def test_parts_flow_into_lines_on_a_terminal_only() -> None:
    words = [f"{number} words" for number in range(10)]
    assert len(PLAIN.flow(words)) == 1
    lines = TERMINAL.flow(words, head=line("head "), indent=2)
    assert len(lines) > 1
    assert all(one.cell_len <= 40 for one in lines)
    assert [one.plain[:2] for one in lines[1:]] == ["  "] * (len(lines) - 1)


def test_numbers_are_aligned_to_the_right_and_names_and_versions_to_the_left() -> None:
    rows = [["2.15.1", "3", "2.12.0"], ["2.9", "12,000", "2.15.1"]]
    assert plain(table_lines(["server", "cells", "since"], rows, PLAIN)) == [
        "server   cells  since",
        "2.15.1       3  2.12.0",
        "2.9     12,000  2.15.1",
    ]


def test_a_table_wraps_on_a_terminal_and_never_in_a_file() -> None:
    rows = [["name", "word " * 30]]
    assert len(table_lines(None, rows, PLAIN)) == 1
    lines = plain(table_lines(None, rows, TERMINAL, indent=2))
    assert all(len(one) <= 40 for one in lines)
    assert "".join(lines).count("word") == 30


@pytest.mark.parametrize("layout", [PLAIN, TERMINAL])
def test_a_table_of_hostile_text_is_printable(layout: Layout) -> None:
    lines = plain(table_lines([HOSTILE, HOSTILE], [[HOSTILE, (HOSTILE, "red")]], layout))
    assert lines
    assert all(one.isprintable() for one in lines)
