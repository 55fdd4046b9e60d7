"""`jetproof merge`: shards in, the run that was never split out; what does not fit is refused."""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from jetproof.cli import main
from jetproof.results import read_journal, read_run
from support.case_files import FAILS, HEAD, PASSES
from support.commands import Command
from support.documents import Validate
from support.programs import write_build

from .conftest import verdicts

EMBEDDED = ("--provider", "embedded")
THREE = (PASSES, FAILS, PASSES.replace("passes", "passes-too"))
Shards = Callable[..., None]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases on two builds, whole and in two and three parts: `whole`, `2/s1`, `3/s3`, ..."""
    folder = tmp_path_factory.mktemp("played")
    (folder / "trial.yaml").write_text(HEAD + "".join(THREE))
    write_build(folder / "one")
    write_build(folder / "two", "2.16.0-dev")
    parts = [f"{number}/{count}" for count in (2, 3) for number in range(1, count + 1)]
    for part in (None, *parts):
        play(folder, folder, part)
    return folder


def play(place: Path, played: Path, part: str | None) -> Path:
    """Play a part of those cases, or all of them, with the builds of a place."""
    number, _, count = (part or "").partition("/")
    out = place / count / f"s{number}" if part else place / "whole"
    with contextlib.chdir(place):
        more = ["--shard", part] if part else []
        arguments = ["-s", "path:./one,path:./two", *EMBEDDED, "--out", str(out), *more]
        code = main(["matrix", str(played / "trial.yaml"), *arguments])
    assert code in (0, 1)
    return out


@pytest.fixture
def shards(played: Path, tmp_path: Path) -> Shards:
    """Copies of `s1`, `s2`, ..., and the builds that they were played on."""
    for name in ("one", "two"):
        shutil.copy(played / name, tmp_path)

    def copy(count: int = 2, *only: int) -> None:
        for number in only or range(1, count + 1):
            shutil.copytree(played / str(count) / f"s{number}", tmp_path / f"s{number}")

    return copy


def change(folder: Path, **values: object) -> None:
    """Write something else into a folder's run.json."""
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


def rows_of(folder: Path, journal: str) -> list[tuple[str, str, int]]:
    """How many rows of a journal each cell of a case has.

    Advisories do not count: one may come when the case has ended.
    """
    counts: dict[tuple[str, str], int] = {}
    for row in read_journal(folder, journal):
        if row.get("connection") == "observer":
            continue
        key = (str(row["cell"]), str(row["target"]))
        counts[key] = counts.get(key, 0) + 1
    return sorted((*key, count) for key, count in counts.items())


# Together


def test_shards_make_the_run_that_was_never_split(
    jetproof: Command, shards: Shards, played: Path, conforms: Validate, tmp_path: Path
) -> None:
    shards(2)
    done = jetproof("merge", "--json", "s1", "s2", "--out", "joined")
    conforms("cli/merge", done.document)
    assert done.code == 1
    joined, unsplit = tmp_path / "joined", played / "whole"
    assert verdicts(joined, schemas=True) == verdicts(unsplit, schemas=True)
    assert rows_of(joined, "checks") == rows_of(unsplit, "checks")
    assert rows_of(joined, "frames") == rows_of(unsplit, "frames")
    mine, other = read_run(joined).document, read_run(unsplit).document
    for key in ("verdicts", "cells", "partial", "suite_hash", "interrupted"):
        assert mine[key] == other[key], key
    assert done.document["missing"] == []


def test_a_joined_folder_is_an_ordinary_run(
    jetproof: Command, shards: Shards, conforms: Validate, tmp_path: Path
) -> None:
    shards(2)
    jetproof("merge", "s1", "s2", "--out", "joined")
    folder = tmp_path / "joined"
    conforms("results/run", json.loads((folder / "run.json").read_text()))
    run = read_run(folder)
    for name in ("cell", "check", "frame", "clause"):
        rows = list(read_journal(folder, f"{name}s"))
        assert rows
        assert {row["run"] for row in rows} == {run.id}
        for row in rows:
            conforms(f"results/{name}", row)
    assert len(run.cells) == len(run.latest)
    assert jetproof("matrix", "--resume", "joined").code == 1


def test_results_of_schemas_are_summed_up(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    jetproof("merge", "s1", "s2", "--out", "joined")

    def seen(folder: str) -> dict[str, int]:
        return {one.name: one.seen for one in read_run(tmp_path / folder).latest_schemas}

    joined, first, second = seen("joined"), seen("s1"), seen("s2")
    assert joined
    assert joined == {name: first.get(name, 0) + second.get(name, 0) for name in joined}


def test_a_schema_that_one_shard_saw_broken_stays_broken(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    journal = tmp_path / "s2" / "schemas.jsonl"
    rows = [json.loads(line) for line in journal.read_text().splitlines()]
    for row in rows:
        if row["schema"] == "stream-create":
            row |= {"verdict": "fail", "reason": "a field is missing"}
    journal.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    jetproof("merge", "s1", "s2", "--out", "joined")
    results = read_run(tmp_path / "joined").latest_schemas
    broken = {(one.verdict, one.reason) for one in results if one.schema == "stream-create"}
    assert broken == {("fail", "a field is missing")}


def test_the_same_shards_make_the_same_run_in_any_order(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    jetproof("merge", "s1", "s2", "--out", "a")
    jetproof("merge", "s2", "s1", "--out", "b")
    for name in (
        "run.json",
        "cells.jsonl",
        "checks.jsonl",
        "frames.jsonl",
        "questions.jsonl",
        "clauses.jsonl",
        "schemas.jsonl",
    ):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


# Whole or partial


def test_a_missing_shard_keeps_the_run_partial(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(3, 1, 3)
    done = jetproof("merge", "--json", "s1", "s3", "--out", "joined")
    assert done.document["missing"] == [[2, 3]]
    assert "without shard 2/3" in str(read_run(tmp_path / "joined").document["partial"])


def test_a_joined_folder_is_joined_with_the_shard_that_was_missing(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(3)
    jetproof("merge", "s1", "s3", "--out", "part")
    done = jetproof("merge", "--json", "part", "s2", "--out", "joined")
    assert done.document["missing"] == []
    assert "shard" not in str(done.document["partial"])
    assert len(verdicts(tmp_path / "joined")) == 6


@pytest.mark.parametrize("lost", [{"finished_at": None}, {"interrupted": True}])
def test_a_shard_that_was_not_played_to_its_end_keeps_the_run_partial(
    jetproof: Command, shards: Shards, tmp_path: Path, lost: dict[str, object]
) -> None:
    shards(2)
    change(tmp_path / "s2", **lost)
    jetproof("merge", "s1", "s2", "--out", "joined")
    document = read_run(tmp_path / "joined").document
    assert "not ended: shard 2/2" in str(document["partial"])
    assert (document["finished_at"] is None) is ("finished_at" in lost)


def test_the_selection_stays_a_reason_to_be_partial(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    jetproof("merge", "s1", "s2", "--out", "joined")
    # Cases of a file elsewhere are no whole run, split or not.
    assert "trial.yaml" in str(read_run(tmp_path / "joined").document["partial"])


def test_a_case_that_was_cut_off_is_left_out_with_its_evidence(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    journal = tmp_path / "s1" / "cells.jsonl"
    kept = [line for line in journal.read_text().splitlines() if "::fails @" not in line]
    journal.write_text("\n".join(kept) + '\n{"run": "half a li')
    jetproof("merge", "s1", "s2", "--out", "joined")
    assert {case for case, _ in verdicts(tmp_path / "joined")} == {"passes", "passes-too"}
    cells = {cell for cell, _, _ in rows_of(tmp_path / "joined", "frames")}
    assert cells
    assert not any("::fails @" in cell for cell in cells)


# The same cell twice


def test_what_was_played_twice_stays_as_two_attempts(
    jetproof: Command, shards: Shards, played: Path, tmp_path: Path
) -> None:
    shards(2)
    again_played = play(tmp_path, played, "1/2")
    done = jetproof("merge", "--json", again_played, "s1", "s2", "--out", "joined")
    assert done.document["played_again"] == 4
    run = read_run(tmp_path / "joined")
    again = [cell for cell in run.cells if cell.case == "adr-50/trial::fails"]
    assert sorted((cell.target, cell.attempt) for cell in again) == [
        ("path:./one", 1),
        ("path:./one", 2),
        ("path:./two", 1),
        ("path:./two", 2),
    ]
    first, second = (cell for cell in again if cell.target == "path:./one")
    assert first.started_at < second.started_at
    for journal in ("checks", "frames"):
        attempts = {
            row["attempt"] for row in read_journal(run.folder, journal) if "fails" in row["cell"]
        }
        assert attempts == {1, 2}
    assert len(run.latest) == done.document["cells"]


def test_a_folder_named_twice_is_refused(jetproof: Command, shards: Shards, tmp_path: Path) -> None:
    shards(2)
    done = jetproof("merge", "s1", "s2", "s1", "--out", "joined")
    assert done.code == 2
    assert "are the same run" in done.err
    assert not (tmp_path / "joined").exists()


# What does not fit


def test_other_suites_are_refused(
    jetproof: Command, shards: Shards, conforms: Validate, tmp_path: Path
) -> None:
    shards(2)
    change(tmp_path / "s2", suite_hash="other")
    done = jetproof("merge", "--json", "s1", "s2", "--out", "joined")
    assert done.code == 2
    conforms("cli/error", done.document)
    assert "the suites differ" in done.err


def test_another_version_of_jetproof_is_refused(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    change(tmp_path / "s2", jetproof="0.0.1")
    done = jetproof("merge", "s1", "s2", "--out", "joined")
    assert done.code == 2
    assert "the versions of jetproof differ" in done.err


@pytest.mark.parametrize(
    "other", [{"patterns": ["adr-50"]}, {"servers": ["2.15.1"]}, {"clauses": ["A50-*"]}]
)
def test_another_selection_is_refused(
    jetproof: Command, shards: Shards, tmp_path: Path, other: dict[str, object]
) -> None:
    shards(2)
    request = json.loads((tmp_path / "s2" / "run.json").read_text())["request"]
    change(tmp_path / "s2", request={**request, **other})
    done = jetproof("merge", "s1", "s2", "--out", "joined")
    assert done.code == 2
    assert f"were asked for different things: {next(iter(other))}" in done.err


def test_another_build_under_the_same_name_is_refused(
    jetproof: Command, shards: Shards, played: Path, tmp_path: Path
) -> None:
    shards(2, 1)
    write_build(tmp_path / "two", "2.17.0-dev")
    done = jetproof("merge", "s1", play(tmp_path, played, "2/2"), "--out", "joined")
    assert done.code == 2
    assert "path:./two is 2.16.0-dev in s1 and 2.17.0-dev in" in done.err


def test_another_commit_of_the_same_checkout_is_refused(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    rows = json.loads((tmp_path / "s2" / "run.json").read_text())["targets"]
    change(tmp_path / "s2", targets=[{**row, "build": "0123"} for row in rows])
    done = jetproof("merge", "s1", "s2", "--out", "joined")
    assert done.code == 2
    assert "path:./one is the build " in done.err
    assert "and 0123 in s2" in done.err


def test_shards_of_different_splits_are_refused(jetproof: Command, shards: Shards) -> None:
    shards(2, 1)
    shards(3, 2)
    done = jetproof("merge", "s1", "s2", "--out", "joined")
    assert done.code == 2
    assert "split into 2 and 3 parts" in done.err


def test_a_folder_that_is_no_run_is_refused(jetproof: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = jetproof("merge", "empty", "--out", "joined")
    assert done.code == 2
    assert "empty is not a run folder" in done.err


def test_a_folder_that_holds_something_is_not_overwritten(
    jetproof: Command, shards: Shards, tmp_path: Path
) -> None:
    shards(2)
    before = (tmp_path / "s1" / "cells.jsonl").read_bytes()
    done = jetproof("merge", "s1", "s2", "--out", "s1")
    assert done.code == 2
    assert "s1 is not empty" in done.err
    assert (tmp_path / "s1" / "cells.jsonl").read_bytes() == before


def test_a_disk_that_is_full_leaves_nothing_behind(
    jetproof: Command, shards: Shards, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shards(2)

    def full(*_: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("jetproof.campaigns.merge.cell_row", full)
    before = sorted(path.name for path in tmp_path.iterdir())
    done = jetproof("merge", "s1", "s2", "--out", "joined")
    assert done.code == 2
    assert "No space left on device" in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == before
