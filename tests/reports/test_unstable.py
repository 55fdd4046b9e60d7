"""Cells that failed in one play only, the marks of ledger entries, and runs that know neither."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.events import CaseFinished
from jetproof.model.verdict import Check, Fault, FrameRecord, Verdict

from .samples import make_cell, write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]
RELEASES = ("2.9.9", "2.10.0", "2.12.0")
NEW = ("kind", "severity", "upstream", "plays", "never_right")
MARKS = {"kind": "bug", "severity": "loss", "upstream": "https://example.com/7"}
ENTRY = "a31-start-time-in-small-letters-is-refused"
"""An entry of the ledger of servers that is in the suites."""


def frames_of(plays: int, each: int) -> tuple[FrameRecord, ...]:
    made = []
    for number in range(plays):
        made.append(FrameRecord(0.0, "!", "harness", "play", note=f"play {number + 1}"))
        made += [
            FrameRecord(float(n), ">", "main", "PUB", f"play{number + 1}.{n}", step="1")
            for n in range(each)
        ]
    return tuple(made)


def wavering(server: str, *, never_right: bool) -> CaseFinished:
    cell = make_cell(
        "proven" if never_right else "unsure", server, Verdict.UNSTABLE,
        plays=("fail", "pass", "pass"), never_right=never_right, reason="failed in 1 of 3 plays",
    )  # fmt: skip
    fault = Fault.NEVER_RIGHT if never_right else Fault.TIMING
    seen = Check("1", "request", "reply", False, "x", "y", iteration="play 1", fault=fault)
    return CaseFinished(cell, (seen,), frames_of(3, 150))


def plain(case: str, server: str, verdict: Verdict = Verdict.PASS, **more: Any) -> CaseFinished:
    cell = make_cell(case, server, verdict, **more)
    return CaseFinished(cell, (), (FrameRecord(1.0, ">", "main", "PUB", "a", step="1"),))


def known(server: str, **more: Any) -> CaseFinished:
    return plain("known", server, Verdict.KNOWN, deviation=ENTRY, reason=f"{ENTRY}: So.", **more)


def outcomes() -> list[CaseFinished]:
    middle = RELEASES[1]
    made = [known(server, **MARKS) for server in RELEASES[:2]] + [plain("known", RELEASES[2])]
    for case, never_right in (("proven", True), ("unsure", False)):
        made += [plain(case, RELEASES[0]), plain(case, RELEASES[2])]
        made.append(wavering(middle, never_right=never_right))
    return made


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Rows]:
    folder = tmp_path_factory.mktemp("unstable")
    return tables_of(spark, write_run(folder / "run", outcomes()), folder / "history")


def tables_of(spark: SparkSession, run: Path, place: Path) -> dict[str, Rows]:
    from jetproof_reports.build import collect
    from jetproof_reports.history import History
    from jetproof_reports.questions import rows_of
    from jetproof_reports.report_tables import report_tables

    history = History(place)
    history.add(run)
    with report_tables(spark, history.runs(), exact=True) as made:
        collected = collect(made, history.runs())
    return {name: rows_of(table) for name, table in collected.items()}


def of(rows: Rows, case: str) -> Rows:
    return [row for row in rows if row["case"].endswith(f"::{case}")]


def test_cells_say_what_their_plays_came_to(told: dict[str, Rows]) -> None:
    (proven,) = (row for row in of(told["matrix"], "proven") if row["verdict"] == "unstable")
    assert (proven["plays"], proven["never_right"]) == (["fail", "pass", "pass"], True)
    assert proven["fingerprint"] is None
    assert {row["fault"] for row in of(told["evidence"], "proven")} == {"never-right"}
    assert {row["fault"] for row in of(told["evidence"], "unsure")} == {"timing"}


def test_frames_of_all_plays_are_kept(told: dict[str, Rows]) -> None:
    for case in ("proven", "unsure"):
        subjects = {row["subject"] for row in of(told["frames"], case)}
        assert {"play1.0", "play1.149", "play2.149", "play3.149"} <= subjects


def test_only_what_is_never_right_is_a_regression(told: dict[str, Rows]) -> None:
    kinds = [(row["side_a"], row["kind"]) for row in of(told["regressions"], "proven")]
    assert sorted(kinds) == [("2.10.0", "fixed"), ("2.9.9", "new-failure")]
    assert of(told["regressions"], "unsure") == []


def test_a_change_rests_on_no_cell_that_proves_nothing(told: dict[str, Rows]) -> None:
    assert of(told["first_change"], "unsure") == []
    changes = [row["to_value"] for row in of(told["first_change"], "proven")]
    assert "unstable" in changes


def test_an_unstable_cell_is_flaky_by_itself(told: dict[str, Rows]) -> None:
    rows = {row["case"].partition("::")[2]: row for row in told["flakiness"]}
    assert rows.keys() == {"proven", "unsure"}
    assert all((row["plays"], row["flaky"]) == (3, True) for row in rows.values())


def test_deviations_have_their_marks_and_releases_in_order(told: dict[str, Rows]) -> None:
    (row,) = told["deviations"]
    assert {name: row[name] for name in MARKS} == MARKS
    # 2.9.9 comes before 2.10.0, whatever the letters say.
    assert (row["first_server"], row["last_server"]) == ("2.9.9", "2.10.0")


def test_a_run_of_an_older_version_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    old = [known("2.12.0"), plain("steady", "2.12.0")]
    run = write_run(tmp_path / "run", old)
    for name, gone in (("cells", NEW), ("checks", ("fault",))):
        path = run / f"{name}.jsonl"
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        kept = [{key: value for key, value in row.items() if key not in gone} for row in rows]
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    made = tables_of(spark, run, tmp_path / "history")
    assert all((row["plays"], row["never_right"]) == ([], False) for row in made["matrix"])
    (row,) = made["deviations"]
    assert (row["kind"], row["severity"], row["upstream"]) == ("bug", "protocol", None)


def test_a_history_without_the_columns_is_read(spark: SparkSession, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    from jetproof_reports.derive import read_derived
    from jetproof_reports.history import History

    history = History(tmp_path / "history")
    kept = history.add(write_run(tmp_path / "run", [plain("steady", "2.12.0")]))
    for name, gone in (("cells", NEW), ("checks", ("fault",))):
        path = kept.folder / f"{name}.parquet"
        pq.write_table(pq.read_table(path).drop_columns(list(gone)), path)
    rows = read_derived(spark, [kept], ("cells",))["cells"].toArrow().to_pylist()
    assert [(row["plays"], row["never_right"], row["kind"]) for row in rows] == [([], False, None)]


def test_a_ledger_that_says_less_than_the_run_changes_nothing() -> None:
    import pyarrow as pa

    from jetproof_reports.ledger import explained

    rows = [{"library": None, "deviation": ENTRY, **MARKS}, {"library": None, "deviation": "gone"}]
    schema = pa.schema([(name, pa.string()) for name in ("library", "deviation", *MARKS)])
    first, second = explained(pa.Table.from_pylist(rows, schema)).to_pylist()
    assert {name: first[name] for name in MARKS} == MARKS
    assert first["does"].startswith("Servers refuse a start_time")
    assert second["kind"] is None
