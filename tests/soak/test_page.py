"""docs/soak.md: its command is run, and its tables and numbers are those of the program."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from jetproof.campaigns import load, load_worker
from jetproof.cli.soak import ROUNDS
from jetproof.sinks.soak_report import _ROUND_HEAD, DETAILED
from support.commands import Command

PAGE = (Path(__file__).parents[2] / "docs" / "soak.md").read_text(encoding="utf-8")


def shape(text: str) -> list[str]:
    """Lines with numbers and ids put aside."""
    named = re.sub(r"soak-\S+", "soak-<id>", text)
    return [" ".join(line.split()) for line in re.sub(r"[0-9][0-9.,]*", "0", named).splitlines()]


def test_the_example_prints_what_the_page_says(jetproof: Command) -> None:
    [command] = re.findall(r"^\$ jetproof (.*)$", PAGE, re.MULTILINE)
    shown = PAGE.partition("```\nround")[2].partition("```")[0]
    done = jetproof(*shlex.split(command))
    assert done.code == 0, done.out
    assert shape("round" + shown) == shape(done.out[done.out.index("round  seconds") :])


def test_the_numbers_of_the_page_are_those_of_the_program(jetproof: Command) -> None:
    assert f"at least 2, default {ROUNDS}" in PAGE
    assert f"at most {load.FILE_MIB} MiB" in PAGE
    assert f"most {load_worker._MIB_PER_SECOND} MiB per second" in PAGE
    assert (load.LIFE_SECONDS, load.WORKERS_PER_CORE, DETAILED) == (3600, 4, 10)
    assert _ROUND_HEAD in PAGE


def test_every_option_is_explained(jetproof: Command) -> None:
    options = set(re.findall(r"--[a-z]+", jetproof("soak", "--help").out))
    lacking = [option for option in options if f"`{option}" not in PAGE]
    assert sorted(lacking) == ["--help", "--jobs", "--verbose"]
