"""An adapter as a process, contained: whatever it does, it is named, and nothing of it stays.

    async with start_adapter(["./adapter"], name="go:nats.go") as adapter:
        adapter.on_event = heard.append
        await adapter.call("connect", {"url": tap.url})
        answer = await adapter.call("publish", {"subject": "a", "data": "hello"})
    assert adapter.fault is None

Parameters and bodies are plain Python values (`values`). What breaks the protocol is an
`AdapterFault`: it is raised from all calls under way and from every later one, and stands in
`fault`, also when it came to light at the end of the context (which does not raise it). A call
that is not answered while the adapter still answers others is `Unanswered`: then it is the library
that does not return, and nothing is wrong with the adapter.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import Literal, cast

from jetproof import clock
from jetproof.errors import JetproofError
from jetproof.targets.clients import family
from jetproof.targets.clients.pipes import Pipes
from jetproof.targets.clients.protocol import (
    PROTOCOL,
    AnswerKind,
    RawAnswer,
    RawEvent,
    Wrong,
    check_ok,
    read_line,
    shown,
)
from jetproof.targets.clients.values import ValueRefused, decode, encode
from jetproof.targets.node import exit_text
from jetproof.targets.server import dies_with_parent

FaultKind = Literal[
    "start", "garbage", "shape", "id", "twice", "long", "died", "silent", "memory", "end", "left"
]
Direction = Literal["to", "from"]

_WATCH_SECONDS = 0.2
_FAMILY_EVERY = 5
_TAIL_LINES = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What an adapter may take, in seconds and bytes. Times are for a machine of factor 1."""

    hello_seconds: float = 30.0
    call_seconds: float = 30.0
    probe_seconds: float = 5.0
    end_seconds: float = 5.0
    line_bytes: int = 64 * 1024 * 1024
    memory_bytes: int = 1024 * 1024 * 1024
    factor: float = 1.0


@dataclass(frozen=True, slots=True)
class Hello:
    """What an adapter says of itself."""

    library: str
    version: str
    language: str
    runtime: str
    parts: Mapping[str, str]
    capabilities: frozenset[str]
    claims: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """How a call ended. `body` is plain: what was returned, the error, or why it is unsupported."""

    kind: AnswerKind
    body: object
    at: float


@dataclass(frozen=True, slots=True)
class Event:
    """Something that an adapter told without being asked."""

    name: str
    of: str | None
    body: Mapping[str, object]
    at: float


class AdapterFault(JetproofError):
    """An adapter that did not do as an adapter must. The library is not judged by it."""

    def __init__(self, adapter: str, kind: FaultKind, reason: str, said: str = "") -> None:
        tail = f"\n--- end of its standard error ---\n{said}" if said else ""
        super().__init__(
            f"the adapter {adapter} {reason}{tail}",
            phase="adapter",
            hint=f"`jetproof smoke --client {adapter}` tells what is wrong with an adapter",
        )
        self.adapter = adapter
        self.kind: FaultKind = kind
        self.reason = reason
        self.said = said


class Unanswered(JetproofError):
    """A call that did not come back in time, from an adapter that answers other calls."""

    def __init__(self, adapter: str, op: str, seconds: float) -> None:
        super().__init__(
            f"the library behind {adapter} did not return from {op} within {seconds:g} s",
            phase="play",
        )
        self.op = op


class Adapter:
    """A running adapter. `on_event` hears its events, `on_line` every line, in order."""

    def __init__(self, name: str, limits: Limits) -> None:
        self.name = name
        self.limits = limits
        self.hello = Hello(name, "", "", "", {}, frozenset(), {})
        self.fault: AdapterFault | None = None
        self.on_event: Callable[[Event], object] | None = None
        self.on_line: Callable[[Direction, bytes, float], object] | None = None
        self._mark = token_hex(8)
        self._pipes: Pipes | None = None
        self._ending = False
        self._next_id = 1
        self._pending: dict[int, tuple[str, asyncio.Future[Answer]]] = {}
        self._late: set[int] = set()

    @property
    def pid(self) -> int | None:
        return self._pipes.pid if self._pipes is not None else None

    @property
    def stderr_tail(self) -> str:
        """The last lines of its standard error."""
        return self._pipes.said(_TAIL_LINES) if self._pipes is not None else ""

    @property
    def usable(self) -> bool:
        """Whether it can be given further calls: no fault, and nothing that never came back."""
        return self.fault is None and not self._ending and not self._late and not self._pending

    async def call(
        self, op: str, params: Mapping[str, object] | None = None, timeout: float | None = None
    ) -> Answer:
        """Calls an operation. AdapterFault if the adapter fails, Unanswered if the library does.

        `timeout` is taken as it is; without one, the limit's is stretched by its factor.
        """
        seconds = self._stretched(self.limits.call_seconds) if timeout is None else timeout
        try:
            return await self._called(op, encode(params or {}), seconds)
        except TimeoutError:
            await self._probed(op, seconds)
            raise Unanswered(self.name, op, seconds) from None

    async def reset(self) -> bool:
        """Closes its connection, so that it can serve the next case; whether it can."""
        if not self.usable:
            return False
        answer = await self.call("close")
        return answer.kind == "ok" and self.usable

    async def _called(self, op: str, params: Mapping[str, object], seconds: float) -> Answer:
        if self.fault is not None:
            raise self.fault
        if self._pipes is None or self._ending:
            raise JetproofError(f"the adapter {self.name} was ended", phase="play")
        number = self._next_id
        self._next_id += 1
        future: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending[number] = op, future
        line = json.dumps({"id": number, "op": op, **params}, separators=(",", ":")).encode()
        self._observed("to", line)
        self._pipes.write(line + b"\n")
        try:
            async with asyncio.timeout(seconds):
                return await future
        finally:
            if self._pending.pop(number, None) and (future.cancelled() or not future.done()):
                self._late.add(number)

    async def _probed(self, op: str, seconds: float) -> None:
        """Tells an adapter that hangs from a library that does not return."""
        try:
            await self._called(
                "hello",
                {"protocol": PROTOCOL},
                self._stretched(self.limits.probe_seconds),
            )
        except TimeoutError:
            raise self._failed(
                "silent", f"did not answer {op} within {seconds:g} s, nor anything after it"
            ) from None

    async def _greeted(self) -> None:
        seconds = self._stretched(self.limits.hello_seconds)
        try:
            answer = await self._called("hello", {"protocol": PROTOCOL}, seconds)
        except TimeoutError:
            raise self._failed("silent", f"did not answer hello within {seconds:g} s") from None
        if answer.kind != "ok":
            raise self._failed("shape", f"answered hello with {answer.kind}: {answer.body}")
        body = cast("dict[str, object]", answer.body)
        self.hello = Hello(
            library=str(body["library"]),
            version=str(body["version"]),
            language=str(body["language"]),
            runtime=str(body["runtime"]),
            parts=dict(cast("Mapping[str, str]", body["parts"])),
            capabilities=frozenset(cast("list[str]", body["capabilities"])),
            claims=dict(cast("Mapping[str, int]", body["claims"])),
        )

    # What comes from the process

    def _line(self, line: bytes) -> None:
        at = clock.now()
        self._observed("from", line, at)
        if self.fault is not None:
            return
        try:
            said = read_line(line)
            if isinstance(said, RawEvent):
                body = cast("dict[str, object]", decode(said.body))
                self._told(Event(said.name, said.of, body, at))
            else:
                self._answered(said, at)
        except Wrong as wrong:
            self._failed(wrong.kind, f"printed {wrong}")
        except ValueRefused as refused:
            self._failed("shape", f"printed a value that is not as it must be: {refused}")

    def _answered(self, said: RawAnswer, at: float) -> None:
        if said.id in self._late:
            self._late.discard(said.id)
            return
        pending = self._pending.get(said.id)
        if pending is not None and pending[1].cancelled():
            del self._pending[said.id]  # it came just after the caller had stopped waiting
            return
        if pending is None or pending[1].done():
            if 0 < said.id < self._next_id:
                self._failed("twice", f"answered the call {said.id} twice")
            else:
                self._failed("id", f"answered a call {said.id} that nobody made")
            return
        op, future = pending
        flaw = check_ok(op, said.body) if said.kind == "ok" else None
        if flaw is not None:
            raise Wrong("shape", f"an answer to {op} that is not as it must be: {flaw}")
        future.set_result(Answer(said.kind, decode(said.body), at))

    def _told(self, event: Event) -> None:
        if self.on_event is not None:
            self._safely(lambda: self.on_event and self.on_event(event))

    def _observed(self, direction: Direction, line: bytes, at: float | None = None) -> None:
        if self.on_line is not None:
            moment = clock.now() if at is None else at
            self._safely(lambda: self.on_line and self.on_line(direction, line, moment))

    def _safely(self, tell: Callable[[], object]) -> None:
        """A faulty observer must not change what it observes."""
        try:
            tell()
        except Exception as error:
            asyncio.get_running_loop().call_exception_handler(
                {"message": "the observer of an adapter failed", "exception": error}
            )

    def _too_long(self, size: int) -> None:
        self._failed("long", f"printed a line of more than {size:,} bytes")

    def _gone(self, returncode: int | None, rest: bytes) -> None:
        """The process has ended, and everything that it printed has been read."""
        if not self._ending:
            self._failed("died", f"died ({exit_text(returncode)})")
        elif rest:
            self._failed("garbage", f"ended in the middle of a line: {shown(rest)}")
        elif returncode != 0:
            self._failed(
                "end", f"did not end well at the end of its input ({exit_text(returncode)})"
            )

    def _failed(self, kind: FaultKind, reason: str) -> AdapterFault:
        """The first fault counts: all that follows comes of it. A faulty process is ended."""
        if self.fault is None:
            self.fault = AdapterFault(self.name, kind, reason, self.stderr_tail)
            if self._pipes is not None and not self._pipes.gone.is_set():
                self._end_family(self._pipes)
            for _, future in self._pending.values():
                if not future.done():
                    future.set_exception(self.fault)
        return self.fault

    # Its life

    async def _start(
        self, command: Sequence[str], cwd: Path | None, env: Mapping[str, str] | None
    ) -> None:
        loop = asyncio.get_running_loop()
        pipes = Pipes(self.limits.line_bytes, self._line, self._too_long, self._gone)
        try:
            await loop.subprocess_exec(
                lambda: pipes,
                *command,
                cwd=cwd,
                env={**os.environ, **(env or {}), family.MARK: self._mark},
                start_new_session=True,
                preexec_fn=dies_with_parent(),
            )
        except (OSError, ValueError) as error:
            raise AdapterFault(self.name, "start", f"cannot be started: {error}") from error
        self._pipes = pipes

    async def _watched(self, pipes: Pipes) -> None:
        """Ends it when it takes too much memory; what it started is looked at less often."""
        most = self.limits.memory_bytes
        for tick in itertools.count():
            everyone = tick % _FAMILY_EVERY == _FAMILY_EVERY - 1
            taken = family.memory_of(pipes.pid, children=everyone)
            if taken > most:
                self._failed(
                    "memory",
                    f"takes {taken // 2**20} MiB of memory, and may take {most // 2**20} MiB",
                )
                return
            await asyncio.sleep(_WATCH_SECONDS)

    async def _ended(self, pipes: Pipes) -> None:
        """End of input, then the end; what does not obey is killed, what is left is named."""
        self._ending = True
        seconds = self._stretched(self.limits.end_seconds)
        if self.fault is None:
            pipes.end_input()
            if not await _in_time(pipes.exited, seconds):
                self._failed("end", f"still ran {seconds:g} s after the end of its input")
        left = family.relatives(pipes.pid, self._mark)
        if left and self.fault is None:
            names = ", ".join(map(str, left[:5]))
            self._failed("left", f"left processes behind: {names}")
        self._end_family(pipes)
        await _in_time(pipes.gone, seconds)
        pipes.close()

    def _end_family(self, pipes: Pipes) -> None:
        left = family.relatives(pipes.pid, self._mark)
        family.end_all(pipes.pid, left, with_leader=not pipes.exited.is_set())

    def _stretched(self, seconds: float) -> float:
        return seconds * self.limits.factor


async def _in_time(event: asyncio.Event, seconds: float) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


@asynccontextmanager
async def start_adapter(
    command: Sequence[str],
    *,
    name: str,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    limits: Limits | None = None,
    on_line: Callable[[Direction, bytes, float], object] | None = None,
) -> AsyncIterator[Adapter]:
    """Starts an adapter and greets it; AdapterFault if it cannot be started or does not answer.

    `env` is added to the environment. The process dies with this one, whatever happens.
    """
    adapter = Adapter(name, limits or Limits())
    adapter.on_line = on_line
    await adapter._start(command, cwd, env)
    pipes = adapter._pipes
    assert pipes is not None
    watch = asyncio.create_task(adapter._watched(pipes))
    try:
        await adapter._greeted()
        yield adapter
    finally:
        watch.cancel()
        try:
            await asyncio.wait([watch])
            await adapter._ended(pipes)
        except asyncio.CancelledError:
            adapter._end_family(pipes)
            pipes.close()
            raise
