"""`jetproof matrix` on real servers: where they run, verdicts, documents, files, resumption."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from jetproof.campaigns.matrix import Pace
from jetproof.campaigns.providers import placed
from jetproof.errors import JetproofError
from jetproof.model.verdict import Verdict
from jetproof.model.versions import Version
from jetproof.plan import PlanTarget
from jetproof.results import read_run
from jetproof.targets.docker_engine import engine_problem
from jetproof.targets.releases import binary_releases, known_releases
from support.case_files import CHANGED, FAILS, PASSES, SLOW, CaseFile
from support.commands import Command
from support.documents import Validate
from support.programs import Build

from .conftest import verdicts

NEWEST = str(binary_releases()[-1])
EMBEDDED = ("--provider", "embedded")
Start = Callable[..., "subprocess.Popen[str]"]


# Which servers, and where


def test_every_known_release_is_tested_if_none_is_named() -> None:
    names = placed([], "embedded")
    assert names == [str(version) for version in known_releases()]
    assert len(names) == 50


def test_without_go_releases_that_go_builds_are_left_out_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path))
    heard: list[str] = []
    assert placed([], "embedded", heard.append) == [str(version) for version in binary_releases()]
    assert heard == [
        "left out 18 releases (2.10.27 to 2.15.2) without a release binary: Go 1.26.0 builds them, "
        "and Go is not installed: there is no `go` on the PATH; https://go.dev/doc/install"
    ]


def test_releases_go_into_containers_and_names_that_say_otherwise_stay() -> None:
    asked = ["2.10.*,2.15.1", "embedded:2.14.6,path:./nats-server", "nats://127.0.0.1:4222"]
    assert placed(asked, "container") == [
        *(f"container:2.10.{patch}" for patch in range(25, 30)),
        "container:2.15.1",
        "embedded:2.14.6",
        "path:./nats-server",
        "nats://127.0.0.1:4222",
    ]


def test_a_release_binary_keeps_the_plain_name_of_a_run() -> None:
    assert placed(["2.15.1"], "embedded") == ["2.15.1"]


def test_the_first_line_says_that_a_docker_engine_answers(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jetproof.targets.docker_engine.engine_problem", lambda: None)
    # 2.11.11 is older than the clause: it is planned, and nothing is started.
    done = jetproof("matrix", case_file(PASSES), "--servers", "2.11.11")
    assert done.code == 0
    assert done.out.splitlines()[0].startswith("servers: in containers, a Docker engine answers")
    assert "container:2.11.11" in done.out


def test_the_first_line_says_that_no_docker_engine_answers(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "jetproof.targets.docker_engine.engine_problem", lambda: "no Docker engine answers: gone"
    )
    done = jetproof("matrix", case_file(PASSES), "--servers", "2.11.11")
    first = done.out.splitlines()[0]
    assert first.startswith("servers: release binaries on this machine, not containers: no Docker")
    assert "container:2.11.11" not in done.out


def test_containers_that_were_asked_for_and_cannot_be_had_are_an_error(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("jetproof.targets.docker_engine.engine_problem", lambda: "it is gone")
    done = jetproof("matrix", case_file(PASSES), "--provider", "container", "--out", "out")
    assert done.code == 3
    assert "--provider container was asked for: it is gone" in done.err
    assert not (tmp_path / "out").exists()


def test_a_release_that_does_not_exist_is_told_before_anything_starts(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    done = jetproof("matrix", case_file(PASSES), *EMBEDDED, "-s", "2.13.*", "--out", "out")
    assert done.code == 2
    assert "no such release: 2.13.*" in done.err
    assert not (tmp_path / "out").exists()


def test_jobs_are_shared_out_among_releases() -> None:
    assert Pace.of(16, 60.0) == Pace(releases=2, servers=8, budget=60.0)
    assert Pace.of(8, 60.0) == Pace(releases=1, servers=8, budget=60.0)
    assert Pace.of(12, 60.0) == Pace(releases=1, servers=12, budget=60.0)
    assert Pace.of(1, 60.0) == Pace(releases=1, servers=1, budget=60.0)


# Verdicts and documents


def test_every_case_is_played_on_every_server(
    jetproof: Command, case_file: CaseFile, build: Build, conforms: Validate, tmp_path: Path
) -> None:
    mine = build("mine", "2.16.0-dev")
    servers = f"2.11.11,{NEWEST},{mine}"
    arguments = ("-s", servers, *EMBEDDED, "--out", "out", "--junit", "junit.xml")
    arguments += ("--ctrf", "ctrf.json")
    done = jetproof("matrix", "--json", case_file(PASSES, FAILS), *arguments)
    document = done.document
    conforms("cli/matrix", document)
    assert done.code == document["exit_code"] == 1
    assert document["provider"] == "embedded"
    assert verdicts(tmp_path / "out") == {
        ("passes", "2.11.11"): "n/a",
        ("fails", "2.11.11"): "n/a",
        ("passes", NEWEST): "pass",
        ("fails", NEWEST): "fail",
        ("passes", mine): "pass",
        ("fails", mine): "fail",
    }
    rows: list[dict[str, object]] = document["releases"]  # type: ignore[assignment]
    assert [(row["target"], row["cells"], row["expected"]) for row in rows] == [
        ("2.11.11", 2, 2),
        (NEWEST, 2, 2),
        (mine, 2, 2),
    ]
    conforms("results/run", json.loads((tmp_path / "out" / "run.json").read_text()))
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    suite = next(each for each in root.iter("testsuite") if each.attrib["name"] == "adr-50/trial")
    assert (suite.attrib["tests"], suite.attrib["failures"]) == ("6", "2")
    results = json.loads((tmp_path / "ctrf.json").read_text())["results"]
    trials = [test["status"] for test in results["tests"] if test["suite"] == ["adr-50", "trial"]]
    assert sorted(trials) == ["failed"] * 2 + ["passed"] * 2 + ["skipped"] * 2
    assert results["summary"]["extra"]["exit_code"] == 1


def test_the_folder_of_a_matrix_is_that_of_one_run(
    jetproof: Command, case_file: CaseFile, build: Build, conforms: Validate, tmp_path: Path
) -> None:
    mine = build("mine")
    jetproof("matrix", case_file(PASSES), "-s", f"{NEWEST},{mine}", *EMBEDDED, "--out", "out")
    run = read_run(tmp_path / "out")
    assert run.document["finished_at"]
    assert run.document["cells"] == len(run.latest)
    assert run.document["request"]["servers"] == [NEWEST, mine]  # type: ignore[index]
    for name in ("cell", "check", "frame", "clause"):
        lines = (tmp_path / "out" / f"{name}s.jsonl").read_text().splitlines()
        rows = [json.loads(line) for line in lines]
        assert {row["run"] for row in rows} == {run.id}
        for row in rows:
            conforms(f"results/{name}", row)
    clauses = (tmp_path / "out" / "clauses.jsonl").read_text().splitlines()
    assert len(clauses) == len({json.loads(line)["clause"] for line in clauses})


@pytest.mark.network
def test_two_releases_that_do_differently(
    jetproof: Command, case_file: CaseFile, tmp_path: Path
) -> None:
    arguments = ("-s", "2.12.1,2.12.2", *EMBEDDED, "--out", "out")
    done = jetproof("matrix", case_file(CHANGED, PASSES), *arguments)
    assert done.code == 1
    assert verdicts(tmp_path / "out") == {
        ("changed", "2.12.1"): "fail",
        ("changed", "2.12.2"): "pass",
        ("passes", "2.12.1"): "pass",
        ("passes", "2.12.2"): "pass",
    }


@pytest.mark.container
@pytest.mark.network
def test_two_releases_in_containers(jetproof: Command, case_file: CaseFile, tmp_path: Path) -> None:
    if problem := engine_problem():
        pytest.skip(f"container lane not covered: {problem.splitlines()[0]}")
    done = jetproof("matrix", case_file(CHANGED), "-s", "2.12.1,2.12.2", "--out", "out")
    assert done.out.startswith("servers: in containers, a Docker engine answers")
    assert verdicts(tmp_path / "out") == {
        ("changed", "container:2.12.1"): "fail",
        ("changed", "container:2.12.2"): "pass",
    }


# A broken release never stops the others


def test_a_build_that_does_not_start(
    jetproof: Command, case_file: CaseFile, build: Build, tmp_path: Path
) -> None:
    broken = build("broken", does="echo no luck today >&2\nexit 7")
    done = jetproof(
        "matrix", case_file(PASSES, FAILS), "-s", f"{broken},{NEWEST}", *EMBEDDED, "--out", "out"
    )
    assert done.code == 3
    assert verdicts(tmp_path / "out") == {
        ("passes", broken): "error",
        ("fails", broken): "error",
        ("passes", NEWEST): "pass",
        ("fails", NEWEST): "fail",
    }
    assert "no luck today" in done.out


def test_a_release_that_cannot_be_fetched(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JETPROOF_OFFLINE", "1")
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "empty"))
    newer = PASSES.replace("passes", "eob").replace("A50-ATOMIC-001", "A50-ATOMIC-009")
    servers = f"2.12.8,{NEWEST}"
    jetproof("matrix", case_file(PASSES, newer), "-s", servers, *EMBEDDED, "--out", "out")
    assert verdicts(tmp_path / "out") == {
        ("passes", "2.12.8"): "error",
        ("eob", "2.12.8"): "n/a",
        ("passes", NEWEST): "pass",
        ("eob", NEWEST): "pass",
    }
    (error,) = [c for c in read_run(tmp_path / "out").latest if c.verdict is Verdict.ERROR]
    assert "nats-server 2.12.8 is needed offline" in error.reason
    assert error.replay.endswith("trial.yaml::passes --server 2.12.8")


def test_a_bug_of_ours_on_one_release(
    jetproof: Command,
    case_file: CaseFile,
    build: Build,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    from jetproof.campaigns import matrix

    mine, real = build("mine"), matrix.play_plan

    async def play_plan(plan, *arguments):  # type: ignore[no-untyped-def]
        if plan.targets[0].name == mine:
            raise ZeroDivisionError("oh")
        return await real(plan, *arguments)

    monkeypatch.setattr(matrix, "play_plan", play_plan)
    arguments = ("-s", f"{mine},{NEWEST}", *EMBEDDED, "--out", "out")
    done = jetproof("matrix", "--json", case_file(PASSES), *arguments)
    assert done.code == 3
    assert verdicts(tmp_path / "out") == {("passes", mine): "error", ("passes", NEWEST): "pass"}
    rows: list[dict[str, list[str]]] = done.document["releases"]  # type: ignore[assignment]
    assert rows[0]["problems"] == ["jetproof itself failed on it: ZeroDivisionError: oh"]
    assert rows[1]["problems"] == []


def test_a_release_that_uses_up_its_budget(
    jetproof: Command, case_file: CaseFile, build: Build, conforms: Validate, tmp_path: Path
) -> None:
    mine = build("mine")
    arguments = ("-s", f"2.11.11,{mine}", *EMBEDDED, "--budget", "3", "--out", "out")
    done = jetproof("matrix", "--json", case_file(PASSES, SLOW), *arguments)
    assert done.code == 3
    conforms("cli/matrix", done.document)
    assert verdicts(tmp_path / "out") == {
        ("passes", "2.11.11"): "n/a",
        ("slow", "2.11.11"): "n/a",
        ("passes", mine): "pass",
        ("slow", mine): "error",
    }
    run = read_run(tmp_path / "out")
    (slow,) = [cell for cell in run.latest if cell.verdict is Verdict.ERROR]
    assert slow.reason == f"{mine} had not ended within its budget of 3 s"
    assert run.document["finished_at"]
    assert run.document["interrupted"] is False


def test_a_server_that_hangs_while_it_starts_uses_up_the_budget_too(
    jetproof: Command, case_file: CaseFile, build: Build, tmp_path: Path
) -> None:
    hangs = build("hangs", does="exec sleep 600")
    arguments = ("-s", f"{hangs},{NEWEST}", *EMBEDDED, "--budget", "2", "-j", "16", "--out", "out")
    assert jetproof("matrix", case_file(PASSES), *arguments).code == 3
    assert verdicts(tmp_path / "out") == {("passes", hangs): "error", ("passes", NEWEST): "pass"}
    (error,) = [cell for cell in read_run(tmp_path / "out").latest if cell.target == hangs]
    assert "had not ended within its budget of 2 s" in error.reason


# --resume


def test_resume_plays_what_has_no_verdict(
    jetproof: Command, case_file: CaseFile, build: Build, conforms: Validate, tmp_path: Path
) -> None:
    broken = build("server", does="exit 7")
    arguments = ("-s", f"{broken},{NEWEST}", *EMBEDDED, "--out", "out")
    assert jetproof("matrix", case_file(PASSES), *arguments).code == 3
    build("server")
    done = jetproof("matrix", "--json", "--resume", "out")
    assert done.code == 0
    conforms("cli/matrix", done.document)
    run = read_run(tmp_path / "out")
    assert verdicts(tmp_path / "out") == {("passes", broken): "pass", ("passes", NEWEST): "pass"}
    played = [(cell.target, cell.attempt) for cell in run.cells]
    assert sorted(played) == sorted([(broken, 1), (NEWEST, 1), (broken, 2)])
    rows: list[dict[str, object]] = done.document["releases"]  # type: ignore[assignment]
    assert [(row["cells"], row["expected"]) for row in rows] == [(1, 1), (1, 1)]


def test_a_matrix_is_resumed_as_it_was_asked_for(jetproof: Command, case_file: CaseFile) -> None:
    assert jetproof("matrix", case_file(PASSES), "-s", NEWEST, *EMBEDDED, "--out", "out").code == 0
    for more in (("adr-50",), ("--shard", "1/2"), EMBEDDED, ("-s", "2.14.6")):
        done = jetproof("matrix", "--resume", "out", *more)
        assert done.code == 2
        assert "goes on with its original options" in done.err


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_an_interrupted_matrix_writes_what_there_is_and_is_resumed(
    process: Start, jetproof: Command, case_file: CaseFile, build: Build, tmp_path: Path
) -> None:
    mine, path = build("mine"), case_file(PASSES, SLOW)
    child = process("matrix", path, "-s", f"{mine},{NEWEST}", *EMBEDDED, "-j", "8", "--out", "out")
    journal = tmp_path / "out" / "cells.jsonl"
    deadline = time.monotonic() + 60
    while not (journal.exists() and "passes" in journal.read_text()):
        assert child.poll() is None, child.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    servers = [
        int(pid)
        for task in Path(f"/proc/{child.pid}/task").glob("*/children")
        for pid in task.read_text().split()
    ]
    assert servers
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=60)
    assert child.returncode == 130, err
    assert "finish it: jetproof matrix --resume out" in out
    assert not any(Path(f"/proc/{pid}").exists() for pid in servers)
    run = read_run(tmp_path / "out")
    assert run.document["interrupted"] is True
    assert verdicts(tmp_path / "out") == {("passes", mine): "pass"}
    path.write_text(path.read_text().replace("60s", "100ms"))
    assert jetproof("matrix", "--resume", "out").code == 0
    assert set(verdicts(tmp_path / "out").values()) == {"pass"}
    assert len(verdicts(tmp_path / "out")) == 4


# Passwords


def test_a_password_in_a_target_is_nowhere_to_be_seen(
    jetproof: Command, case_file: CaseFile, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    url = "nats://alice:s3cret@127.0.0.1:1"

    async def known(_: object, **__: object) -> list[PlanTarget]:
        return [PlanTarget(url, Version.parse("2.15.1"), "external", fixed="it is external")]

    def unreachable(*_: object, **__: object) -> None:
        raise JetproofError(f"cannot reach {url}", phase="start")

    monkeypatch.setattr("jetproof.campaigns.matrix.resolve", known)
    monkeypatch.setattr("jetproof.engine.run.start_target", unreachable)
    done = jetproof("matrix", "--json", case_file(PASSES), "-s", url, "--out", "out")
    assert done.code == 3
    written = "".join(path.read_text() for path in (tmp_path / "out").iterdir())
    for text in (done.out, done.err, written):
        assert "alice:***@127.0.0.1" in text
        assert "s3cret" not in text
    rows: list[dict[str, object]] = done.document["releases"]  # type: ignore[assignment]
    assert [(row["cells"], row["expected"]) for row in rows] == [(1, 1)]
