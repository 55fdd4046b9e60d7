"""What a case needs decides where it is played, with what, and why not: nothing is started here."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.load.library import Library, load_cases, load_library
from jetproof.model.case import Case
from jetproof.model.versions import Version
from jetproof.plan import (
    Item,
    PlanClient,
    PlanTarget,
    Selected,
    Selection,
    make_plan,
    name_of,
    own_account,
    replay_command,
    select,
    why_not,
)

SUITES = Path(__file__).parents[1] / "engine" / "suites"
MIDDLE = PlanTarget(
    "2.14.6",
    Version(2, 14, 6),
    "embedded",
    newer=Version(2, 15, 1),
    older=Version(2, 12, 8),
)
NEWEST = replace(MIDDLE, name="2.15.1", version=Version(2, 15, 1), newer=None)
OLDEST = replace(MIDDLE, name="2.10.25", version=Version(2, 10, 25), older=None)

Make = Callable[..., Case]


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    """The real fixtures, and a specification that says nothing."""
    root = tmp_path_factory.mktemp("demo") / "root"
    shutil.copytree(fixtures_dir(), root / "fixtures", ignore=shutil.ignore_patterns("mutants"))
    shutil.copytree(SUITES, root / "suites")
    return load_library(root)


@pytest.fixture
def make(library: Library, tmp_path: Path) -> Make:
    """A case with this `given`."""

    def make(given: str = "{}", step: str = "publish: {subject: a}") -> Case:
        path = tmp_path / "f.yaml"
        path.write_text(
            f"suite: demo/f\nabout: One\ncases:\n  - case: c\n    clauses: [DEMO-MUST-001]\n"
            f"    given: {given}\n    steps:\n      - {step}\n"
        )
        [case] = load_cases([path], library)
        return case

    return make


def asked(case: Case, revision: int = 1) -> Item:
    return Item(case, revision)


@pytest.mark.parametrize(
    ("name", "target", "reason"),
    [
        ("newer", MIDDLE, None),
        ("older", MIDDLE, None),
        ("2.12.0", NEWEST, None),
        ("target", NEWEST, None),
        ("newer", NEWEST, "no release of a later line than 2.15.1 is known"),
        ("older", OLDEST, "no release of an earlier line than 2.10.25 is known"),
    ],
)
def test_a_case_that_needs_another_release_is_played_where_there_is_one(
    library: Library, make: Make, name: str, target: PlanTarget, reason: str | None
) -> None:
    given = f"{{isolation: server, release: {name}}}"
    assert why_not(library, asked(make(given)), target) == reason
    step = f"action: {{restart: n1, release: {name}}}"
    assert why_not(library, asked(make("{isolation: server}", step)), target) == reason


def test_a_group_knows_what_its_servers_start_with(library: Library, make: Make) -> None:
    plain = asked(make())
    other = asked(make("{isolation: server, release: newer}"))
    own = asked(make("{isolation: server, release: target}"))
    plan = make_plan(library, Selected((plain, other, own)), [MIDDLE], skip=frozenset())
    assert sorted(str(group.release) for group in plan.groups) == ["2.15.1", "None", "None"]


def test_a_configuration_that_a_release_refuses_is_no_matter_of_its_cases(
    library: Library, make: Make
) -> None:
    item = asked(make("{server: low-batch-limits}"))
    assert why_not(library, item, MIDDLE) is None
    assert why_not(library, item, OLDEST) == (
        "the configuration low-batch-limits applies from 2.12.0, this server is 2.10.25"
    )


def test_a_link_cannot_be_cut_in_containers(library: Library, make: Make) -> None:
    item = asked(make("{topology: leaf, isolation: server}", "action: {cut: link}"))
    assert why_not(library, item, MIDDLE) is None
    there = replace(MIDDLE, provider="container")
    assert why_not(library, item, there) == "the link between two containers cannot be cut"
    assert why_not(library, asked(make("{topology: leaf}")), there) is None


@pytest.mark.parametrize(
    ("topology", "servers"), [("single", 1), ("cluster-3", 3), ("cluster-5", 5), ("leaf", 2)]
)
def test_a_group_weighs_as_much_as_it_has_servers(
    library: Library, make: Make, topology: str, servers: int
) -> None:
    item = asked(make(f"{{topology: {topology}}}"))
    [group] = make_plan(library, Selected((item, item)), [MIDDLE], skip=frozenset()).groups
    assert (group.weight, len(group.items)) == (servers, 2)


def test_a_case_that_the_library_does_not_have_is_replayed_by_its_file(
    library: Library, make: Make
) -> None:
    case = replace(make(), file="my cases/f.yaml")
    item = Item(case, case.revision, PlanClient("./my adapter"))
    target = replace(MIDDLE, name="path:./a b")
    assert shlex.split(replay_command(library, item, target)) == [
        *("jetproof", "replay", "my cases/f.yaml::c"),
        *("--server", "path:./a b", "--client", "./my adapter"),
    ]


def test_two_revisions_of_a_case_are_two_cells(library: Library, make: Make) -> None:
    case = make("{isolation: account}")
    selection = Selection(specs=(("demo", 1), ("demo", 2)))
    selected = select(library, selection, [case])
    usual, other = selected.items
    assert name_of(usual, MIDDLE) == "demo/f::c @2.14.6 single"
    assert name_of(other, MIDDLE) == "demo/f::c @2.14.6 single demo@2"
    ours = replace(library, cases=(*library.cases, case))
    again = "jetproof replay demo/f::c --server 2.14.6"
    assert replay_command(ours, usual, MIDDLE) == again
    assert replay_command(ours, other, MIDDLE) == f"{again} --spec demo@2"
    assert own_account(case, 1) != own_account(case, 2)
    [group] = make_plan(library, selected, [MIDDLE], skip=frozenset()).groups
    assert len(group.accounts) == 2
    skip = frozenset({name_of(usual, MIDDLE)})
    [group] = make_plan(library, selected, [MIDDLE], skip=skip).groups
    assert group.items == (other,)
