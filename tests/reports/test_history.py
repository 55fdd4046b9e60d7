"""A history: added to by anybody, never half there, one run replaceable, old files readable."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.errors import JetproofError

from .samples import every_case, run_of, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow as pa
import pyarrow.parquet as pq

from jetproof_reports import compact as compacting
from jetproof_reports import history as histories
from jetproof_reports.history import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(tmp_path / "history")


def ids(history: History) -> list[str]:
    return [run.run_id for run in history.runs()]


def leftovers(history: History) -> list[str]:
    return [
        path.name
        for path in history.folder.iterdir()
        if path.name != ".lock" and "=" not in path.name
    ]


def test_runs_are_added_and_listed_oldest_first(history: History, tmp_path: Path) -> None:
    for number in (2, 1):
        history.add(run_of(tmp_path / f"run{number}", number))
    assert ids(history) == ["20261116T010000Z-000001", "20261116T020000Z-000002"]
    assert leftovers(history) == []


def test_an_empty_history_keeps_no_runs(history: History) -> None:
    assert history.runs() == []


def test_adding_a_run_again_does_nothing_and_keeps_what_was_derived(
    history: History, tmp_path: Path
) -> None:
    run = run_of(tmp_path / "run", 1)
    kept = history.add(run)
    (kept.folder / "derived-1").mkdir()
    history.add(run)
    assert (kept.folder / "derived-1").is_dir()


def test_a_run_that_went_on_replaces_itself_and_what_was_derived(
    history: History, tmp_path: Path
) -> None:
    outcomes = every_case(1)
    kept = history.add(write_run(tmp_path / "half", outcomes[:5]))
    (kept.folder / "derived-1").mkdir()
    history.add(write_run(tmp_path / "whole", outcomes))
    (run,) = history.runs()
    assert run.row["cells"] == len(outcomes)
    assert not (run.folder / "derived-1").exists()
    assert leftovers(history) == []


def test_one_run_can_be_forgotten(history: History, tmp_path: Path) -> None:
    for number in (1, 2):
        history.add(run_of(tmp_path / f"run{number}", number))
    history.remove("20261116T010000Z-000001")
    assert ids(history) == ["20261116T020000Z-000002"]
    assert leftovers(history) == []
    with pytest.raises(JetproofError, match=r"has no run nothing\n.*20261116T020000Z-000002"):
        history.remove("nothing")


def test_a_folder_without_its_row_of_runs_does_not_exist(history: History, tmp_path: Path) -> None:
    kept = history.add(run_of(tmp_path / "run", 1))
    (kept.folder / "run.parquet").unlink()
    assert history.runs() == []


def test_a_run_id_cannot_lead_out_of_the_history(history: History, tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", every_case(1), run="../../elsewhere")
    with pytest.raises(JetproofError, match="run id that cannot be a folder's name"):
        history.add(run)


def test_a_damaged_run_and_one_of_a_newer_version_are_named(
    history: History, tmp_path: Path
) -> None:
    kept = history.add(run_of(tmp_path / "run", 1))
    path = kept.folder / "run.parquet"
    table = pq.read_table(path)
    newer = table.set_column(
        table.schema.get_field_index("schema_version"), "schema_version", pa.array([99], pa.int32())
    )
    pq.write_table(newer, path)
    with pytest.raises(JetproofError, match=r"000001 was written by a newer jetproof"):
        history.runs()
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(JetproofError, match=r"000001 is damaged"):
        history.runs()


# -- what can go wrong while writing ----------------------------------------------------------------


class FullDisk:
    """A writer whose disk is full after so many tables."""

    def __init__(self, tables: int) -> None:
        self.left = tables
        self.real = compacting.writer

    def __call__(self, path: Path, schema: pa.Schema) -> Any:
        self.left -= 1
        if self.left < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return self.real(path, schema)


@pytest.mark.parametrize("tables", range(5))
def test_a_full_disk_loses_nothing_that_was_kept(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tables: int
) -> None:
    outcomes = every_case(1)
    history.add(write_run(tmp_path / "half", outcomes[:5]))
    whole = write_run(tmp_path / "whole", outcomes)
    monkeypatch.setattr(compacting, "writer", FullDisk(tables))
    with pytest.raises(JetproofError, match="No space left on device") as told:
        history.add(whole)
    assert told.value.phase == "write"
    assert "free some space" in told.value.hint
    (run,) = history.runs()
    assert run.row["cells"] == 5
    assert leftovers(history) == []
    monkeypatch.undo()
    history.add(whole)
    assert history.runs()[0].row["cells"] == len(outcomes)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(JetproofError, match="cannot write to") as told:
        History(tmp_path / "file" / "history").add(run_of(tmp_path / "run", 1))
    assert told.value.phase == "write"


ADD = """
import sys
from pathlib import Path
from jetproof_reports.history import History
History(Path(sys.argv[1])).add(Path(sys.argv[2]))
"""


def test_writers_at_the_same_time_all_succeed(history: History, tmp_path: Path) -> None:
    runs = [run_of(tmp_path / f"run{number}", number) for number in range(1, 5)]
    # Twice each: two writers of one run must not harm each other either.
    command = [sys.executable, "-c", ADD, str(history.folder)]
    writers = [subprocess.Popen([*command, str(run)]) for run in runs * 2]
    assert [writer.wait() for writer in writers] == [0] * 8
    assert len(ids(history)) == 4
    assert all(run.row["cells"] == len(every_case(1)) for run in history.runs())
    assert leftovers(history) == []


def test_a_writer_that_holds_the_lock_too_long_is_told_and_nothing_is_changed(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    history.add(run_of(tmp_path / "run1", 1))
    monkeypatch.setattr(histories, "LOCK_SECONDS", 0.1)
    with (
        History(history.folder)._lock(),
        pytest.raises(JetproofError, match="another process") as told,
    ):
        history.add(run_of(tmp_path / "run2", 2))
    assert told.value.phase == "write"
    assert ids(history) == ["20261116T010000Z-000001"]


KILLED_WHILE_WRITING = """
import sys, time
from pathlib import Path
from jetproof_reports import compact
from jetproof_reports.history import History

real = compact.writer
def writer(path, schema):
    if path.name == "frames.parquet":
        print("writing", flush=True)
        time.sleep(600)
    return real(path, schema)

compact.writer = writer
History(Path(sys.argv[1])).add(Path(sys.argv[2]))
"""


def test_a_writer_that_was_killed_leaves_nothing_that_counts_and_is_swept_up(
    history: History, tmp_path: Path
) -> None:
    history.add(run_of(tmp_path / "run1", 1))
    second = run_of(tmp_path / "run2", 2)
    command = [sys.executable, "-c", KILLED_WHILE_WRITING, str(history.folder), str(second)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "writing\n"
        child.send_signal(signal.SIGKILL)
    assert ids(history) == ["20261116T010000Z-000001"]
    assert leftovers(history) != []
    history.add(second)
    assert len(ids(history)) == 2
    assert leftovers(history) == []


def test_a_writer_killed_between_two_renames_is_made_good(history: History, tmp_path: Path) -> None:
    kept = history.add(run_of(tmp_path / "run", 1))
    kept.folder.rename(history.folder / f".old-{kept.run_id}")
    assert ids(history) == [kept.run_id]
    assert leftovers(history) == []


def test_a_writer_killed_before_it_owned_its_folder_is_swept_up(
    history: History, tmp_path: Path
) -> None:
    history.add(run_of(tmp_path / "run1", 1))
    (history.folder / "new-left").mkdir()
    history.add(run_of(tmp_path / "run2", 2))
    assert leftovers(history) == []


def test_a_folder_that_is_being_made_is_not_swept_up(
    history: History, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (run_of(tmp_path / f"run{number}", number) for number in (1, 2))
    monkeypatch.setattr(histories, "LOCK_SECONDS", 0.1)
    real, told = os.open, []

    def opened(path: Any, flags: int, *more: Any, **named: Any) -> int:
        handle = real(path, flags, *more, **named)
        if Path(path).name == ".owner" and not told:
            # The file is there and not yet locked: another writer comes at the worst moment.
            told.append("tried")
            with pytest.raises(JetproofError, match="another process"):
                History(history.folder).add(second)
        return handle

    monkeypatch.setattr(os, "open", opened)
    history.add(first)
    history.add(second)
    assert len(ids(history)) == 2
    assert told == ["tried"]


def test_somebody_elses_temporary_folder_is_left_alone(history: History, tmp_path: Path) -> None:
    history.add(run_of(tmp_path / "run1", 1))
    with history.placing() as place:
        (place / "work").write_text("")
        History(history.folder).add(run_of(tmp_path / "run2", 2))
        assert (place / "work").exists()
    assert leftovers(history) == []


# -- schema evolution -----------------------------------------------------------------------------------


def test_files_of_an_older_schema_are_read_with_nulls_where_a_column_is_missing(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    from jetproof_reports.reading import read_sources

    old = history.add(run_of(tmp_path / "run1", 1))
    new = history.add(run_of(tmp_path / "run2", 2))
    for table, gone in (("cells", ["spec_hash", "harness"]), ("run", ["source", "time_factor"])):
        path = old.folder / f"{table}.parquet"
        # In another order, too: columns are found by name.
        older = pq.read_table(path).drop_columns(gone)
        pq.write_table(older.select(older.column_names[::-1]), path)
    assert {run.run_id: run.row["source"] is None for run in history.runs()} == {
        old.run_id: True,
        new.run_id: False,
    }
    cells = read_sources(spark, [old.folder, new.folder]).cells
    told = cells.groupBy("run_id").agg({"spec_hash": "count", "verdict": "count"}).collect()
    cells_of_a_run = len(every_case(1))
    assert {row["run_id"]: (row["count(spec_hash)"], row["count(verdict)"]) for row in told} == {
        old.run_id: (0, cells_of_a_run),
        new.run_id: (cells_of_a_run, cells_of_a_run),
    }


def test_a_number_that_was_narrower_in_an_older_file_is_read(
    spark: SparkSession, history: History, tmp_path: Path
) -> None:
    from jetproof_reports.reading import read_sources

    old = history.add(run_of(tmp_path / "run1", 1))
    path = old.folder / "cells.parquet"
    table = pq.read_table(path)
    narrow = table.set_column(
        table.schema.get_field_index("ms"), "ms", table["ms"].cast(pa.float32(), safe=False)
    )
    pq.write_table(narrow, path)
    assert read_sources(spark, [old.folder]).cells.agg({"ms": "max"}).collect()[0][0] > 0


def test_history_is_plain_parquet_for_any_other_tool(history: History, tmp_path: Path) -> None:
    for number in (1, 2):
        history.add(run_of(tmp_path / f"run{number}", number))
    files = sorted(history.folder.glob("*/cells.parquet"))
    assert pa.concat_tables(pq.read_table(path) for path in files).num_rows == 2 * len(
        every_case(1)
    )
