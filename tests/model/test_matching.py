"""Matchers: every operator holds where it should and fails where it should."""

from __future__ import annotations

import pytest

from jetproof.model.matcher import OPERATORS, MatcherError, parse_matcher
from jetproof.model.matching import (
    MISSING,
    PathError,
    WireText,
    at_path,
    mismatch,
    parse_path,
)

MATCHES = [
    (3, 3), ("a", "a"), (None, None), ([1, 2], [1, 2]), (True, True),
    ({"equals": {"a": 1}}, {"a": 1}), ({"not": 3}, 4), ({"exists": True}, None),
    ({"exists": False}, MISSING), ({"absent": True}, MISSING), ({"type": "integer"}, 3),
    ({"type": "number"}, 1.5), ({"type": "string"}, ""), ({"type": "boolean"}, False),
    ({"type": "object"}, {}), ({"type": "array"}, []), ({"type": "null"}, None),
    ({"type": "timestamp"}, "2026-01-02T03:04:05.678901234Z"), ({"match": "^a.c$"}, "abc"),
    ({"contains": "b"}, "abc"), ({"contains": 2}, [1, 2]), ({"contains": "k"}, {"k": 0}),
    ({"length": 3}, "abc"), ({"length": {"gte": 2}}, [1, 2]), ({"gt": 2}, 3), ({"gte": 3}, 3),
    ({"lt": 4}, 3), ({"lte": 3}, 3), ({"gt": 2}, "3"), ({"in": [1, 2]}, 2),
    ({"gte": 1, "lt": 3}, 2), ({"values": ["a", "b"]}, ["a", "b"]),
    ({"hex": "61 fF"}, "a\udcff"), ({"base64": "a"}, "YQ=="), ({"base64": {"hex": "ff"}}, "/w=="),
    ({"not": {"base64": {"exists": True}}}, "no"),
    ({"instant": "2022-08-06T00:29:27.5Z"}, "2022-08-06 00:29:27.500 +0000 UTC"),
    ({"instant": "2022-08-06T00:29:27Z"}, "2022-08-06t02:29:27+02:00"),
    ({"text": "x", "times": 3}, "xxx"), (1, WireText("1")), ("true", WireText("true")),
]  # fmt: skip
DIFFERS = [
    (3, 4), (3, "3"), (1, True), (True, 1), (None, MISSING), ([1, 2], [2, 1]),
    ({"equals": {"a": 1}}, {"a": 1, "b": 2}), ({"not": 3}, 3), ({"exists": True}, MISSING),
    ({"absent": True}, None), ({"type": "integer"}, True), ({"type": "integer"}, 1.5),
    ({"type": "number"}, "1"), ({"type": "string"}, MISSING), ({"type": "object"}, []),
    ({"type": "timestamp"}, "yesterday"), ({"match": "^b"}, "abc"), ({"match": "a"}, 3),
    ({"contains": "x"}, "abc"), ({"contains": 3}, [1, 2]), ({"length": 3}, "ab"),
    ({"length": 0}, MISSING), ({"gt": 3}, 3), ({"gte": 4}, 3), ({"lt": 3}, 3),
    ({"lte": 2}, 3), ({"gt": 1}, "many"), ({"gt": 1}, MISSING), ({"in": [1, 2]}, 3),
    ({"gte": 1, "lt": 3}, 3), ({"values": ["a"]}, ["a", "b"]), ({"hex": "61"}, "b"),
    ({"hex": "61"}, 61), ({"hex": "61"}, "\ud800"), ({"base64": "b"}, "YQ=="),
    ({"base64": {"exists": True}}, "no"), ({"base64": "a"}, "Y\nQ=="), ({"base64": ""}, MISSING),
    (1, WireText("01")),
    ({"instant": "2022-08-06T00:29:27.5Z"}, "2022-08-06 00:29:27.500000001 +0000 UTC"),
    ({"instant": "2022-08-06T00:29:27Z"}, "2022-08-06T00:29:27+02:00"),
    ({"instant": "2022-02-31T00:29:27Z"}, "2022-02-31T00:29:27Z"),
    ({"instant": "yesterday"}, "yesterday"), ({"instant": "2022-08-06T00:29:27Z"}, MISSING),
]  # fmt: skip


@pytest.mark.parametrize(("raw", "actual"), MATCHES)
def test_it_matches(raw: object, actual: object) -> None:
    assert mismatch(parse_matcher(raw), actual) is None


@pytest.mark.parametrize(("raw", "actual"), DIFFERS)
def test_it_does_not_match(raw: object, actual: object) -> None:
    assert mismatch(parse_matcher(raw), actual)


def test_every_operator_was_seen_to_hold_and_to_fail() -> None:
    for pairs in (MATCHES, DIFFERS):
        used = {key for raw, _ in pairs if isinstance(raw, dict) for key in raw}
        assert set(OPERATORS) <= used


def test_what_was_missed_is_said_in_words() -> None:
    assert mismatch(parse_matcher({"gte": 1, "lt": "$most"}), 3, {"most": 3}) == "lt 3"
    assert mismatch(parse_matcher({"length": 2}), "abc") == "length 2"
    assert mismatch(parse_matcher({"not": {"type": "string"}}), "x") == "not a string"


def test_variables_are_filled_in() -> None:
    assert mismatch(parse_matcher("${n + 1}"), 4, {"n": 3}) is None


def test_an_unknown_operator_is_refused() -> None:
    with pytest.raises(MatcherError, match="unknown matcher 'like'"):
        parse_matcher({"like": "x"})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("a.b", 1), ("list[0]", "x"), ("list[-1]", "y"), ('meta["d.e"]', 2), ("a.c", MISSING),
        ("list[9]", MISSING), ("a.b.c", MISSING),
    ],
)  # fmt: skip
def test_paths_lead_into_documents(path: str, value: object) -> None:
    document = {"a": {"b": 1}, "list": ["x", "y"], "meta": {"d.e": 2}}
    assert at_path(document, path) == value


def test_a_path_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(PathError):
        parse_path("a[")
    with pytest.raises(PathError):
        parse_path("")
