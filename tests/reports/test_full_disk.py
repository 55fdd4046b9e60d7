"""A disk that is really full: a limit on the size of files, and a tiny file system.

Whatever is being written then, the message is clear, and nothing recorded before is lost.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from jetproof.errors import JetproofError

from .samples import every_case, run_of, write_run

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow as pa

from jetproof_reports import build as building
from jetproof_reports.history import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ADD_WITHIN = """
import resource, sys
from pathlib import Path
from jetproof.errors import JetproofError
from jetproof_reports.history import History

resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
try:
    History(Path(sys.argv[1])).add(Path(sys.argv[2]))
except JetproofError as error:
    print(error.phase, error)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != ".lock")


@pytest.mark.parametrize("share", [0.0, 0.5, 0.99])
def test_files_that_may_not_grow_any_more(tmp_path: Path, share: float) -> None:
    outcomes = every_case(1)
    history = History(tmp_path / "history")
    kept = history.add(write_run(tmp_path / "half", outcomes[:5]))
    before, there = kept.row, names(history.folder)
    whole = write_run(tmp_path / "whole", outcomes)
    largest = max(
        path.stat().st_size for path in History(tmp_path / "free").add(whole).folder.iterdir()
    )
    done = subprocess.run(
        [sys.executable, "-c", ADD_WITHIN, str(history.folder), str(whole),
         str(int(largest * share))],
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.stdout.startswith(f"write cannot write to {history.folder}: "), done.stderr
    assert "free some space" in done.stdout
    assert names(history.folder) == there, "nothing is left behind"
    assert [run.row for run in history.runs()] == [before]
    assert history.add(whole).row["cells"] == len(outcomes)


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Path]:
    """A file system of a quarter of a megabyte."""
    place = tmp_path / "tiny"
    place.mkdir()
    made = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "jetproof-test", str(place)],
        capture_output=True,
        text=True,
    )
    if made.returncode:
        pytest.skip(f"no file system can be mounted here: {made.stderr.strip()}")
    try:
        yield place
    finally:
        # Lazily: what failed may still be held by its own traceback.
        subprocess.run(["umount", "--lazy", str(place)], check=True)


def fill(place: Path, *, leaving: int) -> None:
    space = os.statvfs(place)
    (place / "ballast").write_bytes(b"\0" * (space.f_bavail * space.f_bsize - leaving))


def test_a_history_on_a_full_file_system(tiny: Path, tmp_path: Path) -> None:
    history = History(tiny / "history")
    history.add(run_of(tmp_path / "run1", 1))
    fill(tiny, leaving=16 * 1024)
    there = names(history.folder)
    with pytest.raises(JetproofError, match="No space left on device") as told:
        history.add(run_of(tmp_path / "run2", 2))
    assert told.value.phase == "write"
    assert "free some space" in told.value.hint
    assert names(history.folder) == there
    (tiny / "ballast").unlink()
    assert len(history.runs()) == 1
    history.add(tmp_path / "run2")
    assert len(history.runs()) == 2


def test_derived_tables_on_a_full_file_system(
    spark: SparkSession, tiny: Path, tmp_path: Path
) -> None:
    from jetproof_reports.derive import read_derived
    from jetproof_reports.session import open_session

    history = History(tiny / "history")
    kept = history.add(run_of(tmp_path / "run1", 1))
    fill(tiny, leaving=16 * 1024)
    there = names(history.folder)
    with pytest.raises(JetproofError, match="No space left on device"), open_session():
        read_derived(spark, [kept], ("cells",))
    assert names(history.folder) == there
    (tiny / "ballast").unlink()
    assert history.runs() == [kept]
    assert not any(kept.folder.glob("derived-*"))


def test_an_earlier_report_stays_whole_where_a_new_one_has_no_room(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jetproof_reports import page

    monkeypatch.setattr(page, "document", lambda tables: tables)
    monkeypatch.setattr(page, "summary_markdown", lambda document: "in short")
    monkeypatch.setattr(page, "badge", lambda document: {})
    monkeypatch.setattr(page, "render", lambda document: "first")
    table = pa.table({"case": ["x"]})
    building.write({"matrix": table}, tiny, [])
    monkeypatch.setattr(page, "render", lambda document: "second" * 100_000)
    with pytest.raises(JetproofError, match="No space left on device") as told:
        building.write({"matrix": table, "more": table}, tiny, [])
    assert told.value.phase == "write"
    assert (tiny / "report.html").read_text() == "first"
    assert names(tiny) == ["badge.json", "report.html", "summary.md", "tables"]
    assert names(tiny / "tables") == ["matrix.parquet"]
