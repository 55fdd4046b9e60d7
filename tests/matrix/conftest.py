"""What the tests of matrices ask about run folders."""

from __future__ import annotations

from pathlib import Path

from jetproof.results import read_run


def verdicts(folder: Path, *, schemas: bool = False) -> dict[tuple[str, str], str]:
    """The last verdict of every cell, by its case's name and its target; of `schemas` too if asked."""
    run = read_run(folder)
    return {
        (one.about.rpartition("::")[2], one.target): one.verdict.value
        for one in (run.results if schemas else run.latest)
    }
