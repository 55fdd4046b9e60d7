"""Commands run in this process or in one of their own, and case files whose verdicts are known."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from jetproof.cli import main
from jetproof.data import fixtures_dir

HEAD = """\
suite: adr-50/trial
about: Cases for the tests of the command line
given:
  stream: {subjects: ["$stream.>"], allow_atomic: true}
cases:
"""
PASSES = """\
  - case: passes
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1}}
        reply: {empty: true}
"""
FAILS = """\
  - case: fails
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, payload: hello}
        reply: {json: {seq: 7}}
      - stream: {messages: 9}
"""
HOSTILE = """\
  - case: hostile
    clauses: [A50-ATOMIC-001]
    steps:
      - subscribe: {subject: $stream.>, to: box}
      - publish: {subject: $stream.a, payload: "\\e[2J\\e]0;owned\\a\\u202eback\\nforged"}
      - receive: {from: box}
        message: {payload: harmless}
"""
SLOW = """\
  - case: slow
    clauses: [A50-ATOMIC-001]
    budget: 120s
    steps:
      - silence: {on: replies, for: 60s}
"""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, object]:
        loaded = json.loads(self.out)
        assert isinstance(loaded, dict)
        return loaded


Command = Callable[..., Done]
Validate = Callable[[str, object], None]


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


@pytest.fixture
def process(tmp_path: Path) -> Callable[..., subprocess.Popen[str]]:
    """Starts a command in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object, **more: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "jetproof.cli", *map(str, arguments)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
            **more,  # type: ignore[call-overload]
        )
        started.append(child)
        return child

    yield start  # type: ignore[misc]
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.fixture
def case_file(tmp_path: Path) -> Callable[..., Path]:
    """Writes a case file of the cases given."""

    def write(*cases: str, name: str = "trial.yaml") -> Path:
        path = tmp_path / name
        path.write_text(HEAD + "".join(cases))
        return path

    return write


@pytest.fixture(scope="session")
def conforms() -> Validate:
    """Fails unless a document conforms to the published schema of that name."""

    def check(name: str, document: object) -> None:
        path = fixtures_dir() / "schemas" / f"{name}.json"
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(document)

    return check
