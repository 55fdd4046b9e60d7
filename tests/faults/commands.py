"""Commands in processes of their own: how they end, what they say, which servers they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PATIENCE = 90.0
# What is waited for here takes its time or never comes: stretching it proves nothing more.
FACTOR = {"JETPROOF_TIME_FACTOR": "1"}
TESTS = Path(__file__).parents[1]
HEAD = "suite: adr-50/faults\nabout: Cases that meet trouble\ncases:\n"


def case(name: str, steps: str, given: str = "{}", budget: str = "60s") -> str:
    return f"""\
  - case: {name}
    clauses: [A50-ATOMIC-001]
    budget: {budget}
    given: {given}
    steps:
{steps}"""


ASKS = """\
      - request: {subject: $JS.API.INFO}
        reply: {json: {memory: {gte: 0}}}
"""
WAITS = """\
      - subscribe: {subject: box.$id, to: box}
      - receive: {from: box, within: 40s}
        message: {payload: x}
"""


def write(folder: Path, *cases: str) -> Path:
    path = folder / "faults.yaml"
    path.write_text(HEAD + "".join(cases), encoding="utf-8")
    return path


@dataclass(frozen=True, slots=True)
class Ended:
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


class Command:
    """`jetproof ...`, running in a folder."""

    def __init__(self, folder: Path, *arguments: object, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "jetproof", *map(str, arguments)],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONUTF8": "1", "NO_COLOR": "1", **FACTOR, **environment},
        )

    def ended(self) -> Ended:
        """Waits for the end; a command that hangs is killed, and fails the test."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"it hangs:\n{out}\n{err}") from None
        assert "Traceback" not in out + err, err
        return Ended(self.process.returncode, out, err)

    def servers(self) -> list[int]:
        """The processes that it started."""
        found: list[int] = []
        for task in Path(f"/proc/{self.process.pid}/task").glob("*/children"):
            found += map(int, task.read_text().split())
        return found


def jetproof(folder: Path, *arguments: object, **environment: str) -> Ended:
    return Command(folder, *arguments, **environment).ended()


def wait_for(what: Callable[[], object], why: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def configuration(pid: int) -> str:
    """What a server was started with."""
    arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return Path(arguments[arguments.index("--config") + 1]).read_text(encoding="utf-8")


def rows(folder: Path, journal: str) -> list[dict[str, Any]]:
    text = (folder / f"{journal}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]


@contextmanager
def fake(kind: str) -> Iterator[str]:
    """The URL of a fake server of `tests/fakes`, for the length of the block."""
    with subprocess.Popen(
        [sys.executable, "-m", "fakes", kind], cwd=TESTS, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip()
        finally:
            process.kill()
