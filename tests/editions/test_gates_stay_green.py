"""A gate pinned to an edition stays green while the suites grow; what it leaves out is shown."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jetproof.results import read_run
from support.case_files import WRONG_COMMIT
from support.commands import Command
from support.documents import check_document
from support.programs import Adapter

from .conftest import CLOSES, COMMITS, STORES, WRONG, Checkout

CHANGED = STORES.replace("seq: 1", "seq: 7")
LEDGER = "client: {client}\nedition: 2026.11\nentries: []\n"


def scored(folder: str) -> dict[str, tuple[str, bool, str | None]]:
    return {
        cell.case.rpartition("::")[2]: (cell.verdict.value, cell.scored, cell.edition)
        for cell in read_run(Path(folder)).latest
    }


@pytest.mark.parametrize(
    ("cases", "red"), [((STORES, WRONG), "wrong"), ((CHANGED,), "stores")], ids=["new", "changed"]
)
def test_a_run_does_not_score_what_is_new_or_changed(
    jetproof: Command, checkout: Checkout, cases: tuple[str, ...], red: str
) -> None:
    assert jetproof("editions", "--write", "2026.11").code == 0
    assert jetproof("run", "--edition", "2026.11", "--out", "before").code == 0
    checkout.servers(*cases)
    assert jetproof("run", "--out", "free").code == 1
    files = ("--out", "pinned", "--junit", "out.xml", "--ctrf", "out.json")
    done = jetproof("run", "--edition", "2026.11", *files)
    assert done.code == 0, done.out
    assert scored("pinned")[red] == ("fail", False, "2026.11")
    assert "  1 cell not scored by edition 2026.11: 1 fail\n" in done.out
    assert f"    fail demo/basic::{red} @" in done.out
    assert all(len(line) <= 80 for line in done.out.splitlines()[-24:]), done.out
    assert not list(ElementTree.parse("out.xml").iter("failure"))
    [skipped] = ElementTree.parse("out.xml").iter("skipped")
    assert skipped.get("type") == "not scored"
    assert str(skipped.get("message")).startswith("not scored by edition 2026.11: fail: step")
    results = json.loads(Path("out.json").read_text())["results"]
    assert (results["summary"]["failed"], results["summary"]["skipped"]) == (0, 1)


def test_the_document_and_the_folder_say_what_is_not_scored(
    jetproof: Command, checkout: Checkout
) -> None:
    jetproof("editions", "--write", "2026.11")
    checkout.servers(STORES, WRONG)
    done = jetproof("run", "--edition", "2026.11", "--out", "pinned", "--json")
    document = json.loads(done.out)
    check_document("cli/run", document)
    check_document("results/run", _json("pinned/run.json"))
    assert document["exit_code"] == 0
    assert document["verdicts"]["fail"] == 0
    assert document["digest"]["conforms"]
    apart = document["digest"]["not_scored"]
    assert (apart["cells"], apart["verdicts"]) == (1, {"fail": 1})
    assert [name.partition(" ")[0] for name in apart["red"]] == ["demo/basic::wrong"]
    assert _json("pinned/run.json")["not_scored"] == 1
    assert "fail" not in _json("pinned/run.json")["verdicts"]
    assert document["notices"] == ["edition 2026.11: 1 new case not scored"]


def test_a_schema_that_only_a_new_case_breaks_is_not_scored(
    jetproof: Command, checkout: Checkout
) -> None:
    schema = checkout.root / "fixtures" / "schemas" / "wire" / "stream-info.json"
    broken = json.loads(schema.read_text())
    broken.setdefault("required", []).append("no-such-field")
    schema.write_text(json.dumps(broken))
    jetproof("editions", "--write", "2026.11")
    assert jetproof("run", "--out", "before").code == 0
    reads = "  - case: reads\n    clauses: [DEMO-001]\n    steps: [{stream: {messages: 0}}]\n"
    checkout.servers(STORES, reads)
    assert jetproof("run", "--out", "free").code == 1
    assert jetproof("run", "--edition", "2026.11", "--out", "pinned").code == 0
    schemas = {one.schema: one for one in read_run(Path("pinned")).latest_schemas}
    assert (schemas["stream-info"].verdict, schemas["stream-info"].scored) == ("fail", False)
    # What a scored case sees broken is scored, whatever others see.
    looks = STORES.replace("stores", "looks") + "      - stream: {messages: 1}\n"
    checkout.servers(STORES, looks)
    jetproof("editions", "--write", "2026.12")
    checkout.servers(STORES, looks, reads)
    assert jetproof("run", "--edition", "2026.12", "--out", "own").code == 1


def test_a_stricter_schema_is_not_scored(jetproof: Command, checkout: Checkout) -> None:
    jetproof("editions", "--write", "2026.11")
    schema = checkout.root / "fixtures" / "schemas" / "wire" / "pub-ack.json"
    broken = json.loads(schema.read_text())
    broken["description"] = "Other words."
    schema.write_text(json.dumps(broken))
    assert "changed  schemas" not in jetproof("editions", "2026.11").out
    broken.setdefault("required", []).append("no-such-field")
    schema.write_text(json.dumps(broken))
    assert "changed  schemas::pub-ack" in jetproof("editions", "2026.11").out
    assert jetproof("run", "--out", "free").code == 1
    assert jetproof("run", "--edition", "2026.11", "--out", "pinned").code == 0


def test_cases_of_a_file_elsewhere_are_scored(
    jetproof: Command, checkout: Checkout, tmp_path: Path
) -> None:
    jetproof("editions", "--write", "2026.11")
    own = tmp_path / "own.yaml"
    own.write_text(
        f"suite: demo/own\nabout: Mine\ngiven: {{stream: {{subjects: [$stream.>]}}}}\ncases:\n{WRONG}"
    )
    assert jetproof("run", own, "--edition", "2026.11", "--out", "own").code == 1


def test_a_run_goes_on_with_its_edition(jetproof: Command, checkout: Checkout) -> None:
    jetproof("editions", "--write", "2026.11")
    checkout.servers(STORES, WRONG)
    jetproof("run", "--edition", "latest", "--out", "run")
    journal = Path("run/cells.jsonl")
    journal.write_text("")
    assert jetproof("run", "--resume", "run").code == 0
    assert scored("run")["wrong"] == ("fail", False, "2026.11")
    assert jetproof("run", "--resume", "run", "--edition", "none").code == 2


def test_a_matrix_is_scored_by_an_edition(jetproof: Command, checkout: Checkout) -> None:
    jetproof("editions", "--write", "2026.11")
    checkout.servers(STORES, WRONG)
    servers = ("--servers", "2.15.1", "--provider", "embedded")
    assert jetproof("matrix", *servers, "--out", "free").code == 1
    done = jetproof("matrix", *servers, "--edition", "2026.11", "--out", "pinned")
    assert done.code == 0, done.out
    assert "1 cell not scored by edition 2026.11: 1 fail" in done.out


def test_a_gate_is_scored_by_the_edition_of_its_ledger(
    jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path
) -> None:
    own = library(WRONG_COMMIT)
    ledger = tmp_path / "ledger.yaml"
    ledger.write_text(LEDGER.format(client=own))
    jetproof("editions", "--write", "2026.11")
    checkout.libraries(CLOSES, COMMITS)
    gate = ("gate", "--client", own, "--ledger", ledger)
    done = jetproof(*gate, "--out", "pinned")
    assert done.code == 0, done.out
    assert "; edition 2026.11" in done.out
    assert "1 cell not scored by edition 2026.11: 1 fail" in done.out
    assert jetproof(*gate, "--edition", "none", "--out", "free").code == 1
    document = json.loads(jetproof(*gate, "--json", "--out", "again").out)
    check_document("cli/gate", document)
    [cell] = [
        c
        for c in document["cells"]
        if c["case"].endswith("::commits") and "my-adapter" in c["client"]
    ]
    assert (cell["verdict"], cell["scored"], cell["counts"]) == ("fail", False, False)


def test_an_entry_of_a_case_that_is_gone_or_changed_is_no_mistake(
    jetproof: Command, checkout: Checkout, library: Adapter, tmp_path: Path
) -> None:
    own = library()
    entry = (
        "  - {{id: {id}, kind: bug, severity: protocol, text: It commits., does: It does not., cases: "
        "{{demo/client/basic::{case}: [{{step: commit, path: wire, actual: none}}]}}}}\n"
    )
    checkout.libraries(CLOSES, COMMITS)
    jetproof("editions", "--write", "2026.11")
    checkout.libraries(COMMITS.replace("label: commit", "label: other"))
    ledger = tmp_path / "ledger.yaml"
    entries = entry.format(id="one", case="commits") + entry.format(id="two", case="closes")
    text = f"client: {own}\nedition: 2026.11\nentries:\n{entries}"
    gate = ("gate", "--client", own, "--ledger", ledger)
    ledger.write_text(text)
    done = jetproof(*gate, "--out", "pinned")
    assert done.code == 0, done.out + done.err
    assert "1 changed case not scored, 1 of its cases was removed from the suites" in done.out
    ledger.write_text(text.replace("edition: 2026.11\n", ""))
    done = jetproof(*gate, "--out", "free")
    assert done.code == 2
    assert "no case demo/client/basic::closes" in done.err
    assert "has no step 'commit'" in done.err


def _json(path: str) -> dict[str, object]:
    loaded = json.loads(Path(path).read_text())
    assert isinstance(loaded, dict)
    return loaded
