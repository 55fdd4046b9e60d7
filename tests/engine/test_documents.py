"""Payloads as JSON: by the letter of the standard, and never at the reader's cost."""

from __future__ import annotations

import pytest

from jetproof.engine.documents import DEEPEST, cut, read_json
from jetproof.model.matching import MISSING


@pytest.mark.parametrize(
    ("payload", "document"),
    [
        (b"{}", {}),
        (b" [1, 2.5, null, true] ", [1, 2.5, None, True]),
        (b'"\xc3\xa9"', "é"),
        (b'"\\ud83d\\ude00"', "\U0001f600"),
        (b"12", 12),
        (b"[" * DEEPEST + b"]" * DEEPEST, None),
    ],
)
def test_json_is_read(payload: bytes, document: object) -> None:
    read = read_json(payload)
    assert read is not MISSING
    if document is not None:
        assert read == document


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"no",
        b"{",
        b"{'a': 1}",
        b'{"a": NaN}',
        b"[Infinity, -Infinity]",
        b'"\xff"',
        '{"a": 1}'.encode("utf-16"),
        b"\xef\xbb\xbf{}",
        b"9" * 5000,
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"[" * (DEEPEST + 1) + b"]" * (DEEPEST + 1),
        b'{"a":' * 900 + b"1" + b"}" * 900,
    ],
    ids=lambda payload: repr(payload[:12]),
)
def test_what_is_no_json_or_too_deep_is_none(payload: bytes) -> None:
    assert read_json(payload) is MISSING


def test_many_brackets_side_by_side_are_not_deep() -> None:
    assert read_json(b"[" + b"{}," * 10_000 + b"[]]") is not MISSING


def test_long_text_is_cut_with_its_length() -> None:
    assert cut("x" * 300) == "x" * 300
    assert cut("x" * 1_234_567, 3) == "xxx… (1,234,567 characters)"
