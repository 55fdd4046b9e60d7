"""Nothing that a server says can act on a terminal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.sinks.text import (
    visible,
    visible_lines,
    visible_payload,
    visible_value,
)

from .samples import HOSTILE


@given(st.text(st.characters()) | st.text(st.characters(categories=("Cc", "Cf", "Cs"))))
def test_whatever_the_text_the_result_is_printable(text: str) -> None:
    assert visible(text).isprintable()


@given(st.binary(max_size=4000))
def test_whatever_the_payload_the_result_is_printable_and_short(data: bytes) -> None:
    shown = visible_payload(data, 40)
    assert shown.isprintable()
    assert len(shown) <= 40 * len(r"\U00000000") + len("… (4,000 bytes)")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain text, ünïcödé", "plain text, ünïcödé"),
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x9b31m", r"\x9b31m"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202ereversed", r"\u202ereversed"),
        ("\u2066isolated\u2069", r"\u2066isolated\u2069"),
        ("zero\u200bwidth", r"zero\u200bwidth"),
        ("line\u2028separator", r"line\u2028separator"),
        ("\udcff", r"\xff"),
        ("\U000e0041", r"\U000e0041"),
        ("nul\0", r"nul\x00"),
    ],
)
def test_what_cannot_be_printed_becomes_an_escape(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_text_of_several_lines_keeps_its_line_breaks_and_nothing_else() -> None:
    assert visible_lines("a\x1bb\nc\rd") == "a\\x1bb\nc\\rd"


def test_long_text_is_cut_and_its_length_noted() -> None:
    assert visible("x" * 1000, 10) == "xxxxxxxxxx… (1,000 characters)"


def test_a_long_payload_is_cut_and_its_size_noted() -> None:
    assert visible_payload(b"x" * 5_000_000, 10) == "xxxxxxxxxx… (5,000,000 bytes)"


def test_a_payload_that_is_not_utf8_is_shown_byte_by_byte() -> None:
    assert visible_payload(b"ok\xff\xfe\xc3") == r"ok\xff\xfe\xc3"


def test_a_cut_within_a_character_shows_no_half_character() -> None:
    assert visible_payload("é".encode() * 100, 3) == "ééé… (200 bytes)"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ({"absent": True}, "absent"),
        (10175, "10175"),
        (None, "null"),
        ("", "''"),
        ("no reply", "no reply"),
        ({"a": [1, "x"]}, '{"a": [1, "x"]}'),
        ({"a": b"\xff"}, r'{"a": "\\xff"}'),
        (b"\x1b[2J", r"\x1b[2J"),
    ],
)
def test_values_read_as_they_would_stand_in_a_document(value: object, shown: str) -> None:
    assert visible_value(value) == shown


def test_a_hostile_value_is_shown_without_harm() -> None:
    assert visible_value({HOSTILE: HOSTILE * 100}).isprintable()
