"""One server of a target, whoever runs it: its state, its actions, its end.

A node is launched, can be stopped, killed, paused and resumed, and is closed when its target is
taken down. An end that an action asked for is planned. Any other is not: the node then has
`died`, with the log's tail, and `on_unplanned_exit` has been called.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jetproof.errors import JetproofError
from jetproof.model.versions import Version

Release = Version | Literal["own"] | None
"""What a node is started with: a release, its own build again, or the one it ran last (None)."""

State = Literal["new", "starting", "running", "paused", "stopped", "died"]

_TAIL_BYTES = 64 * 1024
_TAIL_LINES = 40
_CRASH_LINES = 1000
"""A crash is followed by the stacks of goroutines, which can be long."""
_CRASH = re.compile(
    r"^(?:panic|fatal error|unexpected fault address|SIGSEGV|SIGBUS)\b.*", re.MULTILINE
)
_ENVIRONMENT = ("out of memory", "cannot allocate memory", "failed to create new OS thread")
STOP_SECONDS = 10.0
POLL_SECONDS = 0.005


class StartError(JetproofError):
    """A server that did not come up. `log_tail` is what it had to say."""

    def __init__(
        self, message: str, *, hint: str = "", returncode: int | None = None, log_tail: str = ""
    ) -> None:
        said = f"\n--- end of the server's log ---\n{log_tail}" if log_tail else ""
        super().__init__(message + said, phase="start", hint=hint)
        self.returncode = returncode
        self.log_tail = log_tail


class NotReady(StartError):
    """A server that listens, and whose JetStream does not come: a second start may do better."""


class PortTaken(StartError):
    """Somebody else listens on the port that the server was to have."""


@dataclass(frozen=True, slots=True)
class Death:
    """An end that nobody asked for."""

    node: str
    returncode: int | None
    log_tail: str
    crash: str | None = None
    """The line with which the server's own code gave up; None if something else ended it."""

    def __str__(self) -> str:
        ended = f"server {self.node} died unplanned ({exit_text(self.returncode)})"
        return f"{ended}: {self.crash}" if self.crash else ended


@dataclass(frozen=True, slots=True)
class Traces:
    """What a server that was built with coverage leaves behind: files as Go writes them.

    A process writes when it ends by itself or with TERM, and nothing when it is killed: then there
    are fewer files of counters than `lives`."""

    node: str
    lives: int
    files: tuple[Path, ...]


UnplannedExit = Callable[["Node", int | None], None]


class Node(ABC):
    """One server. Its host and port stay the same for as long as its target lives."""

    def __init__(
        self,
        name: str,
        host: str,
        port: int,
        *,
        log_path: Path | None = None,
        on_unplanned_exit: UnplannedExit | None = None,
        factor: float = 1.0,
    ) -> None:
        self.name = name
        self.host = host
        self.port = port
        self.log_path = log_path
        self.info: Mapping[str, Any] = {}
        self.died: Death | None = None
        self._state: State = "new"
        self._gone = asyncio.Event()
        self._gone.set()
        self._returncode: int | None = None
        self._planned = False
        self._on_unplanned_exit = on_unplanned_exit
        self._factor = factor

    @property
    def state(self) -> State:
        return self._state

    @property
    def alive(self) -> bool:
        """Whether the process exists, paused or not."""
        return self._state in ("starting", "running", "paused")

    @property
    def running(self) -> bool:
        """Whether it can answer: it exists and is not paused."""
        return self._state == "running"

    @property
    def version(self) -> Version:
        """The version that the server itself gives in INFO."""
        return Version.parse(str(self.info["version"]))

    @property
    def url(self) -> str:
        return f"nats://{self.host}:{self.port}"

    async def launch(self, release: Release = None) -> None:
        """Start on the same store and port, perhaps with another release, until INFO is there."""
        if self.alive:
            raise self._wrong("start", "it is running")
        self.died = None
        self._planned = False
        self._returncode = None
        self._gone.clear()
        self._state = "starting"
        try:
            await self._spawn(release)
            await self._listening()
            if self._gone.is_set():
                raise self.failed(f"ended as it became ready ({exit_text(self._returncode)})")
        except BaseException:
            self._planned = True
            self._send_kill()
            if self._gone.is_set():
                self._state = "stopped"
            raise
        self._state = "running"

    async def stop(self) -> None:
        """End it as an operator would (TERM); one that does not obey is killed."""
        await self._end(self._send_stop)

    async def kill(self) -> None:
        """End it without warning (KILL)."""
        await self._end(self._send_kill)

    async def pause(self) -> None:
        if self._state == "paused":
            return
        if self._state != "running":
            raise self._wrong("pause", f"it is {self._state}")
        await self._send_pause()
        self._state = "paused"

    async def resume(self) -> None:
        if self._state == "running":
            return
        if self._state != "paused":
            raise self._wrong("resume", f"it is {self._state}")
        await self._send_resume()
        self._state = "running"

    async def close(self) -> None:
        """Take it down for good, whatever its state. Safe to call twice."""
        self._planned = True
        self._send_kill()
        await self._ends_in_time()

    def log_tail(self, lines: int = _TAIL_LINES) -> str:
        """The last lines of the server's log."""
        if self.log_path is None:
            return ""
        try:
            with self.log_path.open("rb") as file:
                size = file.seek(0, 2)
                file.seek(max(0, size - _TAIL_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return ""
        return "\n".join(text.splitlines()[-lines:])

    def describe(self) -> dict[str, Any]:
        """The node as plain data, for evidence."""
        return {
            "name": self.name,
            "host": self.host,
            "port": self.port,
            "state": self._state,
            "version": self.info.get("version"),
            "died": str(self.died) if self.died else None,
        }

    async def _end(self, send: Callable[[], object]) -> None:
        if not self.alive:
            return
        self._planned = True
        send()
        if await self._ends_in_time():
            return
        self._send_kill()
        if not await self._ends_in_time():
            raise self._wrong("end", "it does not even obey KILL")

    async def _ends_in_time(self) -> bool:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS * self._factor):
                await self._gone.wait()
        return self._gone.is_set()

    def _exited(self, returncode: int | None) -> None:
        """For implementations: the process is gone."""
        was_up = self._state in ("running", "paused")
        self._returncode = returncode
        unplanned = was_up and not self._planned
        self._state = "died" if unplanned else "stopped"
        self._gone.set()
        if unplanned:
            log = self.log_tail(_CRASH_LINES)
            tail = "\n".join(log.splitlines()[-_TAIL_LINES:])
            self.died = Death(self.name, returncode, tail, crash_line(log))
            if self._on_unplanned_exit is not None:
                self._on_unplanned_exit(self, returncode)

    def failed(self, what: str) -> StartError:
        """The error for a server that did not come up, with all that is known about it."""
        tail = self.log_tail(20)
        kind = PortTaken if says_port_taken(tail) else StartError
        hint = (
            "another program listens there; the next try takes another port"
            if kind is PortTaken
            else "the log says why; a build that starts by hand starts here too"
        )
        return kind(
            f"server {self.name} on port {self.port} {what}",
            hint=hint,
            returncode=self._returncode,
            log_tail=tail,
        )

    def _wrong(self, action: str, why: str) -> JetproofError:
        return JetproofError(
            f"cannot {action} server {self.name}: {why}",
            phase="play",
            hint="look at the order of the case's actions",
        )

    @abstractmethod
    async def _spawn(self, release: Release) -> None:
        """Create the process; its end must be told with `_exited`."""

    @abstractmethod
    async def _listening(self) -> None:
        """Wait until the server has sent INFO; StartError if it does not."""

    @abstractmethod
    def _send_stop(self) -> None: ...

    @abstractmethod
    def _send_kill(self) -> None:
        """Must not raise, whatever the state, and must lead to `_exited`."""

    @abstractmethod
    async def _send_pause(self) -> None: ...

    @abstractmethod
    async def _send_resume(self) -> None: ...


def exit_text(returncode: int | None) -> str:
    """`exit code 1`, or `killed by SIGKILL`."""
    if returncode is None:
        return "exit code unknown"
    if returncode < 0:
        try:
            return f"killed by {signal.Signals(-returncode).name}"
        except ValueError:
            return f"killed by signal {-returncode}"
    return f"exit code {returncode}"


def crash_line(log: str) -> str | None:
    """The line with which a Go program gives up, if that is how the log ends.

    A machine without memory or threads ends a server as well, and says nothing about its code."""
    found = _CRASH.search(log)
    if found is None or any(words in found[0] for words in _ENVIRONMENT):
        return None
    return found[0].strip()


def says_port_taken(log: str) -> bool:
    """Whether a server's log or an engine's error says that the port is somebody else's."""
    return "address already in use" in log or "port is already allocated" in log
