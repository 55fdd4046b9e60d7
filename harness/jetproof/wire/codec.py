"""Frames to bytes and bytes to frames, for both ends of a connection.

`encode` writes any frame. A `Parser` reads one direction: `Parser("client")` reads what a client is
sent, `Parser("server")` what a server is sent. Bytes may come in any pieces; the frames are the
same. The parser is as tolerant as servers and clients are (any case of the operation, blanks and
tabs between arguments, a bare LF after a control line), and each frame keeps its bytes in `raw`.

It is strict about size: a control line beyond 64 KiB, or a message beyond `max_message`, is a
`ProtocolError` as soon as it is announced, before anything is stored.

A proxy needs less than frames: `Parser.read` hands long messages out in parts as they arrive, and
`Parser.skim` does so with all messages, and looks only at the other operations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast, final

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
    read_msg,
    read_pub,
)
from jetproof.wire.headers import Headers, to_bytes
from jetproof.wire.lines import MAX_CONTROL_LINE, Announced, Role, check_start, read_line

MAX_MESSAGE: Final = 64 * 1024 * 1024
"""Headers and payload together; no server can be configured to accept more."""
STREAMED_FROM: Final = 64 * 1024
"""Messages that take more may be read in parts, if nobody needs them whole."""
HEAD: Final = 1024
"""How much of the payload is kept of a message that was read in parts."""

_NOT_A_TOKEN = re.compile(r"[ \t\r\n]").search
_CR: Final = 13
_EXCERPT: Final = 256
_NO_LINE: Final = b"\n"


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


@final
@dataclass(frozen=True, slots=True)
class Part:
    """Bytes of messages that are passed on without being held.

    The last part of a long message brings the message itself, with the first `HEAD` bytes of its
    payload and without `raw`; `omitted` is what its payload lacks.
    """

    data: bytes
    frame: Frame | None = None
    omitted: int = 0


class Parser:
    """Reads one direction of a connection.

    `role` is the side the parser works for: a "client" is sent INFO, MSG, HMSG, +OK, -ERR, PING and
    PONG; a "server" is sent CONNECT, PUB, HPUB, SUB, UNSUB, PING and PONG.
    """

    def __init__(
        self,
        role: Role,
        *,
        max_message: int = MAX_MESSAGE,
        streams: Callable[[str, str, str | None], bool] | None = None,
    ) -> None:
        """`streams(op, subject, reply)` tells whether a long message may be read in parts."""
        self.role: Role = role
        self.max_message = max_message
        self._streams = streams
        self._usual = _USUAL[role]
        self._short = min(max_message, STREAMED_FROM)
        self._buffer = bytearray()
        self._needed = 0  # below this length the buffer holds no complete frame
        self._left: int | None = None  # of a payload whose parts are handed out
        self._streamed: tuple[Frame | None, int] = (None, 0)
        self._failed: ProtocolError | None = None

    @property
    def pending(self) -> bytes:
        """The bytes that were not handed out yet; after an error, from the bad frame on."""
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
        frames = cast("list[Frame]", self.read(data))  # parts come only to those who ask for them
        if self._failed is not None:
            raise ProtocolError(self._failed.problem, self._failed.data, frames)
        return frames

    def read(self, data: bytes) -> list[Frame | Part]:
        """Like `feed`, but an error is only noted in `failed`, and messages may come in parts."""
        items: list[Frame | Part] = []
        buffer = self._buffer
        if buffer or self._failed is not None:
            buffer += data
            if len(buffer) < self._needed or self._failed is not None:
                return items
            data = bytes(buffer)
        self._keep(data, self._read(data, items))
        return items

    def skim(self, data: bytes, sids: dict[bytes, int]) -> list[Frame | Part]:
        """Like `read`, but all messages come in parts, and without the frame.

        `sids` counts the deliveries of each subscription.
        """
        items: list[Frame | Part] = []
        buffer = self._buffer
        if buffer or self._failed is not None:
            buffer += data
            if self._failed is not None:
                return items
            data = bytes(buffer)
        self._keep(data, self._skim(data, items, sids))
        return items

    def _keep(self, data: bytes, used: int) -> None:
        if used < len(data) or self._buffer:
            self._buffer[:] = data[used:]

    def _read(self, data: bytes, items: list[Frame | Part]) -> int:
        """Appends what is complete in `data`; returns the number of bytes that takes."""
        position, size = 0, len(data)
        usual, short, client = self._usual, self._short, self.role == "client"
        startswith, line, length = data.startswith, _NO_LINE, 0
        self._needed = 0
        if self._left is not None:
            position = self._pass(data, 0, items)
        while position < size and self._left is None:
            # A message as it usually looks, in a hurry; `_read_any` knows all that is allowed.
            if not startswith(line, position):  # most look like the one before
                found = usual(data, position)
                if found is not None:
                    line = found.group()
                    subject, sid, reply, length = _texts(found)
                else:
                    line = _NO_LINE
            start = position + len(line)
            stop = start + length
            if line is not _NO_LINE and length <= short and data[stop : stop + 2] == b"\r\n":
                payload, raw = data[start:stop], data[position : stop + 2]
                items.append(
                    read_msg(subject, sid, reply, None, payload, raw)
                    if client
                    else read_pub(subject, reply, None, payload, raw)
                )
                position = stop + 2
                continue
            used = self._read_any(data, position, items)
            if not used:
                break
            position += used
        return position

    def _skim(self, data: bytes, items: list[Frame | Part], sids: dict[bytes, int]) -> int:
        position, size, begin = 0, len(data), 0
        usual, short = self._usual, self._short
        startswith, line, length = data.startswith, _NO_LINE, 0
        self._needed = 0
        if self._left is not None:
            begin = position = self._pass(data, 0, items)
        while position < size and self._left is None:
            if not startswith(line, position):
                found = usual(data, position)
                if found is not None:
                    line, sid, length = found[0], found[2], int(found[4])
                else:
                    line = _NO_LINE
            stop = position + len(line) + length
            if line is not _NO_LINE and length <= short and data[stop : stop + 2] == b"\r\n":
                sids[sid] = sids.get(sid, 0) + 1
                position = stop + 2
                continue
            if begin < position:
                items.append(Part(data[begin:position]))
            used = self._read_any(data, position, items, sids)
            begin = position = position + used
            if not used:
                break
        if begin < position:
            items.append(Part(data[begin:position]))
        return position

    def _read_any(
        self,
        data: bytes,
        position: int,
        items: list[Frame | Part],
        sids: dict[bytes, int] | None = None,
    ) -> int:
        """Appends the next frame, whatever it looks like; the bytes it takes, 0 if it must wait.

        With `sids`, messages are only counted and passed on.
        """
        try:
            end = data.find(b"\n", position)
            if end < 0:
                check_start(self.role, data[position : position + MAX_CONTROL_LINE + 1])
                return 0
            stop = end - 1 if end > position and data[end - 1] == _CR else end
            said = read_line(self.role, data[position:stop], self.max_message)
            start = end + 1
            if not isinstance(said, Announced):
                object.__setattr__(said, "raw", data[position:start])
                items.append(said)
                return start - position
            end = start + said.total
            if sids is not None:
                sid = to_bytes(said.sid)
                sids[sid] = sids.get(sid, 0) + 1
                return self._begin(data, position, start, end, None, items)
            if self._may_stream(said):
                head = min(end, start + (said.block or 0) + HEAD)
                if len(data) < head:
                    self._needed = head - position
                    return 0
                frame = self._message(said, data[start:head], b"")
                return self._begin(data, position, head, end, frame, items)
            if data[end : end + 2] != b"\r\n":
                if data[end : end + 1] not in (b"", b"\r") or len(data) >= end + 2:
                    raise ProtocolError("no line break after the payload")
                self._needed = end + 2 - position
                return 0
            items.append(self._message(said, data[start:end], data[position : end + 2]))
            return end + 2 - position
        except ProtocolError as error:
            self._failed = ProtocolError(error.problem, data[position : position + _EXCERPT])
            return 0

    def _message(self, said: Announced, body: bytes, raw: bytes) -> Frame:
        headers = None if said.block is None else Headers.from_raw(body[: said.block])
        payload = body[said.block or 0 :]
        if self.role == "client":
            return read_msg(said.subject, said.sid, said.reply, headers, payload, raw)
        return read_pub(said.subject, said.reply, headers, payload, raw)

    def _may_stream(self, said: Announced) -> bool:
        if self._streams is None or said.total <= STREAMED_FROM:
            return False
        op = "MSG" if self.role == "client" else "PUB"
        return self._streams(op if said.block is None else f"H{op}", said.subject, said.reply)

    def _begin(
        self,
        data: bytes,
        position: int,
        head: int,
        end: int,
        frame: Frame | None,
        items: list[Frame | Part],
    ) -> int:
        """Hands out a message from `position` to `end` in parts; up to `head` it has come."""
        items.append(Part(data[position:head]))
        self._left = end - head
        self._streamed = (frame, 0 if frame is None else end - head)
        return self._pass(data, head, items) - position

    def _pass(self, data: bytes, position: int, items: list[Frame | Part]) -> int:
        """Hands out what has come of a payload in parts; the place after it."""
        left = self._left or 0
        part = data[position : position + left]
        if part:
            items.append(Part(part))
            position += len(part)
            self._left = left = left - len(part)
        if left == 0:
            closing = data[position : position + 2]
            if closing == b"\r\n":
                items.append(Part(closing, *self._streamed))
                self._left, self._streamed = None, (None, 0)
                return position + 2
            if closing not in (b"", b"\r"):
                excerpt = data[position : position + _EXCERPT]
                self._failed = ProtocolError("no line break after the payload", excerpt)
        return position


def _texts(found: re.Match[bytes]) -> tuple[str, str, str | None, int]:
    subject, sid, reply, length = found.groups()
    return subject.decode(), sid.decode(), None if reply is None else reply.decode(), int(length)


_Match = Callable[[bytes, int], "re.Match[bytes] | None"]
_WORD: Final = rb"([!-~]{1,999}+) {1,9}+"
_USUAL: Final[Mapping[Role, _Match]] = {
    "client": re.compile(rb"MSG {1,9}+%b%b(?:%b)?(\d{1,5})\r\n" % (_WORD, _WORD, _WORD)).match,
    "server": re.compile(rb"PUB {1,9}+%b()(?:%b)?(\d{1,5})\r\n" % (_WORD, _WORD)).match,
}
"""Messages without headers, in the form in which nearly all of them come."""
