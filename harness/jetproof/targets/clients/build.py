"""Adapters made of folders: built once, on demand, into the cache.

A build is found by the adapter's name, the library's version and a hash of the folder and of its
kit, so that an edited adapter is built anew. It is made in a copy of the folder next to the others
and renamed when it is whole: two runs at once, or one that is killed, never leave half of one
behind.

In the commands of an adapter.yaml, `$version` is the library's version, `$python` and `$pip` the
interpreter of the virtual environment and the pip that installs into it, and `$cache` a folder that
stays from build to build, for what a compiler can use again.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.util
import os
import shutil
import signal
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jetproof.data import cache_root
from jetproof.errors import JetproofError
from jetproof.targets.clients.spec import AdapterFolder, ClientSpec, Command
from jetproof.targets.clients.toolchain import NotBuildable, check_present, check_toolchain
from jetproof.targets.kept import locked
from jetproof.targets.releases import is_offline
from jetproof.targets.server import dies_with_parent

_NOT_BUILT = frozenset({".venv", "__pycache__", "dist", "ledger.yaml", "node_modules", "target"})
"""What stands in an adapter's folder and is no part of it: what a build left, what is known of it."""

_KIT = "kit"
_WHOLE = ".jetproof-built"
_STEP_SECONDS = 1800.0
_TAIL_LINES = 25
_REFERENCE_MODULE = "jetproof.targets.reference_client"
_OFFLINE = {
    "CARGO_NET_OFFLINE": "true",
    "GOPROXY": "off",
    "PIP_NO_INDEX": "1",
    "npm_config_offline": "true",
}


class BuildFailed(JetproofError):
    """An adapter whose build did not succeed; the message ends with what it said."""

    def __init__(self, adapter: str, what: str, log: Path, tail: str) -> None:
        said = f"\n--- end of {log} ---\n{tail}" if tail else ""
        super().__init__(
            f"building {adapter} failed: {what}{said}",
            phase="start",
            hint="the version may not exist, or its API may differ from what the adapter calls",
        )
        self.log = log


@dataclass(frozen=True, slots=True)
class Client:
    """A client library that can be started: `start_adapter(client.command, name=client.name, …)`."""

    name: str
    command: Command
    version: str | None = None
    cwd: Path | None = None
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The name with the version, where one was asked for or pinned."""
        return self.name if self.version is None else f"{self.name}@{self.version}"


def prepare_client(
    spec: ClientSpec,
    *,
    cache_dir: Path | None = None,
    notify: Callable[[str], None] | None = None,
) -> Client:
    """What has to be started for a client; builds it if need be. Call it from a thread.

    NotBuildable if this machine lacks what building takes, BuildFailed if the build does not
    succeed. `notify` hears one line before a build.
    """
    if spec.program is not None:
        if not os.access(spec.program, os.X_OK):
            raise JetproofError(
                f"{spec.text} cannot be executed",
                phase="plan",
                hint=f"chmod +x {spec.text}, or give a folder with an adapter.yaml",
            )
        return Client(spec.name, (str(spec.program),))
    if spec.folder is None:
        return _reference(spec)
    folder, version = spec.folder, spec.version or spec.folder.version
    place = _root(cache_dir) / build_name(folder, version)
    if is_built(folder, version, cache_dir=cache_dir):
        check_present(folder)
    else:
        _build(folder, version, check_toolchain(folder), place, notify)
    names = _names(place, version, _root(cache_dir) / "kept" / _file_name(folder.name))
    return Client(folder.name, _filled(folder.run, names, place), version, place)


def is_built(folder: AdapterFolder, version: str, *, cache_dir: Path | None = None) -> bool:
    """Whether the cache has that adapter, whole, and what it runs is still there."""
    place = _root(cache_dir) / build_name(folder, version)
    if not (place / _WHOLE).is_file():
        return False
    return folder.python is None or (place / ".venv" / "bin" / "python").exists()


def build_name(folder: AdapterFolder, version: str) -> str:
    """The name of a build in the cache: `go-nats.go@1.55.0-0123456789ab`."""
    return f"{_file_name(folder.name)}@{version}-{_hash(folder)}"


def build_log(folder: AdapterFolder, version: str, *, cache_dir: Path | None = None) -> Path:
    """What the last build of that version said."""
    return _root(cache_dir) / "logs" / f"{_file_name(folder.name)}@{version}.log"


def _reference(spec: ClientSpec) -> Client:
    if importlib.util.find_spec(_REFERENCE_MODULE) is None:
        raise NotBuildable(spec.name, "this installation has no reference client")
    package = Path(__file__).resolve().parents[3]
    path = os.pathsep.join(filter(None, [str(package), os.environ.get("PYTHONPATH", "")]))
    return Client(spec.name, (sys.executable, "-m", _REFERENCE_MODULE), env={"PYTHONPATH": path})


def _build(
    folder: AdapterFolder,
    version: str,
    interpreter: Path | None,
    place: Path,
    notify: Callable[[str], None] | None,
) -> None:
    root = place.parent
    kept = root / "kept" / _file_name(folder.name)
    log = build_log(folder, version, cache_dir=root.parent)
    try:
        for needed in (kept, log.parent):
            needed.mkdir(parents=True, exist_ok=True)
        with locked(root / f"{_file_name(folder.name)}.lock"):
            if (place / _WHOLE).is_file() and is_built(folder, version, cache_dir=root.parent):
                return  # another run built it while we waited
            if notify is not None:
                notify(f"building {folder.name}@{version}")
            prefix = f".build-{_file_name(folder.name)}-"
            for abandoned in root.glob(f"{prefix}*"):  # by a run that was killed: we hold the lock
                shutil.rmtree(abandoned, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=prefix, dir=root) as scratch:
                copy = Path(scratch) / "adapter"

                def ignored(place: str, names: list[str]) -> set[str]:
                    return set(names) & _no_part(folder, Path(place))

                shutil.copytree(folder.folder, copy, ignore=ignored, symlinks=True)
                if folder.kit is not None:
                    shutil.copytree(folder.kit, copy / _KIT, ignore=ignored, symlinks=True)
                log.write_bytes(b"")
                builder = _Builder(folder.name, copy, _names(copy, version, kept), log)
                builder.make(folder, version, interpreter)
                (copy / _WHOLE).write_text(f"{folder.name}@{version}\n", encoding="utf-8")
                shutil.rmtree(place, ignore_errors=True)
                copy.replace(place)
    except OSError as error:
        raise BuildFailed(folder.name, f"the cache cannot be used: {error}", log, "") from error


@dataclass(frozen=True, slots=True)
class _Builder:
    """Runs the steps of one build in a copy of the folder; what they say goes into the log."""

    adapter: str
    copy: Path
    names: Mapping[str, str | list[str]]
    log: Path

    def make(self, folder: AdapterFolder, version: str, interpreter: Path | None) -> None:
        if folder.python is not None:
            environment = (str(interpreter), "-m", "venv", "--without-pip", ".venv")
            self._step(environment)
            if folder.python.requirements is not None:
                self._step(("$pip", "install", "--requirement", folder.python.requirements))
        if version != folder.version:
            for command in folder.prepare:
                self._step(command)
        for command in folder.build:
            self._step(command)

    def _step(self, command: Command) -> None:
        words = _filled(command, self.names, self.copy)
        shown = " ".join(command)
        with self.log.open("ab") as said:
            said.write(f"$ {shown}\n".encode())
            said.flush()
            try:
                process = subprocess.Popen(
                    words,
                    cwd=self.copy,
                    stdin=subprocess.DEVNULL,
                    stdout=said,
                    stderr=said,
                    env={**os.environ, **(_OFFLINE if is_offline() else {})},
                    start_new_session=True,
                    preexec_fn=dies_with_parent(),
                )
            except OSError as error:
                raise self._failed(f"`{shown}` cannot be run: {error}") from error
            try:
                code = process.wait(_STEP_SECONDS)
            except BaseException as error:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
                if isinstance(error, subprocess.TimeoutExpired):
                    what = f"`{shown}` did not end within {_STEP_SECONDS:.0f} s"
                    raise self._failed(what) from error
                raise
        if code != 0:
            raise self._failed(f"`{shown}` ended with {code}")

    def _failed(self, what: str) -> BuildFailed:
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return BuildFailed(
            self.adapter, what, self.log, "\n".join(text.splitlines()[-_TAIL_LINES:])
        )


def _names(place: Path, version: str, kept: Path) -> dict[str, str | list[str]]:
    python = str(place / ".venv" / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check"]
    return {"version": version, "cache": str(kept), "python": python, "pip": [*pip, "--no-input"]}


def _filled(command: Command, names: Mapping[str, str | list[str]], place: Path) -> Command:
    """A command with its variables; a program beside the adapter is named by its whole path."""
    texts = {name: value for name, value in names.items() if isinstance(value, str)}
    words: list[str] = []
    for word in command:
        whole = names.get(word.removeprefix("$")) if word.startswith("$") else None
        if isinstance(whole, list):
            words += whole
        else:
            words.append(string.Template(word).safe_substitute(texts))
    if words[0].startswith("./"):
        words[0] = str(place / words[0])
    return tuple(words)


def _root(cache_dir: Path | None) -> Path:
    return (cache_dir or cache_root()).absolute() / "clients"


def _file_name(adapter: str) -> str:
    return adapter.replace(":", "-")


def _hash(adapter: AdapterFolder) -> str:
    """Of everything that an adapter is made of."""
    digest = hashlib.sha256()
    for place in filter(None, (adapter.folder, adapter.kit)):
        for path in sorted(_files(adapter, place)):
            runs = os.access(path, os.X_OK)
            digest.update(f"{path.relative_to(place).as_posix()}\0{runs}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]


def _no_part(adapter: AdapterFolder, place: Path) -> frozenset[str]:
    """The names of what is not built; a kit that stands beside the adapter is for its author."""
    beside = adapter.kit is not None and place == adapter.folder
    return _NOT_BUILT | {_KIT} if beside else _NOT_BUILT


def _files(adapter: AdapterFolder, place: Path) -> Iterator[Path]:
    for entry in place.iterdir():
        if entry.name in _no_part(adapter, place):
            continue
        if entry.is_dir():
            yield from _files(adapter, entry)
        elif entry.is_file():
            yield entry
