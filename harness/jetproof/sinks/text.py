"""The one way by which text off the wire reaches a person: nothing in it can act on a terminal.

A server under test may answer anything: escape sequences that repaint the screen, controls that
reverse the reading direction, megabytes. Whatever is not printable becomes a visible escape, and
what is long is cut with its size noted. The result files keep the exact bytes; this is for eyes.
"""

from __future__ import annotations

import json

from jetproof.results.rows import json_default

PAYLOAD_CHARACTERS = 320
_SURROGATE_ESCAPES = range(0xDC80, 0xDD00)
_NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}


def visible(text: str, limit: int | None = None) -> str:
    """The text on one line, every unprintable character escaped, cut to `limit` characters."""
    if limit is not None and len(text) > limit:
        return f"{visible(text[:limit])}… ({len(text):,} characters)"
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else _escape(char) for char in text)


def visible_lines(text: str) -> str:
    """Like `visible`, for text of several lines: the line breaks stay."""
    return "\n".join(visible(line) for line in text.split("\n"))


def visible_payload(data: bytes, limit: int = PAYLOAD_CHARACTERS) -> str:
    """A payload as text; bytes that are not UTF-8 are shown as `\\xff`."""
    if not data:
        return ""
    # Four bytes are the most that one character takes: more need not be looked at.
    text = data[: 4 * limit + 4].decode("utf-8", "surrogateescape")
    if len(text) <= limit and len(data) <= 4 * limit + 4:
        return visible(text)
    return f"{visible(text[:limit])}… ({len(data):,} bytes)"


def visible_value(value: object, limit: int = PAYLOAD_CHARACTERS) -> str:
    """A value that was seen, for people."""
    if isinstance(value, bytes):
        return visible_payload(value, limit)
    if isinstance(value, str):
        return visible(value, limit) if value else "''"
    if isinstance(value, dict) and value == {"absent": True}:
        return "absent"
    text = json.dumps(value, ensure_ascii=False, default=json_default)
    return visible(text, limit)


def _escape(char: str) -> str:
    if char in _NAMED:
        return _NAMED[char]
    number = ord(char)
    if number in _SURROGATE_ESCAPES:
        return f"\\x{number - 0xDC00:02x}"
    if number <= 0xFF:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number <= 0xFFFF else f"\\U{number:08x}"
