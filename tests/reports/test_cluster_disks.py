"""A cluster whose worker does not share the history's disk: a real master, and a worker with a view
of the file system of its own."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .processes import SECONDS, Processes
from .samples import every_case, run_of

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

from jetproof_reports.history import History

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Starts what follows with something else mounted over a folder; nobody else sees that.
BIND = 'mount --bind "$1" "$2" && shift 2 && exec "$@"'
HINT = "under the same path: put it on a disk that all machines share"


@pytest.fixture(scope="module")
def unshared() -> Sequence[str]:
    """A program with mounts of its own, or a skip."""
    command = ["unshare", "--mount", "--propagation", "private"]
    try:
        done = subprocess.run([*command, "mount", "--bind", "/", "/"], capture_output=True)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    if done.returncode:
        pytest.skip(f"no mounts of its own for a process here: {done.stderr.decode().strip()}")
    return command


@pytest.fixture(scope="module")
def cluster(
    java: None, unshared: Sequence[str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Processes, str]]:
    """A master that has no worker yet."""
    with Processes(tmp_path_factory.mktemp("cluster")) as made:
        yield made, made.start_master()


@pytest.fixture
def history(tmp_path: Path) -> History:
    made = History(tmp_path / "history")
    made.add(run_of(tmp_path / "run", 1))
    return made


def on_cluster(
    cluster: tuple[Processes, str],
    unshared: Sequence[str],
    seen: Path,
    place: Path,
    *arguments: str,
    **environment: str,
) -> subprocess.CompletedProcess[str]:
    """A command of ours, whose worker sees the folder `seen` in another one's place."""
    processes, master = cluster
    name = seen.name
    inside = [*unshared, "sh", "-c", BIND, "sh", str(seen), str(place)]
    processes.start_worker(name, master, inside=inside)
    try:
        processes.wait_for(name, "Successfully registered with master")
        return subprocess.run(
            [sys.executable, "-m", "jetproof.cli", *arguments, "--master", master],
            env={**processes.environment, **environment},
            capture_output=True,
            text=True,
            timeout=SECONDS,
        )
    finally:
        processes.kill(name)


def report_on(
    cluster: tuple[Processes, str], unshared: Sequence[str], seen: Path, history: History
) -> tuple[int, str]:
    """`jetproof report`, whose worker sees another folder in the history's place."""
    place, out = history.folder, seen.parent / "out"
    arguments = ("report", "--history", str(place), "--out", str(out))
    done = on_cluster(cluster, unshared, seen, place, *arguments)
    return done.returncode, done.stderr


def need_nothing_kept(spark: SparkSession, history: History, out: Path) -> None:
    from jetproof_reports.derive import read_derived

    (run,) = history.runs()
    assert not any(run.folder.glob("derived-*"))
    assert not any(history.folder.glob("new-*"))
    assert not (out / "report.html").exists()
    assert read_derived(spark, [run], ("cells",))["cells"].count() == len(every_case(1))


def test_a_worker_that_writes_to_another_disk_stops_the_report(
    spark: SparkSession,
    cluster: tuple[Processes, str],
    unshared: Sequence[str],
    history: History,
    tmp_path: Path,
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(history.folder, copy)
    code, said = report_on(cluster, unshared, copy, history)
    cells = len(every_case(1))
    assert f"rows of the table cells got lost: expected {cells} rows" in said
    assert f"found 0 in {history.folder}" in said
    assert HINT in said
    assert code == 2
    need_nothing_kept(spark, history, tmp_path / "out")


def test_a_worker_that_has_an_older_copy_of_the_history_stops_the_report(
    spark: SparkSession,
    cluster: tuple[Processes, str],
    unshared: Sequence[str],
    history: History,
    tmp_path: Path,
) -> None:
    import pyarrow.parquet as pq

    older = tmp_path / "older"
    shutil.copytree(history.folder, older)
    for path in older.glob("*/checks.parquet"):
        pq.write_table(pq.read_table(path, partitioning=None).slice(1), path)
    code, said = report_on(cluster, unshared, older, history)
    assert "rows of the table checks got lost: the workers read" in said
    assert HINT in said
    assert code == 2
    need_nothing_kept(spark, history, tmp_path / "out")


def test_a_worker_that_sees_an_empty_folder_stops_the_report(
    spark: SparkSession,
    cluster: tuple[Processes, str],
    unshared: Sequence[str],
    history: History,
    tmp_path: Path,
) -> None:
    (tmp_path / "empty").mkdir()
    code, said = report_on(cluster, unshared, tmp_path / "empty", history)
    assert "FILE_NOT_EXIST" in said
    assert HINT in said
    assert code == 2
    need_nothing_kept(spark, history, tmp_path / "out")


def test_diff_needs_no_temporary_folder_that_workers_see(
    cluster: tuple[Processes, str], unshared: Sequence[str], tmp_path: Path
) -> None:
    runs = [run_of(tmp_path / f"run{number}", number) for number in (1, 2)]
    for name in ("temporary", "nothing"):
        (tmp_path / name).mkdir()
    mine = tmp_path / "temporary"
    arguments = ("diff", *map(str, runs), "--json")
    done = on_cluster(cluster, unshared, tmp_path / "nothing", mine, *arguments, TMPDIR=str(mine))
    assert done.returncode in (0, 1), done.stderr
    assert json.loads(done.stdout)["exit_code"] == done.returncode
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "nothing", "run1", "run2", "temporary",
    ]  # fmt: skip
