"""Run folders that are cut off, half there, foreign, or no run at all. None of this needs Spark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jetproof.errors import JetproofError
from jetproof.events import CaseFinished
from jetproof.model.verdict import Check, FrameRecord, Verdict

from .samples import SERVERS, every_case, make_cell, run_of, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow.parquet as pq

from jetproof_reports.columns import arrow_schema
from jetproof_reports.compact import compact
from jetproof_reports.schemas import SOURCES


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return run_of(tmp_path / "run", 1)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    folder = tmp_path / "kept"
    folder.mkdir()
    return folder


def rows(folder: Path, table: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / f"{table}.parquet").to_pylist()
    return found


def change(path: Path, **values: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def test_a_run_becomes_five_files_with_the_columns_of_their_tables(run: Path, kept: Path) -> None:
    row = compact(run, kept)
    for table, columns in SOURCES.items():
        path = kept / ("run.parquet" if table == "runs" else f"{table}.parquet")
        assert pq.read_schema(path).equals(arrow_schema(columns)), table
    counts = {table: len(rows(kept, table)) for table in ("cells", "checks", "frames", "clauses")}
    assert counts == {table: row[table] for table in counts}
    assert counts["cells"] == len(every_case(1))


def test_rows_name_their_cell_by_number(run: Path, kept: Path) -> None:
    compact(run, kept)
    cells = {cell["cell_no"]: cell for cell in rows(kept, "cells")}
    frames = rows(kept, "frames")
    assert frames
    for frame in frames:
        cell = cells[frame["cell_no"]]
        assert (frame["case"], frame["server"]) == (cell["case"], cell["server"])


def test_equal_runs_give_equal_files(run: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        compact(run, tmp_path / name)
    for table in ("cells", "checks", "frames", "clauses"):
        assert rows(tmp_path / "one", table) == rows(tmp_path / "two", table)


def test_every_attempt_of_a_cell_is_kept(tmp_path: Path, kept: Path) -> None:
    cells = [make_cell("x", "2.12.0", Verdict.FAIL, attempt=n) for n in (1, 2)]
    compact(write_run(tmp_path / "run", [CaseFinished(cell) for cell in cells]), kept)
    assert [cell["attempt"] for cell in rows(kept, "cells")] == [1, 2]


@pytest.fixture
def revised(tmp_path: Path) -> Path:
    """One case, judged by two revisions in one run."""
    cells = [make_cell("x", "2.14.0", Verdict.PASS, spec_revision=n) for n in (7, 10)]
    frames = [FrameRecord(1.0, "<", "main", "MSG", subject=f"r{c.spec_revision}") for c in cells]
    checks = [Check("1", "request", f"r{c.spec_revision}", True, "so", None) for c in cells]
    outcomes = [
        CaseFinished(cell, (check,), (frame,))
        for cell, check, frame in zip(cells, checks, frames, strict=True)
    ]
    return write_run(tmp_path / "revised", outcomes)


def test_a_case_judged_by_two_revisions_is_two_cells(revised: Path, kept: Path) -> None:
    compact(revised, kept)
    revisions = {cell["cell_no"]: cell["spec_revision"] for cell in rows(kept, "cells")}
    assert sorted(revisions.values()) == [7, 10]
    for table, name in (("checks", "path"), ("frames", "subject")):
        told = {revisions[row["cell_no"]]: row[name] for row in rows(kept, table)}
        assert told == {7: "r7", 10: "r10"}


def test_rows_that_do_not_say_their_revision_are_those_of_an_older_run(
    run: Path, kept: Path
) -> None:
    for journal in ("checks", "frames"):
        path = run / f"{journal}.jsonl"
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        for line in lines:
            del line["spec_revision"]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    row = compact(run, kept)
    assert row["frames"] == len(lines)
    assert row["checks"] > 0


def test_a_cell_knows_its_harness_and_its_build_by_content(run: Path, kept: Path) -> None:
    targets = [{"target": server, "build": f"of-{server}"} for server in SERVERS[:2]]
    change(run / "run.json", targets=targets, jetproof="1.2.3", harness_hash="abc")
    compact(run, kept)
    cells = rows(kept, "cells")
    assert {cell["harness"] for cell in cells} == {"1.2.3 abc"}
    assert {(cell["target"], cell["build"]) for cell in cells} == {
        *((server, f"of-{server}") for server in SERVERS[:2]),
        *((server, None) for server in SERVERS[2:]),
    }


@pytest.mark.parametrize("journal", ["cells", "checks", "frames"])
def test_a_last_line_that_was_cut_off_is_left_out(run: Path, kept: Path, journal: str) -> None:
    path = run / f"{journal}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(lines[:-1]) + lines[-1][: len(lines[-1]) // 2])
    row = compact(run, kept)
    assert row["cells"] == len(every_case(1)) - (journal == "cells")


def test_rows_of_a_case_whose_cell_never_came_are_left_out(run: Path, kept: Path) -> None:
    path = run / "cells.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lost = json.loads(lines[-1])["cell"]
    path.write_bytes(b"".join(lines[:-1]))
    compact(run, kept)
    assert lost not in {cell["cell"] for cell in rows(kept, "cells")}
    known = {cell["cell_no"] for cell in rows(kept, "cells")}
    assert {frame["cell_no"] for frame in rows(kept, "frames")} <= known


def test_a_run_that_was_lost_counts_as_interrupted(tmp_path: Path, kept: Path) -> None:
    assert compact(write_run(tmp_path / "run", every_case(1), finish=False), kept)["interrupted"]


def test_a_run_without_a_single_cell_is_a_run(tmp_path: Path, kept: Path) -> None:
    assert compact(write_run(tmp_path / "run", []), kept)["cells"] == 0


def test_a_folder_that_is_no_run_is_refused(tmp_path: Path, kept: Path) -> None:
    with pytest.raises(JetproofError, match=r"is not a run folder: it has no run\.json") as told:
        compact(tmp_path, kept)
    assert str(tmp_path) in told.value.message


def test_a_run_of_another_schema_is_refused(run: Path, kept: Path) -> None:
    change(run / "run.json", schema=99)
    with pytest.raises(JetproofError, match=r"has the schema 99, this version reads 1") as told:
        compact(run, kept)
    assert str(run) in told.value.message


def test_half_a_run_is_refused(run: Path, kept: Path) -> None:
    (run / "cells.jsonl").unlink()
    with pytest.raises(JetproofError, match=r"is half a run: it has no cells\.jsonl") as told:
        compact(run, kept)
    assert str(run) in told.value.message


def test_a_description_that_was_cut_off_is_refused(run: Path, kept: Path) -> None:
    text = (run / "run.json").read_text()
    (run / "run.json").write_text(text[: len(text) // 2])
    with pytest.raises(JetproofError, match=r"cannot read .*run\.json"):
        compact(run, kept)


@pytest.mark.parametrize("journal", ["cells", "checks", "frames", "clauses"])
def test_a_line_in_the_middle_that_is_no_json_is_told_with_its_number(
    run: Path, kept: Path, journal: str
) -> None:
    path = run / f"{journal}.jsonl"
    lines = path.read_bytes().splitlines(keepends=True)
    lines[1] = lines[1][:20] + b"\n"
    path.write_bytes(b"".join(lines))
    with pytest.raises(JetproofError, match=rf"{journal}\.jsonl:2: not a JSON object"):
        compact(run, kept)


def test_a_row_that_is_no_cell_is_told_with_its_number(run: Path, kept: Path) -> None:
    with (run / "cells.jsonl").open("a") as stream:
        stream.write('{"cell": "somebody else\'s"}\n')
    with pytest.raises(JetproofError, match=rf"cells\.jsonl:{len(every_case(1)) + 1}: not a row"):
        compact(run, kept)


def test_a_journal_with_other_types_is_refused(run: Path, kept: Path) -> None:
    path = run / "checks.jsonl"
    row = {**json.loads(path.read_text().splitlines()[0]), "ms": "soon"}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(JetproofError, match=r"checks\.jsonl:1: not a row of checks: .*\$\.ms"):
        compact(run, kept)


def test_a_number_that_no_column_holds_is_refused(run: Path, kept: Path) -> None:
    path = run / "checks.jsonl"
    row = {**json.loads(path.read_text().splitlines()[0]), "index": 2**40}
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(JetproofError, match=r"checks\.jsonl does not hold rows of checks"):
        compact(run, kept)


@pytest.mark.parametrize(
    ("journal", "field"), [("cells", "reason"), ("checks", "iteration"), ("frames", "description")]
)
def test_text_of_an_older_run_that_is_not_utf8_is_escaped(
    run: Path, kept: Path, tmp_path: Path, journal: str, field: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jetproof_reports.compact.BLOCK_BYTES", 2048)  # the rows take many blocks
    compact(run, kept)
    path = run / f"{journal}.jsonl"
    lines = path.read_text().splitlines()
    assert path.stat().st_size > 3 * 2048
    half = len(lines) // 2
    lines[half] = json.dumps({**json.loads(lines[half]), field: "part=\udcff"})
    path.write_text("\n".join(lines) + "\n")
    (tmp_path / "again").mkdir()
    compact(run, tmp_path / "again")
    before, after = rows(kept, journal), rows(tmp_path / "again", journal)
    [changed] = [row for row in after if row not in before]
    assert changed[field] == "part=\\xff"
    assert len(after) == len(before)


def test_payloads_that_are_not_text_and_hostile_text_survive(tmp_path: Path, kept: Path) -> None:
    hostile = "\u2028\u202e</script><script>alert(1)</script>\x00\x1b[2J"
    frames = (
        FrameRecord(1.0, "<", "main", "MSG", payload=b"\xff\x00\xfe"),
        FrameRecord(2.0, "<", "main", "MSG", payload=hostile.encode()),
        FrameRecord(3.0, "<", "main", "HMSG", headers=(("A", "1"), ("A", "\udcff"))),
    )
    cell = make_cell("x", "2.12.0", Verdict.PASS)
    compact(write_run(tmp_path / "run", [CaseFinished(cell, (), frames)]), kept)
    binary, text, headed = rows(kept, "frames")
    assert (binary["payload"], binary["payload_b64"]) == (None, "/wD+")
    assert text["payload"] == hostile
    assert headed["headers"] == [{"name": "A", "value": "1"}, {"name": "A", "value": "\\xff"}]
