"""Soaks run in this process or in one of their own, against fakes with known behaviour."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from support.commands import (
    ASKS,
    COUNTS,
    CRASHES,
    SLOW,
    CaseFile,
    Command,
    Done,
    Fake,
    Start,
    Validate,
    case_file,
    conforms,
    fake,
    jetproof,
    process,
)

PATIENCE = 60.0

__all__ = [
    "ASKS",
    "COUNTS",
    "CRASHES",
    "SLOW",
    "CaseFile",
    "Command",
    "Done",
    "Fake",
    "Start",
    "Validate",
    "alive",
    "case_file",
    "children",
    "conforms",
    "fake",
    "is_worker",
    "jetproof",
    "process",
    "wait_for",
]


def wait_for(what: Callable[[], object], why: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not what():
        assert time.monotonic() < deadline, why
        time.sleep(0.02)


def children(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        found += map(int, task.read_text().split())
    return found


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def is_worker(pid: int) -> bool:
    try:
        return "load_worker" in Path(f"/proc/{pid}/cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
