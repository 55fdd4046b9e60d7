"""docs/adapters.md: the tutorial is run as it stands, and the tables say what the schemas say."""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.targets.clients.protocol import RawAnswer, operations, parameters, read_line
from support.commands import Command

PAGE = (Path(__file__).parents[2] / "docs" / "adapters.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(
    r"^\| (?P<names>`[a-z.]+`(?:, `[a-z.]+`)*) \|(?P<given>.*?)\| (?P<ok>.*) \|$", re.M
)
SENT = "a message to send"


def blocks(info: str) -> list[str]:
    found = [fence["text"] for fence in FENCE.finditer(PAGE) if fence["info"] == info]
    assert found, info
    return found


def documented() -> dict[str, str]:
    """Every operation in the tables, and what they say of its parameters."""
    rows = list(ROW.finditer(PAGE))
    return {name: row["given"] for row in rows for name in re.findall(r"`([a-z.]+)`", row["names"])}


def test_the_tables_name_every_operation() -> None:
    assert set(documented()) == set(operations()) - {"hello"}


@pytest.mark.parametrize("op", sorted(set(operations()) - {"hello"}))
def test_the_tables_name_every_parameter(op: str) -> None:
    given = documented()[op]
    named = set(re.findall(r"`([a-z_]+)`", given))
    if SENT in given:
        sentence = next(line for line in PAGE.split("\n\n") if line.startswith("A message to send"))
        named |= set(re.findall(r"`([a-z_]+)`", sentence))
    lacking = parameters(op).keys() - named
    assert not lacking, f"docs/adapters.md does not say that {op} takes {lacking}"


def test_the_hello_of_the_page_is_one() -> None:
    (text,) = blocks("json")
    assert isinstance(read_line(json.dumps(json.loads(text)).encode()), RawAnswer)


def test_the_page_names_the_schemas() -> None:
    for name in ("adapter/calls", "adapter/lines"):
        assert name in PAGE
        assert (fixtures_dir() / "schemas" / f"{name}.json").is_file()


def test_the_tutorial_makes_an_adapter_that_smoke_finds_good(
    jetproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "my-adapter"
    path.write_text("\n\n".join(blocks("python file=my-adapter")), encoding="utf-8")
    path.chmod(0o755)
    folder = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", os.pathsep.join([folder, os.environ["PATH"]]))
    done = jetproof("smoke", "--client", "./my-adapter")
    assert done.code == 0, done.out
    (shown,) = blocks("console smoke=my-adapter")
    expected = "".join(line for line in shown.splitlines(True) if not line.startswith("$ "))
    assert plain(done.out) == plain(expected)


def plain(text: str) -> str:
    """Versions differ from machine to machine."""
    return re.sub(r"\d+\.\d+\.\d+", "N", text)
