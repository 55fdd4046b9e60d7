"""Made-up runs for the benchmarks of reports, and what a process and its children cost.

The runs are written by the harness's own sink, so they are run folders like any other. Verdicts,
times and some payloads differ from run to run, as they do in life.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jetproof.events import CaseFinished, RunFinished, RunStarted
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.verdict import Cell, Check, FrameRecord, Verdict
from jetproof.sinks.files import RunFolder

LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True, slots=True)
class Size:
    """How large a run is."""

    cases: int
    servers: int
    checks: int
    frames: int

    @property
    def cells(self) -> int:
        return self.cases * self.servers


def write_run(folder: Path, number: int, size: Size) -> Path:
    """The `number`-th run of this size."""
    luck = random.Random(number)
    run = f"20260101T{number:06}Z-{number:06x}"
    servers = [f"2.{10 + n // 16}.{n % 16}" for n in range(size.servers)]
    clauses = tuple(_clause(n) for n in range(200))
    with RunFolder.create(folder) as sink:
        sink.handle(
            RunStarted(run, _started(number), tuple(servers), size.cells, 1.0, "0" * 16, clauses)
        )
        for case in range(size.cases):
            for server in servers:
                sink.handle(_cell(case, server, size, luck))
        sink.handle(RunFinished(run, wall_ms=1000.0))
    return folder


def _started(number: int) -> str:
    return f"2026-01-{1 + number // 24:02}T{number % 24:02}:00:00.000Z"


def _clause(number: int) -> Clause:
    return Clause(
        f"B-{number:03}", "adr-50", f"Part {number // 20}", Level.MUST, Actor.SERVER,
        Status.NORMATIVE, f"What is said in sentence {number}.", None, None, None, f"{number:016x}",
    )  # fmt: skip


def _cell(number: int, server: str, size: Size, luck: random.Random) -> CaseFinished:
    suite = f"adr-50/bench/part-{number // 20:03}"
    case = f"{suite}::does-what-sentence-{number:05}-says"
    known = (number * 7 + sum(map(ord, server))) % 29 == 0
    flaky = luck.random() < 0.002
    verdict = Verdict.FAIL if flaky else Verdict.KNOWN if known else Verdict.PASS
    reason = (
        "1 reply.error: expected error 10177, got pub-ack" if verdict is not Verdict.PASS else ""
    )
    cell = Cell(
        case, suite, "adr-50", 7, server, "embedded", "single", "default", verdict,
        (f"B-{number % 200:03}",), ms=luck.uniform(5, 50), started_at="2026-01-01T00:00:00.000Z",
        reason=reason, deviation="b-known" if known and not flaky else None,
        case_hash=f"{number:016x}", target=server, replay=f"jetproof replay {case}",
    )  # fmt: skip
    checks = [
        Check(str(1 + n // 4), "request", f"reply.part{n % 4}", verdict is Verdict.PASS or n > 0,
              "error 10177", "pub-ack", ms=luck.lognormvariate(1, 1))
        for n in range(size.checks)
    ]  # fmt: skip
    return CaseFinished(cell, checks, _frames(server, size.frames, luck))


def _frames(server: str, count: int, luck: random.Random) -> list[FrameRecord]:
    """Requests and their replies."""
    token = "jp" + "".join(luck.choices(LETTERS, k=12))
    ms, made = 0.0, []
    newer = ',"domain":"hub"' if server >= "2.11" else ""
    for n in range(count // 2):
        inbox, step = f"_INBOX.{token}.r{n}", str(1 + n // 4)
        subject, headers = (
            f"stream_{token}.a",
            (("Nats-Batch-Id", token), ("Nats-Batch-Sequence", str(n))),
        )
        ms += luck.uniform(0.05, 0.5)
        made.append(
            FrameRecord(
                ms, ">", "main", "HPUB", subject, inbox, None, "", headers, b"x" * 64, "", step
            )
        )
        ms += luck.uniform(0.05, 0.5)
        said = (
            f'{{"type":"io.nats.jetstream.api.v1.stream_info_response","stream":"stream_{token}",'
            f'"created":"2026-01-01T00:00:00.{luck.randrange(10**9):09}Z","seq":{n}{newer},'
            '"config":{"name":"x","retention":"limits","max_msgs":-1,"storage":"memory"}}'
        )
        made.append(
            FrameRecord(ms, "<", "main", "MSG", inbox, "", None, "", None, said.encode(), "", step)
        )
    return made


# -- what it costs ------------------------------------------------------------------------------------


@dataclass(slots=True)
class Cost:
    """Of this process and its children, such as the Java virtual machine."""

    cpu: float = 0.0
    wall: float = 0.0
    peak_mb: float = 0.0
    _watching: threading.Event = field(default_factory=threading.Event)


@contextmanager
def cost() -> Iterator[Cost]:
    """CPU, time and the peak of resident memory of what is done inside. Linux only."""
    told = Cost()
    cpu, began = _tree()[0], time.monotonic()

    def watch() -> None:
        while not told._watching.wait(0.1):
            told.peak_mb = max(told.peak_mb, _tree()[1] / 1e6)

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield told
    finally:
        told._watching.set()
        watcher.join()
        told.cpu, told.wall = _tree()[0] - cpu, time.monotonic() - began


def _tree() -> tuple[float, int]:
    """CPU seconds and resident bytes of this process and all below it."""
    parents: dict[int, list[int]] = {}
    used: dict[int, tuple[float, int, str]] = {}
    tick, page = os.sysconf("SC_CLK_TCK"), os.sysconf("SC_PAGE_SIZE")
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
            cpu = sum(int(fields[n]) for n in (11, 12, 13, 14)) / tick
            used[int(entry.name)] = cpu, int(fields[21]) * page, fields[25]
    cpu, resident, todo = 0.0, 0, [(os.getpid(), "")]
    while todo:
        process, above = todo.pop()
        spent, held, stack = used[process]
        todo += [(child, stack) for child in parents.get(process, [])]
        cpu += spent
        # Java starts helpers. Until such a child runs its own program (which gives it a stack at
        # another address) its memory is its parent's, and must not count twice.
        resident += held if stack != above else 0
    return cpu, resident
