"""Java and masters that are missing, too old, silent or idle: said at once, and what to do."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jetproof.errors import JetproofError
from jetproof_reports import java, session
from jetproof_reports.session import first_line, must_answer, must_work, open_session, within

Install = Callable[[str], Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """Puts a Java that says what it is told to first, and alone, on the PATH."""

    def make(script: str) -> Path:
        path = tmp_path / "bin" / "java"
        path.parent.mkdir()
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", str(path.parent))
        monkeypatch.delenv("JAVA_HOME", raising=False)
        return path

    return make


def says(version: str) -> str:
    return f"echo 'openjdk version \"{version}\" 2025-04-15' >&2"


@pytest.mark.parametrize("version", ["17.0.15", "21", "25-ea"])
def test_java_17_and_newer_will_do(install: Install, version: str) -> None:
    path = install(says(version))
    assert java.find_java() == java.Java(str(path), version)


@pytest.mark.parametrize("version", ["1.8.0_432", "11.0.2"])
def test_a_java_that_is_too_old_is_told_with_its_version(install: Install, version: str) -> None:
    install(says(version))
    with pytest.raises(
        JetproofError, match=f"need Java 17 or newer, and .*/java is {version}"
    ) as told:
        java.find_java()
    assert told.value.phase == "start"
    assert "openjdk-17" in told.value.hint


def test_without_java_the_message_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(JetproofError, match="need Java: none is on the PATH") as told:
        java.find_java()
    assert "apt-get install" in told.value.hint
    assert "`jetproof run`, JUnit and --json need no Java" in told.value.hint


def test_a_java_home_without_java_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(JetproofError, match=r"JAVA_HOME is .*, and has no bin/java"):
        java.find_java()


def test_a_java_that_does_not_run_is_told(install: Install) -> None:
    install("exit 1")
    with pytest.raises(JetproofError, match="does not run"):
        java.find_java()


def test_the_class_archive_is_made_once_and_then_used(tmp_path: Path) -> None:
    found = java.Java("java", "17.0.15")
    first = java.archive_options(found, "4.3.0", tmp_path)
    name = first.split()[0].removeprefix("-XX:ArchiveClassesAtExit=")
    new = Path(name)
    new.write_bytes(b"\xa8\xab\x0b\xf0 and so on")
    assert java.archive_options(found, "4.3.0", tmp_path) == "", "somebody may still be writing it"
    _age(new)
    assert java.archive_options(found, "4.3.0", tmp_path).startswith("-XX:SharedArchiveFile=")
    assert not new.exists()


def test_a_class_archive_that_was_cut_off_is_thrown_away(tmp_path: Path) -> None:
    found = java.Java("java", "17.0.15")
    new = tmp_path / "spark-4.3.0-java-17.0.15.jsa.1.new"
    new.write_bytes(b"")
    _age(new)
    assert "ArchiveClassesAtExit" in java.archive_options(found, "4.3.0", tmp_path)
    assert not new.exists()


def _age(path: Path) -> None:
    import os

    os.utime(path, (1, 1))


@pytest.mark.parametrize("kind", ["spark", "sc"])
def test_a_master_that_does_not_answer_is_told_before_anything_starts(kind: str) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # bound and not listening: connections are refused
        master = f"{kind}://127.0.0.1:{nobody.getsockname()[1]}"
        with (
            pytest.raises(JetproofError, match="does not answer") as told,
            open_session(master),
        ):
            pass
    assert told.value.phase == "start"
    assert master in told.value.message


def test_a_process_with_a_session_cannot_have_one_on_another_master(spark: object) -> None:
    with open_session("local[2]") as again:
        assert again is spark
    with (
        pytest.raises(JetproofError, match=r"has a Spark session on local\[2\]") as told,
        open_session("local[3]"),
    ):
        pass
    assert told.value.phase == "start"


def test_a_master_that_is_no_address_is_told() -> None:
    with pytest.raises(JetproofError, match="does not answer"):
        must_answer("spark://127.0.0.1:many")


@pytest.mark.parametrize("words", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_listens_and_is_no_spark_connect_server_is_told(
    words: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "ANSWER_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as other:

        def serve() -> None:
            with other.accept()[0] as client:
                client.sendall(words)
                with contextlib.suppress(ConnectionError):
                    while client.recv(1024):
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(JetproofError, match="does not answer"):
            must_answer(f"sc://127.0.0.1:{other.getsockname()[1]}")
        thread.join()


def test_what_waits_too_long_is_left_and_what_fails_fails() -> None:
    free = threading.Event()
    with pytest.raises(TimeoutError, match="no answer within 0 s"):
        within(0.05, free.wait)
    free.set()
    assert within(60, lambda: "done") == "done"
    with pytest.raises(ZeroDivisionError):
        within(60, lambda: 1 // 0)


def test_of_an_error_in_java_the_line_is_told_that_says_what_happened() -> None:
    error = RuntimeError(
        "An error occurred while calling o1.x.\n: java.io.IOException: gone\n\tat y"
    )
    assert first_line(error) == "java.io.IOException: gone"
    error = RuntimeError(
        f"{error}\nCaused by: it fell\n\tat y\nCaused by: java.lang.Gravity\n\tat z"
    )
    assert first_line(error) == "java.io.IOException: gone (java.lang.Gravity)"


def test_one_of_several_masters_is_enough() -> None:
    with socket.create_server(("127.0.0.1", 0)) as alive, socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        places = [f"127.0.0.1:{one.getsockname()[1]}" for one in (nobody, alive)]
        must_answer(f"spark://{','.join(places)}")


class Idle:
    """A session whose master has no workers: its jobs wait."""

    def __init__(self) -> None:
        self.interrupted = threading.Event()

    def range(self, _: int) -> Any:
        return self

    def count(self) -> int:
        self.interrupted.wait(60)
        return 1

    def interruptAll(self) -> None:
        self.interrupted.set()


def test_a_master_without_workers_is_told_and_its_job_ended() -> None:
    idle = Idle()
    with pytest.raises(JetproofError, match="no worker began it") as told:
        must_work(idle, "spark://here:7077", seconds=0.05)  # type: ignore[arg-type]
    assert told.value.phase == "start"
    assert idle.interrupted.is_set()


def test_a_master_that_refuses_jobs_is_told() -> None:
    class Refusing(Idle):
        def count(self) -> int:
            raise RuntimeError("the application was killed\nat com.example")

    with pytest.raises(JetproofError, match=r"cannot run a job: the application was killed$"):
        must_work(Refusing(), "spark://here:7077", seconds=60)  # type: ignore[arg-type]
