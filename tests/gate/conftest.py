"""Client libraries for the gate: the reference client as it is, wrong on purpose, or no adapter."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jetproof.cli import main

HEAD = """\
suite: adr-50/client/trial
about: Cases for the tests of the gate
given:
  stream: {subjects: ["$stream.>"], allow_atomic: true}
cases:
"""
COMMITS = """\
  - case: commits
    clauses: [A50-ATOMIC-154]
    steps:
      - call: {op: batch.open, as: b}
      - call: {op: batch.add, of: b, subject: $stream.a, data: m1}
      - call: {op: batch.commit, of: b, subject: $stream.b, data: m2}
        label: committed
        answer: any
      - wire: {op: PUB, subject: $stream.b}
        label: commit
        message: {headers: {Nats-Batch-Commit: 1}}
"""
CLOSES = """\
  - case: closes
    clauses: [A50-ATOMIC-154]
    steps:
      - call: {op: batch.open, as: b}
      - call: {op: batch.close, of: b}
        answer: any
"""
WRONG = "commit-value-unknown"
"""The knob that makes `commits` fail: the commit header says yes."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


Gate = Callable[..., Done]


@pytest.fixture
def gate(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Gate:
    """Runs `jetproof gate` in this process, in an empty folder, on the newest server."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            code = main(["gate", *map(str, arguments)])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def cases(tmp_path: Path) -> Callable[..., Path]:
    """Writes a case file of the cases given."""

    def write(*given: str) -> Path:
        path = tmp_path / "trial.yaml"
        path.write_text(HEAD + "".join(given))
        return path

    return write


@pytest.fixture
def library(tmp_path: Path) -> Callable[..., Path]:
    """An adapter in a maintainer's own checkout: the reference client, with knobs."""

    def write(*knobs: str) -> Path:
        options = "".join(f" --knob {knob}" for knob in knobs)
        return script(
            tmp_path / "my-adapter",
            f"exec {sys.executable} -m jetproof.targets.reference_client{options}",
        )

    return write


def script(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path
