"""Control lines of the protocol as the two sides read them: arguments, numbers, and whole frames.

The parser (`codec`) reads messages in their usual form by itself; everything else comes here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NamedTuple

from jetproof.wire.errors import ProtocolError
from jetproof.wire.frames import Connect, Err, Frame, Info, Ok, Ping, Pong, Sub, Unsub
from jetproof.wire.headers import to_text

MAX_CONTROL_LINE: Final = 64 * 1024
Role = Literal["client", "server"]
_MAX_DIGITS: Final = 18


class Announced(NamedTuple):
    """A message whose control line was read; header block and payload follow it."""

    subject: str
    sid: str
    """Empty in a publish."""
    reply: str | None
    block: int | None
    """The size of the header block; None if there is none."""
    total: int
    """The size of block and payload together."""


def read_line(role: Role, line: bytes, max_message: int) -> Frame | Announced:
    """What a control line says, in any spelling that is allowed; ProtocolError if it says nothing.

    `role` is the side that reads, `line` comes without its line break.
    """
    operation, _, rest = line.partition(b" ")
    if b"\t" in operation:
        operation, _, rest = line.partition(b"\t")
    operation = operation.upper()
    shape = _MESSAGES[role].get(operation)
    maker = _LINES[role].get(operation)
    if shape is None and maker is None:
        raise ProtocolError("unknown operation")
    _check_length(line)
    if maker is not None:
        return maker(rest)
    assert shape is not None
    return _announced(rest, *shape, max_message)


def check_start(role: Role, start: bytes) -> None:
    """Fails early on a line that has no end yet and can never become a frame."""
    start = start[: MAX_CONTROL_LINE + 1]
    word = start.replace(b"\t", b" ").partition(b" ")[0].rstrip(b"\r").upper()
    known = (*_MESSAGES[role], *_LINES[role])
    if not any(operation.startswith(word) for operation in known) or (
        len(word) < len(start.rstrip(b"\r")) and word not in known
    ):
        raise ProtocolError("unknown operation")
    _check_length(start)


def _announced(rest: bytes, words: int, numbers: int, max_message: int) -> Announced:
    arguments = _words(rest)
    if not words + numbers <= len(arguments) <= words + numbers + 1:
        raise ProtocolError("wrong number of arguments")
    total = _number(arguments[-1], "message size")
    if total > max_message:
        raise ProtocolError(f"a message is larger than {max_message} bytes")
    block = _number(arguments[-2], "header size") if numbers == 2 else None
    if block is not None and block > total:
        raise ProtocolError("the headers are larger than the message")
    reply = to_text(arguments[words]) if len(arguments) > words + numbers else None
    sid = to_text(arguments[1]) if words == 2 else ""
    return Announced(to_text(arguments[0]), sid, reply, block, total)


def _check_length(line: bytes) -> None:
    if len(line) > MAX_CONTROL_LINE:
        raise ProtocolError(f"a control line is longer than {MAX_CONTROL_LINE} bytes")


def _words(rest: bytes) -> list[bytes]:
    # Not split(): a vertical tab or a form feed is part of a word.
    words = rest.replace(b"\t", b" ").split(b" ")
    return [word for word in words if word] if b"" in words else words


def _number(text: bytes, what: str) -> int:
    if not text.isdigit() or len(text) > _MAX_DIGITS:
        raise ProtocolError(f"the {what} is not a number")
    return int(text)


def _json_object(rest: bytes) -> dict[str, Any]:
    try:
        data = json.loads(to_text(rest))
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        raise ProtocolError("not a JSON object")
    return data


def _err(rest: bytes) -> Frame:
    text = rest.strip(b" \t")
    if len(text) >= 2 and text[:1] == b"'" == text[-1:]:
        text = text[1:-1]
    return Err(to_text(text))


def _sub(rest: bytes) -> Frame:
    words = [to_text(word) for word in _words(rest)]
    if len(words) == 2:
        return Sub(words[0], None, words[1])
    if len(words) == 3:
        return Sub(words[0], words[1], words[2])
    raise ProtocolError("wrong number of arguments")


def _unsub(rest: bytes) -> Frame:
    words = _words(rest)
    if len(words) == 1:
        return Unsub(to_text(words[0]))
    if len(words) == 2:
        return Unsub(to_text(words[0]), _number(words[1], "maximum"))
    raise ProtocolError("wrong number of arguments")


_Lines = Mapping[bytes, Callable[[bytes], Frame]]
_Messages = Mapping[bytes, tuple[int, int]]  # words before the reply, numbers at the end

_BOTH: Final[_Lines] = {b"PING": lambda rest: Ping(), b"PONG": lambda rest: Pong()}
_LINES: Final[Mapping[Role, _Lines]] = {
    "client": {
        **_BOTH,
        b"INFO": lambda rest: Info(_json_object(rest)),
        b"+OK": lambda rest: Ok(),
        b"-ERR": _err,
    },
    "server": {
        **_BOTH,
        b"CONNECT": lambda rest: Connect(_json_object(rest)),
        b"SUB": _sub,
        b"UNSUB": _unsub,
    },
}
_MESSAGES: Final[Mapping[Role, _Messages]] = {
    "client": {b"MSG": (2, 1), b"HMSG": (2, 2)},
    "server": {b"PUB": (1, 1), b"HPUB": (1, 2)},
}
