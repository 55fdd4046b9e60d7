"""A real standalone master with two workers on loopback: the same tables, also if one worker dies."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow.parquet as pq

SECONDS = 300


@dataclass(slots=True)
class Cluster:
    """Processes in groups of their own, so that a worker dies with its executors."""

    folder: Path
    master: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self, name: str, *arguments: str) -> None:
        import pyspark

        home = Path(pyspark.__file__).parent
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{arguments[0]}",
                 "--host", "127.0.0.1", *arguments[1:]],
                stdout=log,
                stderr=log,
                start_new_session=True,
                env={
                    **os.environ,
                    "SPARK_HOME": str(home),
                    "SPARK_LOCAL_IP": "127.0.0.1",
                    "SPARK_LOCAL_DIRS": str(self.folder / name),
                },
            )  # fmt: skip
        self.processes.append(process)

    def wait_for(self, name: str, text: str) -> None:
        path, deadline = self.folder / f"{name}.log", time.monotonic() + SECONDS
        while text not in path.read_text(errors="replace"):
            assert time.monotonic() < deadline, path.read_text(errors="replace")[-2000:]
            time.sleep(0.1)

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


@pytest.fixture(scope="module")
def cluster(java: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    made = Cluster(tmp_path_factory.mktemp("cluster"))
    port, page = _free_port(), _free_port()
    made.master = f"spark://127.0.0.1:{port}"
    try:
        made.start("master", "master.Master", "--port", str(port), "--webui-port", str(page))
        made.wait_for("master", "I have been elected leader")
        for name in ("one", "two"):
            work = str(made.folder / f"work-{name}")
            made.start(
                name, "worker.Worker", "--cores", "1", "--memory", "1g", "--work-dir", work,
                "--webui-port", str(_free_port()), made.master,
            )  # fmt: skip
        for name in ("one", "two"):
            made.wait_for(name, "Successfully registered with master")
        yield made
    finally:
        for process in made.processes:
            made.kill(process)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def start_report(
    runs: Sequence[Path], out: Path, history: Path, *more: str
) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "jetproof.cli", "report", *map(str, runs), "--out", str(out),
         "--history", str(history), *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )  # fmt: skip


def tables_in(out: Path) -> dict[str, list[dict[str, Any]]]:
    """Every table, in an order that does not depend on who computed it."""
    return {
        path.stem: sorted(pq.read_table(path).to_pylist(), key=repr)
        for path in (out / "tables").glob("*.parquet")
    }


@pytest.fixture(scope="module")
def expected(
    java: None, three_runs: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, list[dict[str, Any]]]:
    """The tables as two threads of this machine compute them."""
    out = tmp_path_factory.mktemp("local")
    report = start_report(three_runs, out, out / "history", "--master", "local[2]")
    said, _ = report.communicate(timeout=SECONDS)
    assert report.returncode == 0, said
    return tables_in(out)


def test_a_standalone_master_gives_the_same_tables(
    cluster: Cluster,
    three_runs: Sequence[Path],
    expected: dict[str, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "out"
    report = start_report(three_runs, out, tmp_path / "history", "--master", cluster.master)
    said, _ = report.communicate(timeout=SECONDS)
    assert report.returncode == 0, said
    assert tables_in(out) == expected
    assert expected["matrix"]


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    cluster: Cluster,
    three_runs: Sequence[Path],
    expected: dict[str, list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    out, history = tmp_path / "out", tmp_path / "history"
    report = start_report(three_runs, out, history, "--master", cluster.master)
    # The first derived table is there and the others are not: executors hold parts of the work.
    deadline = time.monotonic() + SECONDS
    while not any(history.glob("new-*/cells/_SUCCESS")):
        assert report.poll() is None, report.communicate()[0]
        assert time.monotonic() < deadline, report.communicate()[0]
        time.sleep(0.05)
    assert not any(history.glob("run_id=*/derived-*"))
    cluster.kill(cluster.processes[-1])
    said, _ = report.communicate(timeout=SECONDS)
    assert report.returncode == 0, said
    assert tables_in(out) == expected
