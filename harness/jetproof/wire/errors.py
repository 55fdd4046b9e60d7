"""What can go wrong on a connection, as exceptions that say so."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from jetproof.errors import JetproofError

if TYPE_CHECKING:
    from jetproof.wire.frames import Frame


def excerpt(data: bytes, limit: int = 120) -> str:
    """The first bytes of `data` as printable ASCII, for messages: never a raw control character."""
    shown = ascii(bytes(data[:limit]))[1:]
    return shown if len(data) <= limit else f"{shown}... ({len(data)} bytes)"


class ProtocolError(JetproofError):
    """Bytes that are not the NATS protocol.

    `data` is an excerpt that starts at the first byte that was not understood; `frames` are the
    frames that were complete before it in the same `feed`, so that none is lost.
    """

    def __init__(self, problem: str, data: bytes = b"", frames: Sequence[Frame] = ()) -> None:
        super().__init__(
            f"{problem}: {excerpt(data)}" if data else problem,
            phase="play",
            hint="the peer does not speak the NATS client protocol, or the bytes were damaged",
        )
        self.problem = problem
        self.data = bytes(data)
        self.frames = tuple(frames)


class ConnectionLost(JetproofError):
    """The connection is gone, or never came to be.

    `reason` says why; `last_error` is the last `-ERR` text of the server, if there was one.
    """

    def __init__(self, reason: str, last_error: str | None = None, *, hint: str = "") -> None:
        said = f" (the server's last error: {last_error!a})" if last_error is not None else ""
        super().__init__(f"connection lost: {reason}{said}", phase="play", hint=hint)
        self.reason = reason
        self.last_error = last_error


class ConnectTimeout(ConnectionLost):
    """A server that listens did not answer in time: it is silent, or the machine is too busy."""


class WireTimeout(JetproofError, TimeoutError):
    """Nothing came within the time allowed; the connection itself is still there."""

    def __init__(self, message: str) -> None:
        super().__init__(message, phase="play")
