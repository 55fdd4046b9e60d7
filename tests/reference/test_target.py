"""`reference:2.15.1` as a target: shown apart, for the specifications it speaks, and no others."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from jetproof.campaigns import mutate
from jetproof.cli import main
from jetproof.load.library import Library, load_library
from jetproof.model.ledger import Deviation
from jetproof.model.mutant import Mutant
from jetproof.model.versions import Version, VersionRange
from jetproof.plan import PlanTarget, Selection, make_plan, select
from jetproof.targets.external import unavailable
from jetproof.targets.reference import SPEAKS
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import parse

CASE = "adr-53/direct-get::by-sequence-is-refused-below"
INGESTS = "adr-50/fast-ingest/rev-7/start::first-message-gets-a-flow-ack"
LATEST = Version(2, 15, 1)


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def test_it_is_resolved_with_what_it_speaks() -> None:
    (target,) = asyncio.run(resolve(["reference:2.15.1"]))
    assert (target.name, target.provider, target.speaks) == (
        "reference:2.15.1",
        "reference",
        SPEAKS,
    )


def test_other_specifications_do_not_apply_and_the_reason_says_so(library: Library) -> None:
    target = PlanTarget("reference:2.15.1", LATEST, "reference", speaks=SPEAKS)
    plan = make_plan(library, select(library, Selection()), [target], skip=frozenset())
    played = [item.case.suite for group in plan.groups for item in group.items]
    assert all(suite.startswith(tuple(f"{name}/" for name in SPEAKS)) for suite in played)
    assert all(any(suite.startswith(f"{name}/") for suite in played) for name in SPEAKS)
    dropped = {item.item.case.suite: item.reason for item in plan.not_applicable}
    assert dropped["adr-50/fast-ingest/rev-10/start"] == (
        "the reference layer answers for adr-53, adr-50/fast-ingest/rev-7; "
        "other cases are judged on releases"
    )


@pytest.mark.parametrize(("version", "possible"), [("2.11.11", False), ("2.12.0", True)])
def test_it_stands_before_releases_from_2_12_on(version: str, possible: bool) -> None:
    why = unavailable(parse(f"reference:{version}"))
    assert (why is None) is possible


@pytest.mark.parametrize(
    ("named", "provider", "covered"),
    [
        (None, "embedded", True),
        (None, "container", True),
        (None, "reference", False),
        ("reference", "reference", True),
        ("reference", "embedded", False),
        ("container", "reference", False),
        ("container", "container", True),
    ],
)
def test_an_entry_of_the_ledger_is_about_the_layer_only_if_it_says_so(
    named: str | None, provider: str, covered: bool
) -> None:
    entry = Deviation("x", CASE, VersionRange.parse(">=2.12.0"), "t", "d", (), provider=named)
    assert entry.covers(CASE, LATEST, "single", provider) is covered


@pytest.mark.parametrize(
    ("case", "more", "verdict"),
    [(CASE, [], "known"), (INGESTS, [], "n/a"), (INGESTS, ["--spec", "adr-50@7"], "known")],
)
def test_what_a_release_does_not_have_passes_on_the_layer(
    case: str, more: list[str], verdict: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    targets = ["--server", "latest", "--server", "reference:latest"]
    code = main(["run", case, *more, *targets, "--out", str(tmp_path / "run"), "--json"])
    document = json.loads(capsys.readouterr().out)
    cells = {
        (cell["provider"], cell["verdict"], cell["name"])
        for cell in document["cells"]
        if cell["case"] == case
    }
    assert code == 0
    assert cells == {
        ("embedded", verdict, f"{case} @{LATEST} single"),
        ("reference", "pass", f"{case} @{LATEST} single reference"),
    }


@pytest.mark.parametrize(
    ("asked", "verdicts"),
    [([], {"n/a"}), (["--spec", "adr-50@7"], {"known", "pass", "position"})],
)
def test_a_form_that_no_release_speaks_is_played_on_one_only_when_asked_for(
    asked: list[str], verdicts: set[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    suite = "adr-50/fast-ingest/rev-7/gaps"
    code = main(["run", suite, *asked, "--out", str(tmp_path / "run"), "--json"])
    cells = json.loads(capsys.readouterr().out)["cells"]
    seen = {cell["verdict"] for cell in cells if cell["suite"] == suite}
    assert code == 0
    assert seen <= verdicts
    assert ("known" in seen) is ("known" in verdicts)


def test_a_clause_of_a_form_that_only_the_layer_speaks_is_covered_by_reference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = str(tmp_path / "run")
    targets = ["--server", "latest", "--server", "reference:latest"]
    assert main(["run", INGESTS, *targets, "--out", run]) == 0
    capsys.readouterr()
    assert main(["coverage", "--run", run, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["clauses"]
    states = {row["state"] for row in rows if INGESTS in row["cases"]}
    assert states == {"reference"}


def test_replay_goes_through_the_layer_too(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["replay", CASE, "--server", "reference:latest", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["cell"]["verdict"] == "pass"
    assert document["cell"]["provider"] == "reference"


def test_replay_plays_a_case_whose_form_the_release_does_not_speak(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["replay", INGESTS, "--server", "latest", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cell"]["verdict"] == "known"


WRONG = Mutant(
    "ignores-it", "about", ("A53-006",), (), knobs={"ignore-min-last-seq": True}, for_reference=True
)
IDLE = Mutant(
    "compares-otherwise",
    "about",
    ("A53-006",),
    (),
    knobs={"consumers-forget": True},
    for_reference=True,
)


def test_mutants_with_knobs_are_tried_on_the_layer_and_left_out_elsewhere(
    library: Library, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with_mutants = replace(library, mutants=(WRONG, IDLE))
    monkeypatch.setattr("jetproof.load.library.load_library", lambda: with_mutants)
    main(["mutate", CASE, "--server", "reference:latest", "--json"])
    rows = json.loads(capsys.readouterr().out)["mutants"]
    assert [(row["mutant"], row["outcome"], row["fired"]) for row in rows] == [
        ("ignores-it", "caught", {"ignore-min-last-seq": 1}),
        ("compares-otherwise", "idle", {}),
    ]
    release = PlanTarget("2.15.1", LATEST, "embedded")
    assert mutate.possible(with_mutants.mutants, release) == []
    assert main(["mutate", CASE, "--mutant", "ignores-it", "--json"]) == 2
    assert "reference:latest" in json.loads(capsys.readouterr().out)["error"]["hint"]
