"""What matters about a run: the sentence, what is new, the causes and where they show."""

from __future__ import annotations

from dataclasses import replace

import msgspec
import pytest

from jetproof.model.verdict import Cell, Verdict
from jetproof.results.digest import digest, digest_document, digests, headline, span
from jetproof.results.rows import CellRow, cell_of, cell_row, plain
from support.schema_results import schema_result

PASS = Cell(
    case="s/a::one",
    suite="s/a",
    spec="s",
    spec_revision=1,
    server="2.15.1",
    provider="embedded",
    topology="single",
    configuration="default",
    verdict=Verdict.PASS,
    clauses=("S-1",),
)
RELEASES = ("2.9.9", "2.10.0", "2.11.0", "2.12.0")


def known(
    id: str = "s-bug",
    kind: str | None = "bug",
    severity: str | None = "protocol",
    server: str = "2.15.1",
    client: str | None = None,
) -> Cell:
    return replace(
        PASS,
        verdict=Verdict.KNOWN,
        deviation=id,
        kind=kind,
        severity=severity,
        server=server,
        client=client,
        reason=f"{id}: It does otherwise. It always did.",
        upstream="https://example.com/7",
    )


def red(verdict: Verdict, *, never_right: bool = False) -> Cell:
    return replace(PASS, verdict=verdict, never_right=never_right)


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        ([PASS], "2.15.1: conforms"),
        ([], "nothing: nothing was played"),
        ([red(Verdict.FAIL)], "2.15.1: 1 new failure"),
        ([red(Verdict.FAIL)] * 2 + [red(Verdict.STALE)],
         "2.15.1: 2 new failures, 1 cell not as the ledger says"),
        ([red(Verdict.UNSTABLE)], "2.15.1: 1 unstable"),
        ([red(Verdict.ERROR), red(Verdict.FAIL)],
         "2.15.1: no verdict for 1 cell, 1 new failure"),
        ([known(), known("s-lost", severity="loss"), known("s-down", severity="crash")],
         "2.15.1: nothing new; 3 known bugs (1 loss, 1 crash)"),
        ([known("t", "text-behind"), known("n", "not-implemented"), known("r", "reading")],
         "2.15.1: conforms; 1 where the text is behind, 1 feature not implemented, "
         "1 other reading of the text"),
        ([known(kind=None)], "2.15.1: nothing new; 1 known deviation"),
        ([known(), red(Verdict.FAIL)], "2.15.1: 1 new failure; 1 known bug"),
        ([replace(PASS, provider="reference", target="reference:2.15.1")],
         "reference:2.15.1: the reference layer does as the text says"),
        ([replace(PASS, client="go:lib@1.0.0")], "go:lib@1.0.0 on 2.15.1: conforms"),
    ],
)  # fmt: skip
def test_the_sentence(cells: list[Cell], line: str) -> None:
    assert digest(cells).verdict_line == line


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ([PASS, known()], 0),
        ([red(Verdict.UNSTABLE)], 0),
        ([red(Verdict.UNSTABLE, never_right=True)], 1),
        ([red(Verdict.STALE)], 1),
        ([red(Verdict.FAIL), red(Verdict.ERROR)], 3),
    ],
)
def test_the_exit_code(cells: list[Cell], code: int) -> None:
    assert digest(cells).code == code


def test_a_target_with_a_known_bug_does_not_conform() -> None:
    assert digest([PASS]).conforms
    assert digest([PASS, known(kind="text-behind")]).conforms
    assert not digest([PASS, known()]).conforms
    assert not digest([red(Verdict.NOT_APPLICABLE)]).conforms


def test_one_cause_is_one_group_however_many_cells_it_explains() -> None:
    cells = [known(server=server) for server in reversed(RELEASES) for _ in range(2)]
    (group,) = digest(cells).groups
    assert (group.cells, group.servers) == (8, RELEASES)
    assert (group.headline, group.upstream) == ("It does otherwise", "https://example.com/7")


def test_groups_stand_worst_first() -> None:
    cells = [
        known("a", "reading", "cosmetic"),
        known("b", "bug", "protocol"),
        *[known("c", "bug", "protocol")] * 2,
        known("d", "text-behind", "protocol"),
        known("e", "bug", "loss"),
        known("f", None, None),
    ]
    assert [group.id for group in digest(cells).groups] == ["e", "c", "b", "d", "a", "f"]


def test_each_library_has_a_ledger_of_its_own() -> None:
    cells = [known(client="go:lib@1.0.0"), known(client="go:lib@1.1.0"), known(client="js:lib@1")]
    groups = digest(cells).groups
    assert [(group.client, group.cells) for group in groups] == [("go:lib", 2), ("js:lib", 1)]


def test_only_known_cells_make_a_group() -> None:
    stale = replace(known(), verdict=Verdict.STALE)
    assert digest([stale]).groups == ()
    assert digest([stale]).new == (stale,)


def test_one_digest_a_target() -> None:
    cells = [PASS, replace(PASS, server="2.12.0"), red(Verdict.FAIL)]
    assert [one.verdict_line for one in digests(cells)] == [
        "2.15.1: 1 new failure", "2.12.0: conforms"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("shown", "told"),
    [
        (RELEASES, "all releases"),
        (RELEASES[1:], "since 2.10.0"),
        (RELEASES[:1], "2.9.9"),
        (RELEASES[1:3], "2.10.0 to 2.11.0"),
        ((RELEASES[0], RELEASES[3]), "all releases, 2 of 4 releases"),
        ((RELEASES[0], RELEASES[2]), "2.9.9 to 2.11.0, 2 of 3 releases"),
        ((), ""),
    ],
)
def test_where_a_cause_shows(shown: tuple[str, ...], told: str) -> None:
    assert span(shown, RELEASES) == told


def test_one_release_shows_no_span() -> None:
    assert span(("2.15.1",), ("2.15.1",)) == ""


def test_the_headline_is_the_first_sentence() -> None:
    assert headline("s-bug: It stops at 2.12.0 and 1.5 s. Then it\n goes on.") == (
        "It stops at 2.12.0 and 1.5 s"
    )
    assert headline("No id here.") == "No id here"
    assert len(headline("x" * 500)) == 160


def test_rows_of_a_journal_make_the_same_digest() -> None:
    cells = [PASS, known(), red(Verdict.UNSTABLE, never_right=True)]
    again = [cell_of(cell_row("run", cell)) for cell in cells]
    assert digest_document(again) == digest_document(cells)


def test_a_row_of_an_older_version_has_no_kind() -> None:
    row = plain(cell_row("run", known()))
    for name in ("kind", "severity", "upstream", "plays", "never_right"):
        del row[name]
    assert (
        digest([cell_of(msgspec.convert(row, CellRow))]).verdict_line
        == "2.15.1: nothing new; 1 known deviation"
    )


def test_a_server_whose_messages_alone_were_judged_has_a_line_only_if_they_are_wrong() -> None:
    own = replace(PASS, client="go:lib@1.0.0")
    schema = schema_result()
    assert [one.subject for one in digests([own, schema])] == ["go:lib@1.0.0 on 2.15.1"]
    wrong = replace(schema, verdict=Verdict.FAIL)
    assert [one.subject for one in digests([own, wrong])] == ["go:lib@1.0.0 on 2.15.1", "2.15.1"]
    assert [one.subject for one in digests([schema])] == ["2.15.1"]
