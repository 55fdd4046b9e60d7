"""The table of wire forms: every mistake has its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import load_library
from jetproof.load.mistakes import LoadError
from jetproof.model.versions import Version

GOOD = """\
forms:
  - name: waiting
    spec: demo
    clauses: DEMO-003
    spoken:
      - {from: 2.12.0, revision: 2}
"""


def put(root: Path, text: str) -> Path:
    path = root / "fixtures" / "servers" / "forms.yaml"
    path.write_text(text)
    return root


def test_a_form_says_who_speaks_it(root: Path) -> None:
    [form] = load_library(put(root, GOOD)).forms
    assert (form.name, form.spec, form.reference) == ("waiting", "demo", None)
    assert form.spoken_by(Version.parse("2.11.9")) is None
    assert form.spoken_by(Version.parse("2.12.0-RC.1")) == 2


WITHDRAWN = """\
forms:
  - name: waiting
    spec: demo
    clauses: DEMO-003
    spoken:
      - {from: 2.12.0-preview.1, revision: 2}
      - {from: 2.12.0-preview.2, revision: null}
    unspoken: ledger
"""


@pytest.mark.parametrize(
    ("version", "revision"),
    [
        ("2.11.9", None),
        ("2.12.0-preview.1", 2),
        ("2.12.0-preview.2", None),
        ("2.12.0-RC.1", None),
        ("2.12.0", None),
        ("2.16.0-dev", None),
    ],
)
def test_a_form_can_be_that_of_one_pre_release(
    root: Path, version: str, revision: int | None
) -> None:
    [form] = load_library(put(root, WITHDRAWN)).forms
    assert form.spoken_by(Version.parse(version)) == revision


def test_a_form_of_a_specification_that_jetproof_carries_may_be_missing_here(root: Path) -> None:
    assert load_library(put(root, GOOD.replace("spec: demo", "spec: adr-53"))).forms == ()


def test_without_a_table_there_are_no_forms(root: Path) -> None:
    assert load_library(root).forms == ()


def test_a_form_of_a_specification_that_this_library_does_not_hold_is_left_out(root: Path) -> None:
    (root / "fixtures" / "servers" / "speaks.yaml").write_text(
        "other:\n  - {from: 2.12.0, revision: 1}\n"
    )
    assert load_library(put(root, GOOD.replace("spec: demo", "spec: other"))).forms == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("spec: demo", "spec: demi", 3, "no specification demi; did you mean demo? There are:"),
        ("DEMO-003", "DEMO-9", 4, "no clause of demo has an id like DEMO-9..."),
        ("revision: 2", "revision: 3", 6, "demo has no revision 3; it has: 1, 2"),
        ("revision: 2", "revision: 1", 6, "no clause DEMO-003... holds in revision 1"),
        (
            "revision: 2}",
            "revision: 2}\n      - {from: 2.11.0, revision: 2}",
            7,
            "2.11.0 is not later than 2.12.0: rows have the oldest release first",
        ),
        (
            "revision: 2}",
            "revision: 2}\n    reference: 4",
            7,
            "demo has no revision 4; it has: 1, 2",
        ),
        (
            "forms:\n",
            "forms:\n  - {name: waiting, spec: demo, clauses: DEMO, "
            "spoken: [{from: 2.12.0, revision: 1}]}\n",
            3,
            "duplicate form waiting",
        ),
        ("2.12.0", "2.12", 6, "a release, such as 2.14.0"),
        ("    clauses: DEMO-003\n", "", 2, "clauses"),
        ("revision: 2", "revision: null", 6, "nobody spoke the form before: remove the row"),
        ("revision: 2}", "revision: 2}\n    unspoken: skipped", 7, "unspoken"),
        ("spoken:", "speaks:", 5, "speaks"),
    ],
)
def test_each_mistake_has_its_place(
    root: Path, old: str, new: str, line: int, message: str
) -> None:
    with pytest.raises(LoadError) as error:
        load_library(put(root, GOOD.replace(old, new)))
    told = [mistake for mistake in error.value.mistakes if message in mistake.message]
    assert told, error.value
    assert (told[0].file, told[0].line) == ("fixtures/servers/forms.yaml", line)
