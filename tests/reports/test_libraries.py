"""Client libraries in the tables: a library is told from another one, and its versions are followed.

Two libraries, one of them in two versions, and the reference client, on two releases, beside cells of
servers; all of it played twice, with other inboxes and in another order each time.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.events import CaseFinished
from jetproof.model.verdict import Check, FrameRecord, Verdict

from .samples import TOKENS, every_case, make_cell, make_clause, write_run

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]
SUITE = "adr-50/client/sample"
OLD, NEW, OTHER, WITNESS = "go:lib@1.9.0", "go:lib@1.10.0", "js:other@3.0.0", "reference@0.1.0"
CLIENTS = (OLD, NEW, OTHER, WITNESS)
SERVERS = ("2.12.8", "2.15.0-RC.1")
SAME, BETTER, OPEN, LEDGER, SHOWN = "same", "better", "open", "ledger", "only-the-witness"
TAPPED, SENT = 10_999, 10_998
CLAIMS = {"adr-50": 10}


def wire(case: str, client: str, luck: random.Random) -> Iterator[FrameRecord]:
    """A call, a request whose answer the tap makes up, and what the caller is told meanwhile."""
    inbox = (
        "_INBOX." + "".join(luck.choices(TOKENS, k=22)) + "." + "".join(luck.choices(TOKENS, k=8))
    )
    batch = "".join(luck.choices("0123456789abcdef", k=32))
    told = f'{{"error": {{"err_code": {TAPPED}}}}}'.encode()
    sent = f'{{"error": {{"err_code": {SENT}}}}}'.encode()

    def frame(direction: str, connection: str, op: str, **more: Any) -> FrameRecord:
        return replace(FrameRecord(luck.uniform(1, 9), direction, connection, op, step="1"), **more)

    yield frame("!", "adapter", "call", note=f'{{"op": "publish", "case": "{case}"}}')
    asks = frame(
        ">", "client", "HPUB", subject="s.a", reply=inbox, headers=(("Nats-Batch-Id", batch),),
        payload=client.encode(), note="dropped by lost",
    )  # fmt: skip
    race = [asks, frame("!", "adapter", "event", note=f"notice k {luck.randrange(10**6)}")]
    luck.shuffle(race)
    yield from race
    yield frame("<", "client", "MSG", subject=inbox, payload=told, note="made by lost")
    # When it comes is chance: in this step of the case, or in the next.
    late = luck.choice(("1", "2"))
    yield frame("<", "client", "MSG", subject=inbox, payload=sent, step=late)
    yield frame("!", "adapter", "answer", note='publish: {"ok": {}}', step="2")


def judged(case: str, client: str) -> tuple[Verdict, dict[str, object]]:
    if case == BETTER and client == OLD:
        return Verdict.FAIL, {"reason": "step 1: expected ok, got error"}
    if case == OPEN:
        return Verdict.POSITION, {"position": {"open": "yes" if client == OTHER else "no"}}
    if case == LEDGER and client != WITNESS:
        return Verdict.KNOWN, {"deviation": "same-id", "reason": f"same-id: {client} gives up"}
    if case == SHOWN and client != WITNESS:
        return Verdict.NOT_APPLICABLE, {"reason": "it has no such call"}
    return Verdict.PASS, {}


def played(case: str, client: str, server: str, luck: random.Random) -> CaseFinished:
    verdict, more = judged(case, client)
    clause = "C-SHOWN" if case == SHOWN else "C-001"
    cell = make_cell(case, server, verdict, clauses=(clause,), client=client, **more)
    cell = replace(cell, case=f"{SUITE}::{case}", suite=SUITE, spec_revision=10)
    if verdict is Verdict.NOT_APPLICABLE:
        return CaseFinished(cell)
    ok = verdict not in (Verdict.FAIL, Verdict.KNOWN)
    slow = 100.0 if client == OTHER else 10.0
    check = Check("1", "call", "answer", ok, "ok", None if ok else "error", ms=slow)
    return CaseFinished(cell, (check,), tuple(wire(case, client, luck)))


def outcomes(seed: int) -> list[CaseFinished]:
    luck = random.Random(seed)
    cases = (SAME, BETTER, OPEN, LEDGER, SHOWN)
    mine = [played(c, client, on, luck) for c in cases for client in CLIENTS for on in SERVERS]
    return [*every_case(seed), *mine]


def introduced(client: str) -> dict[str, object]:
    return {"name": client, "parts": {"lib": "1.0"}, "runtime": "go1.26", "claims": CLAIMS}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    folder = tmp_path_factory.mktemp("libraries")
    clauses = [make_clause(name) for name in ("S-001", "S-002", "S-003", "C-001", "C-SHOWN")]
    return [
        write_run(
            folder / f"run{number}",
            outcomes(number),
            run=f"20261116T{number:02}0000Z-{number:06x}",
            started_at=f"2026-11-16T{number:02}:00:00.000Z",
            clauses=clauses,
            libraries=[introduced(client) for client in CLIENTS],
        )
        for number in (1, 2)
    ]


@pytest.fixture(scope="module")
def told(spark: SparkSession, runs: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Tables:
    from jetproof_reports.build import collect
    from jetproof_reports.history import History
    from jetproof_reports.questions import rows_of
    from jetproof_reports.report_tables import report_tables

    history = History(tmp_path_factory.mktemp("history"))
    for run in runs:
        history.add(run)
    with report_tables(spark, history.runs(), exact=True) as made:
        collected = collect(made, history.runs())
    return {name: rows_of(table) for name, table in collected.items()}


def of(rows: Rows, case: str) -> Rows:
    return [row for row in rows if row["case"] == f"{SUITE}::{case}"]


def test_each_library_has_cells_of_its_own(told: Tables) -> None:
    rows = of(told["matrix"], BETTER)
    assert {(row["client"], row["server"]): row["verdict"] for row in rows} == {
        (client, server): "fail" if client == OLD else "pass"
        for client in CLIENTS
        for server in SERVERS
    }


def test_what_a_run_was_told_of_its_libraries_is_kept(told: Tables) -> None:
    libraries = {one["name"]: one for one in told["runs"][0]["libraries"]}
    assert set(libraries) == set(CLIENTS)
    assert dict(libraries[NEW]["claims"]) == CLAIMS
    assert libraries[NEW]["parts"] == "lib 1.0"


def test_versions_are_followed_by_number_on_each_server(told: Tables) -> None:
    rows = [row for row in told["first_change"] if row["from_client"] != row["to_client"]]
    verdicts = [row for row in rows if row["what"] == "verdict"]
    assert {(row["from_client"], row["to_client"]) for row in rows} == {(OLD, NEW)}
    assert sorted((row["case"], row["from_server"], row["to_server"]) for row in verdicts) == [
        (f"{SUITE}::{BETTER}", server, server) for server in SERVERS
    ]
    assert {(row["from_value"], row["to_value"]) for row in verdicts} == {("fail", "pass")}


def test_a_version_is_compared_with_the_one_before(told: Tables) -> None:
    rows = [row for row in told["regressions"] if (row["side_a"], row["side_b"]) == (OLD, NEW)]
    fixed = [row for row in rows if row["kind"] == "fixed"]
    assert sorted(row["server_b"] for row in of(fixed, BETTER)) == sorted(SERVERS)
    assert all(row["what_moved"] == ["client"] for row in rows)


def test_releases_in_between_are_no_neighbours_of_a_library_that_they_never_met(
    told: Tables,
) -> None:
    """The servers' cells are on two more releases."""
    rows = [row for row in told["regressions"] if row["client"] and row["side_a"] in SERVERS]
    assert rows == []


def test_the_wire_of_a_library_is_steady_although_it_makes_up_names_and_races(
    told: Tables,
) -> None:
    rows = [row for row in told["fingerprints"] if row["client"]]
    assert {row["stable"] for row in rows} == {True}
    by_client = {row["client"]: row["fingerprint"] for row in of(rows, SAME)}
    assert len(set(by_client.values())) == len(CLIENTS)


def test_a_transcript_of_a_library_stays_as_it_happened(told: Tables) -> None:
    rows = [row for row in of(told["fingerprints"], SAME) if row["transcript"]]
    lines = rows[0]["transcript"]
    ops = [line["op"] for line in lines]
    assert (ops[0], ops[-1]) == ("call", "answer")
    assert sorted(ops[1:3]) == ["HPUB", "event"]
    assert [line["note"] for line in lines if line["connection"] == "client"] == [
        "dropped by lost", "made by lost", ""
    ]  # fmt: skip
    assert {line["subject"] for line in lines if line["op"] == "MSG"} == {"<inbox>"}


def test_times_of_libraries_are_not_mixed(told: Tables) -> None:
    rows = [row for row in of(told["latency"], SAME) if row["measure"] == "judged"]
    assert {(row["client"], row["p50"]) for row in rows} == {
        (client, 100.0 if client == OTHER else 10.0) for client in CLIENTS
    }
    assert {row["n"] for row in rows} == {2}


def test_times_over_a_history_are_not_mixed_either(
    spark: SparkSession, runs: list[Path], tmp_path: Path
) -> None:
    from jetproof_reports.derive import read_derived
    from jetproof_reports.history import History
    from jetproof_reports.tables.latency import latency, latency_of_hist

    history = History(tmp_path / "history")
    history.add(runs[0])
    hist = read_derived(spark, history.runs())["latency_hist"]
    rough = latency_of_hist(hist).where("measure = 'judged'").toArrow().to_pylist()
    mine = of(rough, SAME)
    assert {row["client"] for row in mine} == set(CLIENTS)
    assert all(abs(row["p50"] - (100 if row["client"] == OTHER else 10)) < 2 for row in mine)
    # A group that is too large for exact percentiles is found again, with a client or without.
    again = latency(hist.limit(0).selectExpr("*", "0.0 as ms"), hist, exact_rows=0)
    assert again.count() == latency_of_hist(hist).count()


def test_one_name_in_two_ledgers_is_two_entries(told: Tables) -> None:
    rows = {row["library"]: row for row in told["deviations"] if row["deviation"] == "same-id"}
    assert set(rows) == {"go:lib", "js:other"}
    assert rows["go:lib"]["clients"] == [NEW, OLD]
    assert "js:other" in rows["js:other"]["reason"]
    assert {row["library"] for row in told["deviations"]} == {None, "go:lib", "js:other"}


def test_the_reference_client_counts_as_nobody_s_conformance(told: Tables) -> None:
    rows = {row["clause"]: row for row in told["coverage"]}
    tested, shown = rows["C-001"], rows["C-SHOWN"]
    assert (tested["covered"], tested["reference"]) == (True, True)
    assert tested["clients"] == sorted((OLD, NEW, OTHER))
    assert sum(tested["verdicts"].values()) == 4 * 3 * len(SERVERS)
    assert (shown["covered"], shown["reference"], shown["verdicts"]) == (False, True, {})
    assert rows["S-001"]["clients"] == []


def test_what_the_tap_made_up_was_sent_by_no_server(told: Tables) -> None:
    codes = {row["err_code"] for row in told["coverage_errors"]}
    assert SENT in codes
    assert TAPPED not in codes


def test_positions_and_trends_name_the_library(told: Tables) -> None:
    rows = of(told["positions"], OPEN)
    assert {(row["client"], row["value"]) for row in rows} == {
        (client, "yes" if client == OTHER else "no") for client in CLIENTS
    }
    newest = max(row["run_id"] for row in told["trends"])
    mine = Counter[str]()
    for row in told["trends"]:
        if row["run_id"] == newest and row["client"] == OLD:
            mine[row["verdict"]] += row["cells"]
    assert mine == {"pass": 2, "fail": 2, "position": 2, "known": 2, "n/a": 2}


def test_cells_of_servers_are_told_as_without_libraries(told: Tables, tables: Tables) -> None:
    """`tables` are of the same cases on the same servers, without a library."""
    for name in ("matrix", "positions"):
        columns = ("case", "server") if name == "matrix" else ("case", "name", "value")
        mine = [tuple(row[c] for c in columns) for row in told[name] if not row["client"]]
        assert sorted(mine) == sorted(tuple(row[c] for c in columns) for row in tables[name])
    marks = {(row["case"], row["server"]): row["wire"] for row in tables["cells"]}
    theirs = {(r["case"], r["server"]): r["wire"] for r in told["cells"] if not r["client"]}
    steady = [key for key in marks if "unsteady" not in key[0]]
    assert {key: marks[key] for key in steady} == {key: theirs[key] for key in steady}
