"""Processes for the tests of Spark elsewhere: a master, its workers, a driver."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 600
HERE = "127.0.0.1"
# The processes live for a few seconds: what pays off later costs more than it brings.
BRIEF = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=192m"
DEFAULTS = f"""
spark.executor.extraJavaOptions {BRIEF}
spark.shuffle.io.retryWait 200ms
"""


@dataclass(slots=True)
class Processes:
    """Processes in groups of their own, so that a worker dies with its executors."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, "SPARK_CONF_DIR": str(self.folder), "SPARK_LOCAL_IP": HERE}

    def start(self, name: str, *arguments: str, inside: Sequence[str] = ()) -> None:
        """One of Spark's own programs, `inside` another one that starts what it is given."""
        import pyspark

        home = Path(pyspark.__file__).parent
        (self.folder / "spark-defaults.conf").write_text(DEFAULTS)
        more = {
            "SPARK_HOME": str(home),
            "SPARK_LOCAL_DIRS": str(self.folder / name),
            "SPARK_DAEMON_JAVA_OPTS": BRIEF,
            "SPARK_SUBMIT_OPTS": BRIEF,
        }
        with (self.folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                [
                    *inside,
                    str(home / "bin" / "spark-class"),
                    f"org.apache.spark.deploy.{arguments[0]}",
                    *arguments[1:],
                ],
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=die_with_parent,
                env={**self.environment, **more},
            )

    def start_master(self) -> str:
        """A master without workers; its URL."""
        port, page = str(free_port()), str(free_port())
        self.start("master", "master.Master", "--host", HERE, "--port", port, "--webui-port", page)
        self.wait_for("master", "I have been elected leader")
        return f"spark://{HERE}:{port}"

    def start_worker(self, name: str, master: str, *, inside: Sequence[str] = ()) -> None:
        """A worker of one core; `wait_for` says when it has registered."""
        self.start(
            name, "worker.Worker", "--host", HERE, "--cores", "1", "--memory", "1g",
            "--work-dir", str(self.folder / f"work-{name}"), "--webui-port",
            str(free_port()), master, inside=inside,
        )  # fmt: skip

    def run(self, name: str, command: Sequence[str]) -> None:
        """A program of ours; what it says is for us, what it complains about in a file."""
        with (self.folder / f"{name}.err").open("wb") as errors:
            self.running[name] = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
                preexec_fn=die_with_parent,
                env=self.environment,
            )

    def errors(self, name: str) -> str:
        return (self.folder / f"{name}.err").read_text(errors="replace")

    def wait_for(self, name: str, text: str) -> None:
        path, deadline = self.folder / f"{name}.log", time.monotonic() + SECONDS
        while text not in path.read_text(errors="replace"):
            assert time.monotonic() < deadline, path.read_text(errors="replace")[-2000:]
            assert self.running[name].poll() is None, path.read_text(errors="replace")[-2000:]
            time.sleep(0.05)

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def __enter__(self) -> Processes:
        return self

    def __exit__(self, *_: object) -> None:
        for name in list(self.running):
            self.kill(name)


def die_with_parent() -> None:
    """In a child: should the tests be killed, nothing of them stays."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port() -> int:
    with socket.create_server((HERE, 0)) as server:
        port: int = server.getsockname()[1]
        return port
