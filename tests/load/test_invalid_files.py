"""Files that must be rejected: `tests/format/invalid/*.yaml`, each with the messages in `*.expect`.

Every mistake of a file is listed, with its line. `{laws}`, `{steps}` and `{matchers}` in an `.expect`
file stand for the names of all of them, of which there will be more.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError
from jetproof.model.laws import LAWS
from jetproof.model.matcher import OPERATORS

FOLDER = Path(__file__).parent.parent / "format" / "invalid"
SCHEMA = fixtures_dir() / "schemas" / "case-file.json"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


def step_kinds() -> list[str]:
    schema = json.loads(SCHEMA.read_text())
    return [one["required"][0] for one in schema["$defs"]["step"]["oneOf"]]


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_rejected_with_every_line_and_message(
    name: str, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    expected = Path(f"{name}.expect").read_text()
    expected = expected.replace("{laws}", ", ".join(sorted(LAWS)))
    expected = expected.replace("{matchers}", ", ".join(OPERATORS))
    expected = expected.replace("{steps}", ", ".join(step_kinds()))
    with pytest.raises(LoadError) as caught:
        load_cases([Path(f"{name}.yaml")], library)
    assert str(caught.value).splitlines() == expected.splitlines()
    assert caught.value.phase == "load"


def test_every_file_has_its_expectation() -> None:
    assert FILES
    assert sorted(path.stem for path in FOLDER.glob("*.expect")) == FILES


def test_all_files_at_once_give_all_mistakes_of_each(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(LoadError) as caught:
        load_cases([Path(f"{name}.yaml") for name in FILES], library)
    assert {mistake.file for mistake in caught.value.mistakes} == {f"{name}.yaml" for name in FILES}


def test_no_message_speaks_like_a_validator(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    with pytest.raises(LoadError) as caught:
        load_cases([Path(f"{name}.yaml") for name in FILES], library)
    for jargon in ("is not valid under", "is not of type", "does not match", "schema says"):
        assert jargon not in str(caught.value)
