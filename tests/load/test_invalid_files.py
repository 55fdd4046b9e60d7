"""Files that must be rejected: `tests/format/invalid/*.yaml`, each with the messages in `*.expect`.

Every mistake of a file is listed, with its line. `{laws}` in an `.expect` file stands for the names
of all laws, of which there will be more.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from jetproof.load.library import Library, load_cases
from jetproof.load.mistakes import LoadError
from jetproof.model.laws import LAWS

FOLDER = Path(__file__).parent.parent / "format" / "invalid"
FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_rejected_with_every_line_and_message(
    name: str, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FOLDER)
    expected = Path(f"{name}.expect").read_text().replace("{laws}", ", ".join(sorted(LAWS)))
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
