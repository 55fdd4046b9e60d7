"""CTRF as CI tools read it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from jetproof import __version__
from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, Notice
from jetproof.model.verdict import Verdict
from jetproof.sinks.ctrf import Ctrf
from jetproof.sinks.report_file import REPORTED, Facts, Reported, Status

from .samples import every_verdict, hostile_cell, make_cell, play, run_started, whole_run

SCHEMA = json.loads((Path(__file__).parent / "ctrf-schema.json").read_text(encoding="utf-8"))
Report = dict[str, Any]


def read(path: Path) -> Report:
    """The results in the file, which must conform to the format."""
    document = json.loads(path.read_text(encoding="ascii"))
    Draft202012Validator.check_schema(SCHEMA)
    Draft202012Validator(SCHEMA).validate(document)
    results: Report = document["results"]
    return results


def written(tmp_path: Path, *finished: CaseFinished, facts: Facts | None = None) -> Report:
    path = tmp_path / "ctrf.json"
    play(Ctrf.create(path, facts), whole_run(*finished))
    return read(path)


def find(results: Report, name: str) -> Report:
    [test] = [test for test in results["tests"] if f"::{name} @" in test["name"]]
    assert isinstance(test, dict)
    return test


def strings(value: object) -> Iterator[str]:
    """Every key and text in a document."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


@pytest.mark.parametrize(
    ("name", "status", "raw", "message", "traced"),
    [
        ("passes", "passed", "pass", None, False),
        ("warns", "passed", "warn", "a should", True),
        ("takes-a-position", "passed", "position", "limit: error 10208", True),
        ("fails", "failed", "fail", "step 2: 10175", True),
        ("is-stale", "failed", "stale", "D-8 says that this fails", True),
        ("has-no-verdict", "other", "error", "the server died", True),
        ("is-known", "skipped", "known", "D-7: says 10175", False),
        ("does-not-apply", "skipped", "n/a", "applies from 2.16", False),
    ],
)
def test_each_verdict_becomes_what_ci_understands(
    tmp_path: Path, name: str, status: str, raw: str, message: str | None, traced: bool
) -> None:
    test = find(written(tmp_path, *every_verdict()), name)
    assert (test["status"], test["rawStatus"]) == (status, raw)
    assert test.get("message") == message
    assert ("trace" in test) is traced
    assert "flaky" not in test


def test_every_verdict_has_a_status() -> None:
    assert set(REPORTED) == set(Verdict)


def test_the_counts_agree_with_the_tests(tmp_path: Path) -> None:
    results = written(tmp_path, *every_verdict())
    summary, tests = results["summary"], results["tests"]
    counts = Counter(test["status"] for test in tests)
    names = ("passed", "failed", "skipped", "pending", "other")
    assert {name: summary[name] for name in names} == {name: counts[name] for name in names}
    assert [summary[name] for name in names] == [3, 3, 2, 0, 1]
    assert summary["tests"] == len(tests) == 9
    assert summary["suites"] == 2
    assert results["extra"]["verdicts"] == {verdict.value: 1 for verdict in Verdict}


def test_a_retry_replaces_the_attempt_before_it(tmp_path: Path) -> None:
    first, second = make_cell(verdict=Verdict.ERROR), make_cell(attempt=2)
    results = written(tmp_path, CaseFinished(first), CaseFinished(second))
    assert [test["rawStatus"] for test in results["tests"]] == ["pass"]
    assert (results["summary"]["tests"], results["summary"]["other"]) == (1, 0)


def test_a_test_has_its_name_suite_clauses_and_axes(tmp_path: Path) -> None:
    facts = Facts({"adr-50/atomic/commit::is-known": ("suites/adr-50/atomic/commit.yaml", 12)})
    results = written(tmp_path, *every_verdict(), facts=facts)
    test = find(results, "is-known")
    assert test["name"] == "adr-50/atomic/commit::is-known @2.15.1 single"
    assert test["suite"] == ["adr-50", "atomic", "commit"]
    assert test["tags"] == ["A50-ATOMIC-042"]
    assert test["duration"] == 12
    assert (test["filePath"], test["line"]) == ("suites/adr-50/atomic/commit.yaml", 12)
    assert test["extra"] == {
        "server": "2.15.1",
        "provider": "embedded",
        "topology": "single",
        "spec": "adr-50@7",
        "clauses": ["A50-ATOMIC-042"],
        "replay": "jetproof replay adr-50/atomic/commit::is-known --server 2.15.1",
        "deviation": "D-7",
        "kind": "bug",
        "severity": "protocol",
        "upstream": "https://example.com/7",
    }
    assert "filePath" not in find(results, "passes")


def test_a_failure_carries_the_evidence(tmp_path: Path) -> None:
    results = written(tmp_path, *every_verdict())
    trace = find(results, "fails")["trace"]
    for text in (
        "10176",
        "10175",
        "HPUB  stream.20",
        "jetproof replay adr-50/atomic/commit::fails",
    ):
        assert text in trace
    assert "out of luck" in find(results, "has-no-verdict")["trace"]
    assert find(results, "takes-a-position")["extra"]["position"] == {"limit": "error 10208"}


def test_the_run_is_described(tmp_path: Path) -> None:
    path = tmp_path / "ctrf.json"
    events = whole_run(*every_verdict())
    events[0] = run_started(8, partial="one suite")
    events.insert(1, Notice("no cluster here"))
    play(Ctrf.create(path, Facts(exit_code=lambda: 3)), events)
    results = read(path)
    assert results["tool"] == {"name": "jetproof", "version": __version__}
    summary = results["summary"]
    assert summary["start"] == 1_767_323_045_000
    assert summary["stop"] - summary["start"] == round(1234.5)
    assert summary["extra"] == {
        "run": "r1",
        "exit_code": 3,
        "partial": "one suite",
        "interrupted": False,
        "planned": 9,
        "played": 9,
    }
    found = results["extra"]["digest"]
    assert found["unstable"] == ["adr-50/atomic/commit::is-unstable @2.15.1 single"]
    assert [group["id"] for group in found["groups"]] == ["D-7"]
    assert found["targets"][0]["verdict"].startswith("2.15.1: no verdict for 1 cell, 1 new failure")
    environment = results["environment"]
    assert (environment["appName"], environment["appVersion"]) == ("nats-server", "2.15.1")
    assert environment["testEnvironment"] == "embedded"
    assert environment["extra"] == {"targets": ["2.15.1"]}
    assert results["extra"]["notices"] == ["no cluster here"]


def test_a_flaky_verdict_is_marked_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(REPORTED, Verdict.WARN, Reported(Status.FAILED, shown=True, flaky=True))
    results = written(tmp_path, *every_verdict())
    assert find(results, "warns")["flaky"] is True
    assert (results["summary"]["flaky"], results["summary"]["failed"]) == (1, 4)


@pytest.mark.parametrize("verdict", list(Verdict))
def test_hostile_text_gives_valid_json_without_control_characters(
    tmp_path: Path, verdict: Verdict
) -> None:
    results = written(tmp_path, hostile_cell(verdict))
    for text in strings(results):
        assert all(line.isprintable() for line in text.split("\n"))
    [test] = results["tests"]
    assert "\n" not in test["name"] + test["message"]
    assert len(test["message"]) < 10_000


def test_an_interrupted_run_gives_a_whole_file_that_says_so(tmp_path: Path) -> None:
    sink = Ctrf.create(tmp_path / "ctrf.json", Facts(exit_code=lambda: 0))
    sink.handle(run_started(9))
    sink.handle(CaseFinished(make_cell()))
    sink.close()
    results = read(tmp_path / "ctrf.json")
    assert len(results["tests"]) == results["summary"]["tests"] == 1
    assert results["summary"]["stop"] >= results["summary"]["start"]
    extra = results["summary"]["extra"]
    assert (extra["interrupted"], extra["exit_code"]) == (True, None)
    assert (extra["planned"], extra["played"]) == (9, 1)


def test_a_run_that_never_ended_leaves_an_empty_report(tmp_path: Path) -> None:
    Ctrf.create(tmp_path / "ctrf.json", Facts(exit_code=lambda: 0))
    results = read(tmp_path / "ctrf.json")
    assert results["tests"] == []
    assert results["summary"]["extra"]["exit_code"] is None


def test_a_place_that_cannot_be_written_is_found_before_anything_starts(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JetproofError, match="cannot write the CTRF file") as caught:
        Ctrf.create(tmp_path / "file" / "ctrf.json")
    assert caught.value.phase == "write"
    assert "--ctrf" in (caught.value.hint or "")


def test_no_half_file_is_left_beside_it(tmp_path: Path) -> None:
    written(tmp_path, *every_verdict())
    assert [path.name for path in tmp_path.iterdir()] == ["ctrf.json"]
