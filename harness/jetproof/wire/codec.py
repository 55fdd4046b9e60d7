"""Frames to bytes and bytes to frames, for both ends of a connection.

`encode` writes any frame. A `Parser` reads one direction: `Parser("client")` reads what a client is
sent, `Parser("server")` what a server is sent. Bytes may come in any pieces; the frames are the
same. The parser is as tolerant as servers and clients are (any case of the operation, blanks and
tabs between arguments, a bare LF after a control line), and each frame keeps its bytes in `raw`.

It is strict about size: a control line beyond 64 KiB, or a message beyond `max_message`, is a
`ProtocolError` as soon as it is announced, before anything is stored.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal

from jetproof.wire.errors import ProtocolError
from jetproof.wire.frames import (
    Connect,
    Err,
    Frame,
    Info,
    Msg,
    Ok,
    Ping,
    Pong,
    Pub,
    Sub,
    Unsub,
)
from jetproof.wire.headers import Headers, to_bytes, to_text

MAX_CONTROL_LINE: Final = 64 * 1024
MAX_MESSAGE: Final = 64 * 1024 * 1024
"""Headers and payload together; no server can be configured to accept more."""

Role = Literal["client", "server"]

_NOT_A_TOKEN = re.compile(r"[ \t\r\n]").search
_CR: Final = 13
_EXCERPT: Final = 256
_MAX_DIGITS: Final = 18


def encode(frame: Frame) -> bytes:
    """The bytes of a frame: those it was read from, else its canonical form.

    ValueError if a field would turn into something else on the wire, such as a subject with a
    blank; `Raw` sends such a thing on purpose.
    """
    if frame.raw:
        return frame.raw
    kind = type(frame)
    if kind is Pub or kind is Msg:
        return _encode_message(frame)  # type: ignore[arg-type]
    match frame:
        case Ping():
            return b"PING\r\n"
        case Pong():
            return b"PONG\r\n"
        case Ok():
            return b"+OK\r\n"
        case Err(message):
            if "\r" in message or "\n" in message:
                raise ValueError(f"the error text {message!r} does not fit on a line")
            return to_bytes(f"-ERR '{message}'\r\n")
        case Info(data):
            return b"INFO " + _json_bytes(data) + b"\r\n"
        case Connect(data):
            return b"CONNECT " + _json_bytes(data) + b"\r\n"
        case Sub(subject, queue, sid):
            words = [subject, sid] if queue is None else [subject, queue, sid]
            return to_bytes(f"SUB {' '.join(map(_token, words))}\r\n")
        case Unsub(sid, maximum):
            tail = "" if maximum is None else f" {maximum}"
            return to_bytes(f"UNSUB {_token(sid)}{tail}\r\n")
        case _:
            return b""  # Raw(b"")


def _encode_message(frame: Pub | Msg) -> bytes:
    words = _token(frame.subject)
    if type(frame) is Msg:
        words = f"{words} {_token(frame.sid)}"
    if frame.reply is not None:
        words = f"{words} {_token(frame.reply)}"
    payload = frame.payload
    kind = "PUB" if type(frame) is Pub else "MSG"
    if frame.headers is None:
        return b"%b%b\r\n" % (to_bytes(f"{kind} {words} {len(payload)}\r\n"), payload)
    block = frame.headers.encode()
    line = to_bytes(f"H{kind} {words} {len(block)} {len(block) + len(payload)}\r\n")
    return b"%b%b%b\r\n" % (line, block, payload)


def _token(text: str) -> str:
    if not text or _NOT_A_TOKEN(text):
        raise ValueError(
            f"{text!r} cannot stand as one word in a frame; send Raw bytes to force it"
        )
    return text


def _json_bytes(data: Mapping[str, Any]) -> bytes:
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True).encode()


class Parser:
    """Reads one direction of a connection.

    `role` is the side the parser works for: a "client" is sent INFO, MSG, HMSG, +OK, -ERR, PING and
    PONG; a "server" is sent CONNECT, PUB, HPUB, SUB, UNSUB, PING and PONG.
    """

    def __init__(self, role: Role, *, max_message: int = MAX_MESSAGE) -> None:
        self.role: Role = role
        self.max_message = max_message
        self._lines = _CLIENT_LINES if role == "client" else _SERVER_LINES
        self._messages = _CLIENT_MESSAGES if role == "client" else _SERVER_MESSAGES
        self._buffer = bytearray()
        self._needed = 0  # below this length the buffer holds no complete frame
        self._failed: ProtocolError | None = None

    @property
    def pending(self) -> bytes:
        """The bytes that belong to no complete frame yet; after an error, from the bad one on."""
        return bytes(self._buffer)

    @property
    def failed(self) -> ProtocolError | None:
        """The error that ended this parser, if one did."""
        return self._failed

    def feed(self, data: bytes) -> list[Frame]:
        """The frames that these bytes complete.

        ProtocolError at the first frame that cannot be read, with the frames before it in `frames`;
        from then on the parser only collects bytes in `pending` and every call raises.
        """
        buffer = self._buffer
        if self._failed is not None:
            buffer += data
            raise ProtocolError(self._failed.problem, self._failed.data)
        if buffer:
            buffer += data
            if len(buffer) < self._needed:
                return []
            data = bytes(buffer)
        frames: list[Frame] = []
        try:
            used = self._read(data, frames)
        except ProtocolError as error:
            used = sum(len(frame.raw) for frame in frames)
            buffer[:] = data[used:]
            self._failed = ProtocolError(error.problem, data[used : used + _EXCERPT], frames)
            raise self._failed from None
        if used:
            buffer[:] = data[used:]
        elif not buffer:
            buffer += data
        return frames

    def _read(self, data: bytes, frames: list[Frame]) -> int:
        """Appends the complete frames in `data`; returns the number of bytes they take."""
        position = 0
        size = len(data)
        self._needed = 0
        while position < size:
            end = data.find(b"\n", position)
            if end < 0:
                self._check_start(data[position : position + MAX_CONTROL_LINE + 1])
                break
            stop = end - 1 if end > position and data[end - 1] == _CR else end
            line = data[position:stop]
            operation, _, rest = line.partition(b" ")
            if b"\t" in operation:
                operation, _, rest = line.partition(b"\t")
            end += 1
            shape = self._messages.get(operation)
            if shape is None:
                operation = operation.upper()
                shape = self._messages.get(operation)
                if shape is None:
                    maker = self._lines.get(operation)
                    if maker is None:
                        raise ProtocolError("unknown operation")
                    _check_length(line)
                    frame = maker(rest)
            if shape is not None:
                _check_length(line)
                arguments, block, total = self._sizes(rest, *shape)
                start, end = end, end + total
                if data[end : end + 2] != b"\r\n":
                    if data[end : end + 1] not in (b"", b"\r") or size >= end + 2:
                        raise ProtocolError("no line break after the payload")
                    self._needed = end + 2 - position
                    break
                frame = self._message(arguments, *shape, data[start:end], block)
                end += 2
            object.__setattr__(frame, "raw", data[position:end])
            frames.append(frame)
            position = end
        return position

    def _sizes(self, rest: bytes, words: int, numbers: int) -> tuple[list[bytes], int, int]:
        arguments = _words(rest)
        if not words + numbers <= len(arguments) <= words + numbers + 1:
            raise ProtocolError("wrong number of arguments")
        total = _number(arguments[-1], "message size")
        if total > self.max_message:
            raise ProtocolError(f"a message is larger than {self.max_message} bytes")
        block = _number(arguments[-2], "header size") if numbers == 2 else 0
        if block > total:
            raise ProtocolError("the headers are larger than the message")
        return arguments, block, total

    def _message(
        self, arguments: list[bytes], words: int, numbers: int, body: bytes, block: int
    ) -> Frame:
        reply = to_text(arguments[words]) if len(arguments) > words + numbers else None
        headers = Headers.from_raw(body[:block]) if numbers == 2 else None
        payload = body[block:] if block else body
        if words == 2:
            return Msg(to_text(arguments[0]), to_text(arguments[1]), reply, headers, payload)
        return Pub(to_text(arguments[0]), reply, headers, payload)

    def _check_start(self, start: bytes) -> None:
        """Fails early on a line that has no end yet and can never become a frame."""
        word = start.replace(b"\t", b" ").partition(b" ")[0].rstrip(b"\r").upper()
        known = (*self._messages, *self._lines)
        if not any(operation.startswith(word) for operation in known) or (
            len(word) < len(start.rstrip(b"\r")) and word not in known
        ):
            raise ProtocolError("unknown operation")
        _check_length(start)


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
_CLIENT_LINES: Final[_Lines] = {
    **_BOTH,
    b"INFO": lambda rest: Info(_json_object(rest)),
    b"+OK": lambda rest: Ok(),
    b"-ERR": _err,
}
_SERVER_LINES: Final[_Lines] = {
    **_BOTH,
    b"CONNECT": lambda rest: Connect(_json_object(rest)),
    b"SUB": _sub,
    b"UNSUB": _unsub,
}
_CLIENT_MESSAGES: Final[_Messages] = {b"MSG": (2, 1), b"HMSG": (2, 2)}
_SERVER_MESSAGES: Final[_Messages] = {b"PUB": (1, 1), b"HPUB": (1, 2)}
