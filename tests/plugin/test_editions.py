"""`--jetproof-edition`: what the edition does not score is played, and skipped with its verdict."""

from __future__ import annotations

import pytest

from jetproof.load.editions import edition_text
from jetproof.load.library import load_library

from .project import Project


def freeze(project: Project) -> None:
    text = edition_text(load_library(project.root), "2026.11")
    project.write("suites/editions/2026.11.txt", text)


def test_new_and_changed_cases_are_skipped_with_their_verdict(project: Project) -> None:
    path = project.root / "suites" / "demo" / "verdicts.yaml"
    whole = path.read_text()
    head, *cases = whole.split("  - case: ")
    kept = [case for case in cases if case.startswith(("passes", "warns", "takes"))]
    path.write_text(head + "".join(f"  - case: {case}" for case in kept))
    freeze(project)
    # `warns` has changed: it would be a failure.
    path.write_text(whole.replace("[DEMO-002]", "[DEMO-001]"))
    place = "suites/demo/verdicts.yaml"
    free = project.jetproof("-v", place)
    assert free.code == pytest.ExitCode.TESTS_FAILED
    pinned = project.jetproof(
        "-v", "-rs", "--junitxml=junit.xml", "--jetproof-edition", "2026.11", place
    )
    assert pinned.code == pytest.ExitCode.OK, pinned.out
    assert pinned.played == {
        "passes": "PASSED",
        "takes-a-position": "PASSED",
        "warns": "SKIPPED",
        "fails": "SKIPPED",
        "does-not-apply": "SKIPPED",
        "gets-no-verdict": "SKIPPED",
    }
    assert "not scored by edition 2026.11: fail: step 1" in pinned.out
    assert "4 cells not scored by edition 2026.11: 1 error, 2 fail, 1 n/a" in pinned.out
    assert ", scored by edition 2026.11\n" in pinned.out
    properties = {
        each.attrib["name"]: each.attrib["value"] for each in pinned.junit["fails"].iter("property")
    }
    assert (properties["verdict"], properties["scored"]) == ("fail", "False")


def test_an_unknown_edition_is_a_mistake(project: Project) -> None:
    freeze(project)
    done = project.jetproof("--jetproof-edition", "2026.01")
    assert done.code == pytest.ExitCode.USAGE_ERROR
    assert "no edition '2026.01'; did you mean 2026.11?" in done.err
