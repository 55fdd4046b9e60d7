"""A bounded load on this machine: processes that burn CPU, and one that writes and syncs a file.

The load never outlives its block. Each worker ends when the pipe on its standard input ends, so it
ends with this process on every system; on Linux the kernel kills it besides (`dies_with_parent`);
and a worker ends after `LIFE_SECONDS` in any case. Workers count what they use, so that a report
states what the load did, and not what it was meant to do.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from jetproof.campaigns import load_worker
from jetproof.errors import JetproofError
from jetproof.targets.node import exit_text
from jetproof.targets.server import dies_with_parent

LIFE_SECONDS = 3600
FILE_MIB = 64
WORKERS_PER_CORE = 4
_READY_SECONDS = 30.0
_END_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What a load did. `failures` names the workers that ended before they were asked to."""

    cores: int
    cpu_seconds: float
    mib_written: int
    failures: tuple[str, ...] = ()

    def document(self) -> dict[str, object]:
        return {
            "cores": self.cores,
            "cpu_seconds": self.cpu_seconds,
            "mib_written": self.mib_written,
            "failures": list(self.failures),
        }


def total(reports: Sequence[LoadReport]) -> LoadReport | None:
    """Several loads of one kind as one."""
    if not reports:
        return None
    return LoadReport(
        reports[0].cores,
        round(sum(each.cpu_seconds for each in reports), 3),
        sum(each.mib_written for each in reports),
        tuple(failure for each in reports for failure in each.failures),
    )


def most_cores() -> int:
    """The largest load that this machine is asked to carry."""
    return WORKERS_PER_CORE * (os.cpu_count() or 1)


def check_cores(cores: int) -> None:
    if not 1 <= cores <= most_cores():
        raise JetproofError(
            f"a load of {cores} cores is not possible here",
            phase="plan",
            hint=f"--load takes 1 to {most_cores()} on this machine; without --load there is none",
        )


@dataclass(slots=True)
class _Worker:
    """One process and what it last reported."""

    name: str
    process: asyncio.subprocess.Process
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    cpu: float = 0.0
    mib: int = 0
    error: str = ""
    killed: bool = False

    @property
    def problem(self) -> str:
        """Why a worker that has ended was no load; empty if it did its work to the end."""
        code = self.process.returncode
        if code != 0 and not self.killed:
            return f"{self.name} ended early ({self.error or exit_text(code)})"
        return "" if self.cpu else f"{self.name} did nothing"

    async def listen(self) -> None:
        assert self.process.stdout is not None
        while line := await self.process.stdout.readline():
            with contextlib.suppress(ValueError, KeyError):
                row = json.loads(line)
                self.cpu, self.mib = float(row["cpu"]), int(row["mib"])
                self.error = str(row["error"])
                self.ready.set()
        self.ready.set()


class Load:
    """Use as an asynchronous context manager; `report` says afterwards what the load did."""

    def __init__(self, cores: int, folder: Path, *, seconds: int = LIFE_SECONDS) -> None:
        check_cores(cores)
        self._cores = cores
        self._folder = folder
        self._seconds = seconds
        self._workers: list[_Worker] = []
        self._listeners: list[asyncio.Task[None]] = []
        self._failures: list[str] = []

    @property
    def pids(self) -> list[int]:
        return [worker.process.pid for worker in self._workers]

    @property
    def report(self) -> LoadReport:
        cpu = round(sum(worker.cpu for worker in self._workers), 3)
        mib = sum(worker.mib for worker in self._workers)
        return LoadReport(self._cores, cpu, mib, tuple(self._failures))

    async def __aenter__(self) -> Load:
        try:
            for number in range(1, self._cores + 1):
                await self._start(f"CPU worker {number}", "cpu", str(self._seconds))
            disk = ("disk", str(self._seconds), str(self._folder), str(FILE_MIB))
            await self._start("disk worker", *disk)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_READY_SECONDS):
                    for worker in self._workers:
                        await worker.ready.wait()
        except BaseException:
            await self._end(wait=False)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._end(wait=kind is None)

    async def _start(self, name: str, *arguments: str) -> None:
        program = (sys.executable, "-I", "-S", str(load_worker.__file__))
        try:
            process = await asyncio.create_subprocess_exec(
                *program,
                *arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                preexec_fn=dies_with_parent(),
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise JetproofError(
                f"cannot start the load's {name}: {error}",
                phase="start",
                hint="choose a smaller --load, or none",
            ) from error
        worker = _Worker(name, process)
        self._workers.append(worker)
        self._listeners.append(asyncio.create_task(worker.listen()))

    async def _end(self, *, wait: bool) -> None:
        """End all workers: by the pipe if there is time, by KILL if there is none."""
        for worker in self._workers:
            if worker.process.stdin is not None:
                worker.process.stdin.close()
        gone = [asyncio.ensure_future(worker.process.wait()) for worker in self._workers]
        try:
            if wait and gone:
                await asyncio.wait(gone, timeout=_END_SECONDS)
        finally:
            for worker in self._workers:
                # One that has ended is asyncio's to reap: a signal would take that from it.
                if worker.process.returncode is None:
                    worker.killed = True
                    with contextlib.suppress(ProcessLookupError):
                        worker.process.kill()
            await asyncio.gather(*gone, *self._listeners, return_exceptions=True)
        self._failures = [problem for worker in self._workers if (problem := worker.problem)]
