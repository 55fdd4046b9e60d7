"""Every example of docs/specs.md is run, and says what the page says."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.load import library as library_module
from jetproof.load.library import load_library
from jetproof.load.spec_text_check import WORDS
from jetproof.model.versions import Version
from jetproof.plan import PlanTarget, Selection, select, why_not
from support.commands import Command

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
        "yaml forms", "text reason", "text title",
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


def test_the_page_shows_the_table_of_wire_forms_and_a_reason() -> None:
    table = (fixtures_dir() / "servers" / "forms.yaml").read_text(encoding="utf-8")
    assert fences()["yaml forms"] == [table[table.index("forms:\n") :]]
    library = load_library()
    selected = select(library, Selection(("adr-50/fast-ingest/rev-7",)))
    target = PlanTarget("2.15.1", Version(2, 15, 1), "embedded")
    reason = why_not(library, selected.items[0], target)
    assert fences()["text reason"] == [f"{reason}\n"]


def test_the_page_shows_what_is_said_of_another_document(
    jetproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    (tmp_path / "ADR-53.md").write_text("# Feature flags\n\nFlags are a map.\n")
    done = jetproof("spec-check", "ADR-53.md", "--spec", "adr-53")
    assert done.code == 1
    assert [done.out] == fences()["text title"]


def test_the_page_names_the_words_of_the_rule() -> None:
    page = " ".join(PAGE.read_text(encoding="utf-8").split())
    assert f"one of these words: {', '.join(WORDS)}." in page
