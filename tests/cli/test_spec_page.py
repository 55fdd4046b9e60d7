"""Every example of docs/specs.md is run, and says what the page says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from jetproof.load import library as library_module
from jetproof.load.standing import WORDS

from .conftest import Command
from .specdemo import PAGE, demo, fences, library_of, played, run_folder


def commands() -> list[tuple[str, str]]:
    """Every command of the page, and what it prints."""
    found = []
    for block in fences()["console"]:
        for part in block.split("$ jetproof ")[1:]:
            command, _, printed = part.partition("\n")
            found.append((command, printed))
    return found


def test_every_example_is_of_a_kind_that_is_checked() -> None:
    assert set(fences()) == {
        "yaml clauses", "yaml reworded", "markdown text", "markdown later", "console",
    }  # fmt: skip
    assert len(commands()) == 3


@pytest.mark.parametrize(("command", "printed"), commands(), ids=[one for one, _ in commands()])
def test_a_command_prints_what_the_page_says(
    jetproof: Command,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    command: str,
    printed: str,
) -> None:
    library = library_of(demo())
    monkeypatch.setattr(library_module, "load_library", lambda *_: library)
    (tmp_path / "text.md").write_text(fences()["markdown text"][0])
    (tmp_path / "later.md").write_text(fences()["markdown later"][0])
    run_folder(tmp_path / "runs" / "all", played())
    assert jetproof(*shlex.split(command)).out == printed


def test_the_page_names_the_words_of_the_rule() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"one of these words: {', '.join(WORDS)}." in page
