"""Edition files and what names an edition: what is wrong is said with its place and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import Command
from support.documents import check_document
from support.programs import Adapter

from .conftest import CLOSES, STORES, WRONG, Checkout

NAME = "demo/basic::stores"


def test_an_edition_is_written_once(jetproof: Command, checkout: Checkout) -> None:
    done = jetproof("editions", "--write", "2026.11")
    assert done.out.startswith("suites/editions/2026.11.txt: 2 cases, ")
    again = jetproof("editions", "--write", "2026.11")
    assert again.code == 2
    assert "gates rely on it" in again.err
    checkout.servers(STORES, WRONG)
    assert jetproof("editions", "--write", "2026.11", "--replace").code == 0
    assert "demo/basic::wrong " in (checkout.editions / "2026.11.txt").read_text()
    assert jetproof("validate").out.endswith(", 1 edition\n")


@pytest.mark.parametrize("name", ["November", "26.11", "2026.1", "2026.11.x", "../2026.11"])
def test_a_name_is_a_year_and_a_month(jetproof: Command, name: str) -> None:
    done = jetproof("editions", "--write", name)
    assert done.code == 2
    assert "is no name of an edition" in done.err


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "2026.11.txt:1: expected the line `edition 2026.11` before all cases"),
        ("# x\nedition 2026.12\n", "2026.11.txt:2: expected the line `edition 2026.11`"),
        (f"edition 2026.11\n\n{NAME}\n", "2026.11.txt:3: 'demo/basic::stores' is not a case and"),
        (f"edition 2026.11\n{NAME} xyz\n", "2026.11.txt:2: 'demo/basic::stores xyz' is not"),
        (
            f"edition 2026.11\n{NAME} {'0' * 16}\n{NAME} {'1' * 16}\n",
            f"2026.11.txt:3: duplicate case {NAME}: it is in line 2 already",
        ),
    ],
)
def test_a_malformed_edition_is_named_by_file_and_line(
    jetproof: Command, checkout: Checkout, text: str, told: str
) -> None:
    checkout.editions.mkdir()
    (checkout.editions / "2026.11.txt").write_text(text)
    for command in (("validate",), ("run", "--out", "x")):
        done = jetproof(*command)
        assert done.code == 2
        assert f"suites/editions/{told}" in done.out + done.err


def test_other_files_have_no_place_among_editions(jetproof: Command, checkout: Checkout) -> None:
    checkout.editions.mkdir()
    (checkout.editions / "2026.11.yaml").write_text("edition: 2026.11\n")
    (checkout.editions / "next.txt").write_text("edition next\n")
    done = jetproof("validate")
    assert "suites/editions/2026.11.yaml:1: an edition is a file such as 2026.11.txt" in done.out
    assert "suites/editions/next.txt:1: 'next' is no name of an edition" in done.out


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("2026.09", "no edition '2026.09'; did you mean 2026.10? There are: 2026.10, 2026.11"),
        ("newest", "no edition 'newest'; there are: 2026.10, 2026.11"),
        (
            "2027.01",
            "the edition 2027.01: the newest edition it has is 2026.11\n  upgrade",
        ),
    ],
)
def test_an_unknown_edition(jetproof: Command, asked: str, told: str) -> None:
    jetproof("editions", "--write", "2026.10")
    jetproof("editions", "--write", "2026.11")
    for command in (("run",), ("matrix",), ("gate", "--client", "reference"), ("editions",)):
        more = [asked] if command == ("editions",) else ["--edition", asked, "--out", "x"]
        done = jetproof(*command, *more)
        assert done.code == 2
        assert told in done.err
    assert not Path("x").exists()


def test_a_ledger_of_a_later_edition_asks_for_an_upgrade(
    jetproof: Command, library: Adapter, tmp_path: Path
) -> None:
    own, ledger = library(), tmp_path / "ledger.yaml"
    jetproof("editions", "--write", "2026.11")
    entry = (
        "  - {id: a, kind: bug, severity: protocol, text: T., does: D., "
        "cases: {demo/client/later::one: [{step: a, path: b, actual: c}]}}\n"
    )
    ledger.write_text(f"client: {own}\nedition: 2027.10\nentries:\n{entry}")
    done = jetproof("gate", "--client", own, "--ledger", ledger, "--out", "x")
    assert done.code == 2
    assert f"{ledger}:2: this Jetproof does not know the edition 2027.10" in done.err
    assert "upgrade: pip install --upgrade jetproof" in done.err
    assert "no case" not in done.err
    ledger.write_text(f"client: {own}\nedition: [1]\nentries: []\n")
    done = jetproof("gate", "--client", own, "--ledger", ledger, "--out", "x")
    assert f"{ledger}:2: edition must be an edition such as 2026.11" in done.err


def test_removed_and_renamed_cases(jetproof: Command, checkout: Checkout) -> None:
    checkout.servers(STORES, STORES.replace("case: stores", "case: keeps").replace("one", "two"))
    jetproof("editions", "--write", "2026.11")
    checkout.servers(STORES.replace("case: stores", "case: has"))
    done = jetproof("run", "--edition", "2026.11", "--out", "a")
    assert (
        "edition 2026.11: 1 new case not scored, 2 of its cases were removed from the" in done.out
    )
    renamed = checkout.root / "suites" / "renamed.yaml"
    renamed.write_text(
        "renamed:\n  demo/basic::stores: demo/basic::had\n  demo/basic::had: demo/basic::has\n"
    )
    done = jetproof("run", "--edition", "2026.11", "--out", "b")
    assert "edition 2026.11: 1 of its cases was removed from the suites" in done.out
    assert "not scored" not in done.out
    renamed.write_text(
        "renamed:\n  demo/basic::stores: demo/basic::hat\n  demo/basic::has: demo/basic::has\n"
        "  demo/basic::x: demo/basic::y\n  demo/basic::y: demo/basic::x\n"
    )
    told = jetproof("validate").out
    assert "suites/renamed.yaml:2: no case demo/basic::hat; did you mean demo/basic::has?" in told
    assert "suites/renamed.yaml:3: demo/basic::has is renamed in a circle" in told
    assert "suites/renamed.yaml:4: demo/basic::x is renamed in a circle" in told


def test_editions_are_listed_with_what_differs(jetproof: Command, checkout: Checkout) -> None:
    checkout.servers(STORES, WRONG)
    jetproof("editions", "--write", "2026.11")
    checkout.servers(STORES.replace("one", "two"))
    checkout.libraries(CLOSES, CLOSES.replace("case: closes", "case: again"))
    table, details = jetproof("editions").out, jetproof("editions", "2026.11").out
    assert table.splitlines()[1].split()[2:] == ["1", "1", "1"]
    assert "  new      demo/client/basic::again\n" in details
    assert "  changed  demo/basic::stores\n" in details
    assert "  removed  demo/basic::wrong\n" in details
    document = json.loads(jetproof("editions", "--json").out)
    check_document("cli/editions", document)
