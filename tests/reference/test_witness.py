"""The one server that implements min_last_seq, and what docs/reference.md says about it.

It is played where Go has built it before, or can build it without a network.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from pathlib import Path

import pytest

from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Event
from jetproof.load.library import Library, load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.model.versions import Version
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.go_build import MODULE, build_version
from jetproof.targets.resolve import resolve

WITNESS, AFTER = "2.12.0-preview.1", "2.12.0-preview.2"
PAGE = Path(__file__).parents[2] / "docs" / "reference.md"
NOT_IMPLEMENTED = {"min-last-seq-not-implemented"}


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def section() -> str:
    text = PAGE.read_text(encoding="utf-8")
    return text[text.index("## An independent witness") : text.index("## What it answers: fast")]


def test_the_page_has_a_row_for_each_suite_and_the_sum_of_them(library: Library) -> None:
    rows = re.findall(
        r"^\| `?([\w/-]+)`? \| (\d+) of (\d+) \| (?:(\d+) of (\d+))? \|$", section(), re.M
    )
    counts = {name: [int(number or 0) for number in numbers] for name, *numbers in rows}
    total = counts.pop("all")
    assert set(counts) == {case.suite for case in library.cases if case.spec == "adr-53"} | {
        "schemas"
    }
    assert total == [sum(column) for column in zip(*counts.values(), strict=True)]


def test_the_page_names_each_cell_that_is_not_the_same(library: Library) -> None:
    named = re.findall(r"^\| `(\w+::[\w-]+)` \|", section(), re.M)
    cases = {case.id for case in library.cases}
    assert named
    assert {f"adr-53/{name}" for name in named} <= cases
    for entry in library.deviations:
        if entry.covers(entry.case, Version.parse(WITNESS), "single", "go"):
            known = entry.case.removeprefix("adr-53/")
            assert not entry.case.startswith("adr-53/") or known in named


@pytest.mark.parametrize(("version", "speaks"), [(WITNESS, True), (AFTER, False)])
def test_guarded_reads_on_the_preview_that_has_them_and_the_next(
    library: Library, monkeypatch: pytest.MonkeyPatch, version: str, speaks: bool
) -> None:
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")
    try:
        build_version(Version.parse(version), offline=True)
    except JetproofError:
        pytest.skip(f"run once with a network: go install {MODULE}@v{version}")
    cells: list[Cell] = []

    def emit(event: Event) -> None:
        if isinstance(event, CaseFinished) and event.cell.clauses:
            cells.append(event.cell)

    async def play() -> None:
        selected = select(library, Selection(("adr-53/direct-get", "adr-53/message-get")))
        plan = make_plan(library, selected, await resolve([f"go:{version}"]), skip=frozenset())
        await run(plan, library, emit, RunOptions(run=fresh_run_id(), time_factor=4.0))

    asyncio.run(play())
    verdicts = Counter(cell.verdict for cell in cells)
    assert not {Verdict.FAIL, Verdict.STALE, Verdict.ERROR} & verdicts.keys(), verdicts
    known = {cell.deviation for cell in cells if cell.verdict is Verdict.KNOWN}
    assert known == (set() if speaks else NOT_IMPLEMENTED)
