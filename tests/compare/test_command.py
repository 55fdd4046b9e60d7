"""`jetproof compare` on fakes: head as base, worse, better, wrong now and then, dying, not starting."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from jetproof.results import read_run
from support.case_files import ASKS, COUNTS, CRASHES, SLOW, CaseFile
from support.commands import Command, Fake, Start
from support.documents import Validate
from support.programs import Build

COUNTING = "adr-50/trial::counts"


def test_nothing_differs_between_two_servers_that_are_the_same(
    jetproof: Command, fake: Fake, case_file: CaseFile, conforms: Validate
) -> None:
    path = case_file(COUNTS, ASKS)
    done = jetproof("compare", fake("polite"), fake("polite"), path, "--json", "--out", "out")
    assert done.code == 0, done.err
    conforms("cli/compare", done.document)
    assert done.document["differences"] == []
    assert done.document["wire"] == []
    assert done.document["compared"] >= 2
    assert done.err.splitlines()[-1].startswith("✓ nothing differs in ")


def test_a_head_that_breaks_what_base_keeps_is_worse(
    jetproof: Command, fake: Fake, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    base, head = fake("polite"), fake("wrong-acks")
    path = case_file(COUNTS, ASKS)
    done = jetproof("compare", base, head, path, "--json", "--out", "out", "--markdown", "c.md")
    assert done.code == 1, done.err
    document = done.document
    conforms("cli/compare", document)
    assert document["worse"]
    found = {one["case"]: one for one in document["differences"]}
    assert found[COUNTING]["kind"] == "worse"
    assert found[COUNTING]["confirmed"]
    assert {check["path"] for check in found[COUNTING]["new"]} == {"reply.json.seq"}
    assert head in found[COUNTING]["head"]["replay"]
    # The case that both answer alike is not mentioned; the schema that head breaks is.
    assert set(found) == {COUNTING, "schemas::pub-ack"}
    assert json.loads((tmp_path / "out" / "compare.json").read_text()) == document
    comment = (tmp_path / "c.md").read_text()
    assert comment == (tmp_path / "out" / "compare.md").read_text()
    assert comment.startswith("<!-- jetproof compare -->\n### ❌ Jetproof: head is worse: 2 worse")
    assert f"`{COUNTING}`" in comment
    # Both sides of each round are ordinary runs.
    for side in ("base", "head"):
        assert read_run(tmp_path / "out" / "1-all" / side).cells
        [again] = (tmp_path / "out" / "3-alone" / side).glob("cells.jsonl")
        assert COUNTING in again.read_text()


def test_a_head_that_mends_what_base_breaks_is_better(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    done = jetproof("compare", fake("wrong-acks"), fake("polite"), case_file(COUNTS), "--json")
    assert done.code == 0, done.err
    assert {one["kind"] for one in done.document["differences"]} == {"better"}
    assert done.err.splitlines()[-1].startswith("✓ head is not worse: 2 better")


def test_two_servers_that_are_wrong_alike_do_not_differ(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    done = jetproof("compare", fake("wrong-acks"), fake("wrong-acks"), case_file(COUNTS), "--json")
    assert done.code == 0, done.err
    assert done.document["differences"] == []


def test_what_base_does_now_and_then_is_not_held_against_head(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    """The fake is wrong in every other run: here in the second one, where cases are played alone."""
    path = case_file(COUNTS)
    done = jetproof("compare", fake("flaky"), fake("wrong-acks"), path, "--json")
    # Base does it too, if only now and then: head is not to blame.
    assert done.document["counts"]["worse"] == 0
    assert done.code == 0


def test_what_shows_again_among_its_neighbours_is_worse(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    """Wrong, right when it is played alone, wrong among its neighbours."""
    flaky, path = fake("flaky"), case_file(COUNTS)
    assert jetproof("run", path, "--server", flaky).code == 0
    done = jetproof("compare", fake("polite"), flaky, path, "--json")
    found = {one["case"]: one for one in done.document["differences"]}
    assert (found[COUNTING]["kind"], done.code) == ("worse", 1)


def test_what_never_shows_again_is_reported_apart(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    flaky, path = fake("wrong-second"), case_file(COUNTS)
    assert jetproof("run", path, "--server", flaky).code == 0
    done = jetproof("compare", fake("polite"), flaky, path, "--json")
    found = {one["case"]: one for one in done.document["differences"]}
    assert (found[COUNTING]["kind"], done.code) == ("once", 0)
    assert "head is not worse: 2 once" in done.err


def test_a_head_that_dies_of_a_case_is_worse(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    path = case_file(CRASHES, COUNTS)
    done = jetproof("compare", fake("polite"), fake("crashes"), path, "--json")
    assert done.code in (1, 3), done.err
    found = {one["case"]: one for one in done.document["differences"]}
    assert found["adr-50/trial::crashes"]["head"]["verdict"] == "error"


def test_a_head_that_does_not_start_is_worse(
    jetproof: Command, build: Build, fake: Fake, case_file: CaseFile, conforms: Validate
) -> None:
    head = build("head", does='echo "panic: no store" >&2; exit 2')
    done = jetproof("compare", fake("polite"), head, case_file(COUNTS), "--json", "--out", "out")
    assert done.code == 1, done.err
    conforms("cli/compare", done.document)
    assert done.document["head"]["started"] is False
    assert "head is worse: it does not start" in done.err
    assert "panic: no store" in done.err
    assert "panic: no store" in Path("out/compare.md").read_text()


def test_a_base_that_does_not_start_proves_nothing(
    jetproof: Command, build: Build, fake: Fake, case_file: CaseFile
) -> None:
    base = build("base", does="exit 2")
    done = jetproof("compare", base, fake("polite"), case_file(COUNTS))
    assert done.code == 3, done.err
    assert "nothing is compared: base does not start" in done.out


def test_a_change_where_the_text_is_silent_decides_only_if_asked(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    silent = """\
  - case: position
    clauses: [A50-ATOMIC-211]
    steps:
      - request: {subject: $stream.a, payload: one}
        reply: {position: {sequence: json.seq}}
"""
    path = case_file(silent)
    base, head = fake("polite"), fake("wrong-acks")
    done = jetproof("compare", base, head, path, "--json")
    found = {one["case"]: one for one in done.document["differences"]}
    change = found["adr-50/trial::position"]
    assert change["kind"] == "changed"
    assert change["positions"] == [{"name": "sequence", "base": "1", "head": "-1"}]
    strict = ("--fail-on", "changed")
    assert jetproof("compare", base, head, path, *strict).code == 1
    assert jetproof("compare", base, base, path, *strict).code == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["2.15.1"], "which two targets?"),
        (["2.15.1", "2.15.1", "--server", "2.15.1"], "which two targets?"),
        (["2.12.*", "2.15.1"], "base: 2.12.* names "),
        (["2.15.1", "9.9.9"], "head: "),
        (["2.15.1", "2.15.1", "no-such-suite"], "no case matches"),
        (
            ["2.15.1", "2.15.1", "adr-50/atomic/timeouts::traffic*", "--quick"],
            "--quick leaves out all ",
        ),
        (["--client", "reference", "reference", "-s", "2.15.1", "-s", "2.14.6"], "on one server"),
        (["--client", "reference", "go:nothing"], "there is no adapter go:nothing"),
    ],
)
def test_a_wrong_request_is_refused_before_anything_starts(
    jetproof: Command, arguments: list[str], said: str, tmp_path: Path
) -> None:
    done = jetproof("compare", *arguments)
    assert done.code == 2
    assert said in done.err
    assert not (tmp_path / "jetproof-runs").exists()


def test_a_folder_with_something_in_it_is_refused(
    jetproof: Command, fake: Fake, case_file: CaseFile, tmp_path: Path
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine").touch()
    server = fake("polite")
    done = jetproof("compare", server, server, case_file(COUNTS), "--out", "out")
    assert done.code == 2
    assert "out is not empty" in done.err


def test_an_interrupted_comparison_says_so_and_leaves_its_runs(
    process: Start, fake: Fake, case_file: CaseFile, tmp_path: Path
) -> None:
    server = fake("polite")
    child = process("compare", server, server, case_file(COUNTS, SLOW), "--out", "out")
    cells = tmp_path / "out" / "1-all" / "head" / "cells.jsonl"
    deadline = time.monotonic() + 60
    while not (cells.exists() and "counts" in cells.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(child.pid, signal.SIGINT)
    out, _ = child.communicate(timeout=60)
    assert child.returncode == 130
    assert "not complete" in out
    document = json.loads((tmp_path / "out" / "compare.json").read_text())
    assert (document["complete"], document["interrupted"]) == (False, True)
    assert "the comparison is not complete" in (tmp_path / "out" / "compare.md").read_text()


def test_the_end_fits_a_terminal_of_eighty_columns(
    jetproof: Command, fake: Fake, case_file: CaseFile
) -> None:
    done = jetproof("compare", fake("polite"), fake("wrong-acks"), case_file(COUNTS, ASKS))
    end = done.out.partition("fresh server")[2]
    long = [line for line in end.splitlines() if len(line) > 80 and "jetproof replay" not in line]
    assert long == []
    assert re.search(r"^  worse +adr-50/trial::counts$", done.out, re.MULTILINE)


def test_two_releases_of_a_line_show_no_difference_where_none_is_known(
    jetproof: Command, conforms: Validate
) -> None:
    """Against itself a release has nothing to report, on the wire neither: names and times are free."""
    suite = "adr-50/atomic/commit"
    done = jetproof("compare", "2.15.1", "2.15.1", suite, "--json", "--quick")
    assert done.code == 0, done.err
    conforms("cli/compare", done.document)
    assert done.document["differences"] == []
    assert [one for one in done.document["wire"] if one["confirmed"]] == []
    assert done.document["compared"] > 10
