"""`jetproof controls`: a case that passes without the feature that it is about proves nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.commands import Command
from support.documents import Validate

HEAD = """\
suite: adr-50/trial
about: Cases for the tests of controls
feature: expected-last-sequence
given:
  stream: {subjects: ["$stream.>"]}
cases:
"""
NEEDS = """\
  - case: wrong-sequence-is-refused
    clauses: [A50-ATOMIC-034]
    steps:
      - request: {subject: $stream.a, headers: {Nats-Expected-Last-Sequence: 7}}
        reply: {error: 10071}
"""
WEAK = """\
  - case: right-sequence-is-accepted
    clauses: [A50-ATOMIC-001]
    steps:
      - request: {subject: $stream.a, headers: {Nats-Expected-Last-Sequence: 0}}
        reply: {json: {seq: 1}}
"""
HONEST = WEAK.replace("right-sequence", "declared").replace(
    "    steps:",
    "    feature: {name: expected-last-sequence, differs: false, reason: it is right}\n    steps:",
)
DISHONEST = NEEDS.replace("wrong-sequence", "declared").replace(
    "    steps:",
    "    feature: {name: expected-last-sequence, differs: false, reason: a wish}\n    steps:",
)
TWO = """\
  - case: one-of-two-is-needed
    clauses: [A50-ATOMIC-003]
    feature: [msg-id]
    steps:
      - request:
          subject: $stream.a
          headers: {Nats-Expected-Last-Sequence: 0, Nats-Msg-Id: one}
        reply: {json: {seq: 1}}
      - request: {subject: $stream.a, headers: {Nats-Msg-Id: one}}
        reply: {json: {duplicate: true}}
"""
UNREADABLE = """\
  - case: request-is-a-text
    clauses: [A50-ATOMIC-034]
    feature: next_by_subj
    given: {stream: {subjects: ["$stream.>"], allow_direct: true}}
    steps:
      - request: {subject: $stream.a, payload: x, headers: {Nats-Expected-Last-Sequence: 0}}
        reply: {capture: {seq: json.seq}}
      - request: {subject: $JS.API.DIRECT.GET.$stream, json: {next_by_subj: $stream.a}}
        reply: {payload: x}
      - request:
          subject: $JS.API.DIRECT.GET.$stream
          payload: '{"seq": $seq, "next_by_subj": "$stream.a"}'
        reply: {payload: x}
"""

WAITS = """\
  - case: waits-without-the-feature
    clauses: [A50-ATOMIC-034]
    budget: 4s
    feature: direct-get-batch
    given: {stream: {subjects: ["$stream.>"], allow_direct: true}}
    steps:
      - request: {subject: $stream.a, payload: x}
        reply: {json: {seq: 1}}
      - repeat: {as: i, times: 9}
        steps:
          - request: {subject: $JS.API.DIRECT.GET.$stream, json: {seq: 1, batch: 2}}
            replies: {until: {status: 204}, count: 2}
"""


@pytest.fixture
def trial(tmp_path: Path) -> Callable[..., Path]:
    def write(*cases: str, head: str = HEAD) -> Path:
        path = tmp_path / "trial.yaml"
        path.write_text(head + "\n".join(cases))
        return path

    return write


def outcomes(document: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {
        (row["case"].partition("::")[2], row["feature"]): row["outcome"]
        for row in document["controls"]
    }


def test_a_case_that_passes_without_its_feature_is_vacuous(
    jetproof: Command, conforms: Validate, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(NEEDS, WEAK, HONEST), "--out", tmp_path / "run", "--json")
    assert done.code == 1
    document: Any = done.document
    conforms("cli/controls", document)
    feature = "expected-last-sequence"
    assert outcomes(document) == {
        ("wrong-sequence-is-refused", feature): "needed",
        ("right-sequence-is-accepted", feature): "vacuous",
        ("declared-is-accepted", feature): "same",
    }
    [needed] = [row for row in document["controls"] if row["outcome"] == "needed"]
    assert (needed["control"], needed["messages"]) == ("fail", 1)
    assert "10071" in needed["reason"]
    for line in (tmp_path / "run" / "controls.jsonl").read_text().splitlines():
        conforms("results/control", json.loads(line))


def test_the_console_names_what_is_vacuous(
    jetproof: Command, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(NEEDS, WEAK), "--out", tmp_path / "run")
    assert done.code == 1
    assert "right-sequence-is-accepted" in done.out
    assert "wrong-sequence-is-refused" not in done.out
    assert "2 controls: 1 needed, 1 vacuous" in done.out


def test_a_declaration_that_is_wrong_is_named(
    jetproof: Command, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(DISHONEST), "--out", tmp_path / "run")
    assert done.code == 1
    assert "declare differs: false" in done.out
    assert "1 control: 1 contradicted" in done.out


def test_a_control_that_waits_until_its_time_is_over_has_failed(
    jetproof: Command, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(NEEDS, WAITS), "--out", tmp_path / "run", "--json")
    assert done.code == 0, done.out
    document: Any = done.document
    [row] = [row for row in document["controls"] if row["feature"] == "direct-get-batch"]
    assert (row["outcome"], row["control"]) == ("needed", "fail")
    assert "replies.until; then step" in row["reason"]


def test_each_feature_has_its_own_control(
    jetproof: Command, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(TWO), "--out", tmp_path / "run", "--json")
    document: Any = done.document
    assert outcomes(document) == {
        ("one-of-two-is-needed", "expected-last-sequence"): "vacuous",
        ("one-of-two-is-needed", "msg-id"): "needed",
    }


def test_a_control_that_cannot_be_made_is_named_with_its_reason(
    jetproof: Command, conforms: Validate, trial: Callable[..., Path], tmp_path: Path
) -> None:
    done = jetproof("controls", trial(NEEDS, UNREADABLE), "--out", tmp_path / "run", "--json")
    document: Any = done.document
    conforms("cli/controls", document)
    [row] = [row for row in document["controls"] if row["feature"] == "next_by_subj"]
    assert (row["outcome"], row["control"], row["messages"]) == ("impossible", None, 0)
    said = "step 3: the request is a text that is no JSON object; write it as json"
    assert row["reason"].endswith(f"/trial.yaml:22: {said}")


def test_controls_of_a_run_are_kept_in_its_folder_and_used_by_coverage(
    jetproof: Command, conforms: Validate, tmp_path: Path
) -> None:
    """The real suites: a case that declares `differs` and one that does not send the feature."""
    pattern = "errors/messages::subject-of-an-expected-sequence-without-the-sequence"
    assert jetproof("run", pattern, "--out", tmp_path / "run").code == 0
    done = jetproof("controls", pattern, "--run", tmp_path / "run", "--sent")
    assert done.code == 0, done.out + done.err
    before = (tmp_path / "run" / "controls.jsonl").read_bytes()
    assert jetproof("controls", pattern, "--run", tmp_path / "run", "--sent").code == 0
    assert len((tmp_path / "run" / "controls.jsonl").read_bytes()) == len(before)
    document: Any = jetproof("coverage", "--run", tmp_path / "run", "--json").document
    conforms("cli/coverage", document)
    assert document["vacuous"] == []


def test_a_release_that_does_not_know_the_feature_judges_nothing(
    jetproof: Command, conforms: Validate, tmp_path: Path
) -> None:
    pattern = "adr-53/direct-get::by-sequence-is-served-when-reached"
    servers = ("--server", "latest", "--server", "reference:latest")
    assert jetproof("run", pattern, *servers, "--out", tmp_path / "run").code == 0
    document: Any = jetproof("coverage", "--run", tmp_path / "run", "--json").document
    conforms("cli/coverage", document)
    [vacuous] = document["vacuous"]
    assert vacuous["why"].endswith(" does not know min_last_seq")
    touched = [row for row in document["clauses"] if row["cases"]]
    assert touched
    for clause in touched:
        assert clause["state"] == "reference"
        assert clause["verdicts"] == {"vacuous": 1}
        assert clause["reference"] == {"pass": 1}
    said = jetproof("coverage", "--run", tmp_path / "run").out
    assert "1 vacuous cell of " in said


def test_undeclared_features_are_listed_with_their_place(
    jetproof: Command, conforms: Validate, trial: Callable[..., Path]
) -> None:
    bare = HEAD.replace("feature: expected-last-sequence\n", "")
    file = trial(NEEDS, head=bare)
    done = jetproof("controls", file, "--undeclared")
    assert done.code == 1
    line = f"{file}:6: wrong-sequence-is-refused sends expected-last-sequence"
    assert f"{line} and does not declare it" in done.out
    document: Any = jetproof("controls", file, "--undeclared", "--json").document
    conforms("cli/controls", document)
    assert [row["feature"] for row in document["undeclared"]] == ["expected-last-sequence"]
    assert jetproof("controls", trial(NEEDS), "--undeclared").code == 0


def test_every_case_declares_the_features_that_it_sends(jetproof: Command) -> None:
    """It fails when a case sends a feature that neither it nor its file declares."""
    done = jetproof("controls", "--undeclared")
    assert done.code == 0, done.out


def test_cases_without_a_feature_have_no_controls(
    jetproof: Command, trial: Callable[..., Path]
) -> None:
    done = jetproof(
        "controls", trial(NEEDS, head=HEAD.replace("feature: expected-last-sequence\n", ""))
    )
    assert done.code == 2
    assert "none of these cases declares an optional feature" in done.err


def test_a_feature_that_the_table_does_not_describe_is_refused(
    jetproof: Command, trial: Callable[..., Path]
) -> None:
    file = trial(NEEDS, head=HEAD.replace("expected-last-sequence", "unheard-of"))
    done = jetproof("controls", file)
    assert done.code == 2
    assert f"{file}:3: no feature 'unheard-of'" in done.err
    assert "fixtures/features.yaml describes features" in done.err
