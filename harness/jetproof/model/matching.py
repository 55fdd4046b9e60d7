"""Does a value match? Pure functions over matchers and decoded documents."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from jetproof.model.matcher import Matcher
from jetproof.model.template import Env, Value, render, text_of


class Missing:
    """The value of a path that leads nowhere; JSON null is a value, this is none."""

    def __repr__(self) -> str:
        return "absent"


MISSING: Final = Missing()


class WireText(str):
    """Text off the wire where a case may expect a number: headers have no types."""

    __slots__ = ()


_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$")
_INSTANT = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)[Tt ](?P<time>\d\d:\d\d:\d\d)(?:\.(?P<fraction>\d{1,9}))? ?"
    r"(?P<offset>[Zz]|[+-]\d\d:?\d\d)(?: [A-Z]+)?"
)
_STEP = re.compile(r'\.?(?:\["(?P<quoted>[^"]*)"\]|\[(?P<index>-?\d+)\]|(?P<name>[^.\[]+))')


class PathError(ValueError):
    """A path that cannot be read."""


def parse_path(path: str) -> tuple[str | int, ...]:
    """`a.b[0]["c.d"]` as steps."""
    steps: list[str | int] = []
    position = 0
    while position < len(path):
        found = _STEP.match(path, position)
        if found is None:
            raise PathError(f"{path!r} is not a path like state.messages or items[0]")
        if found.group("index") is not None:
            steps.append(int(found.group("index")))
        else:
            steps.append(
                found.group("quoted") if found.group("quoted") is not None else found.group("name")
            )
        position = found.end()
    if not steps:
        raise PathError("the path is empty")
    return tuple(steps)


def at_path(document: object, path: str) -> object:
    """What stands at the path, or MISSING."""
    for step in parse_path(path):
        if isinstance(step, int):
            if not isinstance(document, list) or not -len(document) <= step < len(document):
                return MISSING
            document = document[step]
        elif isinstance(document, Mapping) and step in document:
            document = document[step]
        else:
            return MISSING
    return document


def mismatch(matcher: Matcher, actual: object, env: Env | None = None) -> str | None:
    """What was expected, in words, if `actual` does not match; None if it does."""
    for name, argument in matcher.tests:
        expected = _test(name, argument, actual, env or {})
        if expected is not None:
            return expected
    return None


def describe(matcher: Matcher, env: Env | None = None) -> str:
    """The whole matcher in words."""
    words = []
    for name, argument in matcher.tests:
        if isinstance(argument, Matcher):
            of = " of" if name == "base64" else ""
            words.append(f"{name}{of} {describe(argument, env)}")
        else:
            words.append(_words(name, render(argument, env or {})))
    return " and ".join(words)


def same(expected: object, actual: object) -> bool:
    """JSON equality: 1 is not true, 1 is 1.0, and order matters only in lists."""
    if isinstance(actual, WireText):
        return not isinstance(expected, (Mapping, list)) and text_of(expected) == actual
    if isinstance(expected, bool) or isinstance(actual, bool):
        return expected is actual
    if isinstance(expected, Mapping) and isinstance(actual, Mapping):
        return expected.keys() == actual.keys() and all(
            same(value, actual[key]) for key, value in expected.items()
        )
    if isinstance(expected, list) and isinstance(actual, list):
        return len(expected) == len(actual) and all(map(same, expected, actual))
    return expected == actual


def _test(name: str, argument: Value | Matcher, actual: object, env: Env) -> str | None:
    if isinstance(argument, Matcher):
        if name == "not":
            return None if mismatch(argument, actual, env) else f"not {describe(argument, env)}"
        if name == "base64":
            decoded = _decoded(actual)
            unlike = mismatch(argument, decoded, env) if decoded is not MISSING else ""
            return None if unlike is None else f"base64 of {unlike or describe(argument, env)}"
        if actual is MISSING or not isinstance(actual, (str, list, Mapping)):
            return f"length {describe(argument, env)}"
        unlike = mismatch(argument, len(actual), env)
        return f"length {unlike}" if unlike else None
    expected = render(argument, env)
    return None if _TESTS[name](expected, actual) else _words(name, expected)


def _number(actual: object) -> float | int | None:
    if isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return actual
    if isinstance(actual, str) and re.fullmatch(r"-?[0-9]{1,300}", actual):
        return int(actual)
    return None


def _compare(test: Callable[[float, float], bool]) -> Callable[[object, object], bool]:
    def compare(expected: object, actual: object) -> bool:
        left, right = _number(actual), _number(expected)
        return left is not None and right is not None and test(left, right)

    return compare


def _is_type(expected: object, actual: object) -> bool:
    if actual is MISSING:
        return False
    if expected == "timestamp":
        return isinstance(actual, str) and _TIMESTAMP.match(actual) is not None
    if expected == "integer":
        return isinstance(actual, int) and not isinstance(actual, bool)
    if expected == "number":
        return isinstance(actual, (int, float)) and not isinstance(actual, bool)
    if expected == "null":
        return actual is None
    kind = {"string": str, "boolean": bool, "object": Mapping, "array": list}[str(expected)]
    return isinstance(actual, kind)


def _decoded(actual: object) -> object:
    """What a text is the base64 form of, as text that keeps every byte; MISSING if of nothing."""
    try:
        data = base64.b64decode(actual, validate=True) if isinstance(actual, str) else None
    except (binascii.Error, ValueError):
        data = None
    return MISSING if data is None else WireText(data.decode("utf-8", "surrogateescape"))


def _has_bytes(expected: object, actual: object) -> bool:
    try:
        data = actual.encode("utf-8", "surrogateescape") if isinstance(actual, str) else None
    except UnicodeEncodeError:
        return False  # half a character that JSON wrote as an escape: no bytes at all
    return data == bytes.fromhex(str(expected))


def _instant(text: object) -> tuple[datetime, int] | None:
    """The second and the nanosecond of a text by RFC 3339, or as Go prints a time."""
    found = _INSTANT.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        return None
    offset = "+00:00" if found["offset"] in "Zz" else found["offset"]
    try:
        second = datetime.fromisoformat(f"{found['day']}T{found['time']}{offset}")
    except ValueError:
        return None  # the 31st of February
    return second.astimezone(UTC), int((found["fraction"] or "0").ljust(9, "0"))


def _same_instant(expected: object, actual: object) -> bool:
    found = _instant(actual)
    return found is not None and found == _instant(expected)


def _contains(expected: object, actual: object) -> bool:
    if isinstance(actual, str):
        return str(expected) in actual
    if isinstance(actual, list):
        return any(same(expected, item) for item in actual)
    return isinstance(actual, Mapping) and expected in actual


_TESTS: Final[Mapping[str, Callable[[object, object], bool]]] = {
    "equals": same,
    "exists": lambda expected, actual: (actual is not MISSING) is bool(expected),
    "absent": lambda expected, actual: (actual is MISSING) is bool(expected),
    "type": _is_type,
    "match": lambda expected, actual: (
        isinstance(actual, str) and re.search(str(expected), actual) is not None
    ),
    "contains": _contains,
    "gt": _compare(lambda a, b: a > b),
    "gte": _compare(lambda a, b: a >= b),
    "lt": _compare(lambda a, b: a < b),
    "lte": _compare(lambda a, b: a <= b),
    "in": lambda expected, actual: (
        isinstance(expected, list) and any(same(item, actual) for item in expected)
    ),
    "values": lambda expected, actual: same(expected, actual),
    "hex": _has_bytes,
    "instant": _same_instant,
}


def _words(name: str, expected: object) -> str:
    match name:
        case "equals" | "values":
            return repr(expected) if isinstance(expected, str) else _plain(expected)
        case "exists":
            return "present" if expected else "absent"
        case "absent":
            return "absent" if expected else "present"
        case "type":
            return f"{'an' if str(expected)[0] in 'aio' else 'a'} {expected}"
        case "match":
            return f"text matching /{expected}/"
        case "in":
            return f"one of {_plain(expected)}"
        case "hex":
            return f"the bytes {expected}"
        case "instant":
            return f"the instant {expected}"
        case "contains":
            return f"containing {_plain(expected)}"
        case _:
            return f"{name} {_plain(expected)}"


def _plain(value: object) -> str:
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
