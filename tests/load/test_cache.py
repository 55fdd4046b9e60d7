"""A library that was read before is not read again, and never a wrong one."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from jetproof.data import fixtures_dir
from jetproof.load import library as loading
from jetproof.load.library import Library, load_library
from jetproof.load.mistakes import LoadError

SUITES = Path(__file__).parents[1] / "engine" / "suites"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "cache"))
    root = tmp_path / "root"
    shutil.copytree(fixtures_dir(), root / "fixtures", ignore=shutil.ignore_patterns("mutants"))
    shutil.copytree(SUITES, root / "suites")
    return root


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often everything was read."""
    seen: list[int] = []
    whole = loading._Loading.library

    def library(self: loading._Loading) -> Library:
        seen.append(1)
        return whole(self)

    monkeypatch.setattr(loading._Loading, "library", library)
    return seen


def kept(root: Path) -> list[Path]:
    return list((root.parent / "cache" / "library").glob("*"))


def test_it_is_read_once_and_is_the_same(root: Path, reads: list[int]) -> None:
    first, second = load_library(root), load_library(root)
    assert len(reads) == 1
    assert second.cases == first.cases
    assert second.suite_hash == first.suite_hash
    assert second.schemas.names() == first.schemas.names()
    assert second.errors.codes == first.errors.codes
    assert len(kept(root)) == 1


def test_any_change_of_a_file_is_seen(root: Path, reads: list[int]) -> None:
    before = load_library(root)
    file = root / "suites" / "demo" / "clauses.yaml"
    file.write_text(file.read_text() + "# one more line\n")
    after = load_library(root)
    assert len(reads) == 2
    assert after.suite_hash != before.suite_hash


def test_a_mistake_is_told_every_time(root: Path, reads: list[int]) -> None:
    (root / "suites" / "demo" / "wrong.yaml").write_text("suite: demo/wrong\n")
    for _ in range(2):
        with pytest.raises(LoadError):
            load_library(root)
    assert len(reads) == 2
    assert kept(root) == []


@pytest.mark.parametrize("harm", ["garbage", "another thing", "writable by others"])
def test_what_cannot_be_trusted_is_read_anew(root: Path, reads: list[int], harm: str) -> None:
    load_library(root)
    [place] = kept(root)
    if harm == "writable by others":
        place.chmod(0o666)
    else:
        place.write_bytes(b"no pickle" if harm == "garbage" else b"\x80\x05K\x01.")
    load_library(root)
    assert len(reads) == 2


def test_a_cache_that_cannot_be_written_is_as_good_as_none(
    root: Path, reads: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("JETPROOF_CACHE", str(tmp_path / "file"))
    assert load_library(root).cases == load_library(root).cases
    assert len(reads) == 2
