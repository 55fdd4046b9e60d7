"""`jetproof ledger`: what it proposes makes the next gate green, and keeps what people wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.load.client_ledger import LEDGER, read_ledger
from jetproof.load.library import load_library
from jetproof.load.mistakes import LoadError
from jetproof.results.ledger_update import _without
from jetproof.targets.clients.spec import known_adapters
from support.case_files import WRONG_COMMIT
from support.documents import check_document

from .conftest import Gate

CASE = "adr-50/client/atomic::only-the-last-message-commits"
OTHER = "adr-50/client/atomic::the-first-message-is-a-request"
KEPT = f"""\
# A word about this library.
client: ./my-adapter
entries:
  - id: first
    kind: bug
    severity: protocol
    text: The first message is a request.
    does: It is not.
    cases:
      {OTHER}:
        - {{step: first, path: wire.reply, actual: ""}}  # seen on every server
"""

Write = Callable[..., Path]


def proposed(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    capsys.readouterr()
    assert main(["ledger", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_a_proposal_makes_the_next_gate_green(
    gate: Gate, library: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = library(WRONG_COMMIT)
    assert gate(CASE, "--client", own, "--out", "red").code == 1
    file = tmp_path / "ledger.yaml"
    file.write_text(proposed(capsys, "red", "--client", own))
    done = gate(CASE, "--client", own, "--ledger", file, "--out", "green")
    assert done.code == 0, done.out
    assert "known" in done.out


def test_what_people_wrote_stays_and_what_is_stale_goes(
    gate: Gate, library: Write, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "ledger.yaml"
    file.write_text(KEPT)
    own = library("batch-start-without-reply")
    run = gate(OTHER, "--client", own, "--ledger", file, "--out", "known")
    assert run.code == 0, run.out
    assert proposed(capsys, "known", "--client", own, "--ledger", file) == KEPT
    assert gate(OTHER, "--client", library(), "--ledger", file, "--out", "stale").code == 1
    told = proposed(capsys, "stale", "--client", own, "--ledger", file)
    assert told == "# A word about this library.\nclient: ./my-adapter\nentries: []\n"


def test_the_document_follows_its_schema(
    gate: Gate, library: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    own = library(WRONG_COMMIT)
    gate(CASE, "--client", own, "--out", "red")
    document = json.loads(proposed(capsys, "red", "--client", own, "--json"))
    check_document("cli/ledger", document)
    assert document["added"] == [CASE]


def test_a_run_without_the_library_is_a_mistake(
    gate: Gate, library: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    gate(CASE, "--client", library(), "--out", "run")
    assert main(["ledger", "run", "--client", "python:nats-py"]) == 2
    assert "has no cells of python:nats-py" in capsys.readouterr().err


def test_an_entry_that_holds_sometimes_must_expire(tmp_path: Path) -> None:
    file = tmp_path / "ledger.yaml"
    text = KEPT.replace("    does:", "    sometimes: true\n    does:")
    file.write_text(text)
    with pytest.raises(LoadError, match="it must say when it expires") as caught:
        read_ledger(file, load_library())
    assert [mistake.line for mistake in caught.value.mistakes] == [8]
    file.write_text(text.replace("true\n", 'true\n    expires: "2030-01-01"\n'))
    assert read_ledger(file, load_library()).entries[0].deviation.sometimes


def test_every_ledger_beside_an_adapter_can_be_read() -> None:
    library = load_library()
    adapters = known_adapters()
    assert adapters
    for adapter in adapters.values():
        file = adapter.folder / LEDGER
        ledger = read_ledger(file, library)
        assert ledger.library == adapter.name, file
        assert all(len(entry.deviation.does.split()) > 3 for entry in ledger.entries), file


def test_an_entry_keeps_the_cases_that_still_hold(tmp_path: Path) -> None:
    third = "adr-50/client/atomic::third"
    more = f"      {third}:\n        - {{step: last, path: wire, actual: none}}\n"
    text = KEPT + more + KEPT.partition("entries:\n")[2].replace("id: first", "id: second")
    assert _without(text, frozenset({("first", OTHER)})) == text.replace(
        f'      {OTHER}:\n        - {{step: first, path: wire.reply, actual: ""}}'
        "  # seen on every server\n",
        "",
        1,
    )
    both = frozenset({("first", OTHER), ("first", third)})
    assert _without(text, both) == text.partition("  - id: first")[0] + (
        "  - id: second" + text.partition("  - id: second")[2]
    )
