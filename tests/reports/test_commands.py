"""`jetproof report` and `jetproof diff` as people call them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.events import CaseFinished
from jetproof.model.verdict import Verdict
from jetproof_reports.history import History
from support.documents import check_document

from .samples import make_cell, run_of, write_run

Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def jetproof(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in this process."""
    monkeypatch.setenv("NO_COLOR", "1")

    def run(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        said = capfd.readouterr()
        return code, said.out, said.err

    return run


def conforming(name: str, text: str) -> dict[str, object]:
    document: dict[str, object] = json.loads(text)
    check_document(f"cli/{name}", document)
    return document


def test_report_writes_the_page_the_summary_the_badge_and_the_tables_of_every_run_in_a_history(
    jetproof: Command, derived: Path, three_runs: Sequence[Path], tmp_path: Path
) -> None:
    history, place = tmp_path / "history", tmp_path / "out"
    shutil.copytree(derived, history)
    History(history).remove("20261116T030000Z-000003")
    code, out, err = jetproof(
        "report", three_runs[2], "--history", history, "--out", place, "--json"
    )
    assert (code, err) == (0, "")
    document = conforming("report", out)
    for name in ("page", "summary", "badge"):
        assert Path(str(document[name])).stat().st_size > 0
    kept = History(history).runs()
    assert document["runs"] == [run.run_id for run in kept]
    assert len(kept) == 3
    assert all(any(run.folder.glob("derived-*/cells")) for run in kept)
    tables = document["tables"]
    assert isinstance(tables, dict)
    assert tables["matrix"] == 32
    assert {path.stem for path in (place / "tables").iterdir()} == set(tables)


@pytest.fixture
def derived(tables: object, kept: tuple[History, object]) -> Path:
    """A history of three runs with what was derived from them."""
    return kept[0].folder


def test_diff_tells_what_differs_and_fails_if_something_broke(
    jetproof: Command, derived: Path
) -> None:
    code, out, _ = jetproof("diff", "2.12.8", "2.14.0", "--history", derived)
    assert code == 0
    assert "1 fixed, 1 changed-position, 1 changed-on-the-wire, 1 new" in out
    code, out, _ = jetproof("diff", "2.14.0", "2.12.8", "--history", derived, "--json")
    assert code == 1
    document = conforming("diff", out)
    assert document["exit_code"] == 1
    assert document["counts"] == {
        "new-failure": 1,
        "fixed": 0,
        "changed-reason": 0,
        "changed-position": 1,
        "changed-on-the-wire": 1,
        "new": 0,
        "gone": 1,
    }


def test_diff_shows_the_lines_of_the_wire_that_differ(jetproof: Command, derived: Path) -> None:
    _, out, _ = jetproof("diff", "2.12.0", "2.12.8", "--history", derived, "-v")
    assert '-1 < MSG <inbox> {"stream":"stream_<id>","seq":1}' in out
    assert '+1 < MSG <inbox> {"stream":"stream_<id>","seq":1,"domain":"hub"}' in out


def test_text_off_the_wire_cannot_act_on_the_terminal(
    spark: object, jetproof: Command, tmp_path: Path
) -> None:
    for name, reason in (("a", "fine"), ("b", "\x1b[2J\x1b]0;owned\x07")):
        cell = make_cell("x", "2.12.0", Verdict.FAIL, reason=reason)
        write_run(tmp_path / name, [CaseFinished(cell)], run=name)
    _, out, _ = jetproof("diff", tmp_path / "a", tmp_path / "b")
    assert "changed-reason" in out
    assert "\x1b" not in out


# -- without Spark ---------------------------------------------------------------------------------


def test_a_report_of_nothing_is_a_mistake(jetproof: Command) -> None:
    code, _, err = jetproof("report")
    assert code == 2
    assert "no run to report on" in err


def test_without_java_both_commands_say_how_to_install_it(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="PySpark is not installed")
    run = run_of(tmp_path / "run", 1)
    for arguments in (("report", run, "--out", tmp_path / "out"), ("diff", run, run)):
        done = subprocess.run(
            [sys.executable, "-m", "jetproof.cli", *map(str, arguments), "--json"],
            env={**os.environ, "JAVA_HOME": str(tmp_path / "nowhere")},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 3
        assert "reports need Java" in done.stderr
        assert "openjdk-17" in json.loads(done.stdout)["error"]["hint"]


def test_without_the_extra_both_commands_say_how_to_get_it(
    jetproof: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    for arguments in (("report", tmp_path), ("diff", tmp_path, tmp_path)):
        code, _, err = jetproof(*arguments)
        assert code == 3
        assert "pip install 'jetproof[reports]'" in err


def test_without_java_and_spark_a_run_its_json_and_its_junit_still_work(tmp_path: Path) -> None:
    (tmp_path / "pyspark.py").write_text("raise ImportError('not here')\n")
    (tmp_path / "pyarrow.py").write_text("raise ImportError('not here')\n")
    case = "adr-50/atomic/start::first-message-gets-an-empty-reply"
    done = subprocess.run(
        [sys.executable, "-m", "jetproof.cli", "run", case, "--junit", "junit.xml", "--json",
         "--out", "run"],
        cwd=tmp_path,
        env={**os.environ, "JAVA_HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["exit_code"] == 0
    assert "<testsuite" in (tmp_path / "junit.xml").read_text()


def test_what_is_no_run_is_refused_by_name(
    spark: object, jetproof: Command, tmp_path: Path
) -> None:
    code, _, err = jetproof("report", tmp_path, "--out", tmp_path / "out")
    assert code == 2
    assert f"{tmp_path} is not a run folder" in err
