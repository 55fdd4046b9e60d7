"""A server as a process of this machine: a release binary, or any build.

The server lives in a session of its own, so that Ctrl-C on the terminal reaches the harness and
not the server, and it dies with the harness: the kernel kills it when its parent goes, however
that happens (Linux; elsewhere the clean-up of a run that is killed is left to the next one).
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from jetproof import clock
from jetproof.model.versions import Version
from jetproof.targets.node import (
    POLL_SECONDS,
    STOP_SECONDS,
    Node,
    Release,
    StartError,
    Traces,
    UnplannedExit,
    exit_text,
)
from jetproof.targets.ports import LOOPBACK
from jetproof.targets.ready import read_info
from jetproof.wire.errors import ConnectionLost

START_SECONDS = 10.0
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None, use_errno=True) if sys.platform == "linux" else None

ReleaseBinary = Callable[[Version], Awaitable[Path]]
"""Where the binary of a release is, for a node that is restarted with another one."""


class ServerNode(Node):
    """One nats-server process. `folder` holds its configuration, store and log."""

    def __init__(
        self,
        name: str,
        port: int,
        *,
        binary: Path,
        folder: Path,
        config_text: str,
        release_binary: ReleaseBinary,
        on_unplanned_exit: UnplannedExit | None = None,
        factor: float = 1.0,
        covered: bool = False,
    ) -> None:
        super().__init__(
            name,
            LOOPBACK,
            port,
            log_path=folder / "server.log",
            on_unplanned_exit=on_unplanned_exit,
            factor=factor,
        )
        self.binary = self._own_binary = binary
        self.folder = folder
        self._config_text = config_text
        self._release_binary = release_binary
        self._covered = covered
        self._lives = 0
        self._process: asyncio.subprocess.Process | None = None
        self._watch: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self.alive else None

    def describe(self) -> dict[str, Any]:
        return super().describe() | {"binary": str(self.binary), "pid": self.pid}

    @property
    def traces(self) -> Traces | None:
        """What it recorded of the code that it reached; None if it was not built to do so."""
        if not self._covered:
            return None
        return Traces(self.name, self._lives, tuple(sorted(coverage_dir(self.folder).glob("cov*"))))

    async def close(self) -> None:
        """One that records what it reaches is asked to end: it writes as it ends."""
        try:
            if self._covered:
                await self.stop()
        finally:
            await super().close()

    async def _spawn(self, release: Release) -> None:
        self._process = None
        if release == "own":
            self.binary = self._own_binary
        elif release is not None:
            self.binary = await self._release_binary(release)
        config = self.folder / "server.conf"
        try:
            ports_dir(self.folder).mkdir(parents=True, exist_ok=True)
            environment = self._environment()
            config.write_text(self._config_text, encoding="utf-8")
            with (self.folder / "server.log").open("ab") as log:
                self._process = await asyncio.create_subprocess_exec(
                    str(self.binary),
                    "--config",
                    str(config),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    cwd=self.folder,
                    env=environment,
                    start_new_session=True,
                    preexec_fn=dies_with_parent(),
                )
        except (OSError, subprocess.SubprocessError) as error:
            self._exited(None)
            raise StartError(
                f"cannot run {self.binary} as server {self.name}: {error}",
                hint="it must be an executable nats-server built for this machine",
            ) from error
        self._watch = asyncio.create_task(self._watched(self._process))

    def _environment(self) -> dict[str, str] | None:
        if not self._covered or self.binary != self._own_binary:
            return None
        place = coverage_dir(self.folder)
        place.mkdir(exist_ok=True)
        self._lives += 1
        return {**os.environ, "GOCOVERDIR": str(place)}

    async def _watched(self, process: asyncio.subprocess.Process) -> None:
        self._exited(await process.wait())

    async def _listening(self) -> None:
        try:
            async with asyncio.timeout(START_SECONDS * self._factor):
                while not self._has_port():
                    self._check_exit()
                    await asyncio.sleep(POLL_SECONDS)
                while True:
                    self._check_exit()
                    with contextlib.suppress(ConnectionLost):
                        self.info = await read_info(self.host, self.port)
                        return
                    await asyncio.sleep(POLL_SECONDS)
        except TimeoutError:
            raise self.failed(
                f"was not ready {START_SECONDS * self._factor:.0f} s after its start"
            ) from None

    def _check_exit(self) -> None:
        if self._gone.is_set():
            raise self.failed(f"ended while it started ({exit_text(self._returncode)})")

    def _has_port(self) -> bool:
        """Whether this very process listens: it writes a file of its ports when it does.

        A connection alone would prove nothing: another run's server may have the port.
        """
        if self._process is None:
            return False
        for file in ports_dir(self.folder).glob(f"*_{self._process.pid}.ports"):
            with contextlib.suppress(OSError, ValueError):
                urls = json.loads(file.read_text()).get("nats", [])
                return any(str(url).endswith(f":{self.port}") for url in urls)
        return False

    def _send_stop(self) -> None:
        self._signal(signal.SIGTERM)
        if self._state == "paused":
            self._signal(signal.SIGCONT)

    def _send_kill(self) -> None:
        self._signal(signal.SIGKILL)

    async def _send_pause(self) -> None:
        self._signal(signal.SIGSTOP)
        deadline = clock.now() + STOP_SECONDS
        while self._process is not None and clock.now() < deadline:
            if _is_stopped(self._process.pid):
                return
            await asyncio.sleep(POLL_SECONDS)

    async def _send_resume(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        if self._process is None:
            self._gone.set()
        elif not self._gone.is_set():
            with contextlib.suppress(ProcessLookupError):
                self._process.send_signal(number)


def coverage_dir(folder: Path) -> Path:
    """Where the processes of a node write what they reached."""
    return folder / "coverage"


def ports_dir(folder: Path) -> Path:
    """Where a node's server writes the file of its ports."""
    return folder / "ports"


def dies_with_parent() -> Callable[[], None] | None:
    """What the child does before it becomes the server: tie its life to ours.

    The libc is loaded beforehand, since a forked child may do next to nothing. The kernel ties it
    to the thread that forks, so servers are started from the thread that runs the event loop.
    """
    libc = _LIBC
    if libc is None:
        return None
    parent = os.getpid()

    def tie() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:  # the parent went before the tie was made
            os._exit(1)

    return tie


def _is_stopped(pid: int) -> bool:
    """Whether a process that was sent SIGSTOP has stopped: threads may run on for a moment."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True  # it is gone, or this system does not tell
    return stat.rpartition(")")[2].split()[0] in ("T", "t", "Z")
