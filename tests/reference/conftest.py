"""A server behind the reference layer, and what tests ask it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jetproof.targets.sweep import Owner, own_run
from jetproof.targets.topology import RunningTarget, start_target
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Msg
from support.waiting import bounded

HANG_SECONDS = 120.0


@dataclass(slots=True)
class Bench:
    """A target behind the layer, a client of it, and one that goes past the layer."""

    target: RunningTarget
    client: Connection
    past: Connection

    async def ask(self, subject: str, body: object = None, *, past: bool = False) -> Msg:
        payload = b"" if body is None else json.dumps(body).encode()
        return await (self.past if past else self.client).request(subject, payload, timeout=20)

    async def told(self, subject: str, body: object = None, *, past: bool = False) -> Any:
        return json.loads((await self.ask(subject, body, past=past)).payload)

    async def stream(self, name: str = "S", messages: int = 0, **config: object) -> None:
        wanted = {"name": name, "subjects": [f"{name}.>"], "allow_direct": True, **config}
        assert "config" in await self.told(f"$JS.API.STREAM.CREATE.{name}", wanted)
        for number in range(1, messages + 1):
            assert (await self.told(f"{name}.a"))["seq"] == number


@pytest.fixture
def owner(tmp_path: Path) -> Iterator[Owner]:
    with own_run(tmp_path / "runs") as made:
        yield made


@pytest.fixture
def with_layer(owner: Owner) -> Callable[..., None]:
    """Runs a test's coroutine with a bench; one that hangs is ended, and with it the test."""

    @contextlib.asynccontextmanager
    async def bench(**knobs: bool) -> AsyncIterator[Bench]:
        named = {name.replace("_", "-"): value for name, value in knobs.items()}
        async with (
            start_target("reference:latest", owner=owner, knobs=named) as target,
            await Connection.open(*target.address("n1"), options=target.credentials()) as client,
            await Connection.open(
                target.nodes["n1"].host, target.nodes["n1"].port, options=target.credentials()
            ) as past,
        ):
            yield Bench(target, client, past)

    def run(test: Callable[[Bench], Coroutine[Any, Any, None]], **knobs: bool) -> None:
        async def played() -> None:
            async with bench(**knobs) as made:
                await test(made)

        bounded(played(), HANG_SECONDS)

    return run
