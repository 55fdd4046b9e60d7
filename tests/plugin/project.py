"""A small project that a pytest of its own plays: one case for every verdict there is.

The suites are the project's own, so that the tests do not depend on cases and ledgers that grow.
Servers are real: the newest release, which is installed with Jetproof.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from jetproof.data import fixtures_dir

HANG_SECONDS = 120
CLAUSES = """\
spec: demo
title: A demonstration
revision: 1
revisions: [{revision: 1}]
clauses:
  - {id: DEMO-001, section: One, level: must, actor: server, clause: It tells what it can do.}
  - {id: DEMO-002, section: One, level: should, actor: server, clause: It should do more.}
  - {id: DEMO-003, section: Two, level: must, actor: server, status: silent, clause: Who knows.}
  - id: DEMO-004
    section: Two
    level: must
    actor: server
    applies_from: 99.0.0
    clause: It does what nobody can do yet.
"""
LEDGER = """\
deviations:
  - id: no-such-limit
    kind: bug
    severity: protocol
    servers: "*"
    text: It has a limit of one.
    does: It has no limit.
    cases:
      demo/ledger::known: [{step: ask, path: reply.json.limits.max_streams, actual: -1}]
  - id: mended
    kind: bug
    severity: protocol
    servers: "*"
    text: It answers.
    does: It does not answer.
    cases:
      demo/ledger::stale: [{step: ask, path: reply.json.type, actual: {absent: true}}]
"""
ASK = "request: {subject: $JS.API.INFO}"
GOOD = "reply: {json: {type: io.nats.jetstream.api.v1.account_info_response}}"
BAD = "reply: {json: {type: something.else, tier: gold}}"
VERDICTS = f"""\
suite: demo/verdicts
about: Every verdict that needs no ledger
cases:
  - case: passes
    clauses: [DEMO-001]
    steps: [{{{ASK}, {GOOD}}}]
  - case: fails
    clauses: [DEMO-001]
    steps: [{{{ASK}, {BAD}}}]
  - case: warns
    clauses: [DEMO-002]
    steps: [{{{ASK}, {BAD}}}]
  - case: takes-a-position
    clauses: [DEMO-003]
    steps: [{{{ASK}, reply: {{json: {{streams: any}}, position: streams}}}}]
  - case: does-not-apply
    clauses: [DEMO-004]
    steps: [{{{ASK}, {GOOD}}}]
  - case: gets-no-verdict
    clauses: [DEMO-001]
    budget: 100ms
    steps:
      - subscribe: {{subject: $inbox.never, to: never}}
      - request: {{subject: $inbox.never}}
        reply: {{empty: true}}
"""
BY_LEDGER = f"""\
suite: demo/ledger
about: What the ledger decides
cases:
  - case: known
    clauses: [DEMO-001]
    steps: [{{label: ask, {ASK}, reply: {{json: {{limits.max_streams: 1}}}}}}]
  - case: stale
    clauses: [DEMO-001]
    steps: [{{label: ask, {ASK}, {GOOD}}}]
"""
CONFTEST = """\
from pathlib import Path

from jetproof.load import library

library.data_root = lambda: Path(__file__).parent
"""


@dataclass(frozen=True)
class Result:
    """How a pytest ended."""

    code: int
    out: str
    err: str
    junit: dict[str, ElementTree.Element] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        """`{'passed': 2, 'failed': 1}`, from the last line."""
        last = self.out.rstrip().splitlines()[-1]
        found = re.findall(r"(\d+) (\w+)", last.rpartition(" in ")[0])
        return {what.rstrip("s") if what != "passed" else what: int(n) for n, what in found}

    @property
    def played(self) -> dict[str, str]:
        """What `-v` said of each case, by the case's name."""
        found = re.findall(r"^\S+::(\S+)@\S+ ([A-Z]+)", self.out, re.MULTILINE)
        return dict(found)


@dataclass(frozen=True)
class Project:
    """A folder with a data root of its own, and pytest in it."""

    root: Path

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def also_at_start(self, code: str) -> None:
        """Python that runs in the other pytest before anything else of it."""
        path = self.root / "conftest.py"
        path.write_text(f"{path.read_text()}\n{code}")

    def command(self, *args: str) -> list[str]:
        return [sys.executable, "-m", "pytest", "-p", "jetproof.pytest_plugin", *args]

    @property
    def environment(self) -> dict[str, str]:
        """No other plugins, no colours, and no configuration from outside."""
        unwanted = ("PYTEST_", "COLUMNS", "FORCE_COLOR", "PY_COLORS", "CI")
        env = {key: value for key, value in os.environ.items() if not key.startswith(unwanted)}
        place = Path(fixtures_dir()).parent / "harness"
        paths = [str(place)] * place.is_dir() + [env.get("PYTHONPATH", "")]
        return env | {
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "TMPDIR": str(self.root / "tmp"),
            "COLUMNS": "200",
        }

    def pytest(self, *args: str) -> Result:
        """`pytest args`; JUnit XML is read if it was asked for."""
        done = subprocess.run(
            self.command(*args),
            cwd=self.root,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=HANG_SECONDS,
            check=False,
        )
        junit = {}
        if (self.root / "junit.xml").exists():
            for case in ElementTree.parse(self.root / "junit.xml").iter("testcase"):
                junit[case.attrib["name"].partition("@")[0]] = case
        return Result(done.returncode, done.stdout, done.stderr, junit)

    def jetproof(self, *args: str) -> Result:
        return self.pytest("--jetproof", *args)


def make_project(root: Path) -> Project:
    project = Project(root)
    shutil.copytree(fixtures_dir(), root / "fixtures", ignore=shutil.ignore_patterns("mutants"))
    (root / "tmp").mkdir()
    project.write("suites/demo/clauses.yaml", CLAUSES)
    project.write("suites/demo/verdicts.yaml", VERDICTS)
    project.write("suites/demo/ledger.yaml", BY_LEDGER)
    project.write("suites/deviations.yaml", LEDGER)
    project.write("conftest.py", CONFTEST)
    project.write("pytest.ini", "[pytest]\n")
    return project
