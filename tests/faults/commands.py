"""Commands in processes of their own: how they end, what they say, which servers they run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.commands import Done
from support.processes import children

PATIENCE = 90.0
# What is waited for here takes its time or never comes: stretching it proves nothing more.
FACTOR = {"JETPROOF_TIME_FACTOR": "1"}
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

    def ended(self) -> Done:
        """Waits for the end; a command that hangs is killed, and fails the test."""
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise AssertionError(f"it hangs:\n{out}\n{err}") from None
        assert "Traceback" not in out + err, err
        return Done(self.process.returncode, out, err)

    def servers(self) -> list[int]:
        """The processes that it started."""
        return children(self.process.pid)


def jetproof(folder: Path, *arguments: object, **environment: str) -> Done:
    return Command(folder, *arguments, **environment).ended()


def configuration(pid: int) -> str:
    """What a server was started with."""
    arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    return Path(arguments[arguments.index("--config") + 1]).read_text(encoding="utf-8")


def rows(folder: Path, journal: str) -> list[dict[str, Any]]:
    text = (folder / f"{journal}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n") if line]
