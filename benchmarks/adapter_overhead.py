"""What the adapter protocol costs: one fetch-and-ack loop with nats-py, called directly and by its adapter.

    python benchmarks/adapter_overhead.py [--rounds N] [--messages N] [--batch N] [--size N]

Both loops fetch so many messages, look at the sequence of each, and acknowledge them, each by an
acknowledgement that waits for the server's answer, as a case does that has to know that it arrived;
`--kind ack` waits for nothing. Directly, nats-py runs in this process. By its adapter, this process is the
harness: each fetch is a line to the adapter and a line back with the messages, and so is each
acknowledgement of all of them. Nothing is tapped or recorded. The ways take turns within a round, so that a
busy machine slows both; the first round warms up.

Prints messages a second, the CPU that a message costs here, in the adapter and in the server, and the
overhead: by the clock, the median within a round of what the adapter's loop took longer; by CPU, what all
processes together took longer. Asserts nothing. The bound is 5 % by the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import nats
from nats.js.api import ConsumerConfig, StorageType, StreamConfig

from jetproof.targets.clients.build import prepare_client
from jetproof.targets.clients.process import Adapter, start_adapter
from jetproof.targets.clients.spec import parse_client
from jetproof.targets.topology import start_target

STREAM = "overhead"
WAYS = ("direct", "adapter")
Loop = Callable[[int], Awaitable[int]]


@dataclass(slots=True)
class Took:
    """What the rounds of one way took; seconds a message."""

    clock: list[float] = field(default_factory=list)
    here: list[float] = field(default_factory=list)
    adapter: list[float] = field(default_factory=list)
    server: list[float] = field(default_factory=list)

    @property
    def cpu(self) -> float:
        return sum(map(statistics.median, (self.here, self.adapter, self.server)))


def cpu_of(pid: int | None) -> float:
    """Seconds of CPU that a process has used, by its threads; 0 where the system does not tell."""
    tasks = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1e9


async def direct_loop(url: str, kind: str) -> tuple[Loop, Callable[[], Awaitable[None]]]:
    client = await nats.connect(url)
    subscription = await client.jetstream().pull_subscribe_bind("direct", STREAM)

    async def fetched(batch: int) -> int:
        messages = await subscription.fetch(batch, timeout=30)
        for message in messages:
            assert message.metadata.sequence.stream
            await (message.ack() if kind == "ack" else message.ack_sync())
        return len(messages)

    return fetched, client.close


async def adapter_loop(adapter: Adapter, url: str, kind: str) -> Loop:
    # An adapter keeps every message, to acknowledge it: as in a case, those of a round are the most.
    await adapter.call("close")
    await adapter.call("connect", {"url": url})
    await adapter.call("consumer.get", {"as": "c", "stream": STREAM, "consumer": "adapter"})

    async def fetched(batch: int) -> int:
        answer = await adapter.call(
            "fetch", {"of": "c", "max_messages": batch, "expires_ms": 30000}
        )
        messages = cast("dict[str, list[dict[str, Any]]]", answer.body)["messages"]
        names = [message["msg"] for message in messages]
        await adapter.call("ack", {"messages": names, "kind": kind})
        return len(names)

    return fetched


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
    client = prepare_client(parse_client("python:nats-py"))
    found = {way: Took() for way in WAYS}
    async with (
        start_target("latest") as target,
        start_adapter(client.command, name=client.name, cwd=client.cwd, env=client.env) as adapter,
    ):
        node = next(iter(target.nodes.values()))
        url = f"nats://{node.host}:{node.port}"
        await filled(url, count * (rounds + 1), size)
        direct, close = await direct_loop(url, kind)
        for number in range(rounds + 1):
            loops = {"direct": direct, "adapter": await adapter_loop(adapter, url, kind)}
            for way in WAYS:
                pids = (os.getpid(), adapter.pid, node.pid)
                before, started = [cpu_of(pid) for pid in pids], time.perf_counter()
                left = count
                while left > 0:
                    left -= await loops[way](min(batch, left))
                took = time.perf_counter() - started
                if number:
                    entry = found[way]
                    entry.clock.append(took / count)
                    spent = [cpu_of(pid) - was for pid, was in zip(pids, before, strict=True)]
                    for costs, cpu in zip(
                        (entry.here, entry.adapter, entry.server), spent, strict=True
                    ):
                        costs.append(cpu / count)
        await close()
    return found


def show(found: dict[str, Took], batch: int, kind: str) -> None:
    median = statistics.median
    print(f"fetch {batch}, {kind}: messages/s, and CPU of a message in us")
    for way, took in found.items():
        costs = ", ".join(
            f"{name} {1e6 * median(values):.0f}"
            for name, values in (
                ("here", took.here),
                ("adapter", took.adapter),
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
    given = parser.parse_args()
    show(
        asyncio.run(measure(given.rounds, given.messages, given.batch, given.size, given.kind)),
        given.batch,
        given.kind,
    )
