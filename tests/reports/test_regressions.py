"""Two sides compared: which cells are the same cell, what kind of change it is, what moved."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.errors import JetproofError
from jetproof.events import CaseFinished
from jetproof.model.verdict import Verdict

from .samples import CLAUSES, SUITE, make_cell, make_clause, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

from jetproof_reports.diff import choose, differences, gathered, parse_side
from jetproof_reports.history import History
from jetproof_reports.reading import read_sources

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Told = dict[str, dict[str, Any]]
Differ = Callable[[str, str], Told]


@pytest.fixture
def differ(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Differ:
    """The rows between two sides, by case; sides are named as on the command line."""
    monkeypatch.chdir(tmp_path)

    def run(a: str, b: str) -> Told:
        with gathered(parse_side(a), parse_side(b), None) as (kept, side_a, side_b):
            chosen = choose(side_a, kept), choose(side_b, kept)
            rows = differences(unmarked(spark, [run.folder for run in kept]), *chosen)
        return {row["case"].removeprefix(f"{SUITE}::"): row for row in rows}

    return run


@pytest.fixture
def marked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], DataFrame]:
    """The cells of a run folder."""
    monkeypatch.chdir(tmp_path)
    history = History(tmp_path / "history")
    return lambda folder: unmarked(spark, [history.add(Path(folder)).folder])


def unmarked(spark: SparkSession, folders: Sequence[Path]) -> DataFrame:
    """Cells whose runs have no frames."""
    from pyspark.sql.functions import lit

    cells = read_sources(spark, folders).cells
    return cells.withColumn("fingerprint", lit(None).cast("string"))


def outcomes(server: str, **verdicts: Verdict) -> list[CaseFinished]:
    return [CaseFinished(make_cell(case, server, verdict)) for case, verdict in verdicts.items()]


def write(folder: str, cells: Sequence[CaseFinished], **more: Any) -> None:
    write_run(Path(folder), cells, run=folder, **more)


def test_two_runs_are_compared_release_by_release(differ: Differ) -> None:
    write("a", outcomes("2.12.0", x=Verdict.PASS) + outcomes("2.14.0", x=Verdict.PASS))
    write("b", outcomes("2.12.0", x=Verdict.PASS) + outcomes("2.14.0", x=Verdict.FAIL))
    told = differ("a", "b")
    assert {name: (row["kind"], row["server_b"]) for name, row in told.items()} == {
        "x": ("new-failure", "2.14.0")
    }
    assert told["x"]["what_moved"] == []


def test_every_kind_of_change(differ: Differ) -> None:
    passed, failed = Verdict.PASS, Verdict.FAIL
    a = outcomes("2.12.0", broke=passed, mended=failed, left=passed, same=passed, late=passed)
    b = outcomes("2.12.0", broke=failed, mended=passed, came=passed, same=passed)
    b += [CaseFinished(make_cell("late", "2.12.0", Verdict.NOT_APPLICABLE))]
    for case, verdict, extra in (
        ("reasoned", failed, [{"reason": "one"}, {"reason": "two"}]),
        ("posed", Verdict.POSITION, [{"position": {"p": "1"}}, {"position": {"p": "2"}}]),
    ):
        a.append(CaseFinished(make_cell(case, "2.12.0", verdict, **extra[0])))
        b.append(CaseFinished(make_cell(case, "2.12.0", verdict, **extra[1])))
    write("a", a)
    write("b", b)
    assert {name: row["kind"] for name, row in differ("a", "b").items()} == {
        "broke": "new-failure",
        "mended": "fixed",
        "left": "gone",
        "came": "new",
        "late": "gone",
        "reasoned": "changed-reason",
        "posed": "changed-position",
    }


def test_two_releases_of_one_run(differ: Differ) -> None:
    write("a", outcomes("2.12.0", x=Verdict.PASS) + outcomes("2.14.0", x=Verdict.FAIL))
    told = differ("a@2.12.0", "a@2.14.0")
    assert (told["x"]["kind"], told["x"]["what_moved"]) == ("new-failure", ["server"])


def test_two_runs_of_one_release_each_are_compared_across_releases(differ: Differ) -> None:
    write("a", outcomes("2.12.0", x=Verdict.PASS))
    write("b", outcomes("2.14.0", x=Verdict.FAIL))
    assert differ("a", "b")["x"]["what_moved"] == ["server"]


def test_two_revisions_of_a_specification(differ: Differ) -> None:
    seven = make_cell("x", "2.14.0", Verdict.FAIL, spec_revision=7)
    write("a", [CaseFinished(seven)])
    write("b", [CaseFinished(replace(seven, spec_revision=10, verdict=Verdict.PASS))])
    told = differ("a@adr-50@7", "b@adr-50@10")
    assert (told["x"]["kind"], told["x"]["what_moved"]) == ("fixed", ["spec"])


def test_a_changed_sentence_is_told_from_a_changed_case(differ: Differ) -> None:
    cells = [
        make_cell("law", "2.14.0", Verdict.PASS, clauses=("S-002",)),
        make_cell("case", "2.14.0", Verdict.PASS),
    ]
    later = [
        replace(cells[0], verdict=Verdict.FAIL),
        replace(cells[1], verdict=Verdict.FAIL, case_hash="another"),
    ]
    law = [make_clause(name) for name in CLAUSES]
    moved = [replace(c, text="Otherwise.") if c.id == "S-002" else c for c in law]
    write("a", [CaseFinished(cell) for cell in cells], clauses=law)
    write("b", [CaseFinished(cell) for cell in later], clauses=moved)
    told = differ("a", "b")
    assert {name: row["what_moved"] for name, row in told.items()} == {
        "law": ["spec"],
        "case": ["case"],
    }


def test_two_revisions_in_one_run(differ: Differ, spark: SparkSession) -> None:
    seven = make_cell("x", "2.14.0", Verdict.FAIL, spec_revision=7)
    ten = replace(seven, spec_revision=10, verdict=Verdict.PASS)
    alike = make_cell("y", "2.14.0", Verdict.PASS, spec_revision=7)
    cells = (seven, ten, alike, replace(alike, spec_revision=10))
    write("a", [CaseFinished(cell) for cell in cells])
    told = differ("a@adr-50@7", "a@adr-50@10")
    assert {name: (row["kind"], row["what_moved"]) for name, row in told.items()} == {
        "x": ("fixed", ["spec"])
    }


def test_in_a_report_each_revision_is_compared_with_the_one_before(
    marked: Callable[[str], DataFrame],
) -> None:
    from jetproof.results.changes import between_revisions

    cells = [
        make_cell("x", server, verdict, spec_revision=revision)
        for server in ("2.12.0", "2.14.0")
        for revision, verdict in ((7, Verdict.FAIL), (8, Verdict.FAIL), (10, Verdict.PASS))
    ]
    write("a", [CaseFinished(cell) for cell in cells])
    rows = between_revisions(marked("a").toArrow().to_pylist())
    told = [(row["side_a"], row["side_b"], row["server_b"], row["kind"]) for row in rows]
    assert sorted(told) == [
        ("adr-50@8", "adr-50@10", "2.12.0", "fixed"),
        ("adr-50@8", "adr-50@10", "2.14.0", "fixed"),
    ]


def test_another_build_of_a_version_and_another_harness_have_moved(differ: Differ) -> None:
    def edited(folder: str, **more: Any) -> None:
        path = Path(folder) / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | more))

    built = [{"target": "2.14.0", "build": build} for build in ("one", "two")]
    for name, verdict in (("a", Verdict.PASS), ("b", Verdict.FAIL), ("c", Verdict.PASS)):
        write(name, outcomes("2.14.0", x=verdict))
    edited("a", targets=built[:1])
    edited("b", targets=built[1:])
    edited("c", targets=built[1:], harness_hash="another")
    assert differ("a", "b")["x"]["what_moved"] == ["server"]
    assert differ("b", "c")["x"]["what_moved"] == ["harness"]


def test_a_retry_counts_with_its_last_attempt(differ: Differ) -> None:
    first = make_cell("x", "2.14.0", Verdict.FAIL)
    write("a", [CaseFinished(first), CaseFinished(replace(first, attempt=2, verdict=Verdict.PASS))])
    write("b", [CaseFinished(replace(first, verdict=Verdict.PASS))])
    assert differ("a", "b") == {}


def test_a_side_that_is_no_run_a_release_that_is_not_there_and_a_side_too_wide(
    differ: Differ,
) -> None:
    write("a", outcomes("2.12.0", x=Verdict.PASS) + outcomes("2.14.0", x=Verdict.PASS))
    with pytest.raises(JetproofError, match="nowhere is no folder"):
        differ("nowhere@2.12.0", "a")
    with pytest.raises(
        JetproofError, match=r"no release 2\.99\.0 in this run\n.*2\.12\.0, 2\.14\.0"
    ):
        differ("a@2.12.0", "a@2.99.0")
    with pytest.raises(JetproofError, match=r"nothing of adr-31@2 in this run\n.*adr-50@7"):
        differ("a@adr-31@2", "a")
    with pytest.raises(JetproofError, match="has several releases"):
        differ("a@2.12.0", "a")


def test_a_folder_with_an_at_in_its_name_is_a_run(tmp_path: Path) -> None:
    folder = tmp_path / "me@home"
    folder.mkdir()
    assert parse_side(str(folder)).run == str(folder)
    side = parse_side(f"{folder}@2.12.0@adr-50@10")
    assert (side.run, side.server, side.spec, side.revision) == (
        str(folder),
        "2.12.0",
        "adr-50",
        10,
    )


def test_with_a_history_a_side_is_a_run_id_or_a_selection_of_all_runs() -> None:
    sides = {
        text: parse_side(text, history=True)
        for text in ("20261116T010000Z-000001@2.12.0", "2.12.0", "adr-50@10")
    }
    assert [(side.run, side.server, side.spec) for side in sides.values()] == [
        ("20261116T010000Z-000001", "2.12.0", ""),
        ("", "2.12.0", ""),
        ("", "", "adr-50"),
    ]
