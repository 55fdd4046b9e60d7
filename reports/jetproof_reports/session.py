"""Opens Spark: in this process by default, or on a master or Spark Connect server that somebody runs.

A report over one run is a small job, and most of what it costs is the virtual machine's start. The
options below cut that to less than half (`benchmarks/reports_cost.py` shows it side by side), and
leave alone what matters at scale: adaptive execution and generated code.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from jetproof.errors import JetproofError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = 17
INSTALL_JAVA = (
    "install a Java runtime, 17 or newer (Debian, Ubuntu: `apt-get install openjdk-17-jre-headless`; "
    "macOS: `brew install openjdk@17`), and set JAVA_HOME if it is not on the PATH; "
    "`jetproof run`, JUnit and --json need no Java"
)
INSTALL_SPARK = "pip install 'jetproof[reports]'"
DEFAULT_MASTER = "local[*]"
ANSWER_SECONDS = 5.0
WORKER_SECONDS = 90.0

_QUIET = Path(__file__).with_name("log4j2.properties")
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -Xshare:auto"


@contextlib.contextmanager
def open_session(master: str | None = None, *, tuned: bool = True) -> Iterator[SparkSession]:
    """A session that is stopped at the end. `tuned=False` leaves Spark's defaults, to compare."""
    wanted = master or DEFAULT_MASTER
    connect = wanted.startswith("sc://")
    if not connect:
        _need_java()
    _must_answer(wanted)
    try:
        from pyspark.errors import PySparkException  # noqa: F401
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise JetproofError(
            f"reports need PySpark: {error}", phase="start", hint=INSTALL_SPARK
        ) from error
    builder = SparkSession.builder.remote(wanted) if connect else _classic(wanted, tuned)
    spark = _opened(builder, wanted)
    try:
        if not wanted.startswith("local"):
            _must_work(spark, wanted)
        yield spark
    finally:
        with contextlib.suppress(Exception):
            spark.stop()


def _classic(master: str, tuned: bool) -> SparkSession.Builder:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("jetproof")
    options = {
        "spark.sql.session.timeZone": "UTC",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile={_QUIET.as_uri()}",
    }
    if tuned:
        options["spark.driver.extraJavaOptions"] += f" {_JVM}"
        options["spark.ui.enabled"] = "false"
        options["spark.driver.memory"] = "2g"
        if master.startswith("local"):
            options["spark.sql.shuffle.partitions"] = str(max(2, min(os.cpu_count() or 2, 8)))
    if _is_loopback(master):
        # The name of this machine may resolve to an address that nothing listens on.
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    for name, value in options.items():
        builder = builder.config(name, value)
    return builder


def _opened(builder: SparkSession.Builder, master: str) -> SparkSession:
    try:
        return builder.getOrCreate()
    except Exception as error:  # Spark's own errors have no common ancestor across its fronts
        raise JetproofError(
            f"no Spark session on {master}: {_first_line(error)}",
            phase="start",
            hint="look at the master's own log, or leave --master out to work in this process",
        ) from error


def _must_work(spark: SparkSession, master: str) -> None:
    """A master without free workers queues jobs for ever: find that out before the first one."""
    failed: list[Exception] = []

    def probe() -> None:
        try:
            spark.range(1).count()
        except Exception as error:
            failed.append(error)

    thread = threading.Thread(target=probe, daemon=True)
    thread.start()
    thread.join(WORKER_SECONDS)
    if thread.is_alive():
        with contextlib.suppress(Exception):
            spark.interruptAll()
        raise JetproofError(
            f"{master} took the job, but no worker began it within {WORKER_SECONDS:.0f} s",
            phase="start",
            hint="does it have workers with a free core and 1 GB of memory?",
        )
    if failed:
        raise JetproofError(
            f"{master} cannot run a job: {_first_line(failed[0])}", phase="start"
        ) from failed[0]


def _must_answer(master: str) -> None:
    """Spark itself waits a minute and more for a master that is not there."""
    if not master.startswith(("spark://", "sc://")):
        return
    failure: OSError | None = None
    for place in master.partition("://")[2].split(","):
        address = urlsplit(f"//{place}")
        port = address.port or (15002 if master.startswith("sc://") else 7077)
        try:
            with socket.create_connection((address.hostname or "", port), ANSWER_SECONDS):
                return
        except OSError as error:
            failure = error
    raise JetproofError(
        f"the Spark master {master} does not answer: {failure}",
        phase="start",
        hint="start it, correct --master, or leave it out to work in this process",
    ) from failure


def _is_loopback(master: str) -> bool:
    return master.startswith("local") or bool(
        re.match(r"spark://(127\.0\.0\.1|localhost|\[::1\]):", master)
    )


def _need_java() -> None:
    """Spark would only say that a gateway exited."""
    home = os.environ.get("JAVA_HOME")
    path = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if path is None or not Path(path).is_file():
        where = f"JAVA_HOME is {home}, and has none" if home else "none is on the PATH"
        raise JetproofError(f"reports need Java: {where}", phase="start", hint=INSTALL_JAVA)
    try:
        told = subprocess.run(
            [path, "-version"], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise JetproofError(
            f"reports need Java, and {path} does not run: {error}",
            phase="start",
            hint=INSTALL_JAVA,
        ) from error
    found = re.search(r'version "(?:1\.)?(\d+)', told.stderr + told.stdout)
    if found is None or int(found[1]) < JAVA:
        version = found[1] if found else "unknown"
        raise JetproofError(
            f"reports need Java {JAVA} or newer, and {path} is version {version}",
            phase="start",
            hint=INSTALL_JAVA,
        )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[0][:300]
