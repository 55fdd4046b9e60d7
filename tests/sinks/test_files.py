"""The run folder: what is in it, that a loss loses little, that it goes on."""

from __future__ import annotations

import base64
import errno
import json
import os
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.events import CaseFinished, RunFinished, TargetFailed
from jetproof.model.verdict import Question, QuestionEnd, Verdict
from jetproof.results import read_run
from jetproof.results.rows import PAYLOAD_BYTES
from jetproof.sinks import FanOut
from jetproof.sinks.files import RunFolder
from jetproof.sinks.record import Record
from support.documents import Validate

from .samples import (
    every_verdict,
    hostile_cell,
    lines_of,
    make_cell,
    make_check,
    make_frame,
    play,
    run_started,
    whole_run,
)


def written(folder: Path, *finished: CaseFinished) -> Path:
    play(RunFolder.create(folder, {"patterns": ["adr-50"]}), whole_run(*finished))
    return folder


def document(folder: Path) -> dict[str, object]:
    loaded = json.loads((folder / "run.json").read_text())
    assert isinstance(loaded, dict)
    return loaded


def test_every_row_and_the_document_conform_to_the_published_schemas(
    tmp_path: Path, conforms: Validate
) -> None:
    folder = written(tmp_path / "run", *every_verdict(), hostile_cell())
    conforms("results/run", document(folder))
    for name in ("cell", "check", "frame", "clause"):
        rows = list(lines_of(folder / f"{name}s.jsonl"))
        assert rows, name
        for row in rows:
            conforms(f"results/{name}", row)


def test_the_document_tells_who_what_and_how_it_ended(tmp_path: Path) -> None:
    run = document(written(tmp_path, *every_verdict()))
    assert run["run"] == "r1"
    assert run["request"] == {"patterns": ["adr-50"]}
    assert run["verdicts"] == dict.fromkeys(
        ["pass", "fail", "warn", "position", "known", "stale", "unstable", "n/a", "error"], 1
    )
    assert run["cells"] == 9
    assert run["finished_at"] is not None
    assert run["interrupted"] is False
    target = run["targets"][0]  # type: ignore[index]
    assert (target["target"], target["version"], target["provider"]) == (
        "2.15.1",
        "2.15.1",
        "embedded",
    )


def test_a_target_that_failed_is_in_the_document(tmp_path: Path, conforms: Validate) -> None:
    events = whole_run(CaseFinished(make_cell(verdict=Verdict.ERROR)))
    events.insert(1, TargetFailed("2.14.6", "cluster-3", "default", "no such binary"))
    play(RunFolder.create(tmp_path), events)
    run = document(tmp_path)
    conforms("results/run", run)
    failed = [server["failed"] for row in run["targets"] for server in row["servers"]]  # type: ignore[attr-defined]
    assert failed == [None, "no such binary"]


def test_before_the_end_the_document_says_that_the_run_is_not_finished(
    tmp_path: Path, conforms: Validate
) -> None:
    with RunFolder.create(tmp_path) as folder:
        folder.handle(run_started())
        folder.handle(CaseFinished(make_cell()))
    run = document(tmp_path)
    conforms("results/run", run)
    assert run["finished_at"] is None
    assert [cell.name for cell in read_run(tmp_path).cells] == [make_cell().name]


def test_a_finished_case_is_on_disk_at_once_frames_first_and_the_cell_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    real = os.write

    def spy(descriptor: int, data: bytes) -> int:
        order.append(Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
        return real(descriptor, data)

    with RunFolder.create(tmp_path) as folder:
        folder.handle(run_started())
        monkeypatch.setattr(os, "write", spy)
        asked = Question(0, 1.0, 2.0, "main", "PING")
        folder.handle(CaseFinished(make_cell(), (make_check(),), (make_frame(),), (asked,)))
        assert order == ["questions.jsonl", "frames.jsonl", "checks.jsonl", "cells.jsonl"]
        assert len(list(lines_of(tmp_path / "cells.jsonl"))) == 1


def test_bytes_that_are_not_text_survive_exactly(tmp_path: Path) -> None:
    frame = make_frame(payload=b"\xff\x00\xfe", headers=(("X-\udcff", "v\udc80"), ("ok", "é")))
    written(tmp_path, CaseFinished(make_cell(), (), (frame,)))
    (row,) = lines_of(tmp_path / "frames.jsonl")
    assert "payload" not in row
    assert base64.b64decode(str(row["payload_b64"])) == b"\xff\x00\xfe"
    odd, plain = row["headers"]  # type: ignore[misc]
    assert base64.b64decode(odd["name_b64"]) == b"X-\xff"
    assert base64.b64decode(odd["value_b64"]) == b"v\x80"
    assert odd["value"] == "v\\x80"
    assert plain == {"name": "ok", "value": "é"}


def test_no_headers_differ_from_empty_headers(tmp_path: Path) -> None:
    frames = (make_frame(headers=None), make_frame(headers=()))
    written(tmp_path, CaseFinished(make_cell(), (), frames))
    assert [row["headers"] for row in lines_of(tmp_path / "frames.jsonl")] == [None, []]


def test_a_huge_payload_is_cut_and_its_size_kept(tmp_path: Path) -> None:
    text = "é" * PAYLOAD_BYTES
    frames = (make_frame(payload=b"x" + text.encode()), make_frame(payload=b"small"))
    written(tmp_path, CaseFinished(make_cell(), (), frames))
    huge, small = lines_of(tmp_path / "frames.jsonl")
    assert (huge["truncated"], huge["size"]) == (True, 1 + 2 * PAYLOAD_BYTES)
    assert str(huge["payload"]).startswith("xéé")
    assert len(str(huge["payload"]).encode()) <= PAYLOAD_BYTES
    assert (small["truncated"], small["payload"]) == (False, "small")


def test_evidence_reads_back_as_it_was(tmp_path: Path) -> None:
    cell, check, frame = make_cell(verdict=Verdict.FAIL), make_check(), make_frame()
    written(tmp_path, CaseFinished(cell, (check,), (frame,)))
    run = read_run(tmp_path)
    assert run.cells == (cell,)
    assert list(run.checks()) == [((cell.name, "2.15.1", 1), check)]
    assert list(run.frames()) == [((cell.name, "2.15.1", 1), frame)]


@pytest.mark.parametrize(
    "asked",
    [
        Question(0, 1.0, 2.5, "main", "PING"),
        Question(3, 1.0, 9.0, "harness", "$JS.API.INFO", end=QuestionEnd.TIMEOUT, step="read"),
        Question(
            1, 0.0, 0.5, "main", "S.a", (("A", "1"), ("A", "2")), b"\xff", QuestionEnd.ANSWERED,
            503, (("B", ""),), b'{"seq":1}', "given",
        ),
    ],
)  # fmt: skip
def test_questions_of_the_engine_are_read_back(
    tmp_path: Path, conforms: Validate, asked: Question
) -> None:
    cell = make_cell()
    written(tmp_path, CaseFinished(cell, questions=(asked,)))
    assert list(read_run(tmp_path).questions()) == [((cell.name, cell.target, 1), asked)]
    (row,) = lines_of(tmp_path / "questions.jsonl")
    conforms("results/question", row)


def test_results_are_ordinary_files(tmp_path: Path) -> None:
    written(tmp_path, CaseFinished(make_cell()))
    assert stat.S_IMODE((tmp_path / "run.json").stat().st_mode) & 0o044
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cells.jsonl", "checks.jsonl", "clauses.jsonl", "frames.jsonl", "questions.jsonl", "run.json",
        "schemas.jsonl",
    ]  # fmt: skip


# Faults


def test_a_folder_that_holds_another_run_is_refused(tmp_path: Path) -> None:
    written(tmp_path, CaseFinished(make_cell()))
    with pytest.raises(JetproofError, match="holds another run") as caught:
        RunFolder.create(tmp_path)
    assert caught.value.phase == "write"
    assert f"--resume {tmp_path}" in caught.value.hint


def test_a_folder_of_other_things_may_be_used(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    written(tmp_path, CaseFinished(make_cell()))
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_file_where_the_folder_should_be_is_a_write_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(JetproofError, match="cannot write the results") as caught:
            RunFolder.create(folder)
        assert caught.value.phase == "write"


@pytest.mark.parametrize(
    ("number", "hint"), [(errno.EROFS, "can be written"), (errno.ENOSPC, "free some space")]
)
def test_a_read_only_or_full_disk_is_found_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, hint: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("jetproof.sinks.files.tempfile.TemporaryFile", refuse)
    with pytest.raises(JetproofError, match=os.strerror(number)) as caught:
        RunFolder.create(tmp_path)
    assert caught.value.phase == "write"
    assert hint in caught.value.hint


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_disk_that_fills_up_stops_the_files_and_not_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, other = RunFolder.create(tmp_path), Record()
    fan = FanOut([folder, other])
    fan(run_started(2))
    full = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setitem(folder._open, "frames", full)
    fan(CaseFinished(make_cell("a"), (), (make_frame(),)))
    fan(CaseFinished(make_cell("b"), (), (make_frame(),)))
    fan(RunFinished("r1"))
    fan.close()
    assert [failure.phase for failure in fan.failures] == ["write"]
    assert "No space left" in str(fan.failures[0])
    assert len(other.outcomes) == 2


# Loss and resumption


def lost_run(folder: Path) -> None:
    """A run whose process was lost while its third case was being written."""
    with RunFolder.create(folder, {"servers": ["2.15.1"]}) as sink:
        sink.handle(run_started(4))
        for name in ("a", "b"):
            verdict = Verdict.ERROR if name == "b" else Verdict.PASS
            sink.handle(
                CaseFinished(make_cell(name, verdict), (make_check(ok=True),), (make_frame(),))
            )
        sink.handle(CaseFinished(make_cell("c"), (make_check(),), (make_frame(), make_frame(2))))
    cells = folder / "cells.jsonl"
    cells.write_bytes(cells.read_bytes()[:-30])


def test_a_last_line_that_was_cut_off_is_left_out(tmp_path: Path) -> None:
    lost_run(tmp_path)
    assert [cell.case.rpartition("::")[2] for cell in read_run(tmp_path).cells] == ["a", "b"]


def test_a_broken_line_elsewhere_is_an_error_with_its_place(tmp_path: Path) -> None:
    lost_run(tmp_path)
    cells = tmp_path / "cells.jsonl"
    cells.write_bytes(b"{nonsense\n" + cells.read_bytes())
    with pytest.raises(JetproofError, match=r"cells\.jsonl:1: not a JSON object"):
        read_run(tmp_path)


def test_what_has_a_verdict_is_not_played_again_and_what_is_error_is(tmp_path: Path) -> None:
    lost_run(tmp_path)
    run = read_run(tmp_path)
    assert run.completed == {make_cell("a").name}
    assert run.attempts == {make_cell("a").name: 1, make_cell("b").name: 1}


def test_resuming_adds_rows_and_overwrites_none(tmp_path: Path, conforms: Validate) -> None:
    lost_run(tmp_path)
    before = (tmp_path / "cells.jsonl").read_bytes()
    again = make_cell("b", attempt=2)
    events = whole_run(
        CaseFinished(again, (make_check(ok=True),), (make_frame(),)),
        CaseFinished(make_cell("c"), (make_check(),), (make_frame(),)),
    )
    play(RunFolder.resume(read_run(tmp_path)), events)
    whole = before[: before.rfind(b"\n") + 1]
    assert (tmp_path / "cells.jsonl").read_bytes().startswith(whole)
    rows = [(row["case"], row["attempt"]) for row in lines_of(tmp_path / "cells.jsonl")]
    suite = "adr-50/atomic/commit"
    assert rows == [(f"{suite}::a", 1), (f"{suite}::b", 1), (f"{suite}::b", 2), (f"{suite}::c", 1)]
    run = document(tmp_path)
    conforms("results/run", run)
    assert run["verdicts"] == {"pass": 3}
    assert run["cells"] == 3
    assert run["request"] == {"servers": ["2.15.1"]}
    assert len(run["resumed"]) == 1  # type: ignore[arg-type]
    assert len(list(lines_of(tmp_path / "clauses.jsonl"))) == 1


def test_resuming_takes_back_the_evidence_of_the_case_that_was_being_written(
    tmp_path: Path,
) -> None:
    lost_run(tmp_path)
    assert len(list(lines_of(tmp_path / "frames.jsonl"))) == 4
    RunFolder.resume(read_run(tmp_path)).close()
    for name in ("frames", "checks"):
        cases = [str(row["cell"]) for row in lines_of(tmp_path / f"{name}.jsonl")]
        assert cases == [make_cell("a").name, make_cell("b").name], name


@pytest.mark.parametrize("lost", range(0, 4000, 97))
def test_wherever_the_process_was_lost_the_run_can_go_on(tmp_path: Path, lost: int) -> None:
    sink = RunFolder.create(tmp_path)
    sink.handle(run_started(3))
    names = ("a", "b", "c")
    journals = ("frames", "checks", "cells")
    steps: list[tuple[str, bytes]] = []
    for name in names:
        sizes = {file: (tmp_path / f"{file}.jsonl").stat().st_size for file in journals}
        sink.handle(CaseFinished(make_cell(name), (make_check(),), (make_frame(), make_frame(2))))
        for file in journals:
            steps.append((file, (tmp_path / f"{file}.jsonl").read_bytes()[sizes[file] :]))
    sink.close()
    # Replay the writes byte by byte until the process is lost.
    left = lost
    for file in journals:
        (tmp_path / f"{file}.jsonl").write_bytes(b"")
    for file, data in steps:
        with (tmp_path / f"{file}.jsonl").open("ab") as stream:
            stream.write(data[:left])
        left = max(0, left - len(data))
    run = read_run(tmp_path)
    missing = [name for name in names if make_cell(name).name not in run.completed]
    again = [
        CaseFinished(make_cell(name), (make_check(),), (make_frame(), make_frame(2)))
        for name in missing
    ]
    play(RunFolder.resume(run), whole_run(*again))
    expected = [make_cell(name).name for name in names]
    assert [row["cell"] for row in lines_of(tmp_path / "cells.jsonl")] == expected
    frames = [row["cell"] for row in lines_of(tmp_path / "frames.jsonl")]
    assert frames == [name for name in expected for _ in range(2)]
    assert [row["cell"] for row in lines_of(tmp_path / "checks.jsonl")] == expected


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    lost_run(tmp_path)
    with (
        RunFolder.resume(read_run(tmp_path)),
        pytest.raises(JetproofError, match="another process is writing"),
    ):
        RunFolder.resume(read_run(tmp_path))


def test_a_folder_that_is_no_run_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(JetproofError, match="not a run folder"):
        read_run(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(JetproofError, match="cannot read"):
        read_run(tmp_path)


def test_a_run_of_a_future_version_is_not_misread(tmp_path: Path) -> None:
    written(tmp_path, CaseFinished(make_cell()))
    changed = {**document(tmp_path), "schema": 99}
    (tmp_path / "run.json").write_text(json.dumps(changed))
    with pytest.raises(JetproofError, match="has the schema 99, this version reads 1"):
        read_run(tmp_path)


def test_cells_of_one_release_from_two_providers_are_kept_apart(tmp_path: Path) -> None:
    embedded = make_cell("a")
    container = replace(embedded, target="container:2.15.1", provider="container")
    written(tmp_path, CaseFinished(embedded), CaseFinished(container))
    assert len(read_run(tmp_path).latest) == 2
