"""What building an adapter takes: whether a program is there and new enough, and a Python.

Nothing is installed. What is missing is `NotBuildable`, with what to do about it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from jetproof.errors import JetproofError
from jetproof.targets.clients.spec import AdapterFolder, Need, PythonNeed

_ASK_SECONDS = 30.0
_ASK = {"go": ("version",), "java": ("-version",)}
_NUMBERS = re.compile(r"\d+(?:\.\d+)+")
_NUMBER = re.compile(r"\d+")
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_PYTHON = re.compile(r"python3\.\d+")
_TELL = "import sys; print('.'.join(map(str, sys.version_info[:3])))"


class NotBuildable(JetproofError):
    """This machine cannot build or run an adapter: a program is missing or too old."""

    def __init__(self, adapter: str, reason: str, hint: str = "") -> None:
        super().__init__(f"{adapter} cannot be built here: {reason}", phase="start", hint=hint)
        self.adapter = adapter
        self.reason = reason


def check_toolchain(folder: AdapterFolder) -> Path | None:
    """The interpreter for a Python adapter, None for others; NotBuildable if anything is missing."""
    for need in folder.needs:
        _check(folder.name, need)
    return None if folder.python is None else _python(folder.name, folder.python)


def check_present(folder: AdapterFolder) -> None:
    """Whether the programs are there, for an adapter that was built: nothing is asked of them."""
    for need in folder.needs:
        _found(folder.name, need)


def _found(adapter: str, need: Need) -> str:
    path = shutil.which(need.program)
    if path is None:
        raise NotBuildable(adapter, f"{need.program} is not installed", _hint(need))
    return path


def _hint(need: Need) -> str:
    return f"install {need.program}: {need.hint}" if need.hint else f"install {need.program}"


def _check(adapter: str, need: Need) -> None:
    path, hint = _found(adapter, need), _hint(need)
    if need.atleast is None:
        return
    ask = need.ask or _ASK.get(need.program, ("--version",))
    told = _told([path, *ask])
    if told is None:
        raise NotBuildable(adapter, f"{need.program} does not tell its version", hint)
    if _parts(told) < _parts(need.atleast):
        raise NotBuildable(adapter, f"{need.program} is {told}, and {need.atleast} is needed", hint)


def _python(adapter: str, need: PythonNeed) -> Path:
    """The interpreter that runs Jetproof if it is new enough, else the nearest that is."""
    wanted = _parts(need.atleast)
    if sys.version_info[: len(wanted)] >= wanted:
        return Path(sys.executable)
    for path in _interpreters(wanted[:2]):
        told = _told([str(path), "-c", _TELL])
        if told is not None and _parts(told) >= wanted:
            return path
    raise NotBuildable(
        adapter,
        f"there is no Python {need.atleast} or newer",
        f"install Python {need.atleast}, so that python{'.'.join(map(str, wanted[:2]))} runs",
    )


def _interpreters(least: tuple[int, ...]) -> Iterator[Path]:
    """Those on the PATH and those of pyenv, whose shims run only what is switched on.

    What its name says to be too old is not even asked.
    """
    names: set[str] = set()
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        if folder and Path(folder).is_dir():
            names |= {name for name in os.listdir(folder) if _PYTHON.fullmatch(name)}
    for name in sorted(names, key=_parts):
        if _parts(name) >= least and (found := shutil.which(name)) is not None:
            yield Path(found)
    root = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    for path in sorted(root.glob("3.*/bin/python3"), key=lambda path: _parts(path.parts[-3])):
        if _parts(path.parts[-3]) >= least:
            yield path


def _told(command: list[str]) -> str | None:
    """The first version in what a program prints of itself."""
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    said = _COLOURS.sub("", f"{done.stdout}\n{done.stderr}")
    found = _NUMBERS.search(said) or _NUMBER.search(said)
    return found.group() if found and done.returncode == 0 else None


def _parts(text: str) -> tuple[int, ...]:
    found = _NUMBERS.search(text) or _NUMBER.search(text)
    return tuple(int(part) for part in found.group().split(".")) if found else ()
