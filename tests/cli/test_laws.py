"""`--laws`: one definition, in every command that plays cases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jetproof.engine import run as engine
from jetproof.engine.options import RunOptions
from jetproof.errors import JetproofError
from jetproof.model.law_modes import LAW_MODES
from support.case_files import HEAD
from support.commands import Command

STORES = """\
  - case: stores
    clauses: [A50-ATOMIC-001]
    steps:
      - repeat: {as: i, times: 5}
        steps:
          - request: {subject: $stream.a, payload: "m$i"}
            reply: {json: {seq: $i}}
"""
CASE = "errors/messages::subject-of-an-expected-sequence-without-the-sequence"
FOR_CLIENTS = "model/client/publish::message-id-as-a-header"
PLAYING = [
    ("run", CASE),
    ("matrix", CASE, "--servers", "2.15.1", "--provider", "embedded"),
    ("gate", FOR_CLIENTS, "--client", "reference"),
    ("compare", "2.15.1", "2.15.1", CASE),
    ("soak", CASE, "--rounds", "2"),
    ("mutate", CASE),
    ("mutate", FOR_CLIENTS, "--client", "reference"),
    ("replay", CASE),
    ("replay", FOR_CLIENTS, "--client", "reference"),
    ("bisect", CASE, "--servers", "2.14.6,2.15.1"),
    ("controls", CASE),
]


@pytest.mark.parametrize(
    ("command", "mode"), [(PLAYING[0], None), *((command, "full") for command in PLAYING)]
)
def test_every_command_that_plays_cases_takes_it(
    jetproof: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    mode: str | None,
) -> None:
    seen: set[str] = set()

    class Recorded:
        def __init__(self, *given: object) -> None:
            seen.update(one.laws for one in given if isinstance(one, RunOptions))

        async def whole(self) -> None:
            raise JetproofError("seen enough", phase="play")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "_Run", Recorded)
    asked = () if mode is None else ("--laws", mode)
    done = jetproof(*command, *asked)
    assert seen == {mode or "closing"}, done.out + done.err


def test_a_mode_that_is_none_is_refused(jetproof: Command) -> None:
    done = jetproof("gate", "--client", "reference", "--laws", "all")
    assert done.code == 2
    assert all(mode in done.err for mode in ("--laws", *LAW_MODES))


@pytest.fixture
def reads(jetproof: Command, tmp_path: Path) -> dict[str, int]:
    """How many frames a case has, by mode."""
    file = tmp_path / "trial.yaml"
    file.write_text(HEAD + STORES)
    found = {}
    for mode in LAW_MODES:
        folder = tmp_path / mode
        assert jetproof("run", file, "--laws", mode, "--out", folder).code == 0
        found[mode] = len((folder / "frames.jsonl").read_text().splitlines())
    return found


def test_the_modes_read_more_and_more(reads: dict[str, int]) -> None:
    assert reads["off"] < reads["closing"] < reads["full"]


def test_a_resumed_run_reads_as_much_as_it_was_asked_to(
    jetproof: Command, tmp_path: Path, reads: dict[str, int]
) -> None:
    folder = tmp_path / "full"
    assert json.loads((folder / "run.json").read_text())["request"]["laws"] == "full"
    for name in ("cells", "frames", "checks"):
        (folder / f"{name}.jsonl").write_text("")
    assert jetproof("run", "--resume", folder, "--laws", "off").code == 2
    assert jetproof("run", "--resume", folder).code == 0
    assert len((folder / "frames.jsonl").read_text().splitlines()) == reads["full"]
