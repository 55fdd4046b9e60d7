"""The frames of the NATS client protocol, in both directions, as plain values.

Every frame that was read keeps the bytes it was read from in `raw`, which takes no part in
equality: `encode` gives those bytes back, so a proxy passes frames on unchanged. `raw` is never an
argument of a constructor, so a frame made by hand or by `dataclasses.replace` has none and is
encoded from its fields.

Subjects, sids and texts are `str` with surrogate escapes for bytes that are not UTF-8.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from jetproof.wire.headers import Headers


@dataclass(frozen=True, slots=True)
class Info:
    """`INFO {...}`: what a server says of itself."""

    data: Mapping[str, Any] = field(hash=False)
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "INFO"


@dataclass(frozen=True, slots=True)
class Connect:
    """`CONNECT {...}`: what a client says of itself."""

    data: Mapping[str, Any] = field(hash=False)
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "CONNECT"


@dataclass(frozen=True, slots=True)
class Ping:
    """`PING`, from either side."""

    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "PING"


@dataclass(frozen=True, slots=True)
class Pong:
    """`PONG`, from either side."""

    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "PONG"


@dataclass(frozen=True, slots=True)
class Ok:
    """`+OK`, a server's answer in verbose mode."""

    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "+OK"


@dataclass(frozen=True, slots=True)
class Err:
    """`-ERR 'message'`; the quotes are not part of the message."""

    message: str
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "-ERR"


@dataclass(frozen=True, slots=True)
class Sub:
    """`SUB subject [queue] sid`."""

    subject: str
    queue: str | None
    sid: str
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "SUB"


@dataclass(frozen=True, slots=True)
class Unsub:
    """`UNSUB sid [max]`."""

    sid: str
    max: int | None = None
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "UNSUB"


@dataclass(frozen=True, slots=True)
class Pub:
    """A client's message: `PUB` if `headers` is None, else `HPUB`."""

    subject: str
    reply: str | None = None
    headers: Headers | None = None
    payload: bytes = b""
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "PUB" if self.headers is None else "HPUB"

    @property
    def status(self) -> int | None:
        """The status of the header block, if there is one (a client may send one)."""
        return None if self.headers is None else self.headers.status

    @property
    def description(self) -> str:
        """The text after the status, or the empty string."""
        return "" if self.headers is None else self.headers.description


@dataclass(frozen=True, slots=True)
class Msg:
    """A server's delivery: `MSG` if `headers` is None, else `HMSG`.

    `sid` is the text on the wire: any client may use any token.
    """

    subject: str
    sid: str
    reply: str | None = None
    headers: Headers | None = None
    payload: bytes = b""
    raw: bytes = field(default=b"", init=False, compare=False, repr=False)

    @property
    def op(self) -> str:
        return "MSG" if self.headers is None else "HMSG"

    @property
    def status(self) -> int | None:
        """The status of the header block, such as 503 for no responders, if there is one."""
        return None if self.headers is None else self.headers.status

    @property
    def description(self) -> str:
        """The text after the status, or the empty string."""
        return "" if self.headers is None else self.headers.description


@dataclass(frozen=True, slots=True)
class Raw:
    """Bytes sent as they are, for what no frame can say. A parser never yields one."""

    data: bytes

    @property
    def op(self) -> str:
        return "RAW"

    @property
    def raw(self) -> bytes:
        return self.data


Frame = Info | Connect | Ping | Pong | Ok | Err | Sub | Unsub | Pub | Msg | Raw


def _setters(kind: type[Pub] | type[Msg]) -> tuple[Callable[[object, object], None], ...]:
    return tuple(kind.__dict__[item.name].__set__ for item in fields(kind))


_PUB = _setters(Pub)
_MSG = _setters(Msg)


def read_pub(
    subject: str, reply: str | None, headers: Headers | None, payload: bytes, raw: bytes
) -> Pub:
    """A publish as it was read: the constructor of a frozen class takes three times as long."""
    frame = object.__new__(Pub)
    set_subject, set_reply, set_headers, set_payload, set_raw = _PUB
    set_subject(frame, subject)
    set_reply(frame, reply)
    set_headers(frame, headers)
    set_payload(frame, payload)
    set_raw(frame, raw)
    return frame


def read_msg(
    subject: str, sid: str, reply: str | None, headers: Headers | None, payload: bytes, raw: bytes
) -> Msg:
    """A delivery as it was read, made like `read_pub`."""
    frame = object.__new__(Msg)
    set_subject, set_sid, set_reply, set_headers, set_payload, set_raw = _MSG
    set_subject(frame, subject)
    set_sid(frame, sid)
    set_reply(frame, reply)
    set_headers(frame, headers)
    set_payload(frame, payload)
    set_raw(frame, raw)
    return frame
