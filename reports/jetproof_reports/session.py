"""Opens Spark: in this process by default, or on a master or Spark Connect server that somebody runs.

A report over one run is a small job, and most of what it costs is the virtual machine's start. The
options below cut that to less than half (`benchmarks/reports_cost.py` shows it side by side), and
leave alone what matters at scale: adaptive execution and generated code.
"""

from __future__ import annotations

import contextlib
import os
import re
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING
from urllib.parse import urlsplit

from jetproof.errors import JetproofError
from jetproof_reports.java import archive_options, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL = "pip install 'jetproof[reports]'"
DEFAULT_MASTER = "local[*]"
ANSWER_SECONDS = 5.0
WORKER_SECONDS = 90.0

_QUIET = Path(__file__).with_name("log4j2.properties")
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
_PORTS = {"spark": 7077, "sc": 15002}


@contextlib.contextmanager
def open_session(master: str | None = None, *, tuned: bool = True) -> Iterator[SparkSession]:
    """A session that is stopped at the end. `tuned=False` leaves Spark's defaults, to compare.

    A session that this process has already is used as it is, and left open.
    """
    wanted = master or DEFAULT_MASTER
    if (running := _running()) is not None:
        with explained(wanted):
            yield running
        return
    must_answer(wanted)
    with _output_of_java() as said:
        spark = _start(wanted, tuned, said)
    try:
        if not wanted.startswith("local"):
            must_work(spark, wanted)
        with explained(wanted):
            yield spark
    finally:
        with contextlib.suppress(Exception):
            spark.stop()


@contextlib.contextmanager
def explained(master: str) -> Iterator[None]:
    """Spark's errors as ours: which master, and the first line of what it said."""
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError) as error:
        raise JetproofError(
            f"the Spark job on {master} failed: {first_line(error)}",
            phase="play",
            hint="no file of a run was changed; JETPROOF_DEBUG=1 shows what Spark says",
        ) from error


def _running() -> SparkSession | None:
    pyspark = sys.modules.get("pyspark.sql")
    return None if pyspark is None else pyspark.SparkSession.getActiveSession()


def _start(master: str, tuned: bool, said: IO[str]) -> SparkSession:
    try:
        import pyspark
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise JetproofError(
            f"reports need PySpark: {error}", phase="start", hint=INSTALL
        ) from error
    if master.startswith("sc://"):
        builder = SparkSession.builder.remote(master)
    else:
        builder = SparkSession.builder.master(master).appName("jetproof")
        for name, value in _options(master, tuned, pyspark.__version__).items():
            builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except Exception as error:  # Spark's errors have no ancestor in common over all its fronts
        said.seek(0)
        more = "".join(said.readlines()[-3:]).strip()
        raise JetproofError(
            f"no Spark session on {master}: {first_line(error)}" + (f"\n{more}" if more else ""),
            phase="start",
            hint="look at the master's own log, or leave --master out to work in this process",
        ) from error


def _options(master: str, tuned: bool, spark: str) -> dict[str, str]:
    java = find_java()
    jvm = [f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"]
    options = {"spark.sql.session.timeZone": "UTC", "spark.ui.showConsoleProgress": "false"}
    if tuned:
        jvm += [_JVM, archive_options(java, spark)]
        options |= {"spark.ui.enabled": "false", "spark.driver.memory": "2g"}
        # Spark's own 200 are for data a thousand times as large; adaptive execution joins small ones.
        parts = max(2, min(os.cpu_count() or 2, 8)) if master.startswith("local") else 32
        options["spark.sql.shuffle.partitions"] = str(parts)
    if _is_here(master):
        # The name of this machine may resolve to an address that nothing listens on.
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return options | {"spark.driver.extraJavaOptions": " ".join(filter(None, jvm))}


@contextlib.contextmanager
def _output_of_java() -> Iterator[IO[str]]:
    """Keeps what Java says for its life off the terminal: it warns of Spark's own options."""
    with tempfile.TemporaryFile("w+", errors="replace") as said:
        if os.environ.get("JETPROOF_DEBUG"):
            yield said
            return
        sys.stderr.flush()
        kept = os.dup(2)
        try:
            os.dup2(said.fileno(), 2)
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)


def must_work(spark: SparkSession, master: str, seconds: float = WORKER_SECONDS) -> None:
    """A master without free workers queues jobs for ever: find that out before the first one."""
    failed: list[Exception] = []

    def probe() -> None:
        try:
            spark.range(1).count()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(seconds)
    if thread.is_alive():
        with contextlib.suppress(Exception):
            spark.interruptAll()
        raise JetproofError(
            f"{master} took the job, but no worker began it within {seconds:.0f} s",
            phase="start",
            hint="does it have workers with a free core and 1 GB of memory?",
        )
    if failed:
        raise JetproofError(
            f"{master} cannot run a job: {first_line(failed[0])}", phase="start"
        ) from failed[0]


def must_answer(master: str) -> None:
    """Spark itself waits a minute and more for a master that is not there."""
    kind, _, places = master.partition("://")
    if kind not in _PORTS:
        return
    failure: Exception | None = None
    for place in places.split(","):
        try:
            address = urlsplit(f"//{place}")
            port = address.port or _PORTS[kind]
            with socket.create_connection((address.hostname or "", port), ANSWER_SECONDS):
                return
        except (OSError, ValueError) as error:
            failure = error
    raise JetproofError(
        f"the Spark master {master} does not answer: {failure}",
        phase="start",
        hint="start it, correct --master, or leave it out to work in this process",
    ) from failure


def _is_here(master: str) -> bool:
    here = r"spark://(127\.0\.0\.1|localhost|\[::1\]):"
    return master.startswith("local") or re.match(here, master) is not None


def first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
