"""Rows that get lost between Spark and the history's disk: the report stops and says what to do."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from jetproof.cli import main
from jetproof.errors import JetproofError

from .samples import every_case, run_of, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow as pa
import pyarrow.parquet as pq

from jetproof_reports import build
from jetproof_reports.compact import compact
from jetproof_reports.diff import Side, gathered
from jetproof_reports.history import History, KeptRun
from jetproof_reports.manifest import FILE, fault, need_sources, write_manifest
from jetproof_reports.session import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CELLS = len(every_case(1))
NAME = "derived-1"


@pytest.fixture
def kept(tmp_path: Path) -> KeptRun:
    return History(tmp_path / "history").add(run_of(tmp_path / "run", 1))


@pytest.fixture
def part(kept: KeptRun) -> Path:
    """A derived table `cells` with its manifest."""
    made = kept.folder / NAME / "cells"
    made.mkdir(parents=True)
    shutil.copy(kept.folder / "cells.parquet", made / "part-0.parquet")
    write_manifest(made, kept, NAME, "cells", CELLS)
    return made


# -- manifests ---------------------------------------------------------------------------------------


def test_a_manifest_names_version_run_and_rows(kept: KeptRun, part: Path) -> None:
    document = json.loads((part / FILE).read_text())
    assert document == {
        "format": 1,
        "derived": NAME,
        "schema_version": 1,
        "table": "cells",
        "runs": [kept.run_id],
        "source": kept.row["source"],
        "counts": {name: kept.row[name] for name in ("cells", "checks", "frames", "clauses")},
        "rows": CELLS,
    }
    assert [path.name for path in part.iterdir() if path.name.endswith(".new")] == []
    assert fault(part, kept, NAME, "cells") == ""


def test_a_table_without_a_manifest_is_not_used(kept: KeptRun, part: Path) -> None:
    (part / FILE).unlink()
    assert fault(part, kept, NAME, "cells") == "it has no manifest"
    assert fault(kept.folder / NAME / "frames", kept, NAME, "frames") == "it has no manifest"
    (part / FILE).write_text('{"format": 1,')
    assert fault(part, kept, NAME, "cells") == "it has no manifest"


def test_a_table_that_lacks_a_file_is_not_used(kept: KeptRun, part: Path) -> None:
    (part / "part-0.parquet").unlink()
    assert fault(part, kept, NAME, "cells") == f"it has 0 rows, its manifest has {CELLS}"


def test_a_table_with_a_file_that_was_cut_off_is_not_used(kept: KeptRun, part: Path) -> None:
    path = part / "part-0.parquet"
    path.write_bytes(path.read_bytes()[:100])
    assert fault(part, kept, NAME, "cells").startswith(f"cannot read {path}: ")


def test_a_table_with_fewer_cells_than_the_run_is_not_used(kept: KeptRun, part: Path) -> None:
    (part / "part-0.parquet").unlink()
    write_manifest(part, kept, NAME, "cells", 0)
    assert fault(part, kept, NAME, "cells") == f"it has 0 rows, the run has {CELLS} cells"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"derived": "derived-0"}, "its manifest has derived 'derived-0', expected 'derived-1'"),
        ({"schema_version": 0}, "its manifest has schema_version 0, expected 1"),
        ({"runs": ["another"]}, r"its manifest has runs ['another'], expected"),
        ({"source": "half a run"}, "its manifest has source 'half a run', expected"),
        ({"table": "frames"}, "its manifest has table 'frames', expected 'cells'"),
    ],
)
def test_a_table_of_another_version_or_run_is_not_used(
    kept: KeptRun, part: Path, change: Mapping[str, object], why: str
) -> None:
    document = json.loads((part / FILE).read_text())
    (part / FILE).write_text(json.dumps({**document, **change}))
    assert fault(part, kept, NAME, "cells").startswith(why)


def test_a_whole_table_stays_and_a_faulty_one_is_replaced(kept: KeptRun, part: Path) -> None:
    history = History(kept.folder.parent)

    def is_whole(path: Path) -> bool:
        return not fault(path, kept, NAME, "cells")

    def put(mark: str) -> None:
        with history.placing() as place:
            made = place / "of=x"
            shutil.copytree(part, made, ignore=shutil.ignore_patterns("mark-*"))
            shutil.copy(kept.folder / "cells.parquet", made / "part-0.parquet")
            (made / f"mark-{mark}").write_text("")
            write_manifest(made, kept, NAME, "cells", CELLS)
            history.put_derived(made, kept.run_id, f"{NAME}/cells", is_whole)

    put("first")
    assert not (part / "mark-first").exists()
    (part / "part-0.parquet").unlink()
    put("second")
    assert (part / "mark-second").exists()
    assert [path.name for path in history.folder.glob("new-*")] == []


def test_a_run_whose_files_have_other_counts_is_refused(kept: KeptRun) -> None:
    need_sources(kept)
    path = kept.folder / "frames.parquet"
    pq.write_table(pq.read_table(path, partitioning=None).slice(1), path)
    frames = kept.row["frames"]
    match = rf"is damaged: frames\.parquet has {frames - 1} rows, the run has {frames}"
    with pytest.raises(JetproofError, match=match) as told:
        need_sources(kept)
    assert told.value.phase == "load"


def test_a_report_that_lacks_cells_is_not_written(kept: KeptRun) -> None:
    def trends(cells: int) -> dict[str, pa.Table]:
        return {"trends": pa.table({"run_id": [kept.run_id], "cells": [cells]})}

    build.need_every_cell(trends(CELLS), [kept], "share it")
    none = {"trends": trends(1)["trends"].slice(1)}
    with pytest.raises(JetproofError, match=rf"has 0 cells of run .*, expected {CELLS}") as told:
        build.need_every_cell(none, [kept], "share it")
    assert (told.value.phase, told.value.hint) == ("load", "share it")


# -- paths -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "--history", "s3a://bucket/h"),
        ("report", "run", "--out", "s3a://bucket/h"),
        ("report", "s3a://bucket/h"),
        ("diff", "a", "b", "--history", "s3a://bucket/h"),
        ("diff", "a", "s3a://bucket/h", "--history", "h"),
        ("run", "--out", "s3a://bucket/h"),
        ("merge", "a", "--out", "s3a://bucket/h"),
    ],
)
def test_a_url_is_refused_and_makes_no_folder(
    arguments: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "'s3a://bucket/h' is a URL" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_relative_path_may_have_a_colon(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_of(Path("12:30"), 1)
    Path("kept:here").mkdir()
    assert compact(run, Path("kept:here"))["cells"] == CELLS
    history = History(Path("of:today"))
    assert history.add(run).row["cells"] == CELLS
    assert [kept.run_id for kept in History(Path("of:today")).runs()] == ["20261116T010000Z-000001"]


@pytest.mark.parametrize(
    ("master", "local"),
    [
        (None, True),
        ("local", True),
        ("local[2]", True),
        ("local[*]", True),
        ("local-cluster[2,1,1024]", False),
        ("spark://localhost:7077", False),
        ("sc://localhost", False),
    ],
)
def test_which_masters_share_the_disk_of_this_process(master: str | None, local: bool) -> None:
    assert is_local(master) is local


def test_diff_on_a_cluster_keeps_run_folders_where_workers_can_see_them(tmp_path: Path) -> None:
    disk, master = tmp_path / "shared", "spark://example.com:7077"
    run = run_of(disk / "run", 1)
    history = History(tmp_path / "history")
    other = history.add(run_of(tmp_path / "other", 2))
    side, kept = Side("a", str(run)), Side("b", other.run_id)
    with gathered(side, side, None, master) as (runs, _, _):
        assert disk in runs[0].folder.parents
    assert [path.name for path in disk.iterdir()] == ["run"]
    with gathered(side, kept, history.folder, master) as (runs, _, _):
        assert len(runs) == 2
        assert all(history.folder in one.folder.parents for one in runs)
    assert list(history.folder.glob("new-*")) == []
    with gathered(side, kept, history.folder) as (runs, _, _):
        assert disk not in runs[0].folder.parents
        assert history.folder not in runs[0].folder.parents


# -- with Spark --------------------------------------------------------------------------------------


def derived_rows(spark: SparkSession, kept: KeptRun, name: str = "cells") -> int:
    from jetproof_reports.derive import read_derived

    return read_derived(spark, [kept], ("cells", "frames"))[name].count()


def test_a_table_that_lost_rows_is_derived_anew(spark: SparkSession, kept: KeptRun) -> None:
    from jetproof_reports import derive

    assert derived_rows(spark, kept) == CELLS
    frames = derived_rows(spark, kept, "frames")
    place = kept.folder / derive.NAME
    # As a version without manifests left it behind: a folder without a part.
    for table in ("cells", "frames"):
        shutil.rmtree(place / table)
        (place / table).mkdir()
    assert derived_rows(spark, kept) == CELLS
    assert derived_rows(spark, kept, "frames") == frames > 0
    for path in (place / "frames").glob("*.parquet"):
        path.unlink()
    assert derived_rows(spark, kept, "frames") == frames


def test_a_run_without_a_cell_has_empty_tables(spark: SparkSession, tmp_path: Path) -> None:
    empty = History(tmp_path / "history").add(write_run(tmp_path / "run", []))
    assert derived_rows(spark, empty) == 0
    assert list(empty.folder.glob("derived-*/cells/*.parquet")) == []
    assert all(any(empty.folder.glob(f"derived-*/{name}/{FILE}")) for name in ("cells", "frames"))


@pytest.mark.parametrize("table", ["cells", "frames"])
def test_parts_that_do_not_arrive_stop_the_report_and_nothing_is_kept(
    spark: SparkSession, kept: KeptRun, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    from jetproof_reports import derive

    def losing(jobs: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        done = {name: job() for name, job in jobs.items()}
        for path in kept.folder.parent.glob(f"new-*/{table}/of=*/*.parquet"):
            path.unlink()
        return done

    monkeypatch.setattr(derive, "together", losing)
    expected = {"cells": str(CELLS), "frames": r"\d+"}[table]
    match = (
        rf"rows of the table {table} got lost: expected {expected} rows, .* and found 0 in "
        f"{kept.folder.parent}"
    )
    with pytest.raises(JetproofError, match=match) as told:
        derived_rows(spark, kept)
    assert told.value.phase == "load"
    assert "run this command again" in told.value.hint
    assert not any(kept.folder.glob("derived-*"))
    assert not any(kept.folder.parent.glob("new-*"))
    monkeypatch.undo()
    assert derived_rows(spark, kept) == CELLS


def test_a_write_that_lost_rows_inside_spark_is_seen_by_the_runs_own_count(
    spark: SparkSession, kept: KeptRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jetproof_reports import derive

    real = derive.cells
    monkeypatch.setattr(derive, "cells", lambda *given: real(*given).where("cell_no > 0"))
    match = rf"of the table cells got lost: run .*: it has {CELLS - 1} rows, the run has {CELLS}"
    with pytest.raises(JetproofError, match=match):
        derived_rows(spark, kept)
    assert not any(kept.folder.glob("derived-*"))


def test_diff_of_a_folder_and_a_kept_run_derives_what_both_lack(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from jetproof_reports import derive

    folder, history = run_of(tmp_path / "run1", 1), tmp_path / "history"
    kept = History(history).add(run_of(tmp_path / "run2", 2))
    derived_rows(spark, kept)
    monkeypatch.setattr(derive, "NAME", "derived-9999")
    code = main(["diff", str(folder), kept.run_id, "--history", str(history), "--json"])
    said = capsys.readouterr()
    assert code in (0, 1), said.err
    assert json.loads(said.out)["exit_code"] == code
    assert (kept.folder / "derived-9999" / "cells" / FILE).is_file()


def test_report_and_diff_take_relative_paths_with_a_colon(
    spark: SparkSession,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    run = run_of(Path("at:12"), 1)
    code = main(["report", str(run), "--history", "of:today", "--out", "out:1", "--json"])
    said = capsys.readouterr()
    assert code == 0, said.err
    assert json.loads(said.out)["tables"]["cells"] == CELLS
    assert main(["diff", str(run), str(run)]) == 0, capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["at:12", "of:today", "out:1"]
