"""Ownership: a run's folder goes with it, and a killed run's folder goes with the next one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from jetproof.errors import JetproofError
from jetproof.targets.sweep import is_held, own_run, sweep_folders

HOLD = """
import sys
from pathlib import Path
from jetproof.targets.sweep import own_run

with own_run(Path(sys.argv[1])) as owner:
    print(owner.folder, flush=True)
    sys.stdin.read()
"""


def _run(root: Path) -> tuple[subprocess.Popen[str], Path]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdout is not None
    return process, Path(process.stdout.readline().strip())


def test_a_run_has_a_folder_while_it_lives(tmp_path: Path) -> None:
    with own_run(tmp_path) as owner:
        assert owner.folder.is_dir()
        assert is_held(owner.lock_path)
    assert not owner.folder.exists()


def test_runs_at_the_same_time_leave_each_other_alone(tmp_path: Path) -> None:
    with own_run(tmp_path) as one, own_run(tmp_path) as other:
        assert one.id != other.id
        assert sweep_folders(tmp_path) == []
        assert one.folder.is_dir()
        assert other.folder.is_dir()


def test_a_run_of_another_process_is_left_alone(tmp_path: Path) -> None:
    process, folder = _run(tmp_path)
    with process:
        with own_run(tmp_path):
            assert folder.is_dir()
        process.communicate("")
    assert not folder.exists()


def test_the_folder_of_a_killed_run_goes_with_the_next(tmp_path: Path) -> None:
    process, folder = _run(tmp_path)
    (folder / "store").mkdir()
    with process:
        process.kill()
    assert folder.is_dir()
    with own_run(tmp_path):
        assert not folder.exists()


def test_a_kept_folder_is_spared(tmp_path: Path) -> None:
    with own_run(tmp_path) as owner:
        owner.keep()
    assert sweep_folders(tmp_path) == []
    assert owner.folder.is_dir()


def test_nothing_else_is_touched(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "file").write_text("kept")
    sweep_folders(tmp_path)
    with own_run(tmp_path):
        pass
    assert {path.name for path in tmp_path.iterdir()} == {"mine", "file", "sweep.lock"}


def test_a_place_that_cannot_be_written_says_so(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    with (
        pytest.raises(JetproofError, match="cannot make a folder for this run") as raised,
        own_run(blocked),
    ):
        pass
    assert "TMPDIR" in raised.value.hint
