"""Every misbehaving server on the command line: a verdict or an error, never a hang or a crash."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from support.commands import Done, fake_of

from .commands import FACTOR, PATIENCE, case, jetproof, rows, write

STEPS = """\
      - request: {subject: a.b, within: 1s}
        reply: {status: 503, json: {seq: 1}}
      - request: {subject: a.crash, within: 1s}
        reply: {position: crash}
      - publish: {subject: a.refuse, connection: second}
      - publish: {subject: a.garbage, connection: second}
      - request: {subject: a.cut, within: 1s}
        reply: {position: cut}
"""
PRIVATE = "{connections: {second: {}, main: {options: {name: mine}}}}"
OWN_ESCAPES = re.compile(
    r"\x1b\[[0-9;]*m|\r|\x1b\[2K|\x1b\[1A|\x1b\[K|\x1b\[\?25[lh]|\x1b\[\?7[lh]"
)


def told(folder: Path, kind: str, *more: str) -> Done:
    write(folder, case("meets", STEPS, PRIVATE))
    with fake_of(kind) as url:
        return jetproof(folder, "run", "faults.yaml", "--server", url, "--out", "out", *more)


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("polite", 1),
        ("wrong", 1),
        ("mute", 1),
        ("slow", 1),
        ("cuts", 1),
        ("refuses", 1),
        ("garbage", 1),
        ("hostile", 1),
        ("crashes", 3),
        ("ping-deaf", 3),
    ],
)
def test_what_a_misbehaving_server_makes_of_a_run(tmp_path: Path, kind: str, code: int) -> None:
    ended = told(tmp_path, kind, "--json")
    assert ended.code == code, ended.err
    assert ended.verdicts == {"meets": "fail" if code == 1 else "error"}
    assert ended.document["exit_code"] == code


CONFUSED = """\
      - request: {subject: $stream.a}
        reply: {json: {seq: 1}}
      - request: {subject: $stream.late, within: 200ms}
        reply: {json: {seq: 2}}
      - request: {subject: wake.up}
        reply: {status: 503}
      - request: {subject: $stream.gap}
        reply: {json: {seq: 3}}
      - advisory: {none_for: 100ms}
      - request: {subject: new.a}
        reply: {status: 503}
      - request: {subject: headers.a}
        reply: {headers: {Nats-Sequence: {absent: true}}}
      - subscribe: {subject: box.$id, to: box}
      - unsubscribe: {from: box}
      - silence: {on: box, for: 100ms}
      - stream: {messages: 3}
"""


@pytest.mark.parametrize(
    ("kind", "failed"),
    [
        ("polite", []),
        ("after-the-end", []),
        ("twice", []),
        ("odd-headers", []),
        ("late", ["2 reply", "4 reply.json.seq", "11 stream.messages"]),
        ("new-status", ["6 reply.status"]),
        ("advisory-first", ["5 advisory"]),
    ],
)
def test_what_a_confusing_server_makes_of_a_run(
    tmp_path: Path, kind: str, failed: list[str]
) -> None:
    write(tmp_path, case("meets", CONFUSED, """{stream: {subjects: ["$stream.>"]}}"""))
    with fake_of(kind) as url:
        ended = jetproof(tmp_path, "run", "faults.yaml", "--server", url, "--out", "out")
    assert ended.code == (1 if failed else 0), ended.out
    checks = rows(tmp_path / "out", "checks")
    told = [f"{row['step']} {row['path']}" for row in checks if not row["ok"]]
    assert [one for one in told if one[0].isdigit()] == failed


def test_a_server_that_says_nothing_cannot_be_used(tmp_path: Path) -> None:
    ended = told(tmp_path, "silent")
    assert ended.code == 3
    assert "does not answer as a NATS server" in ended.err


def test_hostile_payloads_do_nothing_to_files(tmp_path: Path) -> None:
    ended = told(tmp_path, "hostile", "--json", "--junit", "junit.xml")
    assert ended.code == 1
    raw = json.dumps(ended.document, ensure_ascii=False)
    assert "\x1b" not in raw
    assert len(raw) < 100_000
    for journal in ("cells", "checks", "frames"):
        assert rows(tmp_path / "out", journal)
        text = (tmp_path / "out" / f"{journal}.jsonl").read_bytes()
        assert text.isascii()
        assert b"\x1b" not in text
    frame = next(row for row in rows(tmp_path / "out", "frames") if row["direction"] == "<")
    assert frame["truncated"]
    assert frame["size"] > 2**20
    ElementTree.parse(tmp_path / "junit.xml")
    assert b"\x1b" not in (tmp_path / "junit.xml").read_bytes()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("command", ["run", "replay"])
def test_hostile_payloads_do_nothing_to_a_terminal(tmp_path: Path, command: str) -> None:
    path = write(tmp_path, case("meets", STEPS, PRIVATE))
    terminal, side = os.openpty()
    with (
        fake_of("hostile") as url,
        subprocess.Popen(
            [sys.executable, "-m", "jetproof", command, str(path), "--server", url, "-v"],
            cwd=tmp_path,
            stdin=side,
            stdout=side,
            stderr=side,
            env={**os.environ, "TERM": "xterm-256color", "PYTHONUTF8": "1", **FACTOR},
        ) as process,
    ):
        os.close(side)
        seen = b""
        try:
            while data := os.read(terminal, 65536):
                seen += data
        except OSError:
            pass  # the other side is closed: the end
        assert process.wait(PATIENCE) == 1
    os.close(terminal)
    text = OWN_ESCAPES.sub("", seen.decode("utf-8"))
    assert "owned" in text
    assert all(line.isprintable() for line in text.split("\n")), ascii(text)
    assert len(text) < 50_000
