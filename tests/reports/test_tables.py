"""What each table tells of three runs of sample cases whose behaviour is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .samples import SERVERS, SUITE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from jetproof_reports.history import History, KeptRun

Rows = list[dict[str, Any]]
Tables = dict[str, Rows]


def of_case(rows: Rows, case: str) -> Rows:
    return [row for row in rows if row["case"] == f"{SUITE}::{case}"]


def by_server(rows: Rows, name: str) -> dict[str, Any]:
    return {row["server"]: row[name] for row in rows}


# -- matrix -------------------------------------------------------------------------------------


def test_the_matrix_has_one_row_for_each_case_and_server(tables: Tables) -> None:
    keys = [(row["case"], row["server"]) for row in tables["matrix"]]
    assert len(keys) == len(set(keys)) == 8 * len(SERVERS)


def test_the_matrix_shows_the_newest_run(tables: Tables) -> None:
    assert {row["run_id"] for row in tables["matrix"]} == {"20261116T030000Z-000003"}


def test_releases_sort_by_their_key_candidates_before_the_release(tables: Tables) -> None:
    rows = sorted(of_case(tables["matrix"], "steady"), key=lambda row: row["release_key"])
    assert [row["server"] for row in rows] == list(SERVERS)


def test_positions_are_kept_as_they_were_taken(tables: Tables) -> None:
    taken = by_server(of_case(tables["matrix"], "positioned"), "position")
    assert taken["2.12.0"] == {"inflight-limit": "error 10176", "again": "no"}
    assert taken["2.14.0"]["inflight-limit"] == "error 10210"


# -- fingerprints ---------------------------------------------------------------------------------


def test_names_times_polls_heartbeats_and_races_do_not_change_a_fingerprint(tables: Tables) -> None:
    for case in ("steady", "polled", "racing"):
        rows = of_case(tables["fingerprints"], case)
        assert len({row["fingerprint"] for row in rows}) == 1, case
        assert all(row["stable"] and row["runs"] == 3 for row in rows), case


def test_a_change_that_no_assertion_mentions_changes_the_fingerprint(tables: Tables) -> None:
    marks = by_server(of_case(tables["fingerprints"], "on-the-wire"), "fingerprint")
    assert marks["2.12.0"] != marks["2.12.8"] == marks["2.14.0"] == marks["2.15.0-RC.1"]


def test_what_is_not_steady_over_three_runs_is_left_out_and_the_rest_still_counts(
    tables: Tables,
) -> None:
    rows = of_case(tables["fingerprints"], "unsteady")
    marks = by_server(rows, "fingerprint")
    assert all(row["stable"] is False for row in rows)
    assert marks["2.12.0"] == marks["2.12.8"] != marks["2.14.0"] == marks["2.15.0-RC.1"]


def test_set_up_is_shown_and_not_counted(tables: Tables) -> None:
    mark = of_case(tables["fingerprints"], "steady")[0]["fingerprint"]
    # Another case that says the same has the same fingerprint, and may be the one that shows it.
    rows = [row for row in tables["fingerprints"] if row["fingerprint"] == mark]
    (told,) = [row["transcript"] for row in rows if row["transcript"]]
    steps = [line["step"] for line in told]
    assert steps.count("given") == 2
    assert "1" in steps


def test_a_transcript_stands_once_for_each_fingerprint(tables: Tables) -> None:
    told = [row["fingerprint"] for row in tables["fingerprints"] if row["transcript"]]
    assert sorted(told) == sorted({row["fingerprint"] for row in tables["fingerprints"]})


def test_a_transcript_has_placeholders_and_no_names_of_its_run(tables: Tables) -> None:
    (row,) = [row for row in of_case(tables["fingerprints"], "racing") if row["transcript"]]
    lines = row["transcript"]
    text = repr(lines)
    assert "stream_<id>" in text
    assert "<inbox>" in text
    assert "<nuid>" in text
    assert "<time>" in text
    assert not any("jp" in line["subject"] for line in lines)


def test_a_reply_stands_behind_its_request_in_the_step_of_its_request(tables: Tables) -> None:
    (row,) = [row for row in of_case(tables["fingerprints"], "racing") if row["transcript"]]
    step = [line for line in row["transcript"] if line["step"] == "1"]
    assert [line["dir"] for line in step] == [">", "<"] * 3
    assert [line["payload"] for line in step[1::2]] == [f'{{"seq":{n}}}' for n in (1, 2, 3)]


def test_polls_count_once_with_their_last_answer(tables: Tables) -> None:
    (row,) = [row for row in of_case(tables["fingerprints"], "polled") if row["transcript"]]
    answers = [line["payload"] for line in row["transcript"] if line["step"] == "2"][1::2]
    assert answers == ['{"state":{"messages":2}}']
    beats = [line for line in row["transcript"] if line["status"] == 100]
    assert len(beats) == 1


# -- regressions and first change -------------------------------------------------------------------


def test_regressions_between_releases_say_what_kind_and_what_moved(tables: Tables) -> None:
    told = {
        (row["case"].partition("::")[2], row["side_a"], row["side_b"]): (
            row["kind"],
            row["what_moved"],
        )
        for row in tables["regressions"]
    }
    server = ["server"]
    assert told == {
        ("repaired", "2.12.8", "2.14.0"): ("fixed", server),
        ("positioned", "2.12.8", "2.14.0"): ("changed-position", server),
        ("on-the-wire", "2.12.0", "2.12.8"): ("changed-on-the-wire", server),
        ("unsteady", "2.12.8", "2.14.0"): ("changed-on-the-wire", server),
        ("later", "2.12.8", "2.14.0"): ("new", server),
    }


def test_first_change_names_the_release_and_passes_over_releases_without_a_verdict(
    tables: Tables,
) -> None:
    told = {
        (row["case"].partition("::")[2], row["what"]): (row["from_server"], row["to_server"])
        for row in tables["first_change"]
    }
    assert told == {
        ("repaired", "verdict"): ("2.12.8", "2.14.0"),
        ("repaired", "fingerprint"): ("2.12.8", "2.14.0"),
        ("positioned", "position"): ("2.12.8", "2.14.0"),
        ("positioned", "fingerprint"): ("2.12.8", "2.14.0"),
        ("on-the-wire", "fingerprint"): ("2.12.0", "2.12.8"),
        ("unsteady", "fingerprint"): ("2.12.8", "2.14.0"),
    }


# -- coverage -----------------------------------------------------------------------------------------


def test_a_clause_is_covered_when_a_case_of_it_ran_to_a_verdict(tables: Tables) -> None:
    rows = {row["clause"]: row for row in tables["coverage"]}
    assert {name: row["covered"] for name, row in rows.items()} == {
        "S-001": True,
        "S-002": True,
        "S-003": True,
        "S-004": False,
    }
    assert rows["S-003"]["servers_run"] == 2
    assert rows["S-003"]["verdicts"] == {"pass": 2}
    assert rows["S-002"]["cases"] == [f"{SUITE}::positioned", f"{SUITE}::repaired"]
    assert rows["S-004"]["cases"] == []


def test_error_codes_are_listed_with_the_servers_that_said_them(tables: Tables) -> None:
    rows = {row["err_code"]: row for row in tables["coverage_errors"]}
    assert rows[10176]["servers"] == ["2.12.0", "2.12.8"]
    assert rows[10177]["servers"] == ["2.14.0", "2.15.0-RC.1"]
    assert rows[10176]["count"] == 6


def test_fields_are_listed_with_the_servers_that_sent_them(tables: Tables) -> None:
    rows = {row["name"]: row for row in tables["coverage_fields"] if row["where"] == "json"}
    assert rows["seq"]["servers"] == list(SERVERS)
    assert rows["new_in_2.14.0"]["servers"] == ["2.14.0"]


# -- flakiness, latency, positions, deviations, evidence ------------------------------------------------


def test_the_same_verdict_in_every_run_is_not_flaky(tables: Tables) -> None:
    assert len(tables["flakiness"]) == len(tables["matrix"])
    assert not any(row["flaky"] for row in tables["flakiness"])
    assert all(
        row["runs"] == 3 and sum(row["verdicts"].values()) == 3 for row in tables["flakiness"]
    )


def test_latency_has_percentiles_for_each_case_step_and_server(tables: Tables) -> None:
    rows = [
        r
        for r in of_case(tables["latency"], "steady")
        if (r["measure"], r["step"]) == ("reply", "1")
    ]
    assert by_server(rows, "n") == dict.fromkeys(SERVERS, 3)
    for row in rows:
        assert 0 < row["p50"] <= row["p90"] <= row["p99"] <= row["max"]
        assert row["exact"]


def test_trends_count_the_cells_of_each_run_by_verdict(tables: Tables) -> None:
    rows = tables["trends"]
    assert len({row["run_id"] for row in rows}) == 3
    assert {row["started_at"] for row in rows if row["run_id"].startswith("20261116T02")} == {
        "2026-11-16T02:00:00.000Z"
    }
    newest = [row for row in rows if row["run_id"] == "20261116T030000Z-000003"]
    told = {(row["server"], row["verdict"]): row["cells"] for row in newest}
    assert {key: count for key, count in told.items() if key[0] in ("2.12.8", "2.14.0")} == {
        ("2.12.8", "pass"): 5,
        ("2.12.8", "known"): 1,
        ("2.12.8", "position"): 1,
        ("2.12.8", "n/a"): 1,
        ("2.14.0", "pass"): 7,
        ("2.14.0", "position"): 1,
    }
    assert {(row["spec"], row["provider"]) for row in rows} == {("adr-50", "embedded")}


def test_positions_are_told_by_value_with_the_releases_that_take_them(tables: Tables) -> None:
    taken = {(row["name"], row["value"]): row["servers"] for row in tables["positions"]}
    assert taken == {
        ("inflight-limit", "error 10176"): ["2.12.0", "2.12.8"],
        ("inflight-limit", "error 10210"): ["2.14.0", "2.15.0-RC.1"],
        ("again", "no"): list(SERVERS),
    }


def test_deviations_are_told_with_their_releases(tables: Tables) -> None:
    (row,) = tables["deviations"]
    assert (row["deviation"], row["servers"]) == ("a50-sample", ["2.12.0", "2.12.8"])
    assert row["verdicts"] == {"known": 2}


def test_evidence_has_what_was_expected_and_what_was_there(tables: Tables) -> None:
    told = {(row["server"], row["expected"], row["actual"]) for row in tables["evidence"]}
    assert told == {
        ("2.12.0", "error 10177", '"error 10176"'),
        ("2.12.8", "error 10177", '"error 10176"'),
    }


def test_frames_as_they_were_are_kept_for_cells_that_differ_from_the_text(tables: Tables) -> None:
    assert {row["server"] for row in tables["frames"]} == {"2.12.0", "2.12.8"}
    assert all(row["case"] == f"{SUITE}::repaired" for row in tables["frames"])
    assert any("jp" in row["subject"] for row in tables["frames"])


def test_percentiles_of_histograms_are_within_one_percent_of_a_sample(
    spark: SparkSession, kept: tuple[History, list[KeptRun]], tables: Tables
) -> None:
    from jetproof_reports.derive import read_derived
    from jetproof_reports.tables.latency import latency, latency_of_hist

    hist = read_derived(spark, kept[1], ("latency_hist",))["latency_hist"]
    key = ("measure", "case", "step", "server")
    told = {tuple(row[name] for name in key): row for row in tables["latency"]}
    rows = latency_of_hist(hist).toArrow().to_pylist()
    assert {tuple(row[name] for name in key) for row in rows} == told.keys()
    for row in rows:
        exact = told[tuple(row[name] for name in key)]
        assert (row["n"], row["max"], row["exact"]) == (exact["n"], exact["max"], False)
        # An exact percentile lies between two samples; one of three samples has no neighbours there.
        if row["n"] == 3:
            assert row["p50"] == pytest.approx(exact["p50"], rel=0.0101)
        assert row["p99"] == pytest.approx(exact["max"], rel=0.0101)
    # Groups beyond a size are taken from the histograms.
    nothing = hist.sparkSession.createDataFrame([], "measure string, case string, step string, "
                                                "server string, client string, ms double")  # fmt: skip
    assert latency(nothing, hist, exact_rows=0).count() == len(rows)
