"""`--client` strings and adapter.yaml: what is right is read, what is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.load.mistakes import LoadError
from jetproof.targets.clients.spec import client_named, known_adapters, parse_client, read_folder

GOOD = """\
adapter: toy:thing
about: A toy
version: 1.0.0
run: [./adapter]
"""
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def folder(text: str, name: str = "toy-thing") -> Path:
        place = tmp_path / name
        place.mkdir()
        (place / "adapter.yaml").write_text(text, encoding="utf-8")
        return place

    return folder


def test_the_adapters_of_this_repository_can_be_read() -> None:
    known = known_adapters()
    assert "python:nats-py" in known
    for name, folder in known.items():
        assert folder.folder.name == name.replace(":", "-"), "the folder is called as the adapter"
        assert folder.about


def test_a_name_perhaps_with_a_version(write: Write) -> None:
    root = write(GOOD).parent
    spec = parse_client("toy:thing", adapters=root)
    assert (spec.name, spec.version) == ("toy:thing", None)
    assert spec.folder is not None
    assert spec.folder.run == ("./adapter",)
    for text in ("toy:thing@1.2.3", " toy:thing@v1.2.3 "):
        assert parse_client(text, adapters=root).version == "1.2.3"


def test_paths_and_the_reference(write: Write, tmp_path: Path) -> None:
    folder = write(GOOD)
    assert parse_client(str(folder)).name == "toy:thing"
    program = tmp_path / "my-adapter"
    program.touch()
    assert parse_client(str(program)).program == program.resolve()
    reference = parse_client("reference")
    assert (reference.name, reference.folder, reference.program) == ("reference", None, None)


def test_a_client_is_found_by_the_name_that_its_cells_have(write: Write, tmp_path: Path) -> None:
    assert client_named("reference@0.1.0").text == "reference"
    named = client_named("python:nats-py@2.16.0")
    assert (named.name, named.version) == ("python:nats-py", "2.16.0")
    mine = write(GOOD, "my@folder")
    for text in (str(mine), f"{mine}@1.0.0"):
        found = client_named(text)
        assert found.folder is not None
        assert found.folder.folder == mine
    with pytest.raises(JetproofError, match=r"no-such@1\.0"):
        client_named(f"{tmp_path}/no-such@1.0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "it is empty"),
        ("go", "none of the forms"),
        ("python:nats-pi", "did you mean python:nats-py?"),
        ("python:nats-py@", "none of the forms"),
        ("python:nats-py@latest", "'latest' is not a version"),
        ("python:nats-py@1;rm -rf", "is not a version"),
        ("./no-such-file", "there is no such file"),
        (".", "the folder has no adapter.yaml"),
    ],
)
def test_what_cannot_be_read_is_told(
    text: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(JetproofError) as caught:
        parse_client(text)
    assert words in caught.value.message
    assert caught.value.phase == "plan"
    assert "./my-adapter" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "the file is empty"),
        ("adapter: thing\nabout: x\nversion: 1.0.0\nrun: [a]\n", 1, "a language and a library"),
        (GOOD.replace("1.0.0", "1.0"), 3, "version must be a version such as '1.55.0', as text"),
        (GOOD + "runs: x\n", 5, "unknown key 'runs' in an adapter's file; did you mean run?"),
        (GOOD.replace("[./adapter]", "./adapter"), 4, "run must be a program and its arguments"),
        (GOOD + "needs:\n  - {hint: x}\n", 6, "missing key 'program' in a needed program"),
        (GOOD + "python: {atleast: 3.11}\n", 5, "atleast must be a version"),
        (
            GOOD + 'python: {atleast: "3.11", requirements: lost.txt}\n',
            5,
            "there is no file lost.txt beside it",
        ),
        (GOOD + "kit: lost\n", 5, "there is no kit lost"),
        (GOOD + "build: [[]]\n", 5, "item 1 of build"),
    ],
)
def test_mistakes_in_an_adapter_file_have_their_line(
    write: Write, text: str, line: int, words: str
) -> None:
    folder = write(text)
    with pytest.raises(LoadError) as caught:
        read_folder(folder)
    (mistake,) = caught.value.mistakes
    assert words in mistake.message
    assert mistake.line == line
    assert mistake.file.endswith("adapter.yaml")


def test_mistakes_of_all_files_come_at_once(write: Write) -> None:
    root = write(GOOD + "x: 1\n", "one").parent
    write(GOOD + "y: 1\n", "two")
    write(GOOD, "three")
    write(GOOD, "tree")
    with pytest.raises(LoadError) as caught:
        known_adapters(root)
    told = "\n".join(mistake.message for mistake in caught.value.mistakes)
    assert "unknown key 'x'" in told
    assert "unknown key 'y'" in told
    assert "toy:thing is in three already" in told
