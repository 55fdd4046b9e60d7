"""`jetproof replay`: one case, whole."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from support.case_files import FAILS, PASSES
from support.commands import Command
from support.documents import Validate

CaseFile = Callable[..., Path]
CASE = "adr-50/atomic/commit::commit-1-stores-every-message"


def test_the_whole_transcript_of_a_case_of_the_suites_is_shown(jetproof: Command) -> None:
    done = jetproof("replay", CASE)
    assert done.code == 0
    assert f"✓ pass     {CASE} @" in done.out
    assert "frames, all " in done.out
    assert "Nats-Batch-Commit: 1" in done.out
    assert re.search(r"> HPUB  \S+  reply=", done.out)
    assert re.search(r'< MSG  \S+\n\s+\{"stream":', done.out)


def test_verbose_shows_every_check_that_was_made(jetproof: Command) -> None:
    assert "checks" not in jetproof("replay", CASE).out
    done = jetproof("replay", "-v", CASE)
    assert re.search(r"✓ 3  reply\.json\.count  3", done.out)


def test_a_failure_exits_with_1(jetproof: Command, case_file: CaseFile) -> None:
    done = jetproof("replay", f"{case_file(PASSES, FAILS)}::fails")
    assert done.code == 1
    assert "reply.json.seq" in done.out


def test_a_file_with_one_case_needs_no_name(jetproof: Command, case_file: CaseFile) -> None:
    assert jetproof("replay", case_file(PASSES)).code == 0


def test_json(jetproof: Command, conforms: Validate) -> None:
    document = jetproof("replay", "--json", CASE).document
    conforms("cli/replay", document)
    assert document["cell"]["case"] == CASE  # type: ignore[index]
    assert document["frames"]
    assert document["checks"]


def test_several_cases_or_targets_cannot_be_replayed(jetproof: Command) -> None:
    done = jetproof("replay", "adr-50/atomic/commit")
    assert done.code == 2
    assert "names " in done.err
    assert CASE in done.err
    assert jetproof("replay", CASE, "-s", "2.12.*").code == 2


def test_a_case_that_does_not_apply_says_why(jetproof: Command) -> None:
    done = jetproof("replay", CASE, "-s", "2.11.11")
    assert done.code == 0
    assert "applies from 2.12.0, this server is 2.11.11" in done.out


def test_a_kept_server_lives_until_ctrl_c(
    process: Callable[..., subprocess.Popen[str]],
) -> None:
    child = process("replay", CASE, "--keep-server")
    assert child.stdout is not None
    port = 0
    for line in child.stdout:
        if found := re.search(r"kept alive at nats://127\.0\.0\.1:(\d+)", line):
            port = int(found[1])
        if "Ctrl-C takes it down" in line:
            break
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        assert connection.recv(5) == b"INFO "
    child.send_signal(signal.SIGINT)
    assert child.wait(timeout=60) == 0
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", port), timeout=10)
