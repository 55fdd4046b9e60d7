"""What the adapter protocol costs: one fetch-and-ack loop with nats-py, called directly and by its adapter.

    python benchmarks/adapter_overhead.py [--rounds N] [--messages N] [--batch N] [--size N]

Both loops fetch so many messages, look at the sequence of each, and acknowledge them, each by an
acknowledgement that waits for the server's answer, as a case does that has to know that it arrived;
`--kind ack` waits for nothing. Directly, a program of the adapter's own environment does it (this file,
started with `--directly`), which is told on a pipe when to begin. By the adapter, this process is the
harness: each fetch is a line to the adapter and a line back with the messages, and so is each
acknowledgement of all of them. Both programs are started in the same way, in a session of their own: a
process that shares the session of others gets another share of the machine, and nats-py was seen to need
a quarter less CPU there. Nothing is tapped or recorded. The ways take turns within a round, and go first
in turn, so that a busy machine slows both; the first round warms up.

Prints messages a second, the CPU that a message costs here, in the program and in the server, and the
overhead: by the clock, the median within a round of what the adapter's loop took longer; by CPU, what all
processes together took longer. Asserts nothing. The bound is 5 % by the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import nats
from nats.js.api import ConsumerConfig, StorageType, StreamConfig

if TYPE_CHECKING:  # the adapter's environment has nats-py and nothing else
    from jetproof.targets.clients.process import Adapter

STREAM = "overhead"
WAYS = ("direct", "adapter")
Loop = Callable[[int, int], Awaitable[None]]
"""Takes so many messages, at most so many at a time."""


@dataclass(slots=True)
class Took:
    """What the rounds of one way took; seconds a message."""

    clock: list[float] = field(default_factory=list)
    here: list[float] = field(default_factory=list)
    program: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        return sum(map(statistics.median, (self.here, self.program, self.server)))


def cpu_of(pid: int | None) -> float:
    """Seconds of CPU that a process has used, by its threads; 0 where the system does not tell."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def directly(url: str, kind: str) -> None:
    """The program without a protocol: a line in is a round, and a line out says that it was taken."""
    client = await nats.connect(url)
    subscription = await client.jetstream().pull_subscribe_bind("direct", STREAM)
    lines = asyncio.StreamReader()
    protocol = asyncio.StreamReaderProtocol(lines)
    await asyncio.get_running_loop().connect_read_pipe(lambda: protocol, sys.stdin)
    while line := await lines.readline():
        left, batch = map(int, line.split())
        while left > 0:
            messages = await subscription.fetch(min(batch, left), timeout=30)
            for message in messages:
                assert message.metadata.sequence.stream
                await (message.ack() if kind == "ack" else message.ack_sync())
            left -= len(messages)
        print("taken", flush=True)
    await client.close()


def direct_loop(program: Process) -> Loop:
    async def take(count: int, batch: int) -> None:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(b"%d %d\n" % (count, batch))
        assert await program.stdout.readline() == b"taken\n"

    return take


async def adapter_loop(adapter: Adapter, url: str, kind: str) -> Loop:
    # An adapter keeps every message, to acknowledge it: as in a case, those of a round are the most.
    await adapter.call("close")
    await adapter.call("connect", {"url": url})
    await adapter.call("consumer.get", {"as": "c", "stream": STREAM, "consumer": "adapter"})

    async def take(count: int, batch: int) -> None:
        while count > 0:
            size = min(batch, count)
            answer = await adapter.call(
                "fetch", {"of": "c", "max_messages": size, "expires_ms": 30000}
            )
            messages = cast("dict[str, list[dict[str, Any]]]", answer.body)["messages"]
            names = [message["msg"] for message in messages]
            await adapter.call("ack", {"messages": names, "kind": kind})
            count -= len(names)

    return take


async def filled(url: str, count: int, size: int) -> None:
    """The stream with all messages, and a consumer for each way."""
    client = await nats.connect(url)
    jetstream = client.jetstream()
    config = StreamConfig(name=STREAM, subjects=[STREAM], storage=StorageType.MEMORY)
    await jetstream.add_stream(config)
    for _ in range(count):
        await client.publish(STREAM, b"x" * size)
    await client.flush()
    for way in WAYS:
        await jetstream.add_consumer(STREAM, ConsumerConfig(durable_name=way, max_ack_pending=-1))
    await client.close()


async def measure(rounds: int, count: int, batch: int, size: int, kind: str) -> dict[str, Took]:
    from jetproof.targets.clients.build import prepare_client
    from jetproof.targets.clients.process import start_adapter
    from jetproof.targets.clients.spec import parse_client
    from jetproof.targets.topology import start_target

    client = prepare_client(parse_client("python:nats-py"))
    found = {way: Took() for way in WAYS}
    async with (
        start_target("latest") as target,
        start_adapter(client.command, name=client.name, cwd=client.cwd, env=client.env) as adapter,
    ):
        node = next(iter(target.nodes.values()))
        url = f"nats://{node.host}:{node.port}"
        await filled(url, count * (rounds + 1), size)
        words = (client.command[0], __file__, "--directly", url, "--kind", kind)
        program = await asyncio.create_subprocess_exec(
            *words, stdin=PIPE, stdout=PIPE, start_new_session=True
        )
        processes = {"direct": program.pid, "adapter": adapter.pid}
        for number in range(rounds + 1):
            loops = {
                "direct": direct_loop(program),
                "adapter": await adapter_loop(adapter, url, kind),
            }
            for way in WAYS if number % 2 else reversed(WAYS):
                pids = (os.getpid(), processes[way], node.pid)
                before, started = [cpu_of(pid) for pid in pids], time.perf_counter()
                await loops[way](count, batch)
                took = time.perf_counter() - started
                if number:
                    entry = found[way]
                    entry.clock.append(took / count)
                    spent = [cpu_of(pid) - was for pid, was in zip(pids, before, strict=True)]
                    for costs, cpu in zip(
                        (entry.here, entry.program, entry.server), spent, strict=True
                    ):
                        costs.append(cpu / count)
        assert program.stdin is not None
        program.stdin.close()
        await program.wait()
    return found


def show(found: dict[str, Took], batch: int, kind: str) -> None:
    median = statistics.median
    print(f"fetch {batch}, {kind}: messages/s, and CPU of a message in us")
    for way, took in found.items():
        costs = ", ".join(
            f"{name} {1e6 * median(values):.0f}"
            for name, values in (
                ("here", took.here),
                ("program", took.program),
                ("server", took.server),
            )
        )
        print(f"{way:8} {1 / median(took.clock):9,.0f}   {costs}")
    direct, adapter = (found[way] for way in WAYS)
    ratios = [mine / plain - 1 for mine, plain in zip(adapter.clock, direct.clock, strict=True)]
    print(
        f"overhead {median(ratios):+.1%} by the clock ({min(ratios):+.1%} to {max(ratios):+.1%}),"
        f" {adapter.cpu / direct.cpu - 1:+.1%} by CPU"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--messages", type=int, default=2_000)
    parser.add_argument("--batch", type=int, default=100)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--kind", choices=("ack", "double"), default="double")
    parser.add_argument("--directly", metavar="URL", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.directly:
        asyncio.run(directly(given.directly, given.kind))
    else:
        found = asyncio.run(
            measure(given.rounds, given.messages, given.batch, given.size, given.kind)
        )
        show(found, given.batch, given.kind)
