"""Opens Spark: in this process by default, or on a master or Spark Connect server that somebody runs.

A report over one run is a small job, and most of what it costs is the virtual machine's start. The
options below cut that to less than half (`benchmarks/report_cost.py` shows it side by side), and
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
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from jetproof.errors import JetproofError
from jetproof_reports.java import archive_options, find_java

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INSTALL = "pip install 'jetproof[reports]'"
INSTALL_CONNECT = "pip install 'jetproof[connect]'"
DEFAULT_MASTER = "local[*]"
ANSWER_SECONDS = 5.0
WORKER_SECONDS = 90.0

T = TypeVar("T")

_QUIET = Path(__file__).with_name("log4j2.properties")
# With one compiler Java keeps 48 MB of machine code; a report needs more, and Java would throw away
# and compile again without end.
_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=192m"
_PORTS = {"spark": 7077, "sc": 15002}
# What Spark says when a machine does not have a file or a folder that another one has.
_NOT_THERE = ("FILE_NOT_EXIST", "FileNotFoundException", "PATH_NOT_FOUND", "Mkdirs failed")
_SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # a frame of HTTP/2 without content


@contextlib.contextmanager
def open_session(master: str | None = None, *, tuned: bool = True) -> Iterator[SparkSession]:
    """A session that is stopped at the end. `tuned=False` leaves Spark's defaults, to compare.

    A session that this process has already is used as it is, and left open, unless another master
    is asked for: Spark has one session a process.
    """
    wanted = master or DEFAULT_MASTER
    must_answer(wanted)
    if (running := _running()) is not None:
        here = running.conf.get("spark.master", None)
        if master not in (None, here):
            raise JetproofError(
                f"this process has a Spark session on {here}, and cannot have one on {master}",
                phase="start",
                hint="stop that session first, or leave --master out",
            )
        with explained(wanted):
            yield running
        return
    with _output_of_java() as said:
        spark = _start(wanted, tuned, said)
    try:
        if not wanted.startswith("local"):
            must_work(spark, wanted, WORKER_SECONDS)
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
        failed = f"the Spark job on {master} failed: {first_line(error)}"
        if not is_local(master) and any(text in str(error) for text in _NOT_THERE):
            raise JetproofError(
                failed, phase="load", hint=_shared("the history (without one, --out)")
            ) from error
        raise JetproofError(
            failed,
            phase="play",
            hint="no file of a run was changed; JETPROOF_DEBUG=1 shows what Spark says",
        ) from error


def is_local(master: str | None) -> bool:
    """Whether this process does the work of that master itself."""
    return re.fullmatch(r"local(\[.*\])?", master or DEFAULT_MASTER) is not None


def is_elsewhere(spark: SparkSession) -> bool:
    """Whether other processes do the work, which may see other files under the same path."""
    if type(spark).__module__.startswith("pyspark.sql.connect"):
        return True
    return not is_local(spark.conf.get("spark.master", None))


def hint_for(spark: SparkSession, folder: Path) -> str:
    """What to do when rows that Spark wrote or read are not those in a folder."""
    if is_elsewhere(spark):
        return _shared(str(folder))
    return f"another process changes files below {folder}: end it, and run this command again"


def _shared(folder: str) -> str:
    return (
        f"every worker must see {folder} under the same path: put it on a disk that all machines "
        "share, or work in this process with --master 'local[*]'; nothing incomplete was kept"
    )


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
        builder, options = SparkSession.builder.remote(master), _query_options(master, tuned)
    else:
        builder = SparkSession.builder.master(master).appName("jetproof")
        options = _options(master, tuned, pyspark.__version__) | _query_options(master, tuned)
    for name, value in options.items():
        builder = builder.config(name, value)
    try:
        return builder.getOrCreate()
    except ImportError as error:  # Spark Connect has dependencies of its own
        raise JetproofError(
            f"{master} needs more of PySpark: {first_line(error)}",
            phase="start",
            hint=INSTALL_CONNECT,
        ) from error
    except Exception as error:  # Spark's errors have no ancestor in common over all its fronts
        said.seek(0)
        told = [line for line in said if not line.startswith("WARNING")]
        more = "".join(told[-3:]).strip()
        # What Spark calls a session of an application that no master took.
        stopped = "stopped SparkContext" in str(error)
        why = "it did not take the application" if stopped else first_line(error)
        raise JetproofError(
            f"no Spark session on {master}: {why}" + (f"\n{more}" if more else ""),
            phase="start",
            hint="look at the master's own log, or leave --master out to work in this process",
        ) from error


def _options(master: str, tuned: bool, spark: str) -> dict[str, str]:
    java = find_java()
    jvm = [f"-Dlog4j2.configurationFile={_QUIET.as_uri()}"]
    options = {"spark.ui.showConsoleProgress": "false"}
    if tuned:
        jvm += [_JVM, archive_options(java, spark)]
        options |= {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "2g",
            # One report has several hundred pieces of generated code; the next one uses them again.
            "spark.sql.codegen.cache.maxEntries": "1000",
        }
    if _is_here(master):
        # The name of this machine may resolve to an address that nothing listens on.
        options |= {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}
    return options | {"spark.driver.extraJavaOptions": " ".join(filter(None, jvm))}


def _query_options(master: str, tuned: bool) -> dict[str, str]:
    """What a session may say on a server that somebody else started, too."""
    options = {"spark.sql.session.timeZone": "UTC"}
    if tuned:
        # Spark's own 200 are for data a thousand times as large; adaptive execution joins small ones.
        parts = max(2, min(os.cpu_count() or 2, 8)) if master.startswith("local") else 32
        options["spark.sql.shuffle.partitions"] = str(parts)
    return options


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


def must_work(spark: SparkSession, master: str, seconds: float) -> None:
    """A master without free workers queues jobs for ever: find that out before the first one."""
    try:
        within(seconds, lambda: spark.range(1).count())
    except TimeoutError as error:
        with contextlib.suppress(Exception):
            spark.interruptAll()
        raise JetproofError(
            f"{master} took the job, but no worker began it within {seconds:.0f} s",
            phase="start",
            hint="does it have workers with a free core and 1 GB of memory?",
        ) from error
    except Exception as error:
        raise JetproofError(
            f"{master} cannot run a job: {first_line(error)}", phase="start"
        ) from error


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` returns, or TimeoutError: Spark itself often waits without end."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        return done.result(seconds)
    except TimeoutError:
        if done.done():  # the work's own
            raise
        raise TimeoutError(f"no answer within {seconds:.0f} s") from None


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
            with socket.create_connection((address.hostname or "", port), ANSWER_SECONDS) as there:
                if kind == "sc" and "use_ssl" not in place:
                    _must_greet(there)
                return
        except (OSError, ValueError) as error:
            failure = error
    raise JetproofError(
        f"the Spark master {master} does not answer: {failure}",
        phase="start",
        hint="start it, correct --master, or leave it out to work in this process",
    ) from failure


def _must_greet(there: socket.socket) -> None:
    """A Spark Connect server speaks HTTP/2, and so answers a client's first words with its own.

    PySpark would wait for ever for one that does not, and once more when the process ends.
    """
    there.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _SETTINGS)
    if there.recv(len(_SETTINGS))[3:4] != _SETTINGS[3:4]:
        raise ValueError("something else than Spark Connect listens there")


def _is_here(master: str) -> bool:
    here = r"spark://(127\.0\.0\.1|localhost|\[::1\]):"
    return master.startswith("local") or re.match(here, master) is not None


def first_line(error: Exception) -> str:
    """The line that says what happened; of an error in Java it is the second, and its cause."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    java = len(lines) > 1 and lines[0].startswith("An error occurred while calling")
    causes = [line.partition("Caused by: ")[2] for line in lines if "Caused by: " in line]
    why = f" ({causes[-1][:300]})" if causes else ""
    return lines[java].removeprefix(": ")[:300] + why
