"""`jetproof run` on a real server: verdicts, documents, files, exit codes, resumption."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft202012Validator

from jetproof.errors import JetproofError
from jetproof.results import read_run
from jetproof.sinks.junit import JUnit
from jetproof.targets.releases import installed_binary
from support.case_files import FAILS, HOSTILE, PASSES
from support.commands import Command
from support.documents import Validate

CaseFile = Callable[..., Path]


def cells(document: dict[str, object]) -> dict[str, str]:
    """Verdicts by case name."""
    rows: list[dict[str, str]] = document["cells"]  # type: ignore[assignment]
    return {row["case"].rpartition("::")[2]: row["verdict"] for row in rows}


def lines(path: Path) -> Iterator[dict[str, object]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def test_a_case_that_passes_conforms(jetproof: Command, case_file: CaseFile) -> None:
    done = jetproof("run", case_file(PASSES))
    assert done.code == 0
    assert "✓ conforms" in done.out.splitlines()[-1]


def test_a_case_that_fails_shows_the_evidence_and_exits_with_1(
    jetproof: Command, case_file: CaseFile
) -> None:
    path = case_file(PASSES, FAILS)
    done = jetproof("run", path, "--server", "latest")
    assert done.code == 1
    assert "✗ fail     adr-50/trial::fails @" in done.out
    assert "A50-ATOMIC-001 must" in done.out
    assert "expected" in done.out
    assert f"jetproof replay {path}::fails --server " in done.out
    assert "✗ does not conform" in done.out.splitlines()[-1]


def test_the_command_that_is_printed_replays_the_failure(
    jetproof: Command, case_file: CaseFile
) -> None:
    done = jetproof("run", case_file(FAILS))
    command = done.out.partition("replay it: jetproof ")[2].splitlines()[0]
    again = jetproof(*command.split())
    assert again.code == 1
    assert "frames, all " in again.out


def test_json_is_all_that_is_on_stdout(
    jetproof: Command, case_file: CaseFile, conforms: Validate
) -> None:
    done = jetproof("run", "--json", case_file(PASSES, FAILS))
    document = done.document
    conforms("cli/run", document)
    assert done.code == document["exit_code"] == 1
    assert cells(document) == {"passes": "pass", "fails": "fail"}
    assert document["partial"]
    assert "✗ does not conform" in done.err


def test_the_results_are_in_a_folder_of_the_run(
    jetproof: Command, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    document = jetproof("run", "--json", case_file(PASSES, FAILS)).document
    folder = tmp_path / "jetproof-runs" / str(document["run"])
    assert document["results"] == f"jetproof-runs/{document['run']}"
    conforms("results/run", json.loads((folder / "run.json").read_text()))
    for name in ("cell", "check", "frame", "clause"):
        rows = list(lines(folder / f"{name}s.jsonl"))
        assert rows
        for row in rows:
            conforms(f"results/{name}", row)


def test_out_names_the_folder_and_never_overwrites_another_run(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    path = case_file(PASSES)
    assert jetproof("run", path, "--out", "mine").code == 0
    before = (tmp_path / "mine" / "cells.jsonl").read_bytes()
    done = jetproof("run", path, "--out", "mine")
    assert done.code == 2
    assert "mine holds another run" in done.err
    assert (tmp_path / "mine" / "cells.jsonl").read_bytes() == before


@pytest.mark.parametrize("option", ["--out", "--junit", "--ctrf"])
def test_a_place_that_cannot_be_written_is_found_before_anything_starts(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch, option: str
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("something was started")

    monkeypatch.setattr("jetproof.engine.run.start_target", never)
    path = case_file(PASSES)
    done = jetproof("run", path, option, path / "below" / "it")
    assert done.code == 2
    assert "cannot write" in done.err


def test_junit(jetproof: Command, case_file: CaseFile, tmp_path: Path) -> None:
    jetproof("run", case_file(PASSES, FAILS), "--junit", "reports/junit.xml")
    root = ElementTree.parse(tmp_path / "reports" / "junit.xml").getroot()
    suite = next(each for each in root.iter("testsuite") if each.attrib["name"] == "adr-50/trial")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("2", "1")


def test_ctrf(jetproof: Command, case_file: CaseFile, tmp_path: Path) -> None:
    path = case_file(PASSES, FAILS)
    done = jetproof("run", path, "--ctrf", "reports/ctrf.json", "--junit", "junit.xml")
    document = json.loads((tmp_path / "reports" / "ctrf.json").read_text())
    schema = json.loads((Path(__file__).parents[1] / "sinks" / "ctrf-schema.json").read_text())
    Draft202012Validator(schema).validate(document)
    results = document["results"]
    tests = {test["name"].partition(" ")[0]: test for test in results["tests"]}
    fails = tests["adr-50/trial::fails"]
    assert (fails["status"], fails["rawStatus"]) == ("failed", "fail")
    assert "last frames" in fails["trace"]
    assert (fails["filePath"], fails["line"] > 1) == (str(path), True)
    assert tests["adr-50/trial::passes"]["status"] == "passed"
    assert results["summary"]["failed"] == 1
    assert results["summary"]["extra"]["exit_code"] == done.code == 1
    assert len(list(ElementTree.parse(tmp_path / "junit.xml").iter("testcase"))) == len(tests)


def test_a_report_file_that_fails_at_the_end_does_not_keep_the_next_from_being_written(
    jetproof: Command, case_file: CaseFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: JUnit) -> None:
        raise JetproofError("cannot write the JUnit file: no space left", phase="write")

    monkeypatch.setattr(JUnit, "close", full)
    done = jetproof("run", case_file(PASSES), "--junit", "junit.xml", "--ctrf", "ctrf.json")
    assert done.code == 2
    assert "no space left" in done.out
    results = json.loads((tmp_path / "ctrf.json").read_text())["results"]
    assert any("::passes @" in test["name"] for test in results["tests"])


def test_verbose_names_every_cell(jetproof: Command, case_file: CaseFile) -> None:
    assert "✓ pass     adr-50/trial::passes @" in jetproof("run", "-v", case_file(PASSES)).out


def test_what_a_server_says_cannot_act_on_the_terminal(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    done = jetproof("run", "-v", case_file(HOSTILE), "--out", "out", "--junit", "junit.xml")
    assert done.code == 1
    assert all(line.isprintable() for line in done.out.split("\n"))
    assert r"\x1b[2J\x1b]0;owned\x07\u202eback\nforged" in done.out
    xml = (tmp_path / "junit.xml").read_text(encoding="utf-8")
    assert all(line.isprintable() for line in xml.split("\n"))
    payloads = [row.get("payload") for row in lines(tmp_path / "out" / "frames.jsonl")]
    assert "\x1b[2J\x1b]0;owned\x07\u202eback\nforged" in payloads


def test_fail_fast_stops_at_the_first_failure(jetproof: Command, case_file: CaseFile) -> None:
    document = jetproof("run", "--json", "-x", case_file(FAILS)).document
    assert document["exit_code"] == 1
    assert document["interrupted"] is True
    done = jetproof("run", "-x", case_file(FAILS))
    assert "and --fail-fast was asked for" in done.out
    assert "✗ does not conform" in done.out.splitlines()[-1]


def test_shards_together_are_the_whole(jetproof: Command, case_file: CaseFile) -> None:
    path = case_file(PASSES, FAILS, PASSES.replace("passes", "passes-too"))
    parts = [jetproof("run", "--json", path, "--shard", f"{part}/2").document for part in (1, 2)]
    seen = [name for part in parts for name in cells(part)]
    assert sorted(seen) == ["fails", "passes", "passes-too"]
    assert all(f"shard {number}/2" in str(part["partial"]) for number, part in enumerate(parts, 1))


# What cannot be played


def test_mistakes_in_a_case_file_are_all_listed_and_nothing_is_started(
    jetproof: Command, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    path = case_file(PASSES.replace("empty", "emtpy"), FAILS.replace("stream:", "strem:"))
    done = jetproof("run", path)
    assert done.code == 2
    assert done.err.startswith("jetproof: 2 mistakes:\n")
    assert not (tmp_path / "jetproof-runs").exists()
    document = jetproof("run", "--json", path).document
    conforms("cli/error", document)
    assert len(document["error"]["mistakes"]) == 2  # type: ignore[index]


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("2.13.0", "no such release: 2.13.0"),
        ("flying:2.15.1", "there is no provider 'flying'"),
        ("path:./nothing", "cannot run ./nothing"),
    ],
)
def test_a_target_that_does_not_exist_is_told_before_anything_starts(
    jetproof: Command, case_file: CaseFile, tmp_path: Path, target: str, message: str
) -> None:
    done = jetproof("run", case_file(PASSES), "-s", target)
    assert done.code == 2
    assert message in done.err
    assert not (tmp_path / "jetproof-runs").exists()


def fake_server(path: Path, start: str) -> Path:
    """A build that knows its version, and then does this."""
    path.write_text(
        '#!/bin/sh\nif [ "$1" = --version ] || [ "$1" = -v ]; then\n'
        f"  echo nats-server: v2.15.1\n  exit 0\nfi\n{start}\n"
    )
    path.chmod(0o755)
    return path


def test_a_server_that_does_not_start_gives_errors_and_exits_with_3(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    fake_server(tmp_path / "server", "echo no luck today >&2\nexit 7")
    done = jetproof("run", "--json", case_file(PASSES, FAILS), "-s", "path:./server")
    assert done.code == 3
    assert cells(done.document) == {"passes": "error", "fails": "error"}
    assert "no luck today" in done.err


def test_an_unavailable_server_says_so_and_does_not_hide_other_targets(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    fake_server(tmp_path / "server", "exit 7")
    arguments = (case_file(PASSES), "-s", "path:./server", "-s", "latest")
    document = jetproof("run", "--json", *arguments).document
    assert document["exit_code"] == 3
    targets: list[dict[str, str]] = document["cells"]  # type: ignore[assignment]
    verdicts = {row["target"]: row["verdict"] for row in targets}
    assert sorted(verdicts.values()) == ["error", "pass"]
    assert verdicts["path:./server"] == "error"


# --resume


def cut(folder: Path, cell: str) -> None:
    """As if the process had been lost before this cell was written."""
    journal = folder / "cells.jsonl"
    kept = [line for line in journal.read_text().splitlines() if f"::{cell} @" not in line]
    journal.write_text("\n".join(kept) + '\n{"run": "half a li')


def test_resume_plays_what_is_missing_and_keeps_what_is_there(
    jetproof: Command, case_file: CaseFile, conforms: Validate, tmp_path: Path
) -> None:
    path = case_file(PASSES, FAILS)
    first = jetproof("run", "--json", path, "--out", "out").document
    cut(tmp_path / "out", "passes")
    done = jetproof("run", "--json", "--resume", "out")
    document = done.document
    conforms("cli/run", document)
    assert document["run"] == first["run"]
    assert done.code == 1
    assert cells(document) == {"passes": "pass", "fails": "fail"}
    assert "✗ fail     adr-50/trial::fails @" in done.err
    assert "reply.json.seq" in done.err
    rows = lines(tmp_path / "out" / "cells.jsonl")
    assert sorted((str(row["case"]), row["attempt"]) for row in rows) == [
        ("adr-50/trial::fails", 1),
        ("adr-50/trial::passes", 1),
    ]
    run = read_run(tmp_path / "out")
    assert run.document["verdicts"]["fail"] == 1  # type: ignore[index]
    assert len(run.document["resumed"]) == 1  # type: ignore[arg-type]


def test_resume_plays_errors_again_as_a_further_attempt(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    server = fake_server(tmp_path / "server", "exit 7")
    assert jetproof("run", case_file(PASSES), "-s", "path:./server", "--out", "out").code == 3
    binary = installed_binary()
    server.write_text(f'#!/bin/sh\nexec "{binary}" "$@"\n')
    assert jetproof("run", "--resume", "out").code == 0
    rows = lines(tmp_path / "out" / "cells.jsonl")
    assert [(row["verdict"], row["attempt"]) for row in rows] == [("error", 1), ("pass", 2)]


def test_resuming_a_run_that_is_whole_changes_no_verdict(
    jetproof: Command, case_file: CaseFile
) -> None:
    first = jetproof("run", "--json", case_file(PASSES, FAILS), "--out", "out").document
    again = jetproof("run", "--json", "--resume", "out").document
    assert cells(again) == cells(first)
    assert again["exit_code"] == 1


def test_resuming_plays_a_case_again_that_was_changed(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    path = case_file(PASSES, FAILS)
    assert jetproof("run", path, "--out", "out").code == 1
    path.write_text(
        path.read_text().replace("seq: 7", "seq: 1").replace("messages: 9", "messages: 1")
    )
    assert jetproof("run", "--resume", "out").code == 0
    rows = [row for row in lines(tmp_path / "out" / "cells.jsonl") if "fails" in str(row["case"])]
    assert [(row["verdict"], row["attempt"]) for row in rows] == [("fail", 1), ("pass", 2)]


def test_what_the_first_part_of_a_run_saw_broken_stays_so(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    jetproof("run", case_file(PASSES, FAILS.replace("seq: 7", "seq: 1")), "--out", "out")
    cut(tmp_path / "out", "passes")
    journal = tmp_path / "out" / "schemas.jsonl"
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    for row in rows:
        if row["schema"] == "stream-create":
            row |= {"verdict": "fail", "reason": "a field is missing"}
    journal.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    document = jetproof("run", "--json", "--resume", "out").document
    assert document["exit_code"] == 1
    found: list[dict[str, str]] = document["schemas"]  # type: ignore[assignment]
    (row,) = [row for row in found if row["schema"] == "stream-create"]
    assert row["verdict"] == "fail"
    assert row["reason"] == "before the run was resumed: a field is missing"
    latest = {one.schema: one for one in read_run(tmp_path / "out").latest_schemas}
    assert (latest["stream-create"].verdict, latest["stream-create"].attempt) == ("fail", 2)


@pytest.mark.parametrize("more", [("adr-50",), ("--shard", "1/2"), ("-s", "2.14.6")])
def test_resume_takes_no_other_selection(
    jetproof: Command, case_file: CaseFile, more: tuple[str, ...]
) -> None:
    jetproof("run", case_file(PASSES), "--out", "out")
    done = jetproof("run", "--resume", "out", *more)
    assert done.code == 2
    assert "goes on with its original options" in done.err


def test_a_run_of_other_suites_cannot_be_resumed(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    jetproof("run", case_file(PASSES), "--out", "out")
    document = json.loads((tmp_path / "out" / "run.json").read_text())
    (tmp_path / "out" / "run.json").write_text(json.dumps({**document, "suite_hash": "other"}))
    done = jetproof("run", "--resume", "out")
    assert done.code == 2
    assert "the suites have changed since out was made" in done.err


def test_resume_of_a_folder_without_a_run_is_a_mistake(jetproof: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = jetproof("run", "--resume", "empty")
    assert done.code == 2
    assert "empty is not a run folder" in done.err


# Passwords


def test_a_password_in_a_target_is_nowhere_to_be_seen(
    jetproof: Command, case_file: CaseFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = "nats://alice:s3cret@127.0.0.1:1"

    async def known(_: object, **__: object) -> list[object]:
        from jetproof.model.versions import Version
        from jetproof.plan import PlanTarget

        return [PlanTarget(url, Version.parse("2.15.1"), "external", fixed="it is external")]

    def unreachable(*_: object, **__: object) -> None:
        raise JetproofError(f"cannot reach {url}", phase="start")

    monkeypatch.setattr("jetproof.campaigns.run.resolve", known)
    monkeypatch.setattr("jetproof.engine.run.start_target", unreachable)
    arguments = ("-s", url, "--out", "out", "--junit", "junit.xml")
    done = jetproof("run", "--json", case_file(PASSES), *arguments)
    assert done.code == 3
    assert "alice:***@127.0.0.1" in done.out
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    for text in (done.out, done.err, written, (tmp_path / "junit.xml").read_text()):
        assert "s3cret" not in text
    again = jetproof("run", "--resume", "out")
    assert again.code == 2
    assert "out does not keep passwords" in again.err
    assert jetproof("run", "--resume", "out", "-s", url).code == 3
