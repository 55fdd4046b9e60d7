"""A folder of kept runs: plain Parquet, one immutable folder a run. No Spark is needed to add one.

    history/
      run_id=20261116T122314Z-4f562a/
        run.parquet cells.parquet checks.parquet frames.parquet clauses.parquet
        derived-6/              tables of this run alone, computed by the first report that reads it
          cells/                Parquet files, and a manifest with their row counts

A run is written under a temporary name and renamed when it is whole, so a reader sees all of it or
none. Adding a run that is there replaces it, and its derived tables with it; adding it unchanged does
nothing. Any tool that reads Parquet reads a history: `history/*/cells.parquet`.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jetproof.errors import JetproofError
from jetproof.results import read_document
from jetproof_reports.columns import arrow_schema
from jetproof_reports.compact import compact, source_of, writing
from jetproof_reports.schemas import RUNS, VERSION

LOCK_SECONDS = 60.0
_RUN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
# Spark passes over names that begin with a dot or an underscore, also when it writes below them.
_PREFIX, _NEW, _OLD, _OWNER = "run_id=", "new-", ".old-", ".owner"


@dataclass(frozen=True, slots=True)
class KeptRun:
    """One run of a history: where it is, and its row of `runs`."""

    run_id: str
    folder: Path
    row: Mapping[str, Any]


class History:
    """The folder; it is made when the first run is added."""

    def __init__(self, folder: Path) -> None:
        # Absolute: pyarrow takes a relative path with a colon for a URL.
        self.folder = folder.absolute()

    def add(self, run: Path) -> KeptRun:
        """Keep a run folder. Whatever happens on the way, runs that were kept before stay."""
        document = read_document(run)
        run_id = _safe(str(document["run"]), run)
        there = self._find(run_id)
        if there is not None and there.row.get("source") == source_of(run):
            return there
        with writing(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            with self._workplace() as place:
                kept = place / "kept"
                kept.mkdir()
                row = compact(run, kept)
                _sync(kept)
                with self._lock():
                    self._swap(kept, run_id)
        return KeptRun(run_id, self._place(run_id), row)

    def remove(self, run_id: str) -> None:
        """Forget one run."""
        if self._find(run_id) is None:
            raise self._unknown(run_id)
        with writing(self.folder), self._workplace() as place, self._lock():
            self._place(run_id).rename(place / "gone")

    def runs(self) -> list[KeptRun]:
        """Every kept run, the oldest first."""
        self._recover()
        found = (self._find(path.name.removeprefix(_PREFIX)) for path in self._folders())
        kept = [run for run in found if run is not None]
        return sorted(kept, key=lambda run: (str(run.row.get("started_at")), run.run_id))

    def get(self, run_id: str) -> KeptRun:
        found = self._find(run_id)
        if found is None:
            raise self._unknown(run_id)
        return found

    @contextlib.contextmanager
    def placing(self) -> Iterator[Path]:
        """A folder on the history's own disk to write derived tables in; it goes away after."""
        with writing(self.folder), self._workplace() as place:
            yield place

    def put_derived(
        self, made: Path, run_id: str, name: str, is_whole: Callable[[Path], bool]
    ) -> None:
        """Move a derived table to where reports look for it; a whole one that is there stays."""
        target = self._place(run_id) / name
        with self._lock():
            if not self._place(run_id).is_dir() or is_whole(target):
                return
            target.parent.mkdir(exist_ok=True)
            if target.exists():
                target.rename(made.with_name(f"{made.name}.old"))  # goes away with the workplace
            made.rename(target)

    def _find(self, run_id: str) -> KeptRun | None:
        """A run, if it is whole: a folder without its row of `runs` does not exist."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        folder = self._place(run_id)
        path = folder / "run.parquet"
        if not path.is_file():
            return None
        try:
            rows = pq.read_table(path).to_pylist()
        except (pa.ArrowInvalid, OSError) as error:
            raise JetproofError(
                f"{folder} is damaged: {error}",
                phase="load",
                hint="remove that folder and add the run again",
            ) from error
        if len(rows) != 1 or (rows[0].get("schema_version") or 0) > VERSION:
            raise JetproofError(
                f"{folder} was written by a newer jetproof",
                phase="load",
                hint="read the history with that version, or a newer one",
            )
        row = {name: rows[0].get(name) for name in arrow_schema(RUNS).names}
        return KeptRun(run_id, folder, row)

    def _folders(self) -> Sequence[Path]:
        if not self.folder.is_dir():
            return ()
        return sorted(path for path in self.folder.glob(f"{_PREFIX}*") if path.is_dir())

    def _place(self, run_id: str) -> Path:
        return self.folder / f"{_PREFIX}{run_id}"

    def _swap(self, kept: Path, run_id: str) -> None:
        """Put a whole folder in place. A process lost between the renames is made good later."""
        target, old = self._place(run_id), self.folder / f"{_OLD}{run_id}"
        if target.exists():
            target.rename(old)
        kept.rename(target)
        _sync_folder(self.folder)
        if old.exists():
            shutil.rmtree(old, ignore_errors=True)

    def _recover(self) -> None:
        """Finish or undo what a lost process left: nothing that was kept is missing afterwards."""
        if not self.folder.is_dir() or not any(self.folder.glob(f"{_OLD}*")):
            return
        with writing(self.folder), self._lock():
            for old in self.folder.glob(f"{_OLD}*"):
                target = self._place(old.name.removeprefix(_OLD))
                if target.exists():
                    shutil.rmtree(old, ignore_errors=True)
                else:
                    old.rename(target)

    @contextlib.contextmanager
    def _workplace(self) -> Iterator[Path]:
        """A temporary folder that a later writer clears away should this process be lost."""
        with self._lock():  # a folder that is being made must not look like one that was left
            self._sweep()
            place = Path(tempfile.mkdtemp(prefix=_NEW, dir=self.folder))
            owner = _owned(place)
        try:
            place.chmod(0o755)
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)
            os.close(owner)

    def _sweep(self) -> None:
        for place in self.folder.glob(f"{_NEW}*"):
            with contextlib.suppress(OSError):  # in use, or gone meanwhile
                owner = _owned(place)
                shutil.rmtree(place, ignore_errors=True)
                os.close(owner)

    @contextlib.contextmanager
    def _lock(self) -> Iterator[None]:
        """Names change by one process at a time; the slow part, writing, is not in here."""
        handle = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            deadline = time.monotonic() + LOCK_SECONDS
            while True:
                try:
                    fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError as error:
                    if time.monotonic() > deadline:
                        raise JetproofError(
                            f"another process has been writing {self.folder} for "
                            f"{LOCK_SECONDS:.0f} s",
                            phase="write",
                            hint="wait for it, or end it if it hangs; nothing was changed",
                        ) from error
                    time.sleep(0.05)
            yield
        finally:
            os.close(handle)

    def _unknown(self, run_id: str) -> JetproofError:
        known = ", ".join(path.name.removeprefix(_PREFIX) for path in self._folders()[-5:])
        return JetproofError(
            f"{self.folder} has no run {run_id}",
            phase="load",
            hint=f"the newest are: {known}" if known else "it is empty",
        )


def _owned(place: Path) -> int:
    """A handle that shows as long as it is open that `place` is in use; an error if it is already."""
    handle = os.open(place / _OWNER, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        raise
    return handle


def _safe(run_id: str, run: Path) -> str:
    if _RUN.fullmatch(run_id) is None:
        raise JetproofError(
            f"{run} has a run id that cannot be a folder's name: {run_id[:80]!r}", phase="load"
        )
    return run_id


def _sync(folder: Path) -> None:
    """On disk before the rename: a power cut must not leave a whole name with half a content."""
    for path in folder.iterdir():
        _sync_folder(path)
    _sync_folder(folder)


def _sync_folder(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
