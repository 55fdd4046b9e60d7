"""Spark elsewhere: a real master with two workers on loopback, and a Spark Connect server.

Both give the tables that this process gives, also if one of the workers dies. All three begin with a
cold Java and take long over it, so they work at the same time.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'jetproof[reports]'")

import pyarrow.parquet as pq

from jetproof_reports.questions import rows_of
from jetproof_reports.schemas import DERIVED

from .processes import HERE, SECONDS, Processes, free_port

if TYPE_CHECKING:
    from jetproof_reports.history import History, KeptRun

# One session for several orders: one a line, a line back when it is done. Without an output folder
# nothing but the derived tables of a history is made.
DRIVER = """
import json, sys
from pathlib import Path
from jetproof_reports import session
from jetproof_reports.build import build
from jetproof_reports.derive import read_derived
from jetproof_reports.history import History

session.WORKER_SECONDS = float(sys.argv[2])
with session.open_session(sys.argv[1]) as spark:
    for line in sys.stdin:
        runs, history, out = json.loads(line)
        if out:
            build([Path(run) for run in runs], Path(out), spark=spark)
        else:
            read_derived(spark, [History(Path(history)).add(Path(run)) for run in runs])
        print("done", flush=True)
"""

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def cluster(
    java: None, three_runs: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Processes]:
    """A master, two workers of one core each, and a driver that begins with a report."""
    with Processes(tmp_path_factory.mktemp("cluster")) as made:
        master = made.start_master()
        for name in ("one", "two"):
            made.start_worker(name, master)
        for name in ("one", "two"):
            made.wait_for(name, "Successfully registered with master")
        made.run("driver", [sys.executable, "-c", DRIVER, master, str(SECONDS)])
        order(made, three_runs, out=made.folder / "out")
        yield made


@pytest.fixture(scope="module")
def connect(
    java: None, three_runs: Sequence[Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Processes]:
    """A Spark Connect server, and `jetproof report` that uses it."""
    pytest.importorskip("grpc", reason="grpcio is not installed: pip install 'jetproof[connect]'")
    port = free_port()
    options = {
        "spark.connect.grpc.binding.address": HERE,
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
    }
    with Processes(tmp_path_factory.mktemp("connect")) as made:
        made.start(
            "server", "SparkSubmit", "--master", "local[2]",
            *(f"--conf={name}={value}" for name, value in options.items()),
            "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal",
        )  # fmt: skip
        made.wait_for("server", "Spark Connect server started")
        made.run(
            "report",
            [sys.executable, "-m", "jetproof.cli", "report", *map(str, three_runs),
             "--out", str(made.folder / "out"), "--master", f"sc://{HERE}:{port}"],
        )  # fmt: skip
        yield made


@pytest.fixture(scope="module")
def begun(cluster: Processes, request: pytest.FixtureRequest) -> None:
    """Everybody has something to do before this process begins with the same."""
    with contextlib.suppress(pytest.skip.Exception):  # the test of it says so
        request.getfixturevalue("connect")


@pytest.fixture
def expected(begun: None, request: pytest.FixtureRequest) -> dict[str, Rows]:
    """The tables that this process makes of the three runs."""
    return in_order(request.getfixturevalue("tables"))


def order(
    cluster: Processes,
    runs: Sequence[Path],
    *,
    out: Path | None = None,
    history: Path | None = None,
) -> None:
    """Have the driver write a report, or only derive tables in a history."""
    driver = cluster.running["driver"]
    assert driver.stdin is not None
    places = [str(place) if place else "" for place in (history, out)]
    driver.stdin.write(json.dumps([[str(run) for run in runs], *places]).encode() + b"\n")
    driver.stdin.flush()


def wait_until_done(cluster: Processes) -> None:
    driver = cluster.running["driver"]
    assert driver.stdout is not None
    said = driver.stdout.readline()
    assert said == b"done\n", cluster.errors("driver")


def in_order(tables: Mapping[str, Rows]) -> dict[str, Rows]:
    """Rows in an order that does not depend on who computed them."""
    return {name: sorted(rows, key=repr) for name, rows in tables.items()}


def tables_in(out: Path) -> dict[str, Rows]:
    files = (out / "tables").glob("*.parquet")
    return in_order({path.stem: rows_of(pq.read_table(path)) for path in files})


def derived_in(history: Path) -> dict[str, Rows]:
    """The derived tables of all runs of a history."""
    return in_order(
        {
            name: [
                row
                for path in history.glob(f"run_id=*/derived-*/{name}")
                for row in rows_of(pq.read_table(path, partitioning=None))
            ]
            for name in DERIVED
        }
    )


def test_a_standalone_master_with_two_workers_gives_the_same_tables(
    cluster: Processes, expected: dict[str, Rows]
) -> None:
    wait_until_done(cluster)
    assert tables_in(cluster.folder / "out") == expected
    assert expected["matrix"]
    for name in ("one", "two"):
        cluster.wait_for(name, "Asked to launch executor")


def test_a_worker_that_is_killed_in_the_middle_changes_nothing(
    cluster: Processes,
    expected: dict[str, Rows],
    kept: tuple[History, list[KeptRun]],
    three_runs: Sequence[Path],
    tmp_path: Path,
) -> None:
    order(cluster, three_runs, history=tmp_path)
    # The first derived table is there and the others are not: executors hold parts of the work.
    deadline = time.monotonic() + SECONDS
    while not any(tmp_path.glob("new-*/cells/_SUCCESS")):
        assert cluster.running["driver"].poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert not any(tmp_path.glob("run_id=*/derived-*"))
    cluster.kill("two")
    cluster.wait_for("master", "Telling app of lost executor")
    wait_until_done(cluster)
    told = derived_in(tmp_path)
    assert told == derived_in(kept[0].folder)
    assert {name for name, rows in told.items() if rows} == set(DERIVED)


def test_a_spark_connect_server_gives_the_same_tables(
    connect: Processes, expected: dict[str, Rows]
) -> None:
    report = connect.running["report"]
    assert report.wait(SECONDS) == 0, connect.errors("report")
    assert tables_in(connect.folder / "out") == expected
