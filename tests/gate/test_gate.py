"""`jetproof gate` as the maintainer of a library uses it: exit codes, ledgers, what is told."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jetproof.results import read_run
from support.case_files import WRONG_COMMIT
from support.documents import check_document
from support.programs import script

from .conftest import CLOSES, COMMITS, Gate

LEDGER = """\
client: ./my-adapter
entries:
  - id: says-yes
    kind: bug
    severity: protocol
    text: A commit says 1 or eob.
    does: It says yes.
    {more}
    cases:
      {case}:
        - {{step: committed, path: answer, actual: error APIError 10200}}
        - {{step: members, path: wire.last.headers.Nats-Batch-Commit, actual: {actual}}}
        - {{step: stored, path: stream.messages, actual: 0}}
        - {{step: stored, path: stream.last_seq, actual: 0}}
"""
KNOWN = "adr-50/client/atomic::only-the-last-message-commits"

Write = Callable[..., Path]


def ledger(path: Path, more: str = "", actual: str = '"yes"', case: str = KNOWN) -> Path:
    path.write_text(LEDGER.format(case=case, more=more, actual=actual))
    return path


def cells(folder: Path) -> dict[tuple[str, str], tuple[str, str]]:
    return {
        (cell.case.rpartition("::")[2], (cell.client or "").partition("@")[0]): (
            cell.verdict.value,
            cell.reason,
        )
        for cell in read_run(folder).latest
        if cell.client
    }


def test_a_library_that_conforms(gate: Gate, cases: Write, library: Write) -> None:
    done = gate(cases(COMMITS), "--client", library(), "--out", "run")
    assert done.code == 0, done.out
    [((case, client), (verdict, _))] = cells(Path("run")).items()
    assert (case, verdict) == ("commits", "pass")
    assert client.endswith("my-adapter")


def test_one_that_does_not_is_told_with_its_frames_and_what_the_reference_client_saw(
    gate: Gate, cases: Write, library: Write
) -> None:
    files = ("--out", "run", "--junit", "out.xml", "--ctrf", "out.json")
    done = gate(cases(COMMITS), "--client", library(WRONG_COMMIT), *files)
    assert done.code == 1
    assert "Nats-Batch-Commit" in done.out
    assert "batch.commit" in done.out
    told = cells(Path("run"))
    [reason] = [reason for verdict, reason in told.values() if verdict == "fail"]
    assert "the reference client: pass" in reason
    assert ("commits", "reference") in told
    [failure] = ElementTree.parse("out.xml").iter("failure")
    assert "Nats-Batch-Commit" in str(failure.text) + str(failure.get("message"))
    results = json.loads(Path("out.json").read_text())["results"]
    [test] = [test for test in results["tests"] if test["suite"] != ["schemas"]]
    assert (test["status"], results["summary"]["extra"]["exit_code"]) == ("failed", 1)
    assert "my-adapter@" in test["extra"]["client"]


def test_the_witness_is_not_counted(gate: Gate, cases: Write, library: Write) -> None:
    """A case that the reference client fails too, and an entry that says so of the library."""
    impossible = COMMITS.replace("Nats-Batch-Commit: 1", "Nats-Batch-Commit: 7")
    done = gate(cases(impossible), "--client", library(), "--out", "run")
    assert done.code == 1
    reasons = {client: reason for (_, client), (_, reason) in cells(Path("run")).items()}
    assert any("the reference client: fail" in reason for reason in reasons.values())


def test_what_the_ledger_explains_is_known(gate: Gate, library: Write, tmp_path: Path) -> None:
    own = library(WRONG_COMMIT)
    done = gate(KNOWN, "--client", own, "--ledger", ledger(tmp_path / "l.yaml"), "--out", "run")
    assert done.code == 0, done.out
    [(verdict, reason)] = cells(Path("run")).values()
    assert verdict == "known"
    assert "says-yes" in reason


@pytest.mark.parametrize(
    ("knobs", "actual"), [((), '"yes"'), ((WRONG_COMMIT,), '"no"')], ids=["fixed", "otherwise"]
)
def test_an_entry_that_does_not_hold_is_stale(
    gate: Gate, library: Write, tmp_path: Path, knobs: tuple[str, ...], actual: str
) -> None:
    entry = ledger(tmp_path / "l.yaml", actual=actual)
    done = gate(KNOWN, "--client", library(*knobs), "--ledger", entry, "--out", "run")
    assert done.code == 1
    assert "stale" in {verdict for verdict, _ in cells(Path("run")).values()}


def test_an_entry_that_has_expired_explains_nothing(
    gate: Gate, library: Write, tmp_path: Path
) -> None:
    entry = ledger(tmp_path / "l.yaml", more='expires: "2020-01-31"')
    done = gate(KNOWN, "--client", library(WRONG_COMMIT), "--ledger", entry, "--out", "run")
    assert done.code == 1
    assert "says-yes expired on 2020-01-31" in done.out
    assert "fail" in {verdict for verdict, _ in cells(Path("run")).values()}


def test_an_entry_that_names_no_case_is_a_mistake_with_its_line(gate: Gate, tmp_path: Path) -> None:
    entry = ledger(tmp_path / "l.yaml", case="adr-50/client/atomic::there-is-none")
    own = script(tmp_path / "my-adapter", f"touch {tmp_path}/started")
    done = gate(KNOWN, "--client", own, "--ledger", entry)
    assert done.code == 2
    assert "l.yaml:10: no case adr-50/client/atomic::there-is-none" in done.err
    assert not (tmp_path / "started").exists(), "files are read before anything is started"


def test_what_a_library_lacks_does_not_apply_and_is_counted_by_reason(
    gate: Gate, cases: Write, tmp_path: Path
) -> None:
    mute = script(
        tmp_path / "mute",
        "read line\n"
        """printf '%s\\n' '{"id":1,"ok":{"protocol":1,"library":"mute","version":"1.0.0","""
        """"language":"sh","runtime":"sh","parts":{},"capabilities":["connect","close"],"claims":{}}}'\n"""
        "cat >/dev/null",
    )
    done = gate(cases(COMMITS, CLOSES), "--client", mute, "--out", "run")
    assert done.code == 0
    assert {verdict for verdict, _ in cells(Path("run")).values()} == {"n/a"}
    assert "  1 n/a: mute has no batch.close, batch.open" in done.out
    assert done.out.splitlines()[-1].startswith("✓"), "what matters most comes last"


def test_an_adapter_that_is_none_gives_no_verdict_and_is_blamed(
    gate: Gate, cases: Write, tmp_path: Path
) -> None:
    noise = script(tmp_path / "noise", "echo 'Starting up...'\ncat >/dev/null")
    done = gate(cases(COMMITS), "--client", noise, "--out", "run")
    assert done.code == 3
    [(verdict, reason)] = cells(Path("run")).values()
    assert verdict == "error"
    assert "the adapter" in reason
    assert "Starting up..." in reason


def test_a_broken_adapter_stops_no_other(
    gate: Gate, cases: Write, library: Write, tmp_path: Path
) -> None:
    noise = script(tmp_path / "noise", "echo 'Starting up...'\ncat >/dev/null")
    done = gate(cases(COMMITS), "--client", noise, "--client", library(), "--out", "run")
    assert done.code == 3
    assert {verdict for verdict, _ in cells(Path("run")).values()} == {"error", "pass"}


def test_what_a_library_says_is_data(gate: Gate, cases: Write, tmp_path: Path) -> None:
    """An error whose text would clear the screen, and be markup in a report."""
    evil = "\\\\u001b[2J<script>alert(1)</script>"
    rude = script(
        tmp_path / "rude",
        "read line\n"
        """printf '%s\\n' '{"id":1,"ok":{"protocol":1,"library":"rude","version":"1.0.0","""
        """"language":"sh","runtime":"sh","parts":{},"capabilities":["connect","close","""
        """"batch.open","batch.add","batch.commit"],"claims":{}}}'\n"""
        "n=1\nwhile read line; do n=$((n+1))\n"
        f"""printf '{{"id":%s,"error":{{"type":"{evil}","text":"{evil}"}}}}\\n' $n\ndone""",
    )
    done = gate(cases(COMMITS), "--client", rude, "--out", "run", "--junit", "out.xml")
    assert done.code == 1
    assert "\x1b[2J" not in done.out
    text = Path("out.xml").read_text()
    assert "\x1b" not in text
    assert "<script>" not in text


def test_the_document_names_the_library(gate: Gate, cases: Write, library: Write) -> None:
    done = gate(cases(COMMITS), "--client", library(), "--out", "run", "--json")
    document = json.loads(done.out)
    check_document("cli/gate", document)
    assert document["exit_code"] == 0
    assert [one["library"] for one in document["libraries"]] == ["reference"]
    assert any("my-adapter@" in str(cell["client"]) for cell in document["cells"])


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "which library? Say --client, or --all"),
        (("--client", "cobol:nats"), "there is no adapter cobol:nats"),
        (("--client", "./nothing"), "there is no such file"),
        (("--client", "reference", "no/such/suite"), "no case matches"),
    ],
    ids=["none", "unknown", "missing", "no-case"],
)
def test_wrong_requests(gate: Gate, arguments: tuple[str, ...], told: str) -> None:
    done = gate(*arguments)
    assert done.code == 2
    assert told in done.err


def test_what_a_library_does_not_claim_is_not_played_again(gate: Gate, library: Write) -> None:
    """The reference client speaks fast ingest of revision 10, and is shown beside revision 7."""
    done = gate("adr-50/client/fast-ingest-rev-7", "--client", library(), "--out", "run")
    red = [cell for cell in read_run(Path("run")).latest if cell.verdict.nonconforming]
    assert red
    assert {cell.plays for cell in red} == {()}
    assert "played again" not in done.out
    assert done.code == 0, done.out
