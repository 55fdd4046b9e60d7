"""A checkout of its own: a specification with few cases, which tests freeze, add to and change."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from support import case_files
from support.case_files import CLIENT_HEAD
from support.commands import Command
from support.demo import CLAUSES

FOR_SERVERS = """\
suite: demo/basic
about: Cases for servers
given:
  stream: {subjects: ["$stream.>"]}
cases:
"""
FOR_LIBRARIES = CLIENT_HEAD.format(suite="demo/client/basic")
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
CLOSES = case_files.CLOSES.format(clause="DEMO-002")
COMMITS = case_files.COMMITS.format(clause="DEMO-002")


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
def jetproof(checkout: Checkout, jetproof: Command, tmp_path: Path) -> Command:
    """Runs a command in this process, in an empty folder, with the suites of the checkout."""
    (tmp_path / "work").mkdir()
    os.chdir(tmp_path / "work")
    return jetproof
