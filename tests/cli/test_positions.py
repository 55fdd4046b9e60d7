"""`jetproof positions`: who does what where a text is silent, and nothing in it acts as markup."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof.model.verdict import Cell, Verdict
from jetproof.results.positions import everybody, points
from support.commands import Command
from support.documents import Validate

ASKS = """\
  - case: asks
    clauses: [A50-ATOMIC-034]
    given: {stream: {subjects: ["$stream.>"]}}
    steps:
      - request: {subject: $stream.a}
        reply: {position: plain}
      - request: {subject: $stream.a, headers: {Nats-Expected-Last-Sequence: 9}}
        reply: {position: {what-is-told: json.error.description}}
"""


def cell(client: str | None = None, server: str = "2.15.1", **more: Any) -> Cell:
    told = {
        "case": "s/x::one",
        "suite": "s/x",
        "spec": "adr-50",
        "spec_revision": 10,
        "provider": "embedded",
        "topology": "single",
        "configuration": "default",
        "verdict": Verdict.POSITION,
        "clauses": ("C-1",),
        "position": {"kept": "yes"},
    }
    return Cell(server=server, client=client, **(told | more))


def test_a_library_that_does_the_same_everywhere_stands_there_once() -> None:
    cells = [
        cell("go:a@1.0.0", "2.14.6"),
        cell("go:a@1.0.0", "2.15.1"),
        cell("js:b@2.0.0", "2.14.6", position={"kept": "no"}),
        cell("js:b@2.0.0", "2.15.1"),
        cell("reference@0.1.0", position={"kept": "perhaps"}),
        cell("py:c@3.0.0", verdict=Verdict.ERROR),
        cell("py:c@3.0.0", verdict=Verdict.NOT_APPLICABLE),
    ]
    [point] = points(cells)
    assert point.told == {
        "go:a@1.0.0": "yes",
        "js:b@2.0.0 on 2.14.6": "no",
        "js:b@2.0.0 on 2.15.1": "yes",
    }
    assert point.differs
    assert (point.title, point.clauses) == ("one: kept", ("C-1",))


def test_servers_answer_where_no_library_was_played() -> None:
    elsewhere = cell(topology="cluster3", position={"kept": "no"})
    cells = [cell(server="2.15.1"), cell(server="2.9.3"), cell(provider="reference"), elsewhere]
    found = points(cells)
    assert [(point.title, dict(point.told)) for point in found] == [
        ("one (cluster3): kept", {"2.15.1": "no"}),
        ("one: kept", {"2.9.3": "yes", "2.15.1": "yes"}),
    ]
    assert not any(point.differs for point in found)
    assert everybody([*found, *points([cell("go:a@1.0.0")])]) == ["2.9.3", "2.15.1", "go:a@1.0.0"]


@pytest.mark.parametrize(
    ("answers", "odd"),
    [
        (("yes", "yes", "no"), "2.15.1"),
        (("no", "yes", "yes"), "2.12.8"),
        (("yes", "yes", "yes"), None),
        (("yes", "no", "perhaps"), None),
        (("yes", "no", "no", "yes"), None),
        (("yes", "no"), None),
    ],
)
def test_the_odd_one_is_the_only_one_that_differs(answers: tuple[str, ...], odd: str) -> None:
    releases = ("2.12.8", "2.14.6", "2.15.1", "2.15.2")
    [servers] = points(
        [
            cell(server=release, position={"kept": value})
            for release, value in zip(releases, answers, strict=False)
        ]
    )
    assert servers.odd == odd
    [libraries] = points(
        [
            cell(f"go:{release}", position={"kept": value})
            for release, value in zip(releases, answers, strict=False)
        ]
    )
    assert libraries.odd == (odd and f"go:{odd}")


def test_the_odd_one_is_marked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from jetproof.cli import positions

    found = points(
        [
            cell("go:a@1.0.0"),
            cell("js:b@2.0.0"),
            cell("py:c@3.0.0", position={"kept": "no"}),
        ]
    )
    positions._print(found)
    positions._markdown(found)
    told = capsys.readouterr().out
    assert "yes  go:a@1.0.0, js:b@2.0.0\n" in told
    assert "no   py:c@3.0.0 (alone)\n" in told
    assert "| one: kept | yes | yes | **no** (alone) |" in told
    assert [point.odd for point in positions._document(found).points] == ["py:c@3.0.0"]


def test_answers_that_begin_alike_are_kept_apart(capsys: pytest.CaptureFixture[str]) -> None:
    from jetproof.cli import positions

    long = "x" * positions.LONGEST
    positions._print(
        points(
            [
                cell("go:a@1", position={"kept": long + "1"}),
                cell("js:b@2", position={"kept": long + "2"}),
            ]
        )
    )
    lines = [line for line in capsys.readouterr().out.splitlines() if "xxx" in line]
    assert [line.rsplit(None, 1)[1] for line in lines] == ["go:a@1", "js:b@2"]


@pytest.fixture
def played(jetproof: Command, case_file: Callable[..., Path]) -> str:
    assert jetproof("run", str(case_file(ASKS)), "--out", "played").code == 0
    return "played"


def test_a_run(jetproof: Command, conforms: Validate, played: str) -> None:
    assert (
        "2 positions; 2 of them, on which all agree, are not shown"
        in jetproof("positions", played).out
    )
    done = jetproof("positions", played, "--all")
    assert "asks: what-is-told" in done.out
    assert "wrong last sequence: 1" in done.out
    document = jetproof("positions", played, "--all", "--json").document
    conforms("cli/positions", document)
    rows: Any = document["points"]
    assert [row["position"] for row in rows] == ["plain", "what-is-told"]
    assert all(list(row["told"].values()) for row in rows)
    assert jetproof("positions", played, "--json").document["points"] == []


def test_a_table_for_a_page(jetproof: Command, played: str) -> None:
    lines = jetproof("positions", played, "--all", "--markdown").out.splitlines()
    assert lines[0].startswith("| ")
    assert lines[1] == "| --- | --- |"
    assert lines[3] == "| asks: what-is-told | wrong last sequence: 1 |"


def test_a_pattern_that_matches_nothing_is_a_mistake(jetproof: Command, played: str) -> None:
    done = jetproof("positions", played, "adr-99")
    assert done.code == 2
    assert "matches adr-99" in done.err


def test_nothing_in_a_table_is_markup() -> None:
    from jetproof.cli.positions import _cell

    assert _cell("a|b <b>*x*</b> [l](u) `c` & \x1b[31m") == (
        r"a\|b &lt;b>\*x\*&lt;/b> \[l\](u) \`c\` &amp; \\x1b\[31m"
    )
    assert _cell("") == "-"
