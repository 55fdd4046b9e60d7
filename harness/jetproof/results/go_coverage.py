"""Reads the files that a Go program built with `-cover` writes: `covmeta.*` and `covcounters.*`.

The first one lists packages, functions and their blocks of statements; it is the same for every
process of a build. The second one holds the counters of one process. Both are binary, and their
layout has a version number. Reading them here needs no Go, and is fast enough for a file per case.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError

META = "covmeta."
COUNTERS = "covcounters."
VERSION = 1
_META_MAGIC = b"\0cvm"
_COUNTER_MAGIC = b"\0cwm"
_META_HEAD = struct.Struct("<4sIQQ16sIIBB6x")
_PACKAGE_HEAD = struct.Struct("<IIII16s4xII")
_COUNTER_HEAD = struct.Struct("<4sI16sBB6x")
_SEGMENT_HEAD = struct.Struct("<QII")
_FOOT = struct.Struct("<4s4xI4x")
_VARIABLE_LENGTH = 2
_NUMBER = re.compile(rb"[\x80-\xff]*[\x00-\x7f]", re.DOTALL)

Reached = dict[int, int]
"""By the number of a function: its blocks that were reached, a bit for each."""


@dataclass(frozen=True, slots=True)
class Block:
    """Statements that run one after the other."""

    line: int
    column: int
    end_line: int
    end_column: int
    statements: int


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the program, with the literals inside it. `file` is relative to its module."""

    package: str
    file: str
    name: str
    blocks: tuple[Block, ...]

    @property
    def line(self) -> int:
        return min((block.line for block in self.blocks), default=0)

    @property
    def statements(self) -> int:
        return sum(block.statements for block in self.blocks)

    def statements_in(self, reached: int) -> int:
        """How many of its statements are in these blocks."""
        return sum(
            block.statements for number, block in enumerate(self.blocks) if reached >> number & 1
        )


@dataclass(frozen=True, slots=True)
class Program:
    """What one build consists of. `hash` is in the name and the head of all its files."""

    hash: str
    module: str
    functions: tuple[Function, ...]
    numbers: dict[tuple[int, int], int]
    """From the numbers of a package and of a function in it to the place in `functions`."""


def read_program(path: Path) -> Program:
    """Read a `covmeta` file."""
    data = _bytes(path)
    try:
        magic, version, _, packages, digest, *_ = _META_HEAD.unpack_from(data)
        _check(path, magic == _META_MAGIC, version)
        offsets = struct.unpack_from(f"<{packages}Q", data, _META_HEAD.size)
        lengths = struct.unpack_from(f"<{packages}Q", data, _META_HEAD.size + 8 * packages)
        functions: list[Function] = []
        numbers: dict[tuple[int, int], int] = {}
        module = ""
        for package, (offset, length) in enumerate(zip(offsets, lengths, strict=True)):
            name, found = _package(data[offset : offset + length])
            module = module or name
            for number, function in enumerate(found):
                numbers[package, number] = len(functions)
                functions.append(function)
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise _broken(path) from error
    return Program(digest.hex(), module, tuple(functions), numbers)


def read_counters(path: Path, program: Program) -> Reached:
    """Read a `covcounters` file of that program; functions that were not reached are left out."""
    data = _bytes(path)
    try:
        magic, version, digest, flavor, _ = _COUNTER_HEAD.unpack_from(data)
        _check(path, magic == _COUNTER_MAGIC and flavor == _VARIABLE_LENGTH, version)
        foot_magic, segments = _FOOT.unpack_from(data, len(data) - _FOOT.size)
        if foot_magic != _COUNTER_MAGIC or segments != 1:
            raise _broken(path)
        if digest.hex() != program.hash:
            raise JetproofError(
                f"{path} is of another build than its {META} file",
                phase="load",
                hint="the files were changed after the run",
            )
        functions, strings, arguments = _SEGMENT_HEAD.unpack_from(data, _COUNTER_HEAD.size)
        start = _COUNTER_HEAD.size + _SEGMENT_HEAD.size + strings + arguments
        numbers = _NUMBER.findall(data, start, len(data) - _FOOT.size)
        return _reached(numbers, functions, program)
    except (struct.error, IndexError, KeyError) as error:
        raise _broken(path) from error


def _reached(numbers: list[bytes], functions: int, program: Program) -> Reached:
    found: Reached = {}
    at = 0
    for _ in range(functions):
        count, package, function = (_value(number) for number in numbers[at : at + 3])
        mask = 0
        for bit, counter in enumerate(numbers[at + 3 : at + 3 + count]):
            if counter != b"\0":
                mask |= 1 << bit
        at += 3 + count
        if at > len(numbers):
            raise IndexError(at)
        if mask:
            found[program.numbers[package, function]] = mask
    return found


def _package(data: bytes) -> tuple[str, list[Function]]:
    """The module of a package, and its functions."""
    _, _, path, module, _, _, count = _PACKAGE_HEAD.unpack_from(data)
    offsets = struct.unpack_from(f"<{count}I", data, _PACKAGE_HEAD.size)
    table = _Cursor(data, _PACKAGE_HEAD.size + 4 * count)
    strings = [_text(data, table) for _ in range(table.number())]
    package, root = strings[path], strings[module]
    functions = []
    for offset in offsets:
        at = _Cursor(data, offset)
        units, name, file = at.number(), at.number(), at.number()
        blocks = tuple(
            Block(at.number(), at.number(), at.number(), at.number(), at.number())
            for _ in range(units)
        )
        shown = strings[file].removeprefix(f"{root}/") if root else strings[file]
        functions.append(Function(package, shown, strings[name], blocks))
    return root, functions


class _Cursor:
    """A place in the data, moved on by what is read there."""

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def number(self) -> int:
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7


def _text(data: bytes, table: _Cursor) -> str:
    length = table.number()
    table.at += length
    return data[table.at - length : table.at].decode("utf-8")


def _value(number: bytes) -> int:
    if len(number) == 1:
        return number[0]
    return sum((byte & 0x7F) << 7 * place for place, byte in enumerate(number))


def counter_files(folder: Path) -> Iterator[Path]:
    """The counters of every process that wrote into a folder, oldest first."""
    yield from sorted(folder.glob(f"{COUNTERS}*"))


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise JetproofError(
            f"cannot read {path}: {error.strerror or error}",
            phase="load",
            hint="copy the whole run folder, with its folder server-code",
        ) from error


def _check(path: Path, is_one: bool, version: int) -> None:
    if not is_one:
        raise _broken(path)
    if version != VERSION:
        raise JetproofError(
            f"{path} has version {version} of Go's coverage format, and this version of jetproof "
            f"reads {VERSION}",
            phase="load",
            hint="`go tool covdata` of the Go that built the server can read the folder",
        )


def _broken(path: Path) -> JetproofError:
    return JetproofError(
        f"{path} is no coverage data of Go, or only a part of it",
        phase="load",
        hint="the file was changed or cut off after the run; play the run again",
    )
