"""The examples of docs/reports.md, in their order, in one folder that has the runs they name.

Blocks marked `run` are executed. Every other `jetproof` line of the page must be one that the
command line understands.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.cli.parser import build_parser
from jetproof_reports.schemas import REPORT

from .samples import every_case, write_run

PAGE = Path(__file__).parents[2] / "docs" / "reports.md"
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(info: str) -> list[str]:
    return [m["text"] for m in FENCE.finditer(PAGE.read_text("utf-8")) if m["info"] == info]


def commands(text: str) -> Iterator[list[str]]:
    for line in text.splitlines():
        words = shlex.split(line, comments=True)
        if words[:1] == ["jetproof"]:
            yield words[1:]


def test_every_example_runs_as_it_stands(
    spark: object,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for hour, name in enumerate(("before", "results"), 1):
        outcomes = every_case(hour, ("2.12.8", "2.14.0"))
        write_run(Path(name), outcomes, run=name, started_at=f"2026-11-16T{hour:02}:00:00.000Z")
    shown = [words for block in blocks("sh run") for words in commands(block)]
    assert [words[0] for words in shown] == ["report", "diff", "diff", "report", "diff"]
    said = []
    for words in shown:
        assert main(words) == 0, capfd.readouterr().err
        said.append(capfd.readouterr().out)
    assert said[0].startswith("report of 1 run, 16 cells\n")
    assert said[1].endswith("\nnothing differs\n")
    assert "1 fixed, 1 changed-position" in said[2]
    assert said[3].startswith("report of 2 runs, 16 cells\n")
    assert "1 fixed, 1 changed-position" in said[4]
    # What was kept for a report without a history is gone.
    assert sorted(path.name for path in Path("report").iterdir()) == [
        "badge.json", "report.html", "summary.md", "tables",
    ]  # fmt: skip
    (snippet,) = blocks("python run")
    exec(snippet, {})
    assert "2.14.0 verdict adr-50/atomic/sample::repaired" in capfd.readouterr().out


def test_every_table_of_a_report_is_explained() -> None:
    text = PAGE.read_text("utf-8")
    names = (*REPORT, "cells", "evidence", "frames")
    assert not [name for name in names if f"`{name}`" not in text]


def test_every_command_of_the_page_is_understood() -> None:
    parser = build_parser()
    quoted = re.findall(r"`(jetproof [^`]+)`", PAGE.read_text("utf-8"))
    lines = [words for text in (*blocks("sh"), *quoted) for words in commands(text)]
    for words in lines:
        parser.parse_args(words)
    assert len(lines) > 8
