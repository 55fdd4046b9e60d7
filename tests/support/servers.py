"""Servers for tests of what stands in front of one: a real one, and fake ones that follow a script."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from jetproof.targets.releases import installed_binary

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
FakeServer = Callable[[Script], AbstractAsyncContextManager[int]]


@contextmanager
def served(
    folder: Path, config: str = "", *, jetstream: bool = True, port: int = -1
) -> Iterator[int]:
    """The client port of a server that runs for as long as the context lasts; -1 takes a free one."""
    folder.mkdir(exist_ok=True)
    file = folder / "server.conf"
    store = f"jetstream {{ store_dir: '{folder}' }}\n" if jetstream else ""
    file.write_text(f"{store}{config}")
    arguments = ["-c", file, "-a", "127.0.0.1", "-p", port, "--ports_file_dir", folder]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [str(installed_binary()), *map(str, arguments)], stderr=log, stdout=log
        )
    try:
        deadline = time.monotonic() + 20
        while not (text := "".join(found.read_text() for found in folder.glob("*.ports"))):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "no ports file"
            time.sleep(0.01)
        found = json.loads(text)
        yield int((found.get("nats") or found["tls"])[0].rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The client port of a real server with JetStream, one for all tests of a worker."""
    with served(tmp_path_factory.mktemp("nats")) as found:
        yield found


@pytest.fixture
def fake_server() -> FakeServer:
    """Runs a script for each connection on a free port; leaves nothing open behind."""

    @asynccontextmanager
    async def start(script: Script) -> AsyncIterator[int]:
        tasks: set[asyncio.Task[None]] = set()
        writers: list[asyncio.StreamWriter] = []

        async def play(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writers.append(writer)
            try:
                await script(reader, writer)
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            finally:
                writer.close()

        def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.ensure_future(play(reader, writer))
            tasks.add(task)
            task.add_done_callback(tasks.discard)

        server = await asyncio.start_server(accept, "127.0.0.1", 0)
        try:
            yield server.sockets[0].getsockname()[1]
        finally:
            server.close()
            for task in list(tasks):
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for writer in writers:
                writer.transport.abort()

    return start
