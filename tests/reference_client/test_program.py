"""The program itself: its options, its end, and lines that are no calls."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

HARNESS = Path(__file__).parents[2] / "harness"


def run(*arguments: str, lines: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "jetproof.targets.reference_client", *arguments]
    env = {**os.environ, "PYTHONPATH": str(HARNESS)}
    return subprocess.run(command, input=lines, capture_output=True, timeout=60, env=env)


def answers(done: subprocess.CompletedProcess[bytes]) -> list[Any]:
    return [json.loads(line) for line in done.stdout.splitlines()]


HELLO = b'{"id": 1, "op": "hello", "protocol": 1}\n'


def test_hello() -> None:
    done = run(lines=HELLO)
    assert done.returncode == 0
    told = answers(done)[0]["ok"]
    assert told["library"] == "reference"
    assert told["claims"] == {"adr-31": 8, "adr-37": 3, "adr-50": 10, "adr-53": 4, "model": 1}
    assert {"consume", "ingest.add", "kv.create", "direct.multi"} <= set(told["capabilities"])


def test_an_earlier_revision_is_claimed() -> None:
    done = run("--revision", "adr-37@0", lines=HELLO)
    assert answers(done)[0]["ok"]["claims"]["adr-37"] == 0


def test_what_there_is_not() -> None:
    for arguments in (["--knob", "no-such"], ["--revision", "adr-37@9"], ["--revision", "x@1"]):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stdout == b""
        assert done.stderr


def test_a_knob_says_how_often_it_came_to_bear() -> None:
    done = run("--knob", "fetch-is-missing", lines=HELLO)
    assert "fetch" not in answers(done)[0]["ok"]["capabilities"]
    assert b"knob fetch-is-missing came to bear" in done.stderr


def test_lines_that_are_no_calls() -> None:
    calls = b'nonsense\n{"op": "hello"}\n{"id": 2, "op": "dance"}\n{"id": 3, "op": "fetch"}\n'
    done = run(lines=calls)
    assert done.returncode == 0
    by_id = {answer["id"]: answer for answer in answers(done)}
    assert set(by_id) == {2, 3}
    assert "dance" in by_id[2]["unsupported"]
    assert by_id[3]["error"]["type"]


def test_calls_before_a_connection() -> None:
    done = run(lines=b'{"id": 1, "op": "publish", "subject": "a"}\n{"id": 2, "op": "close"}\n')
    by_id = {answer["id"]: answer for answer in answers(done)}
    assert by_id[1]["error"]["type"] == "NotConnected"
    assert by_id[2] == {"id": 2, "ok": {}}


def test_nobody_to_connect_to() -> None:
    done = run(lines=b'{"id": 1, "op": "connect", "url": "nats://127.0.0.1:1"}\n')
    assert done.returncode == 0
