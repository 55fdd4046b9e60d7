"""`jetproof ledger` proposes the move to a newer edition, and shows what it makes red."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.case_files import WRONG_COMMIT
from support.commands import Command
from support.documents import check_document
from support.programs import Adapter

from .conftest import CLOSES, COMMITS, Checkout


@pytest.fixture
def moved(jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path) -> Path:
    """A ledger of 2026.11, and a run whose suites have grown by a case that the library fails."""
    own = library(WRONG_COMMIT)
    ledger = tmp_path / "ledger.yaml"
    ledger.write_text(f"# Mine.\nclient: {own}\nedition: 2026.11  # when we began\nentries: []\n")
    assert jetproof("editions", "--write", "2026.11").code == 0
    checkout.libraries(CLOSES, COMMITS)
    assert jetproof("editions", "--write", "2026.12").code == 0
    done = jetproof("gate", "--client", own, "--ledger", ledger, "--out", "run")
    assert done.code == 0, done.out
    return ledger


def test_what_a_newer_edition_makes_red_is_shown(
    jetproof: Command, moved: Path, library: Adapter
) -> None:
    own = library(WRONG_COMMIT)
    done = jetproof("ledger", "run", "--client", own, "--ledger", moved)
    assert done.out == moved.read_text()
    assert done.err.splitlines()[:2] == [
        "from edition 2026.11 to edition 2026.12: 1 more cell scored, 1 of them red",
        f"  fail  demo/client/basic::commits @2.15.1 single {own}@0.1.0",
    ]
    assert "--edition 2026.12 proposes the move" in done.err


def test_the_ledger_of_the_move_makes_the_next_gate_green(
    jetproof: Command, moved: Path, library: Adapter
) -> None:
    own = library(WRONG_COMMIT)
    gate = ("gate", "--client", own, "--ledger", moved, "--out")
    assert jetproof(*gate, "red", "--edition", "2026.12").code == 1
    move = ("ledger", "run", "--client", own, "--ledger", moved, "--edition", "latest")
    assert jetproof(*move, "--write").code == 0
    assert moved.read_text().startswith(
        f"# Mine.\nclient: {own}\nedition: 2026.12  # when we began\nentries:\n"
    )
    done = jetproof(*gate, "green")
    assert done.code == 0, done.out
    assert "1 known" in done.out
    assert "not scored" not in done.out


def test_the_document_has_the_move(jetproof: Command, moved: Path, library: Adapter) -> None:
    own = library(WRONG_COMMIT)
    ledger = ("ledger", "run", "--client", own, "--ledger", moved, "--json")
    stay, go = jetproof(*ledger), jetproof(*ledger, "--edition", "2026.12")
    documents = [json.loads(done.out) for done in (stay, go)]
    for document in documents:
        check_document("cli/ledger", document)
    assert documents[0]["added"] == []
    assert (documents[0]["newer"]["to"], len(documents[0]["newer"]["red"])) == ("2026.12", 1)
    assert documents[1]["added"] == ["demo/client/basic::commits"]
    assert (documents[1]["edition"]["from"], documents[1]["newer"]) == ("2026.11", None)


def test_cases_that_were_not_played_are_counted(
    jetproof: Command, moved: Path, library: Adapter
) -> None:
    own = library(WRONG_COMMIT)
    one = ("demo/client/basic::closes", "--client", own, "--ledger", moved)
    assert jetproof("gate", *one, "--out", "part").code == 0
    done = jetproof("ledger", "part", "--client", own, "--ledger", moved)
    assert "0 more cells scored, none of them red" in done.err
    assert "1 of its cases has no verdict in this run: play them first" in done.err


def test_a_new_ledger_names_the_edition_that_was_played(
    jetproof: Command, checkout: Checkout, library: Adapter
) -> None:
    own = library(WRONG_COMMIT)
    checkout.libraries(CLOSES, COMMITS)
    jetproof("editions", "--write", "2026.10")
    jetproof("gate", "--client", own, "--out", "run")
    # 2026.10 is a number in YAML, and the number is 2026.1.
    assert 'edition: "2026.10"\n' in jetproof("ledger", "run", "--client", own).out
    checkout.libraries(CLOSES)
    jetproof("gate", "--client", own, "--out", "smaller")
    checkout.libraries(CLOSES.replace("as: b}", "as: c}").replace("of: b}", "of: c}"))
    jetproof("gate", "--client", own, "--out", "other")
    assert "edition:" not in jetproof("ledger", "other", "--client", own).out
