"""Which client library to test, as one string.

    python:nats-py             an adapter of this repository, with the version it is pinned to
    go:nats.go@1.54.0          the same with another version of the library
    reference                  the reference client
    ./my-adapter               any executable that speaks the protocol
    ./my-adapter-folder        a folder with an adapter.yaml, built as the others are

Nothing here builds or starts anything.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from jetproof.data import adapters_dir, data_root, fixtures_dir
from jetproof.errors import JetproofError
from jetproof.load.mistakes import LoadError, Mistake, choices
from jetproof.load.structure import FileSchema
from jetproof.load.yaml_source import read_yaml
from jetproof.model.identity import REFERENCE, client_name

FILE = "adapter.yaml"
KITS = "kits"
_NAMED = re.compile(r"(?P<name>[a-z][a-z0-9+-]*:[A-Za-z0-9][A-Za-z0-9._-]*)(@(?P<version>[^@]+))?")
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z.+_-]*")
_FORMS = (
    "a client is an adapter of Jetproof (python:nats-py, go:nats.go@1.55.0), reference, "
    "the path of an executable (./my-adapter), or of a folder with an adapter.yaml"
)


@dataclass(frozen=True, slots=True)
class Need:
    """A program that building or running takes."""

    program: str
    atleast: str | None = None
    ask: tuple[str, ...] | None = None
    hint: str = ""


@dataclass(frozen=True, slots=True)
class PythonNeed:
    """A virtual environment of an interpreter that is new enough."""

    atleast: str
    requirements: str | None = None


Command = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AdapterFolder:
    """An adapter.yaml: how an adapter is built and run."""

    folder: Path
    name: str
    about: str
    version: str
    run: Command
    needs: tuple[Need, ...] = ()
    python: PythonNeed | None = None
    prepare: tuple[Command, ...] = ()
    build: tuple[Command, ...] = ()
    kit: Path | None = None


@dataclass(frozen=True, slots=True)
class ClientSpec:
    """One requested client: a folder and perhaps a version, an executable, or the reference."""

    text: str
    folder: AdapterFolder | None = None
    version: str | None = None
    program: Path | None = None

    @property
    def name(self) -> str:
        """What it is called everywhere, without a version."""
        return self.folder.name if self.folder is not None else self.text

    def __str__(self) -> str:
        return self.text


def parse_client(text: str, *, adapters: Path | None = None) -> ClientSpec:
    """Reads one `--client` string; the error says which forms there are."""
    wanted = text.strip()
    if wanted == REFERENCE:
        return ClientSpec(wanted)
    if wanted and ("/" in wanted or wanted.startswith(".")):
        return _at_path(wanted)
    named = _NAMED.fullmatch(wanted)
    if named is None:
        raise _bad(text, "it is empty" if not wanted else "it is none of the forms below")
    known = known_adapters(adapters)
    name, version = named["name"], named["version"]
    if name not in known:
        raise _bad(text, f"there is no adapter {name}; {choices(name, known)}")
    if version is not None and not _VERSION.fullmatch(version):
        raise _bad(text, f"{version!r} is not a version")
    folder = known[name]
    plain = version.removeprefix("v") if version is not None else None
    return ClientSpec(wanted, folder, plain)


def client_named(name: str) -> ClientSpec:
    """The client that a cell names: `go:nats.go@1.55.0`, `./my-adapter@1.0`, `reference@0.1.0`.

    Adapters of this repository can be had in any version, others only as they are.
    """
    try:
        return parse_client(name)
    except JetproofError as error:
        library = client_name(name).library
        try:
            return parse_client(library)
        except JetproofError:
            raise error from None


def known_adapters(root: Path | None = None) -> dict[str, AdapterFolder]:
    """The adapters of this repository by name; LoadError with every mistake of every file."""
    mistakes: list[Mistake] = []
    found: dict[str, AdapterFolder] = {}
    place = adapters_dir() if root is None else root
    for path in sorted(place.glob(f"*/{FILE}")):
        folder = _read(path, mistakes)
        if folder is None:
            continue
        if folder.name in found:
            other = found[folder.name].folder.name
            mistakes.append(Mistake(_shown(path), 1, f"{folder.name} is in {other} already"))
        found[folder.name] = folder
    if mistakes:
        raise LoadError(mistakes)
    return found


def read_folder(folder: Path) -> AdapterFolder:
    """The adapter in a folder; LoadError with all that is wrong with its file."""
    mistakes: list[Mistake] = []
    found = _read(folder / FILE, mistakes)
    if found is None or mistakes:
        raise LoadError(mistakes)
    return found


def _at_path(text: str) -> ClientSpec:
    path = Path(text).expanduser().resolve()
    if path.is_dir():
        if not (path / FILE).is_file():
            raise _bad(text, f"the folder has no {FILE}")
        return ClientSpec(text, read_folder(path))
    if not path.is_file():
        raise _bad(text, "there is no such file")
    return ClientSpec(text, program=path)


def _read(path: Path, mistakes: list[Mistake]) -> AdapterFolder | None:
    document = read_yaml(path, _shown(path), mistakes)
    if document is None:
        return None
    schema = FileSchema(fixtures_dir() / "schemas" / "adapter" / "adapter-file.json")
    if schema.check(document, mistakes):
        return None
    raw = cast("Mapping[str, Any]", document.data)
    python, kit = raw.get("python"), raw.get("kit")
    folder = AdapterFolder(
        folder=path.parent.resolve(),
        name=raw["adapter"],
        about=raw["about"],
        version=raw["version"],
        run=tuple(raw["run"]),
        needs=tuple(_need(need) for need in raw.get("needs", ())),
        python=None if python is None else PythonNeed(**python),
        prepare=_commands(raw, "prepare"),
        build=_commands(raw, "build"),
        kit=None if kit is None else adapters_dir() / KITS / kit,
    )
    if folder.kit is not None and not folder.kit.is_dir():
        there = [place.name for place in sorted(folder.kit.parent.glob("*"))]
        line = document.line_of(("kit",))
        mistakes.append(
            Mistake(
                _shown(path),
                line,
                f"there is no kit {folder.kit.name}; {choices(folder.kit.name, there)}",
            )
        )
        return None
    requirements = folder.python.requirements if folder.python else None
    if requirements is not None and not (path.parent / requirements).is_file():
        line = document.line_of(("python", "requirements"))
        mistakes.append(Mistake(_shown(path), line, f"there is no file {requirements} beside it"))
        return None
    return folder


def _need(raw: Mapping[str, Any]) -> Need:
    ask = raw.get("ask")
    return Need(
        raw["program"], raw.get("atleast"), None if ask is None else tuple(ask), raw.get("hint", "")
    )


def _commands(raw: Mapping[str, Any], key: str) -> tuple[Command, ...]:
    return tuple(tuple(command) for command in raw.get(key, ()))


def _shown(path: Path) -> str:
    root = data_root()
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def _bad(text: str, why: str) -> JetproofError:
    return JetproofError(f"cannot read the client {text!r}: {why}", phase="plan", hint=_FORMS)
