"""YAML with lines: what scalars mean, where things stand, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.mistakes import Mistake
from jetproof.load.yaml_source import Document, parse_yaml, read_yaml

ESCAPE = "write it as an escape in double quotes"


def read(text: str) -> Document:
    mistakes: list[Mistake] = []
    document = parse_yaml(text, "f.yaml", mistakes)
    assert document is not None
    assert mistakes == []
    return document


def mistakes_of(text: str) -> list[str]:
    mistakes: list[Mistake] = []
    parse_yaml(text, "f.yaml", mistakes)
    return [str(mistake) for mistake in sorted(mistakes)]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("true", True), ("True", True), ("FALSE", False), ("null", None), ("~", None), ("", None),
        ("0", 0), ("12", 12), ("-5", -5), ("0x1F", 31), ("0o17", 15), ("1.5", 1.5), ("-.5", -0.5),
        ("1e3", 1000.0), ("18446744073709551615", 18446744073709551615),
        ("on", "on"), ("yes", "yes"), ("off", "off"), ("n", "n"), ("12:30", "12:30"),
        ("1_000", "1_000"),
        ("2025-01-01", "2025-01-01"), ("2.12.0", "2.12.0"), ("+x", "+x"), (".", "."),
        ("0xZZ", "0xZZ"), ("0b11", "0b11"), ("$stream.>", "$stream.>"),
        ("'12'", "12"), ('"true"', "true"), ('"\\x01"', "\x01"),
    ],
)  # fmt: skip
def test_scalars_are_those_of_yaml_1_2(written: str, value: object) -> None:
    seen = read(f"x: {written}\n").data
    assert seen == {"x": value}
    assert isinstance(seen, dict)
    assert type(seen["x"]) is type(value)


def test_block_texts_are_texts_whatever_they_look_like() -> None:
    assert read("a: |\n  12\nb: >-\n  tr\n  ue\n").data == {"a": "12\n", "b": "tr ue"}


def test_every_part_has_its_line() -> None:
    document = read("a: 1\nb:\n  - c: {d: 1,\n        e: 2}\n  -\n    f: |\n      text\n")
    places: dict[tuple[str | int, ...], int] = {
        (): 1, ("a",): 1, ("b",): 2, ("b", 0): 3, ("b", 0, "c"): 3, ("b", 0, "c", "d"): 3,
        ("b", 0, "c", "e"): 4, ("b", 1): 6, ("b", 1, "f"): 6,
    }  # fmt: skip
    assert {keys: document.line_of(keys) for keys in places} == places


def test_what_does_not_exist_stands_where_it_would_belong() -> None:
    document = read("a: 1\nb:\n  c: 2\n")
    assert document.line_of(("b", "missing", 3)) == 2
    assert document.line_of(("missing",)) == 1


def test_values_that_are_not_what_was_written_are_remembered() -> None:
    document = read("a: [0x10, +1, 1.50, True, 1.5, 16, '0x10', true, on]\n")
    assert document.respelled == {
        ("a", 0): "0x10", ("a", 1): "+1", ("a", 2): "1.50", ("a", 3): "True",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: &x 1\n", "f.yaml:1: an anchor (&x): there are none in these files"),
        ("a: !!int '3'\n", "f.yaml:1: a tag (!!int): there are none in these files"),
        ("a: 1\na: 2\n", "f.yaml:2: duplicate key 'a': it is in line 1 already"),
        ("a: {b: 1, b: 2}\n", "f.yaml:1: duplicate key 'b': it is in line 1 already"),
        ("1: a\n", "f.yaml:1: keys must be texts: put 1 in quotes"),
        ("?\n: a\n", "f.yaml:1: keys must be texts: put the empty key in quotes"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2: a second document: a file holds one"),
        ("a: \x07\n", f"f.yaml:1: a control character (U+0007): {ESCAPE}"),
        ("a: \ud800\n", f"f.yaml:1: a control character (U+D800): {ESCAPE}"),
        ("\n\na: [1\n", "f.yaml:3: not YAML: did not find expected ',' or ']'"),
        ("a: b: c\n", "f.yaml:1: not YAML: mapping values are not allowed in this context"),
        ("a: @b\n", "f.yaml:1: not YAML: found character that cannot start any token"),
        ("", "f.yaml:1: the file is empty"),
        ("\n---\n...\n", None),
        ("a: " + "[" * 60 + "]" * 60, "f.yaml:1: nested more than 40 levels deep"),
    ],
)  # fmt: skip
def test_what_surprises_is_refused(text: str, message: str | None) -> None:
    assert mistakes_of(text) == ([] if message is None else [message])


def test_reading_goes_on_after_a_mistake() -> None:
    assert mistakes_of("a: &x 1\nb: *x\nc: {<<: {d: 1}}\ne: 010\n") == [
        "f.yaml:1: an anchor (&x): there are none in these files",
        "f.yaml:2: an alias (*x): write the value out",
        "f.yaml:3: a merge key (<<): write the keys out",
        "f.yaml:4: 010 has a leading zero: write the number without it, or put it in quotes",
    ]


def test_an_alias_bomb_is_refused_without_being_unfolded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]
    mistakes: list[Mistake] = []
    assert parse_yaml("\n".join(lines), "f.yaml", mistakes) is None
    assert len(mistakes) == 30 + 29 * 9


def test_a_byte_order_mark_and_windows_line_ends_are_fine(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"\xef\xbb\xbfa: 1\r\nb: 2\r\n")
    mistakes: list[Mistake] = []
    document = read_yaml(file, "f.yaml", mistakes)
    assert document is not None
    assert document.data == {"a": 1, "b": 2}
    assert document.line_of(("b",)) == 2


def test_bytes_that_are_no_text_are_told_with_their_line(tmp_path: Path) -> None:
    file = tmp_path / "f.yaml"
    file.write_bytes(b"a: 1\nb: \xff\n")
    mistakes: list[Mistake] = []
    assert read_yaml(file, "f.yaml", mistakes) is None
    assert mistakes == [Mistake("f.yaml", 2, "not UTF-8")]


def test_a_file_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    mistakes: list[Mistake] = []
    assert read_yaml(tmp_path / "gone.yaml", "gone.yaml", mistakes) is None
    assert mistakes == [Mistake("gone.yaml", 1, "cannot be read: No such file or directory")]
