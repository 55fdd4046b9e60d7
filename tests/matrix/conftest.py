"""What the tests of matrices ask about run folders."""

from __future__ import annotations

from pathlib import Path

from jetproof.results import read_run


def verdicts(folder: Path, *, schemas: bool = False) -> dict[tuple[str, str], str]:
    """The last verdict of every cell, by its case's name and its target."""
    return {
        (cell.case.rpartition("::")[2], cell.target): cell.verdict.value
        for cell in read_run(folder).latest
        if schemas or cell.suite != "schemas"
    }
