"""Case files that must pass and case files that must fail, played against the embedded server.

All cases of `valid-pass` pass. Every case of `valid-fail` has a failure of its own, and the file
next to it (`.expect.yaml`) says exactly which checks fail there, in which order, with what was seen
instead; there is one for every kind of mismatch that the engine can report. Cases that get another
verdict say so. An expectation file may also stand next to a file of `valid-pass`, for what a case
records besides.

    case-name:
      verdict: fail                 # unless said otherwise
      reason: text                  # a matcher, as in a case file
      failed: [{step: "1", path: reply.json.seq, actual: 2, iteration: i=1}]
      positions: {name: value}
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from jetproof.data import fixtures_dir
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, fresh_run_id, run
from jetproof.events import CaseFinished, Event
from jetproof.load.library import Library, load_cases, load_library
from jetproof.load.steps import KINDS
from jetproof.load.tables import expand_tables
from jetproof.load.yaml_source import read_yaml
from jetproof.model.case import Expectation, Replies
from jetproof.model.laws import LAWS
from jetproof.model.matcher import OPERATORS, parse_matcher
from jetproof.model.matching import mismatch
from jetproof.model.verdict import Check, Verdict
from jetproof.plan import Selection, make_plan, select
from jetproof.targets.resolve import resolve

HERE = Path(__file__).parent
SUITES = HERE.parent / "engine" / "suites"
EXPECT = ".expect.yaml"
HANG_SECONDS = 300.0
# Names that are fresh in every run are put back into what was seen: $stream means just that.
LITERAL = {
    name: f"${name}" for name in ("stream", "upstream", "batch", "inbox", "id", "name", "code")
}


def files(kind: str) -> list[Path]:
    return sorted(path for path in (HERE / kind).glob("*.yaml") if not path.name.endswith(EXPECT))


PASS, FAIL = files("valid-pass"), files("valid-fail")


def read(path: Path) -> Any:
    mistakes: list[Any] = []
    document = read_yaml(path, path.name, mistakes)
    assert not mistakes, mistakes
    assert document is not None
    return document.data


def expected(path: Path) -> Mapping[str, Any]:
    beside = path.with_name(path.stem + EXPECT)
    return read(beside) if beside.exists() else {}


def names(path: Path) -> Iterator[str]:
    mistakes: list[Any] = []
    document = read_yaml(path, path.name, mistakes)
    assert document is not None
    expanded: Any = expand_tables(document, mistakes).data
    assert not mistakes, mistakes
    for case in expanded["cases"]:
        yield case["case"]


CASES = [
    pytest.param(path, name, id=f"{path.stem}::{name}") for path in PASS for name in names(path)
]
FAILURES = [
    pytest.param(path, name, id=f"{path.stem}::{name}") for path in FAIL for name in names(path)
]


@dataclass(frozen=True, slots=True)
class Played:
    """Every case of both kinds, played in one run."""

    finished: Mapping[str, CaseFinished]

    def of(self, path: Path, name: str) -> CaseFinished:
        return self.finished[f"{read(path)['suite']}::{name}"]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The real fixtures, and a specification that says nothing."""
    root = tmp_path_factory.mktemp("demo") / "root"
    shutil.copytree(fixtures_dir(), root / "fixtures", ignore=shutil.ignore_patterns("mutants"))
    shutil.copytree(SUITES, root / "suites")
    return load_library(root)


@pytest.fixture(scope="module")
def played(library: Library) -> Played:
    events: list[Event] = []

    async def play() -> None:
        selected = select(library, Selection(), load_cases([*PASS, *FAIL], library))
        plan = make_plan(library, selected, await resolve(["latest"]), skip=frozenset())
        options = RunOptions(run=fresh_run_id(), time_factor=time_factor())
        async with asyncio.timeout(HANG_SECONDS):
            await run(plan, library, events.append, options)

    asyncio.run(play())
    return Played({event.cell.case: event for event in events if isinstance(event, CaseFinished)})


def told(check: Check) -> str:
    return f"{check.step} [{check.iteration}] {check.path}: {check.expected}, got {check.actual!r}"


def failed(event: CaseFinished) -> list[Check]:
    return [check for check in event.checks if not check.ok]


def as_expected(event: CaseFinished, wanted: Mapping[str, Any], verdict: str) -> None:
    cell = event.cell
    lines = [told(check) for check in failed(event)]
    assert cell.verdict == wanted.get("verdict", verdict), [cell.reason, *lines]
    wrong = []
    for entry, check in zip(wanted.get("failed", []), failed(event), strict=False):
        same = (entry["step"], entry["path"]) == (check.step, check.path)
        same &= entry.get("iteration", "") == check.iteration
        if entry["actual"] == {"absent": True}:
            same &= check.actual == {"absent": True}
        else:
            same &= mismatch(parse_matcher(entry["actual"]), check.actual, LITERAL) is None
        if not same:
            wrong.append((entry, told(check)))
    assert not wrong
    assert len(lines) == len(wanted.get("failed", [])), lines
    if "reason" in wanted:
        assert mismatch(parse_matcher(wanted["reason"]), cell.reason, LITERAL) is None, cell.reason
    if "positions" in wanted:
        assert dict(cell.position) == wanted["positions"]


@pytest.mark.parametrize(("path", "name"), CASES)
def test_a_case_that_must_pass(played: Played, path: Path, name: str) -> None:
    event = played.of(path, name)
    as_expected(event, expected(path).get(name, {}), "pass")
    assert event.checks or event.cell.position or event.cell.verdict is Verdict.NOT_APPLICABLE


@pytest.mark.parametrize(("path", "name"), FAILURES)
def test_a_case_that_must_fail(played: Played, path: Path, name: str) -> None:
    as_expected(played.of(path, name), expected(path)[name], "fail")


@pytest.mark.parametrize("path", [*PASS, *FAIL], ids=lambda path: path.stem)
def test_expectations_name_cases_that_are_there(path: Path) -> None:
    assert set(expected(path)) <= set(names(path))


# That nothing of the format is left out.


def keys_of(raw: object) -> Iterator[str]:
    """Every key at any depth."""
    if isinstance(raw, Mapping):
        for key, inner in raw.items():
            yield str(key)
            yield from keys_of(inner)
    elif isinstance(raw, list):
        for inner in raw:
            yield from keys_of(inner)


def test_the_files_use_everything_there_is() -> None:
    used = {key for path in PASS for key in keys_of(read(path))}
    fields = {*Expectation.__dataclass_fields__, *Replies.__dataclass_fields__} - {
        "positions",
        "outcome",
    }
    verbs = {"stepdown", "stop", "kill", "start", "restart", "pause", "resume", "cut", "mend"}
    laws = {name for name, law in LAWS.items() if not law.for_clients}
    kinds = {key for key, kind in KINDS.items() if not kind.for_client}
    wanted = {*kinds, *OPERATORS, *laws, *fields, *verbs, "label", "mark", "at_once"}
    assert not wanted - used


def test_every_kind_of_mismatch_is_there(played: Played) -> None:
    seen = {
        check.path
        for path in FAIL
        for name in names(path)
        for check in failed(played.of(path, name))
    }
    messages = {
        "empty",
        "status",
        "description",
        "error",
        "schema",
        "json",
        "json.",
        "headers.",
        "payload",
        "subject",
        "one_of",
        "not_before",
    }
    wanted = {
        "given.stream",
        "given.stream.",
        "reply",
        "message",
        "replies.until",
        "replies.count",
        "replies.each.",
        "replies.first",
        "replies.last",
        "messages.count",
        "silence",
        "stream",
        "stream.",
        "stored",
        "stored.",
        "advisory",
        "advisory.",
        "loop",
        "connection",
        "variables",
        *(f"reply.{part}" for part in messages),
        *(
            f"law.{law}.count"
            for law, spec in LAWS.items()
            if "count" in spec.arguments and not spec.for_clients
        ),
        "law.accounted.batch",
        "law.accounted.max_bytes",
        "law.spaced.by",
        "law.contiguous.sequence",
    }
    missing = {
        path
        for path in wanted
        if not any(
            found.startswith(path) if path.endswith(".") else found == path for found in seen
        )
    }
    assert not missing
