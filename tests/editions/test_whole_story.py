"""A maintainer pins a gate, and the suites grow, rename and drop cases: from the first day to the move."""

from __future__ import annotations

from pathlib import Path

from support.case_files import WRONG_COMMIT
from support.commands import Command
from support.programs import Adapter

from .conftest import CLOSES, COMMITS, Checkout

LEAVES = (
    CLOSES.replace("case: closes", "case: leaves")
    .replace("as: b", "as: c")
    .replace("of: b", "of: c")
)
OLD, NEW = "demo/client/basic::leaves", "demo/client/basic::lets-go"


def test_a_pinned_gate_stays_green_until_its_ledger_moves(
    jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path
) -> None:
    own, ledger = library(WRONG_COMMIT), tmp_path / "ledger.yaml"
    checkout.libraries(CLOSES, LEAVES)
    assert jetproof("editions", "--write", "2026.11").code == 0
    ledger.write_text(f"client: {own}\nedition: 2026.11\nentries: []\n")
    gate = ("gate", "--client", own, "--ledger", ledger, "--out")
    assert jetproof(*gate, "first").code == 0

    # The suites get a case that the library fails, and one of them gets another name.
    checkout.libraries(CLOSES, LEAVES.replace("case: leaves", "case: lets-go"), COMMITS)
    (checkout.root / "suites" / "renamed.yaml").write_text(f"renamed:\n  {OLD}: {NEW}\n")
    assert jetproof("editions", "--write", "2026.12").code == 0
    done = jetproof(*gate, "second")
    assert done.code == 0, done.out
    assert "edition 2026.11: 1 new case not scored\n" in done.out
    assert "1 cell not scored by edition 2026.11: 1 fail" in done.out
    assert "were removed" not in done.out

    # What the newest edition would make red is shown, and nothing is changed.
    before = ledger.read_text()
    ledger_of = ("ledger", "second", "--client", own, "--ledger", ledger)
    done = jetproof(*ledger_of)
    assert done.out == ledger.read_text() == before
    assert "from edition 2026.11 to edition 2026.12: 1 more cell scored, 1 of them red" in done.err
    assert "fail  demo/client/basic::commits" in done.err

    # The move itself.
    assert jetproof(*ledger_of, "--edition", "latest", "--write").code == 0
    done = jetproof(*gate, "third")
    assert done.code == 0, done.out
    assert "1 known" in done.out


def test_an_old_name_is_found_wherever_cases_are_named(
    jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path
) -> None:
    own, ledger = library(WRONG_COMMIT), tmp_path / "ledger.yaml"
    checkout.libraries(COMMITS)
    jetproof("editions", "--write", "2026.11")
    checkout.libraries(COMMITS.replace("case: commits", "case: ends"))
    names = "demo/client/basic::commits: demo/client/basic::ends"
    (checkout.root / "suites" / "renamed.yaml").write_text(f"renamed:\n  {names}\n")
    entry = (
        "  - {id: a, kind: bug, severity: protocol, text: T., does: D., cases: "
        "{demo/client/basic::commits: [{step: commit, path: wire.headers.Nats-Batch-Commit, "
        "actual: {exists: true}}]}}\n"
    )
    # By a ledger, with and without an edition that lists the old name.
    for edition in ("edition: 2026.11\n", ""):
        ledger.write_text(f"client: {own}\n{edition}entries:\n{entry}")
        done = jetproof("gate", "--client", own, "--ledger", ledger, "--out", f"run{len(edition)}")
        assert done.code == 0, done.out + done.err
        assert "1 known" in done.out
    # By a pattern.
    pattern = "demo/client/basic::commits"
    done = jetproof("gate", pattern, "--client", own, "--edition", "none", "--out", "named")
    assert done.code == 1
    assert "demo/client/basic::ends" in done.out
    assert jetproof("replay", pattern, "--client", own).code == 1


def test_a_run_is_not_resumed_with_other_names(jetproof: Command, checkout: Checkout) -> None:
    """Its rows would have cells of one case under two names."""
    assert jetproof("run", "demo/basic::stores", "--out", "run").code == 0
    path = checkout.root / "suites" / "demo" / "basic.yaml"
    path.write_text(path.read_text().replace("case: stores", "case: keeps"))
    (checkout.root / "suites" / "renamed.yaml").write_text(
        "renamed:\n  demo/basic::stores: demo/basic::keeps\n"
    )
    done = jetproof("run", "--resume", "run")
    assert done.code == 2
    assert "the suites have changed since run was made" in done.err
    assert "start a new run" in done.err


def test_a_ledger_of_an_edition_that_never_was_is_named_by_file_and_line(
    jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path
) -> None:
    own, ledger = library(), tmp_path / "ledger.yaml"
    jetproof("editions", "--write", "2026.11")
    ledger.write_text(f"client: {own}\nedition: 2026.01\nentries: []\n")
    done = jetproof("gate", "--client", own, "--ledger", ledger, "--out", "x")
    assert done.code == 2
    said = "no edition '2026.01'; did you mean 2026.11?"
    assert f"{ledger}:2: {said}" in done.err
