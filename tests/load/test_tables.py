"""One case per row of a table, as if each had been written out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError
from jetproof.model.case import Case

HEAD = "suite: demo/tables\nabout: Tables\ngiven: {stream: {subjects: [a]}}\ncases:\n"
TABLED = """\
  - case: size-$size
    about: Sends $size bytes
    clauses: [$clause]
    budget: $budget
    table:
      - {size: 1, clause: DEMO-001, budget: 2s, then: [{publish: {subject: a, size: 1}}]}
      - {size: 2, clause: DEMO-004, budget: 3s, then: [{publish: {subject: b, payload: "$stream"}}]}
    steps: $then
"""
WRITTEN = """\
  - case: size-1
    about: Sends 1 bytes
    clauses: [DEMO-001]
    budget: 2s
    steps: [{publish: {subject: a, size: 1}}]
  - case: size-2
    about: Sends 2 bytes
    clauses: [DEMO-004]
    budget: 3s
    steps: [{publish: {subject: b, payload: "$stream"}}]
"""


def cases_of(library: Library, folder: Path, text: str) -> tuple[Case, ...]:
    path = folder / "case.yaml"
    path.write_text(HEAD + text)
    return load_cases([path], library)


def mistakes_of(library: Library, folder: Path, text: str) -> list[str]:
    with pytest.raises(LoadError) as caught:
        cases_of(library, folder, text)
    return [f"{mistake.line}: {mistake.message}" for mistake in caught.value.mistakes]


def test_rows_are_the_cases_that_could_have_been_written_out(
    library: Library, tmp_path: Path
) -> None:
    rows = cases_of(library, tmp_path, TABLED)
    written = cases_of(library, tmp_path, WRITTEN)
    assert [case.id for case in rows] == ["demo/tables::size-1", "demo/tables::size-2"]
    for row, other in zip(rows, written, strict=True):
        assert (row.id, row.about, row.clauses, row.budget) == (
            other.id, other.about, other.clauses, other.budget,
        )  # fmt: skip
        assert [replace(step, line=0) for step in row.steps] == [
            replace(step, line=0) for step in other.steps
        ]
        assert row.hash == other.hash


def test_a_case_stands_in_the_line_of_its_row(library: Library, tmp_path: Path) -> None:
    assert [case.line for case in cases_of(library, tmp_path, TABLED)] == [10, 11]


def test_a_mistake_in_a_row_is_reported_in_its_line_alone(library: Library, tmp_path: Path) -> None:
    text = TABLED.replace("size: 1}}]", "sise: 1}}]")
    [mistake] = mistakes_of(library, tmp_path, text)
    assert mistake.startswith("10: unknown key 'sise' in publish; did you mean size?")


def test_a_mistake_in_a_case_after_a_table_keeps_its_line(library: Library, tmp_path: Path) -> None:
    after = "  - case: after\n    clauses: [DEMO-001]\n    steps: [{publish: {subject: $nobody}}]\n"
    [mistake] = mistakes_of(library, tmp_path, TABLED + after)
    assert mistake.startswith("15: $nobody is never set")


def test_a_number_that_would_be_sent_otherwise_is_a_mistake_in_a_row_too(
    library: Library, tmp_path: Path
) -> None:
    text = (
        "  - case: number-$what\n    clauses: [DEMO-001]\n"
        "    table:\n      - {what: one, number: 1}\n      - {what: two, number: 0x10}\n"
        "    steps: [{publish: {subject: a, headers: {N: $number}}}]\n"
    )
    [mistake] = mistakes_of(library, tmp_path, text)
    assert mistake.startswith("9: ")
    assert "0x10" in mistake
