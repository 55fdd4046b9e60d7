"""The Go toolchain that builds servers: found, asked for its version, run.

Jetproof never downloads a toolchain: `GOTOOLCHAIN=local` is set for every call. A build has one
set of flags, whatever the user's environment says, so that the same source makes the same binary.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError
from jetproof.targets.server import dies_with_parent

_ASK_SECONDS = 60.0
_BUILD_SECONDS = 1800.0
_POLL_SECONDS = 0.1
_PROGRESS_SECONDS = 10.0
_TAIL_LINES = 25
_FIXED = {"CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOWORK": "off"}
_OWN = ("GOOS", "GOARCH", "GOBIN", "GOEXPERIMENT", "GO111MODULE")
"""Settings of the user that would make a binary for another machine, or another binary."""
_FACTS = ("GOVERSION", "GOOS", "GOARCH", "GOAMD64", "GOARM64", "GOEXPERIMENT")
_PACKAGE = re.compile(r"[\w.~-]+(?:/[\w.~-]+)*")
_NEWER = re.compile(r"requires go >= (\d\S*?)[\s;)]")
_NUMBERS = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_WITHOUT = (
    "install Go (https://go.dev/doc/install); releases such as 2.15.1, container:2.14.6 and "
    "path:./nats-server work without it"
)

Notify = Callable[[str], None]


class GoError(JetproofError):
    """Go is missing, too old, or did not build what was asked for."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, phase="start", hint=hint)


class BuildStopped(Exception):
    """Whoever asked for a build does not want it any more."""


@dataclass(frozen=True, slots=True)
class Go:
    """An installed toolchain. `facts` is all of it that decides what a build makes."""

    program: str
    version: str
    facts: str

    def key(self, *flags: str) -> str:
        """Short, and another one for another toolchain or other flags."""
        text = "\0".join((self.facts, *flags, *sorted(f"{k}={v}" for k, v in _FIXED.items())))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def builds(self, needed: str) -> bool:
        """Whether it is as new as a go.mod wants it; one that names no number is believed to be."""
        own = go_numbers(self.version)
        return not own or own >= go_numbers(needed)


def go_numbers(version: str) -> tuple[int, ...]:
    """`go1.26.8` and `1.26.8` as numbers to compare; empty if it has none."""
    found = _NUMBERS.search(version)
    return tuple(int(part or 0) for part in found.groups()) if found else ()


def find_go() -> Go:
    """The `go` of the PATH; GoError if there is none, or if it does not work."""
    program = shutil.which("go")
    if program is None:
        raise GoError("Go is not installed: there is no `go` on the PATH", _WITHOUT)
    code, said = ask(program, "env", *_FACTS)
    lines = said.splitlines()
    if code != 0 or not lines or "go" not in lines[0]:
        shown = "\n".join(lines[-5:])
        raise GoError(f"`{program} env` ended with {code} and said {shown!r}", _WITHOUT)
    return Go(program, lines[0].strip(), said.strip())


def ask(program: str, *arguments: str, offline: bool = False) -> tuple[int, str]:
    """Run a short command of Go outside every module; its exit code and what it said."""
    try:
        done = subprocess.run(
            [program, *arguments],
            cwd=tempfile.gettempdir(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_SECONDS,
            env=environment("-mod=mod", offline=offline),
            check=False,
        )
    except OSError as error:
        return -1, str(error)
    except subprocess.TimeoutExpired:
        return -1, f"it did not end within {_ASK_SECONDS:.0f} s"
    return done.returncode, done.stdout if done.returncode == 0 else done.stderr + done.stdout


def environment(flags: str, *, offline: bool = False, **more: str) -> dict[str, str]:
    """The user's environment, with its proxies and caches, and our own flags."""
    kept = {name: value for name, value in os.environ.items() if name not in _OWN}
    return {**kept, **_FIXED, "GOFLAGS": flags, **({"GOPROXY": "off"} if offline else {}), **more}


@dataclass(frozen=True, slots=True)
class Job:
    """One call of Go that makes a server: what, where, and with which environment."""

    what: str
    command: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str]
    log: Path

    def run(self, go: Go, notify: Notify | None, stop: threading.Event | None) -> None:
        """Run it to its end. GoError with the last lines of the compiler if it fails."""
        began = time.monotonic()
        with self.log.open("wb") as said:
            try:
                process = subprocess.Popen(
                    [go.program, *self.command],
                    cwd=self.cwd,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    env=dict(self.env),
                    start_new_session=True,
                    preexec_fn=dies_with_parent(),
                )
            except OSError as error:
                raise GoError(f"cannot run {go.program}: {error}", _WITHOUT) from error
            try:
                code = self._wait(process, began, notify, stop)
            except BaseException:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                raise
        if code != 0:
            raise self._failed(go, f"`go {self.command[0]}` ended with {code}")

    def _wait(
        self,
        process: subprocess.Popen[bytes],
        began: float,
        notify: Notify | None,
        stop: threading.Event | None,
    ) -> int:
        spoken = began
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                return process.wait(_POLL_SECONDS)
            now = time.monotonic()
            if stop is not None and stop.is_set():
                raise BuildStopped
            if now - began > _BUILD_SECONDS:
                raise GoError(
                    f"building {self.what} did not end within {_BUILD_SECONDS:.0f} s",
                    "look at the network and at the load of this machine, and run again",
                )
            if notify is not None and now - spoken >= _PROGRESS_SECONDS:
                spoken = now
                lines = self._lines()
                last = f", now {lines[-1][:100]}" if lines else ""
                notify(f"building {self.what}: {now - began:.0f} s, {len(lines)} steps{last}")

    def _lines(self) -> list[str]:
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return [line for line in text.splitlines() if line.strip()]

    def _failed(self, go: Go, how: str) -> GoError:
        """Why, from what Go said: package names are its progress, the rest is the reason."""
        lines = self._lines()
        said = "\n".join(lines)
        if newer := _NEWER.search(f"{said}\n"):
            return GoError(
                f"{self.what} needs Go {newer[1]} or newer, and {go.version} is installed",
                f"install Go {newer[1]} (https://go.dev/doc/install); Jetproof downloads no "
                "toolchain",
            )
        telling = [
            line
            for line in lines
            if not _PACKAGE.fullmatch(line) and not line.startswith("go: downloading")
        ]
        tail = "\n".join((telling or lines)[-_TAIL_LINES:])
        hint = "nothing was kept; the last lines of Go say why"
        if "no space left on device" in said:
            hint = "the disk is full: nothing was kept; make room and run again"
        elif "file too large" in said:
            hint = "files may not be that large here (`ulimit -f`): nothing was kept"
        elif "GOPROXY=off" in said or "module lookup disabled" in said:
            hint = "Go may not use the network here: build it once with a network"
        return GoError(f"building {self.what} failed: {how}\n{tail}", hint)
