"""What scenarios play on: a real server, a tap before it, and the reference client behind the tap.

The client runs in the process of the test: `Inside` stands where standard input and output are
otherwise, and holds every line against the schemas of the protocol. `test_program` has the process.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from types import ModuleType
from typing import Any

import pytest

from jetproof.targets.clients.process import Answer, Event
from jetproof.targets.clients.protocol import RawEvent, check_ok, read_line
from jetproof.targets.clients.values import decode, encode
from jetproof.targets.reference_client.__main__ import read_conduct
from jetproof.targets.reference_client.knobs import Faulty
from jetproof.targets.reference_client.operations import Operations
from jetproof.targets.reference_client.protocol import Writer, answer
from jetproof.targets.reference_client.state import State
from jetproof.targets.tap import Tap
from jetproof.targets.tap.session import TapEvent
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Frame, Pub
from jetproof.wire.headers import Headers

HANG_SECONDS = 60.0
_numbers = count(1)


class Inside:
    """The client without its process: calls in, lines out, each as the protocol wants it."""

    def __init__(self, conduct: Faulty) -> None:
        self.events: list[Event] = []
        self.conduct = conduct
        self.state = conduct.part(State)(conduct, Writer(self))  # type: ignore[arg-type]
        self._handlers = conduct.part(Operations)(self.state).handlers()
        self._answers: dict[int, Answer] = {}
        self._calls = count(1)

    async def call(self, op: str, params: dict[str, Any]) -> Answer:
        number = next(self._calls)
        call = json.loads(json.dumps({**encode(params), "id": number, "op": op}))
        await answer(number, call, self.state.writer, self._handlers, pytest.fail)
        told = self._answers.pop(number)
        assert told.kind != "ok" or not (flaw := check_ok(op, told.body)), flaw
        return Answer(told.kind, decode(told.body), told.at)

    def write(self, data: bytes) -> None:
        said, at = read_line(data.removesuffix(b"\n")), time.monotonic()
        if isinstance(said, RawEvent):
            body: Any = decode(said.body)
            self.events.append(Event(said.name, said.of, body, at))
        else:
            assert said.id not in self._answers
            self._answers[said.id] = Answer(said.kind, said.body, at)

    def flush(self) -> None:
        pass


@dataclass(slots=True)
class Bench:
    """The client under test (`call`, `events`, `frames`) and a raw connection that sets things up."""

    adapter: Inside
    tap: Tap
    raw: Connection
    stream: str
    frames: list[TapEvent]
    patience: float = 20.0

    @property
    def events(self) -> list[Event]:
        return self.adapter.events

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

    def inject(self, headers: Headers) -> None:
        """Sends a status to the inbox of the consume, in the server's name."""
        inbox = self.sent("$JS.API.CONSUMER.MSG.NEXT.")[0].reply
        self.raw.publish(str(inbox), headers=headers)

    async def settled(self) -> None:
        """Waits until whatever is on its way in either direction has come."""
        for _ in range(3):
            await self.raw.flush()
            await self.adapter.state.requests.line.flush(5)

    async def until(self, done: Callable[[], object]) -> None:
        """Waits until something is so; the test fails if it never is."""
        deadline = time.monotonic() + self.patience
        while not done():
            assert time.monotonic() < deadline, "it did not happen"
            await asyncio.sleep(0.01)


@asynccontextmanager
async def bench(
    port: int, arguments: tuple[str, ...], patience: float = 20.0
) -> AsyncIterator[Bench]:
    frames: list[TapEvent] = []
    adapter = Inside(read_conduct(arguments))
    async with (
        await Connection.open("127.0.0.1", port) as raw,
        Tap("127.0.0.1", port, on_frame=frames.append) as tap,
    ):
        made = Bench(adapter, tap, raw, f"T{next(_numbers)}", frames, patience)
        wanted = {"reconnect_wait_ms": 50, "timeout_ms": 3000}
        try:
            await made.call("connect", url=f"nats://{tap.host}:{tap.port}", **wanted)
            yield made
        finally:
            await adapter.state.close()


@dataclass(frozen=True, slots=True)
class Scenario:
    """Something that must be so of a right client, and the knobs that it must notice."""

    name: str
    act: Callable[..., Coroutine[Any, Any, None]]
    knobs: tuple[str, ...]
    revision: str | None
    given: tuple[object, ...] = ()

    async def play(self, port: int) -> None:
        """With a right client; one that hangs is ended, and has failed."""
        async with asyncio.timeout(HANG_SECONDS), self._bench(port, None, 20.0) as made:
            await self.act(made, *self.given)

    async def outcome(self, port: int, knob: str | None, patience: float) -> Outcome:
        """How it ends with a client that is wrong in one way, or in none."""
        made: Bench | None = None
        passed = False
        # What is missing shows as a key that is not there, or as a number of values.
        with contextlib.suppress(AssertionError, TimeoutError, ValueError, KeyError, IndexError):
            async with (
                asyncio.timeout(4 * patience),
                self._bench(port, knob, patience) as made,
            ):
                await self.act(made, *self.given)
                passed = True
        fired = made.adapter.conduct.fired[knob] if made is not None and knob else 0
        return Outcome(passed, fired)

    def _bench(
        self, port: int, knob: str | None, patience: float
    ) -> AbstractAsyncContextManager[Bench]:
        arguments = ["--revision", self.revision] if self.revision else []
        arguments += ["--knob", knob] if knob else []
        return bench(port, tuple(arguments), patience)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Whether a scenario held, and how often the knob came to bear."""

    passed: bool
    fired: int


def notices(
    knobs: str = "", *, revision: str | None = None, given: tuple[object, ...] = (), name: str = ""
) -> Callable[[Callable[..., Coroutine[Any, Any, None]]], Scenario]:
    """Makes a scenario of a coroutine; `knobs` are those that make it fail."""

    def made(act: Callable[..., Coroutine[Any, Any, None]]) -> Scenario:
        return Scenario(name or act.__name__, act, tuple(knobs.split()), revision, given)

    return made


def scenarios(*modules: ModuleType) -> list[Scenario]:
    """All scenarios that these modules have, alone or in lists."""
    found: list[Scenario] = []
    for module in modules:
        for value in vars(module).values():
            listed = value if isinstance(value, list) else [value]
            found += [one for one in listed if isinstance(one, Scenario)]
    return found
