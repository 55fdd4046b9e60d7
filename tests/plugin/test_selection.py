"""What pytest users know works: node ids, -k, -x, --lf, --collect-only, several servers."""

from __future__ import annotations

import pytest

from .project import ASK, BAD, GOOD, Project

SLOW = f"""\
suite: demo/slow
about: One fails at once, one takes long
cases:
  - case: at-once
    clauses: [DEMO-001]
    steps: [{{{ASK}, {BAD}}}]
  - case: much-later
    clauses: [DEMO-001]
    budget: 90s
    steps:
      - subscribe: {{subject: $inbox.never, to: never}}
      - silence: {{on: never, for: 80s}}
"""
STAGGERED = """\
suite: demo/steps
about: The longest comes first
cases:
  - case: long
    clauses: [DEMO-001]
    steps: [{subscribe: {subject: $inbox.a, to: a}}, {silence: {on: a, for: 3s}}]
  - case: middle
    clauses: [DEMO-001]
    steps: [{subscribe: {subject: $inbox.a, to: a}}, {silence: {on: a, for: 1.5s}}]
  - case: short
    clauses: [DEMO-001]
    steps: [{subscribe: {subject: $inbox.a, to: a}}, {silence: {on: a, for: 10ms}}]
"""
BESIDE = f"""\
suite: demo/beside
about: Cases and Python tests in one folder
cases:
  - case: answers
    clauses: [DEMO-001]
    steps: [{{{ASK}, {GOOD}}}]
"""


def names(out: str) -> list[str]:
    return [line for line in out.splitlines() if line.startswith("suites/")]


def test_items_are_named_after_file_case_and_target(project: Project, newest: str) -> None:
    result = project.jetproof("--collect-only", "-q", "suites/demo/ledger.yaml")
    assert names(result.out) == [
        f"suites/demo/ledger.yaml::known@{newest}",
        f"suites/demo/ledger.yaml::stale@{newest}",
    ]
    assert result.code == 0


def test_collecting_starts_nothing(project: Project) -> None:
    project.jetproof("--collect-only", "--jetproof-out", "results", "suites")
    assert list((project.root / "tmp").iterdir()) == []
    assert not (project.root / "results").exists()


def test_a_node_id_names_one_item(project: Project, newest: str) -> None:
    result = project.jetproof("-v", f"suites/demo/verdicts.yaml::passes@{newest}")
    assert result.played == {"passes": "PASSED"}
    assert result.code == 0


def test_a_case_without_a_target_is_played_on_all(project: Project) -> None:
    case = "suites/demo/verdicts.yaml::passes"
    two = ("--jetproof-server", "latest", "--jetproof-server", "embedded:latest")
    result = project.jetproof(*two, case)
    assert result.counts == {"passed": 2}


def test_k_selects_by_name_and_by_clause(project: Project) -> None:
    assert project.jetproof("-v", "-k", "takes", "suites").played == {"takes-a-position": "PASSED"}
    assert project.jetproof("-v", "-k", "DEMO-002", "suites").played == {"warns": "PASSED"}


def test_a_clause_selects_the_cases_that_test_it(project: Project) -> None:
    result = project.jetproof("-v", "--jetproof-clause", "DEMO-00[23]", "suites")
    assert result.played == {"takes-a-position": "PASSED", "warns": "PASSED"}
    assert "6 deselected" in result.out


def test_a_clause_that_does_not_exist_is_refused(project: Project) -> None:
    result = project.jetproof("--jetproof-clause", "DEMO-999", "suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "no clause matches 'DEMO-999'" in result.err


def test_x_stops_what_is_still_being_played(project: Project) -> None:
    project.write("suites/demo/slow.yaml", SLOW)
    result = project.jetproof("-v", "-x", "suites/demo/slow.yaml")
    assert result.played == {"at-once": "FAILED"}
    assert "stopping after 1 failures" in result.out
    assert result.code == pytest.ExitCode.TESTS_FAILED
    assert list((project.root / "tmp").glob("jetproof-*/run-*")) == []


def test_cases_are_played_at_the_same_time_and_reported_as_they_finish(project: Project) -> None:
    project.write("suites/demo/steps.yaml", STAGGERED)
    result = project.jetproof("-v", "suites/demo/steps.yaml")
    assert list(result.played) == ["short", "middle", "long"]


def test_lf_plays_only_what_failed(project: Project) -> None:
    project.jetproof("suites")
    again = project.jetproof("-v", "--lf", "suites")
    assert again.played == {"fails": "FAILED", "stale": "FAILED", "gets-no-verdict": "ERROR"}
    project.write("suites/deviations.yaml", "deviations: []\n")
    assert project.jetproof("-v", "--lf", "suites").played["stale"] == "PASSED"
    assert "stale" not in project.jetproof("-v", "--lf", "suites").played


def test_runxfail_turns_known_deviations_into_failures(project: Project) -> None:
    result = project.jetproof("-v", "--runxfail", "-k", "known", "suites")
    assert result.played == {"known": "FAILED"}
    assert "reply.json.limits.max_streams" in result.out


def test_w_error_turns_a_warning_into_a_failure(project: Project) -> None:
    strict = "error::jetproof.pytest_plugin.JetproofWarning"
    result = project.jetproof("-v", "-W", strict, "-k", "warns", "suites")
    assert result.played == {"warns": "FAILED"}
    assert "DEMO-002 should  It should do more." in result.out


def test_the_same_case_is_an_item_for_each_server(project: Project, newest: str) -> None:
    servers = ("--jetproof-server", newest, "--jetproof-server", f"embedded:{newest}")
    result = project.jetproof("-v", "-k", "passes", *servers, "suites")
    assert f"suites/demo/verdicts.yaml::passes@{newest} PASSED" in result.out
    assert f"suites/demo/verdicts.yaml::passes@embedded:{newest} PASSED" in result.out
    one = project.jetproof("-k", "passes and embedded", *servers, "suites")
    assert one.counts == {"passed": 1, "deselected": 15}


def test_without_paths_every_suite_is_played(project: Project) -> None:
    project.write("pytest.ini", "[pytest]\ntestpaths = elsewhere\n")
    project.write("elsewhere/test_it.py", "def test_it(): pass\n")
    result = project.jetproof("--collect-only", "-q")
    assert len(names(result.out)) == 8
    assert "test_it" not in result.out


def test_python_tests_run_beside_cases(project: Project) -> None:
    project.write(
        "checks/test_beside.py",
        "import pytest\n"
        "@pytest.fixture(scope='session')\n"
        "def shared():\n"
        "    yield 1\n"
        "def test_one(shared): assert shared\n"
        "def test_two(shared): assert not shared\n",
    )
    project.write("checks/beside.yaml", BESIDE)
    result = project.jetproof("-v", "checks")
    assert "checks/test_beside.py::test_one PASSED" in result.out
    assert "checks/test_beside.py::test_two FAILED" in result.out
    assert result.played == {"answers": "PASSED"}
    assert result.counts == {"passed": 2, "failed": 1}
