"""Each verdict in pytest's own terms: on the terminal, in JUnit XML, in the exit code."""

from __future__ import annotations

import pytest

from .project import Result, make_project


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Result:
    """One run of every verdict, with all that pytest can say about it."""
    project = make_project(tmp_path_factory.mktemp("verdicts") / "project")
    return project.jetproof("-v", "-rA", "--junitxml=junit.xml", "suites/demo")


def properties(played: Result, case: str) -> dict[str, str]:
    found = played.junit[case].iter("property")
    return {each.attrib["name"]: each.attrib["value"] for each in found}


def test_every_verdict_has_its_outcome(played: Result) -> None:
    assert played.played == {
        "passes": "PASSED",
        "takes-a-position": "PASSED",
        "warns": "PASSED",
        "known": "XFAIL",
        "does-not-apply": "SKIPPED",
        "fails": "FAILED",
        "stale": "FAILED",
        "gets-no-verdict": "ERROR",
    }


def test_the_last_line_counts_them(played: Result) -> None:
    assert played.counts == {
        "passed": 3,
        "failed": 2,
        "skipped": 1,
        "xfailed": 1,
        "warning": 1,
        "error": 1,
    }
    assert played.code == pytest.ExitCode.TESTS_FAILED


def test_a_failure_shows_its_evidence(played: Result) -> None:
    text = played.junit["fails"].findtext("failure") or ""
    assert "DEMO-001 must  It tells what it can do." in text
    assert "'something.else'" in text
    assert "io.nats.jetstream.api.v1.account_info_response" in text
    assert "'gold'            absent" in text
    assert "> PUB  $JS.API.INFO" in text
    assert "replay it: jetproof replay demo/verdicts::fails --server" in text
    assert "'gold'            absent" in played.out
    assert "Traceback" not in played.out


def test_a_failure_is_summed_up_in_one_line(played: Result, newest: str) -> None:
    line = f"FAILED suites/demo/verdicts.yaml::fails@{newest} - fail: step 1, reply.json.type: "
    assert line in played.out


def test_a_stale_entry_of_the_ledger_is_a_failure(played: Result) -> None:
    failure = played.junit["stale"].find("failure")
    assert failure is not None
    assert failure.attrib["message"] == "stale: mended says that this fails, and it does not"


def test_a_known_deviation_is_an_expected_failure(played: Result) -> None:
    skipped = played.junit["known"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["type"] == "pytest.xfail"
    assert skipped.attrib["message"] == "no-such-limit: It has no limit."
    assert properties(played, "known")["deviation"] == "no-such-limit"


def test_what_does_not_apply_is_skipped_with_its_proof(played: Result, newest: str) -> None:
    reason = f"DEMO-004 applies from 99.0.0, this server is {newest}"
    assert f"SKIPPED [1] suites/demo/verdicts.yaml:16: {reason}" in played.out
    skipped = played.junit["does-not-apply"].find("skipped")
    assert skipped is not None
    assert skipped.attrib["message"] == reason


def test_no_verdict_is_an_error_at_setup_with_the_server_log(played: Result, newest: str) -> None:
    assert f"ERROR at setup of demo/verdicts::gets-no-verdict @{newest} single" in played.out
    error = played.junit["gets-no-verdict"].find("error")
    assert error is not None
    assert "it exceeded its budget" in error.attrib["message"]
    assert "Server is ready" in (error.text or "")


def test_a_should_that_fails_is_a_warning(played: Result) -> None:
    assert "JetproofWarning: DEMO-002: step 1, reply.json.type: expected" in played.out
    assert list(played.junit["warns"].iter("failure")) == []


def test_a_position_is_a_property_and_a_section(played: Result) -> None:
    assert properties(played, "takes-a-position")["position:streams"] == "account_info_response"
    section = played.out.partition("= PASSES =")[2]
    assert "streams: account_info_response" in section


def test_junit_xml_carries_the_axes_of_the_cell(played: Result, newest: str) -> None:
    case = played.junit["passes"]
    assert case.attrib["classname"] == "suites.demo.verdicts.yaml"
    assert case.attrib["name"] == f"passes@{newest}"
    assert properties(played, "passes") == {
        "cell": f"demo/verdicts::passes @{newest} single",
        "verdict": "pass",
        "target": newest,
        "provider": "embedded",
        "spec_revision": "1",
        "clauses": "DEMO-001",
    }


def test_an_item_lasts_as_long_as_its_case_was_played(played: Result) -> None:
    assert float(played.junit["gets-no-verdict"].attrib["time"]) >= 0.1


def test_verdicts_are_counted_by_suite(played: Result) -> None:
    table = played.out.partition("= jetproof =")[2]
    assert "demo/ledger" in table
    assert "demo/verdicts" in table
