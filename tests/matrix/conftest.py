"""Commands run in this process, case files whose verdicts are known, and broken servers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from jetproof.cli import main
from jetproof.data import fixtures_dir
from jetproof.results import read_run
from jetproof.targets.releases import installed_binary

HEAD = """\
suite: adr-50/trial
about: Cases for the tests of the matrix
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
"""
SLOW = """\
  - case: slow
    clauses: [A50-ATOMIC-001]
    budget: 120s
    steps:
      - silence: {on: replies, for: 60s}
"""
CHANGED = """\
  - case: changed
    clauses: [A50-ATOMIC-001]
    steps:
      - publish:
          subject: $stream.a
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 1, Nats-Expected-Last-Msg-Id: x}
      - request:
          subject: $stream.b
          headers: {Nats-Batch-Id: $batch, Nats-Batch-Sequence: 2, Nats-Batch-Commit: 1}
        reply: {error: any}
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
CaseFile = Callable[..., Path]
Validate = Callable[[str, object], None]
Build = Callable[..., str]


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
def process(tmp_path: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a command in a process of its own."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [sys.executable, "-m", "jetproof.cli", *map(str, arguments)],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "PYTHONIOENCODING": "utf-8"},
        )
        started.append(child)
        return child

    yield start
    for child in started:
        if child.poll() is None:
            child.kill()
        child.communicate()


@pytest.fixture
def case_file(tmp_path: Path) -> CaseFile:
    """Writes a case file of the cases given."""

    def write(*cases: str, name: str = "trial.yaml") -> Path:
        path = tmp_path / name
        path.write_text(HEAD + "".join(cases))
        return path

    return write


@pytest.fixture
def build(tmp_path: Path) -> Build:
    """A build that says this version and then starts the real server, or does what it is told."""

    def write(name: str, version: str = "2.15.1", does: str | None = None) -> str:
        write_build(tmp_path / name, version, does)
        return f"path:./{name}"

    return write


def write_build(path: Path, version: str = "2.15.1", does: str | None = None) -> None:
    path.write_text(
        '#!/bin/sh\nif [ "$1" = --version ]; then\n'
        f"  echo nats-server: v{version}\n  exit 0\nfi\n"
        + (f"{does}\n" if does else f'exec "{installed_binary()}" "$@"\n')
    )
    path.chmod(0o755)


@pytest.fixture(scope="session")
def conforms() -> Validate:
    """Fails unless a document conforms to the published schema of that name."""

    def check(name: str, document: object) -> None:
        path = fixtures_dir() / "schemas" / f"{name}.json"
        schema = json.loads(path.read_text(encoding="utf-8"))
        Draft202012Validator.check_schema(schema)
        Draft202012Validator(schema).validate(document)

    return check


def verdicts(folder: Path, *, schemas: bool = False) -> dict[tuple[str, str], str]:
    """The last verdict of every cell, by its case's name and its target; of `schemas` too if asked."""
    run = read_run(folder)
    return {
        (one.about.rpartition("::")[2], one.target): one.verdict.value
        for one in (run.results if schemas else run.latest)
    }
