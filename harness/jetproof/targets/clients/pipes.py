"""The pipes of an adapter's process: lines in, lines out, and the end of its standard error.

Lines are handed on as they come, in the order in which they come. The process is `gone` when it
has exited and all that it printed has been read; a process that it left behind and that keeps its
output open does not hold that up for long.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
from collections.abc import Callable
from typing import cast

_TAIL_BYTES = 64 * 1024
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_PIPE_BYTES = 1024 * 1024
"""An adapter that writes a long line need not wait for us to read it."""
_LINGER_SECONDS = 1.0


class Pipes(asyncio.SubprocessProtocol):
    """`on_line` gets each line without its end, `on_gone` the exit code and an unfinished line."""

    def __init__(
        self,
        most: int,
        on_line: Callable[[bytes], None],
        on_long: Callable[[int], None],
        on_gone: Callable[[int | None, bytes], None],
    ) -> None:
        self.exited = asyncio.Event()
        self.gone = asyncio.Event()
        self.pid = 0
        self._most = most
        self._on_line = on_line
        self._on_long = on_long
        self._on_gone = on_gone
        self._transport: asyncio.SubprocessTransport | None = None
        self._parts: list[bytes] = []
        self._size = 0
        self._overlong = False
        self._errors = bytearray()
        self._unread = {_STDOUT, _STDERR}
        self._linger: asyncio.TimerHandle | None = None

    # Called by the event loop

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.SubprocessTransport, transport)
        self.pid = self._transport.get_pid()
        stdout = self._transport.get_pipe_transport(_STDOUT)
        if stdout is not None and hasattr(fcntl, "F_SETPIPE_SZ"):
            with contextlib.suppress(OSError):  # the user's share of pipes may be used up
                pipe = stdout.get_extra_info("pipe")
                fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == _STDERR:
            self._errors += data
            if len(self._errors) > 2 * _TAIL_BYTES:
                del self._errors[:-_TAIL_BYTES]
        elif fd == _STDOUT and not self._overlong:
            self._received(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        self._unread.discard(fd)
        if not self._unread and self.exited.is_set():
            self._finished()

    def process_exited(self) -> None:
        self.exited.set()
        if not self._unread:
            self._finished()
        else:
            self._linger = asyncio.get_running_loop().call_later(_LINGER_SECONDS, self._finished)

    # Called by the adapter

    def write(self, data: bytes) -> None:
        stdin = self._stdin()
        if stdin is not None and not stdin.is_closing():
            stdin.write(data)

    def end_input(self) -> None:
        stdin = self._stdin()
        if stdin is not None:
            stdin.close()

    def close(self) -> None:
        """Lets go of everything; a process that still runs is killed."""
        if self._linger is not None:
            self._linger.cancel()
        if self._transport is not None:
            self._transport.close()

    def said(self, lines: int) -> str:
        """The end of its standard error."""
        text = bytes(self._errors[-_TAIL_BYTES:]).decode("utf-8", "surrogateescape")
        return "\n".join(text.splitlines()[-lines:])

    def _stdin(self) -> asyncio.WriteTransport | None:
        if self._transport is None:
            return None
        return cast("asyncio.WriteTransport | None", self._transport.get_pipe_transport(_STDIN))

    def _received(self, data: bytes) -> None:
        first, *more = data.split(b"\n")
        self._size += len(first)
        if self._size > self._most:
            self._overlong = True
            self._parts.clear()
            self._on_long(self._most)
            return
        self._parts.append(first)
        if not more:
            return
        line = b"".join(self._parts)
        *whole, rest = more
        self._parts = [rest] if rest else []
        self._size = len(rest)
        self._on_line(line)
        for line in whole:
            self._on_line(line)

    def _finished(self) -> None:
        if self.gone.is_set():
            return
        if self._linger is not None:
            self._linger.cancel()
        self.gone.set()
        code = self._transport.get_returncode() if self._transport is not None else None
        self._on_gone(code, b"".join(self._parts))
