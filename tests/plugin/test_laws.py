"""`--jetproof-laws`: as much is read at the end of a case as `jetproof run --laws` reads."""

from __future__ import annotations

import json

import pytest

from .project import Project

PLACE = "suites/demo/verdicts.yaml::passes"


@pytest.mark.parametrize("mode", ["full", "off"])
def test_the_mode_is_kept_for_who_resumes(project: Project, mode: str) -> None:
    result = project.jetproof("--jetproof-laws", mode, "--jetproof-out", "run", PLACE)
    assert result.code == pytest.ExitCode.OK, result.out
    document = json.loads((project.root / "run" / "run.json").read_text())
    assert document["request"]["laws"] == mode


def test_a_mode_that_is_none_is_refused(project: Project) -> None:
    result = project.jetproof("--jetproof-laws", "all", PLACE)
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "--jetproof-laws 'all' is no mode" in result.out + result.err
    assert "write one of closing, full, off" in result.out + result.err


def test_it_needs_the_flag(project: Project) -> None:
    result = project.pytest("--jetproof-laws", "full")
    assert result.code == pytest.ExitCode.USAGE_ERROR
    assert "--jetproof-laws does nothing without --jetproof" in result.out + result.err
