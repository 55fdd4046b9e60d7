"""Commands run in this process, and adapters as executables."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jetproof.cli import main
from jetproof.data import adapters_dir, fixtures_dir

HERE = Path(__file__).parent
NATS_PY = adapters_dir() / "python-nats-py" / "adapter.py"
"""nats-py is a dependency of Jetproof: its adapter runs here without being built."""


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


Command = Callable[..., Done]
Conforms = Callable[[str, object], None]
Program = Callable[..., Path]


@pytest.fixture
def jetproof(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """Runs a command in this process, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture(scope="session")
def conforms() -> Conforms:
    """Fails unless a document conforms to the published schema of that name."""

    def check(name: str, document: object) -> None:
        path = fixtures_dir() / "schemas" / f"{name}.json"
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(document)

    return check


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """A Python program with its arguments, as an executable."""

    def write(file: Path, *arguments: str) -> Path:
        path = tmp_path / f"adapter-{len(list(tmp_path.iterdir()))}"
        words = " ".join(f'"{word}"' for word in (sys.executable, file, *arguments))
        path.write_text(f"#!/bin/sh\nexec {words}\n")
        path.chmod(0o755)
        return path

    return write
