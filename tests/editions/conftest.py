"""A checkout of its own: a specification with few cases, which tests freeze, add to and change."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.data import fixtures_dir
from support.demo import CLAUSES

FOR_SERVERS = """\
suite: demo/basic
about: Cases for servers
given:
  stream: {subjects: ["$stream.>"]}
cases:
"""
FOR_LIBRARIES = """\
suite: demo/client/basic
about: Cases for libraries
given:
  stream: {subjects: ["$stream.>"], allow_atomic: true}
cases:
"""
STORES = """\
  - case: stores
    clauses: [DEMO-001]
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {json: {seq: 1}}
"""
WRONG = """\
  - case: wrong
    clauses: [DEMO-001]
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {json: {seq: 7}}
"""
CLOSES = """\
  - case: closes
    clauses: [DEMO-002]
    steps:
      - call: {op: batch.open, as: b}
      - call: {op: batch.close, of: b}
        answer: any
"""
COMMITS = """\
  - case: commits
    clauses: [DEMO-002]
    steps:
      - call: {op: batch.open, as: b}
      - call: {op: batch.add, of: b, subject: $stream.a, data: m1}
      - call: {op: batch.commit, of: b, subject: $stream.b, data: m2}
        answer: any
      - wire: {op: PUB, subject: $stream.b}
        label: commit
        message: {headers: {Nats-Batch-Commit: 1}}
"""
KNOB = "commit-value-unknown"
"""What makes the reference client fail `commits`."""


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


class Checkout:
    """The suites of a Jetproof, as its maintainers change them."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.editions = root / "suites" / "editions"

    def servers(self, *cases: str) -> None:
        self._write("basic.yaml", FOR_SERVERS, cases)

    def libraries(self, *cases: str) -> None:
        self._write("client/basic.yaml", FOR_LIBRARIES, cases)

    def _write(self, name: str, head: str, cases: tuple[str, ...]) -> None:
        path = self.root / "suites" / "demo" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(head + "".join(cases))


Jetproof = Callable[..., Done]
Adapter = Callable[..., Path]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkout:
    real, root = fixtures_dir(), tmp_path / "checkout"
    shutil.copytree(real, root / "fixtures", ignore=shutil.ignore_patterns("mutants", "forms.yaml"))
    (root / "suites" / "demo").mkdir(parents=True)
    (root / "suites" / "demo" / "clauses.yaml").write_text(CLAUSES)
    (root / "adapters").mkdir()
    monkeypatch.setattr("jetproof.data._PACKAGE", root / "harness" / "jetproof")
    made = Checkout(root)
    made.servers(STORES)
    made.libraries(CLOSES)
    return made


@pytest.fixture
def jetproof(
    checkout: Checkout,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Jetproof:
    """Runs a command in this process, in an empty folder, with the suites of the checkout."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")

    def run(*arguments: object) -> Done:
        capsys.readouterr()
        try:
            code = main([*map(str, arguments)])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 1
        said = capsys.readouterr()
        return Done(code, said.out, said.err)

    return run


@pytest.fixture
def library(tmp_path: Path) -> Adapter:
    """An adapter in a maintainer's own checkout: the reference client, with knobs."""

    def write(*knobs: str) -> Path:
        options = "".join(f" --knob {knob}" for knob in knobs)
        path = tmp_path / "my-adapter"
        path.write_text(
            f"#!/bin/sh\nexec {sys.executable} -m jetproof.targets.reference_client{options}\n"
        )
        path.chmod(0o755)
        return path

    return write
