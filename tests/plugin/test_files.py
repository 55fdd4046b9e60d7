"""Which files are case files, and what is said about those that are wrong."""

from __future__ import annotations

import pytest

from .project import ASK, GOOD, Project

OWN = f"""\
suite: demo/greeting
about: A case file outside of the suites
cases:
  - case: greets
    clauses: [DEMO-001]
    steps: [{{{ASK}, {GOOD}}}]
"""
FAILS = OWN.replace("account_info_response", "nothing_at_all")
UNKNOWN_STEP = OWN.replace("request:", "requst:")
UNKNOWN_CLAUSE = OWN.replace("DEMO-001", "DEMO-777").replace("demo/greeting", "demo/other")


def test_a_file_outside_of_the_suites_is_played(project: Project) -> None:
    project.write("mine/greeting.yaml", OWN)
    result = project.jetproof("-v", "mine/greeting.yaml")
    assert result.played == {"greets": "PASSED"}


def test_its_replay_command_names_the_file(project: Project) -> None:
    project.write("mine/greeting.yaml", FAILS)
    result = project.jetproof("mine")
    assert "replay it: jetproof replay mine/greeting.yaml::greets --server" in result.out


def test_other_yaml_in_a_folder_is_left_alone(project: Project) -> None:
    project.write("mine/greeting.yaml", OWN)
    project.write("mine/compose.yaml", "services: {nats: {image: nats}}\n")
    project.write("mine/broken.yaml", "a: [\n")
    result = project.jetproof("-v", "mine")
    assert result.played == {"greets": "PASSED"}
    assert result.code == 0


def test_files_beside_and_above_a_file_that_is_named_are_left_alone(project: Project) -> None:
    project.write("mine/deep/greeting.yaml", OWN)
    project.write("mine/deep/other.yaml", UNKNOWN_STEP)
    project.write("mine/above.yaml", UNKNOWN_CLAUSE)
    result = project.jetproof("-v", "mine/deep/greeting.yaml")
    assert result.played == {"greets": "PASSED"}
    assert result.code == 0
    result = project.jetproof("mine/deep")
    assert "mine/deep/other.yaml:6" in result.err
    assert "above" not in result.err


def test_a_file_that_is_named_must_hold_cases(project: Project) -> None:
    project.write("mine/compose.yaml", "services: {nats: {image: nats}}\n")
    result = project.jetproof("mine/compose.yaml", "suites/demo/clauses.yaml")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "mine/compose.yaml:1: " in result.err
    assert "suites/demo/clauses.yaml:1: it holds no cases" in result.err


def test_all_mistakes_of_all_files_are_told_at_once(project: Project) -> None:
    project.write("mine/a.yaml", UNKNOWN_STEP)
    project.write("mine/deep/b.yaml", UNKNOWN_CLAUSE)
    project.write("mine/deep/c.yaml", "suite: demo/c\ncases: [\n")
    result = project.jetproof("mine")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    told = [line.partition(": ")[0] for line in result.err.splitlines() if "mine/" in line]
    assert told == ["mine/a.yaml:6", "mine/deep/b.yaml:5", "mine/deep/c.yaml:2"]
    assert "ERROR: jetproof: 3 mistakes in case files:" in result.err
    assert "did you mean request?" in result.err
    assert list((project.root / "tmp").iterdir()) == []


def test_a_name_in_a_broken_file_is_told_as_the_mistake(project: Project) -> None:
    project.write("mine/a.yaml", UNKNOWN_STEP)
    result = project.jetproof("mine/a.yaml::greets")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "mine/a.yaml:6: unknown step 'requst'" in result.err
    assert "not found" not in result.err


def test_mistakes_in_the_suites_are_told_as_well(project: Project) -> None:
    project.write("suites/demo/wrong.yaml", UNKNOWN_STEP)
    result = project.jetproof("suites")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "suites/demo/wrong.yaml:6: unknown step 'requst'" in result.err


def test_one_case_in_two_files_is_a_mistake(project: Project) -> None:
    project.write("mine/a.yaml", OWN)
    project.write("mine/b.yaml", OWN)
    result = project.jetproof("mine")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    duplicate = "duplicate case demo/greeting::greets: it is at mine/a.yaml:4 already"
    assert f"mine/b.yaml:4: {duplicate}" in result.err


def test_a_copy_of_a_suite_can_be_played_in_its_place(project: Project) -> None:
    copy = (project.root / "suites/demo/ledger.yaml").read_text()
    project.write("copy/ledger.yaml", copy)
    result = project.jetproof("-v", "copy")
    assert result.played == {"known": "XFAIL", "stale": "FAILED"}
