"""The processes of an adapter: what they take of the memory, which of them are left.

An adapter lives in a session of its own, and everything it starts inherits a mark in its
environment: what leaves the session is found by the mark. Systems without /proc tell nothing of
this; there, the process group is all that is ended.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass

MARK = "JETPROOF_ADAPTER"
_PROC = "/proc"
_PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class Relative:
    """A process that an adapter started."""

    pid: int
    command: str

    def __str__(self) -> str:
        return f"{self.command} (process {self.pid})"


def memory_of(pid: int, *, children: bool = True) -> int:
    """Bytes of memory that a process and all below it take; 0 where nobody tells."""
    total, waiting, seen = 0, [pid], set[int]()
    while waiting:
        one = waiting.pop()
        if one in seen:
            continue
        seen.add(one)
        with contextlib.suppress(OSError, ValueError, IndexError):
            total += int(_told(one, "statm").split()[1]) * _PAGE
        if children:
            waiting += _children(one)
    return total


def relatives(pid: int, mark: str) -> list[Relative]:
    """What is still alive of an adapter's processes, itself excepted."""
    return [
        Relative(one, _command(one))
        for one in _pids()
        if one not in (pid, os.getpid()) and _belongs(one, pid, mark)
    ]


def end_all(pid: int, left: list[Relative], *, with_leader: bool) -> None:
    """KILL what is left. A leader that has been waited for is not named any more: its number may
    be somebody else's by now."""
    if with_leader:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)
    for relative in left:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(relative.pid, signal.SIGKILL)


def _pids() -> Iterator[int]:
    with contextlib.suppress(OSError):
        for name in os.listdir(_PROC):
            if name.isdecimal():
                yield int(name)


def _belongs(pid: int, session: int, mark: str) -> bool:
    try:
        stat = _told(pid, "stat").rpartition(b")")[2].split()
        if stat[0] in (b"Z", b"X"):
            return False
        if int(stat[3]) == session:
            return True
        environment = _told(pid, "environ")
    except (OSError, ValueError, IndexError):
        return False
    return f"{MARK}={mark}".encode() in environment.split(b"\0")


def _children(pid: int) -> list[int]:
    found: list[int] = []
    with contextlib.suppress(OSError, ValueError):
        for thread in os.listdir(f"{_PROC}/{pid}/task"):
            found += map(int, _told(pid, f"task/{thread}/children").split())
    return found


def _told(pid: int, what: str) -> bytes:
    with open(f"{_PROC}/{pid}/{what}", "rb", buffering=0) as file:
        return file.read()


def _command(pid: int) -> str:
    with contextlib.suppress(OSError):
        words = _told(pid, "cmdline").split(b"\0")
        text = b" ".join(words).decode("utf-8", "replace").strip()
        if text:
            return text[:120]
    return "a process"
