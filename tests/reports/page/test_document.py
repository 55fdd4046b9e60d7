"""What the page holds: every row of every table reaches its place, once."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from jetproof.errors import JetproofError
from jetproof.model.verdict import Verdict
from jetproof_reports import page
from jetproof_reports.page.document import LOOKS
from jetproof_reports.page.views import RUNS
from jetproof_reports.schemas import DERIVED, EVIDENCE, FRAMES, REPORT
from jetproof_reports.schemas import RUNS as RUN_COLUMNS

from . import samples, variants

FEW = samples.tables(57, 8)
DOCUMENT = page.document(FEW)
HEAD = DOCUMENT["head"]


def cell_number(case: str, server: str) -> int:
    """The place of a cell among all cells, counted as the page counts."""
    row = HEAD["rows"]["case"].index(case)
    column = [entry["server"] for entry in HEAD["columns"]].index(server)
    before = "".join(HEAD["grid"][:row]) + HEAD["grid"][row][:column]
    return len(before.replace(" ", ""))


# The samples have no regressions: tests of that view bring their own.
@pytest.mark.parametrize(
    "table", [*sorted(REPORT.keys() - {"regressions"}), "cells", "evidence", "frames", "runs"]
)
def test_the_samples_have_the_columns_of_the_pipeline(table: str) -> None:
    known = {
        **REPORT,
        "cells": {**DERIVED["cells"], "wire": "", "runs": "", "stable": ""},
        "evidence": {**EVIDENCE, "cell": "", "topology": "", "client": "", "provider": "",
                     "spec_revision": ""},
        "frames": FRAMES,
        "runs": RUN_COLUMNS,
        "deviations": {**REPORT["deviations"], "text": "", "does": ""},
    }  # fmt: skip
    assert FEW[table]
    assert all(row.keys() == known[table].keys() for row in FEW[table])


def test_every_cell_is_one_letter_in_the_grid() -> None:
    names = {code: verdict.value for verdict, (code, _) in LOOKS.items()}
    shown = Counter(
        names[letter] for letters in HEAD["grid"] for letter in letters if letter != " "
    )
    assert shown == Counter(row["verdict"] for row in FEW["matrix"]) == HEAD["counts"]


def test_every_verdict_has_a_letter_and_a_symbol_of_its_own() -> None:
    assert len({code for code, _ in LOOKS.values()}) == len(LOOKS) == len(Verdict)
    assert len({symbol for _, symbol in LOOKS.values()}) == len(LOOKS)


def test_releases_are_columns_in_order_of_release() -> None:
    assert [column["server"] for column in HEAD["columns"]] == samples.FEW


def test_cases_stand_by_specification_and_suite() -> None:
    order = list(zip(HEAD["rows"]["spec"], HEAD["rows"]["case"], strict=True))
    assert order == sorted(order)


def test_a_cell_keeps_its_reason_position_and_replay_command() -> None:
    assert FEW["matrix"]
    for row, cell in zip(FEW["matrix"], FEW["cells"], strict=True):
        number = cell_number(row["case"], row["server"])
        columns = HEAD["cells"]
        assert HEAD["reasons"][columns["reason"][number]] == row["reason"]
        assert dict(HEAD["positions"][columns["position"][number]]) == row["position"]
        template = HEAD["replays"][columns["replay"][number]]
        replay = template.replace("{case}", row["case"]).replace("{server}", row["server"])
        assert replay == cell["replay"]


def test_a_transcript_is_kept_once_for_all_releases_that_behave_so() -> None:
    told = {
        (suite, mark)
        for suite, block in zip(HEAD["suites"], DOCUMENT["evidence"], strict=True)
        for mark in block["transcripts"]
    }
    behaviours = {(row["suite"], row["fingerprint"]) for row in FEW["matrix"] if row["fingerprint"]}
    assert len(told) == len(behaviours)


def test_a_transcript_can_be_read_back_line_by_line() -> None:
    row = next(row for row in FEW["fingerprints"] if row["transcript"])
    block = DOCUMENT["evidence"][HEAD["suites"].index(row["case"].partition("::")[0])]
    number = HEAD["cells"]["fingerprint"][cell_number(row["case"], row["server"])]
    lines = [block["lines"][line] for line in block["transcripts"][str(number)]]
    assert [line[4] for line in lines] == [line["subject"] for line in row["transcript"]]
    assert [line[9] for line in lines] == [line["payload"] for line in row["transcript"]]


def test_expectations_that_did_not_hold_are_filed_under_their_cell() -> None:
    filed = {
        int(number): checks
        for block in DOCUMENT["evidence"]
        for number, checks in block["checks"].items()
    }
    assert filed.keys() == {cell_number(row["case"], row["server"]) for row in FEW["evidence"]}
    assert all(
        check[4:] == ["'$batch'", '"absent"'] for checks in filed.values() for check in checks
    )


def test_checks_that_hold_are_left_out() -> None:
    rows = {**FEW, "evidence": [row | {"ok": True} for row in FEW["evidence"]]}
    assert not any(block["checks"] for block in page.document(rows)["evidence"])


def test_logs_and_frames_are_there_for_the_cells_that_have_them() -> None:
    big = samples.tables(200, 8)
    document = page.document(big)
    logs = sum(len(block["logs"]) for block in document["evidence"])
    assert logs == sum(bool(cell["server_log"]) for cell in big["cells"])
    raw = sum(len(block["raw"]) for block in document["evidence"])
    assert raw == sum(cell["verdict"] == "fail" for cell in big["cells"]) > 0


def test_a_long_transcript_says_how_much_is_missing() -> None:
    tables = variants.hostile()
    frame = tables["frames"][0]
    tables["frames"] = [frame | {"index": place} for place in range(500)]
    (block,) = page.document(tables)["evidence"]
    (entries,) = block["raw"].values()
    assert len(entries) == 161
    assert block["lines"][entries[120][0]][-1] == "340 more frames"


def test_two_providers_of_one_release_are_two_columns_and_the_reference_stands_last() -> None:
    tables = samples.tables(3, 8)
    extra = [
        row | {"provider": name} for name in ("reference", "container") for row in tables["matrix"]
    ]
    head = page.document({**tables, "matrix": [*tables["matrix"], *extra]})["head"]
    assert len(head["columns"]) == 24
    assert {column["provider"] for column in head["columns"][-8:]} == {"reference"}
    assert [column["provider"] for column in head["columns"][:2]] == ["container", "embedded"]


def test_revisions_topologies_and_clients_of_a_case_are_rows_of_their_own() -> None:
    tables = samples.tables(1, 8)
    more = [{"spec_revision": 10}, {"topology": "cluster-5"}, {"client": "python:nats-py"}]
    rows = [row | change for change in ({}, *more) for row in tables["matrix"]]
    assert len(page.document({**tables, "matrix": rows})["head"]["grid"]) == 4


def test_of_several_attempts_the_one_in_the_matrix_is_shown() -> None:
    tables = samples.tables(1, 8)
    older = [cell | {"attempt": 0, "replay": "older"} for cell in tables["cells"]]
    head = page.document({**tables, "cells": [*tables["cells"], *older]})["head"]
    assert "older" not in head["replays"]


def test_maps_may_come_as_pairs() -> None:
    tables = samples.tables(40, 8)
    rows = [row | {"position": list(row["position"].items())} for row in tables["matrix"]]
    assert page.document({**tables, "matrix": rows})["head"] == page.document(tables)["head"]


def test_the_matrix_alone_makes_a_page() -> None:
    document = page.document({"matrix": FEW["matrix"]})
    assert document["head"]["grid"] == HEAD["grid"]
    made = {name for name, table in document["tables"].items() if table is not None}
    assert made == {"revised", "library_positions"}  # of the matrix itself


def test_an_empty_matrix_makes_a_page() -> None:
    document = page.document({name: [] for name in FEW})
    assert "Jetproof" in page.render(document)


def test_the_document_is_plain_data() -> None:
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT


def test_without_a_matrix_the_error_says_what_to_do() -> None:
    with pytest.raises(
        JetproofError, match=r"(?s)needs the table `matrix`.*jetproof report"
    ) as caught:
        page.document({"cells": []})
    assert caught.value.phase == "write"


def test_a_verdict_that_is_none_is_refused() -> None:
    with pytest.raises(JetproofError, match="which is no verdict"):
        page.document({"matrix": [FEW["matrix"][0] | {"verdict": "maybe"}]})


def test_a_row_without_a_case_is_refused() -> None:
    with pytest.raises(JetproofError, match="has no `case`"):
        page.document({"matrix": [FEW["matrix"][0] | {"case": None}]})


def test_only_changes_between_runs_come_from_the_table_of_regressions() -> None:
    row = {
        "case": "a::b", "kind": "fixed", "server_a": "2.15.1", "server_b": "2.15.1",
        "run_id_a": "one", "run_id_b": "two", "side_a": "one", "side_b": "two",
    }  # fmt: skip
    releases = row | {"server_a": "2.14.6", "side_a": "2.14.6", "side_b": "2.15.1"}
    revisions = row | {"run_id_a": "old", "side_a": "adr-50@7", "side_b": "adr-50@10"}
    rows = [row, releases, revisions]
    made = page.document({**FEW, "regressions": rows})["tables"]["between_runs"]
    assert [entry["run_id_a"] for entry in made] == ["one"]


def test_latency_shows_the_slowest_of_each_measure() -> None:
    latency = page.document(samples.tables(300, 8))["tables"]["latency"]
    measures = Counter(group["measure"] for group in latency["groups"])
    assert measures == {"reply": 200, "judged": 200}
    assert latency["total"] == 900
    worst = [max(value or 0 for value in group["p50"]) for group in latency["groups"]]
    assert worst[:200] == sorted(worst[:200], reverse=True)


def test_cells_of_the_reference_layer_are_counted_apart() -> None:
    several = variants.several()
    head = page.document(several)["head"]
    real = [row["verdict"] for row in several["matrix"] if row["provider"] != "reference"]
    assert head["counts"] == Counter(real)
    assert head["reference_counts"] == {"pass": 57}
    assert HEAD["reference_counts"] == {}


def test_trends_come_back_run_by_run() -> None:
    trends = DOCUMENT["tables"]["trends"]
    told = [
        {
            **trends["runs"][run],
            "spec": trends["specs"][spec],
            "server": trends["servers"][server],
            "provider": "embedded",
            "client": None,
            "verdict": trends["verdicts"][verdict],
            "cells": cells,
        }
        for run, spec, server, verdict, cells in trends["rows"]
    ]
    assert told == FEW["trends"]
    assert [run["run_id"] for run in trends["runs"]] == [
        *(r for r, *_ in samples.OLDER),
        samples.RUN,
    ]


def test_trends_reach_back_some_sixty_runs_and_say_how_many_there_are() -> None:
    row = FEW["trends"][0]
    rows = [row | {"run_id": f"run-{n}", "started_at": f"2026-01-01T{n:04}"} for n in range(90)]
    trends = page.document({**FEW, "trends": rows})["tables"]["trends"]
    assert trends["total"] == 90
    assert len(trends["runs"]) == len(trends["rows"]) == RUNS
    assert trends["runs"][-1]["run_id"] == "run-89"


def test_trends_leave_the_reference_layer_out() -> None:
    rows = [row | {"provider": "reference"} for row in FEW["trends"]]
    assert page.document({**FEW, "trends": rows})["tables"]["trends"]["rows"] == []
