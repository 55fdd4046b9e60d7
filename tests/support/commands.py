"""Commands in this process or in one of their own, against fakes with known behaviour."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jetproof.cli import main

TESTS = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        return loaded

    @property
    def cells(self) -> dict[str, dict[str, Any]]:
        """The cells of a `run --json` by their case's name."""
        return {cell["case"].partition("::")[2]: cell for cell in self.document["cells"]}

    @property
    def verdicts(self) -> dict[str, str]:
        return {name: cell["verdict"] for name, cell in self.cells.items()}

    @property
    def last(self) -> str:
        return self.out.splitlines()[-1]


Command = Callable[..., Done]
Fake = Callable[[str], str]
Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def jetproof(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs a command in this process, in an empty folder, on a terminal of 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@contextmanager
def fake_of(kind: str) -> Iterator[str]:
    """The URL of a fake server of `tests/fakes`, for the length of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "fakes", kind], cwd=TESTS, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()


@pytest.fixture
def fake() -> Iterator[Fake]:
    """Gives the URL of a fake server of `tests/fakes`, which serves until the test ends."""
    with ExitStack() as stack:
        yield lambda kind: stack.enter_context(fake_of(kind))


@pytest.fixture
def process(tmp_path: Path) -> Iterator[Start]:
    """Starts a command in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, **more: Any) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "jetproof", *map(str, arguments)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
            **more,
        )
        started.append(child)
        return child

    yield start
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()
