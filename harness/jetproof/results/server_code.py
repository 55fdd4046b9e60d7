"""Which of a server's own statements a run reaches: what servers with coverage recorded.

    server-code.jsonl                       one row per server: what it is, what was played on it
    server-code/HASH/covmeta.HASH           functions and blocks of one build, as Go writes them
    server-code/HASH/covcounters.HASH.*     what one process of that build reached

Counters belong to a process, not to a case. Where a server played one case, all that it reached is
that case's; where it played many, it is known only that one of them did. So a function has exactly
known cases only if no shared server reaches it; `jetproof run --per-case` gives every case servers
of its own.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from jetproof.errors import JetproofError
from jetproof.results import Run, read_rows
from jetproof.results.go_coverage import (
    META,
    Function,
    Program,
    Reached,
    read_counters,
    read_program,
)
from jetproof.results.rows import Count

JOURNAL = "server-code"
FOLDER = "server-code"


class ServerCodeRow(msgspec.Struct, frozen=True, kw_only=True):
    """One server with coverage: what it recorded of its own code, and the cases that were played
    on it."""

    run: str
    target: str
    build: str
    topology: str
    configuration: str
    node: str
    cases: Annotated[
        Annotated[list[str], Meta(min_length=1)],
        Meta(description="Played on this server, perhaps at the same time."),
    ]
    lives: Annotated[
        Count,
        Meta(description=("How often it was started; a process that is killed leaves no file.")),
    ]
    program: Annotated[
        str | None,
        Meta(
            description=("The folder in server-code that its files are in; null if it left none.")
        ),
    ]
    counters: Annotated[
        list[str],
        Meta(description=("Names of the files there, one per process that ended in order.")),
    ]


@dataclass(frozen=True, slots=True)
class FunctionCode:
    """One function: its blocks, which of them were reached, and by which cases.

    `by` are cases that had a server to themselves: a bit for each, by its number in
    `ServerCode.cases`. `shared` says that a server which played several cases reached it as well, so
    that there may be more. `only_case` is the one case that reaches it, if that is known."""

    function: Function
    reached: int = 0
    by: int = 0
    shared: bool = False
    only_case: str | None = None

    @property
    def statements(self) -> int:
        return self.function.statements

    @property
    def statements_reached(self) -> int:
        return self.function.statements_in(self.reached)


@dataclass(frozen=True, slots=True)
class FileCode:
    """The functions of one file, in the order of its lines."""

    file: str
    functions: tuple[FunctionCode, ...]

    @property
    def statements(self) -> int:
        return sum(one.statements for one in self.functions)

    @property
    def statements_reached(self) -> int:
        return sum(one.statements_reached for one in self.functions)

    @property
    def never(self) -> tuple[FunctionCode, ...]:
        return tuple(one for one in self.functions if not one.reached)

    @property
    def by_one_case(self) -> tuple[FunctionCode, ...]:
        return tuple(one for one in self.functions if one.only_case is not None)


@dataclass(frozen=True, slots=True)
class ServerCode:
    """One build of a server, over all runs that played it.

    `processes` were started, `lost` of them left nothing: they were killed, or crashed. `cases` were
    played on them, `apart` of these always on servers of their own. `unrecorded` have a verdict
    and no server that left a row: the run was lost before their server ended."""

    target: str
    build: str
    version: str
    files: tuple[FileCode, ...]
    processes: int
    lost: int
    cases: tuple[str, ...]
    apart: int
    unrecorded: frozenset[str]
    interrupted: bool
    folders: tuple[Path, ...]

    @property
    def functions(self) -> Iterator[FunctionCode]:
        for file in self.files:
            yield from file.functions

    @property
    def statements(self) -> int:
        return sum(file.statements for file in self.files)

    @property
    def statements_reached(self) -> int:
        return sum(file.statements_reached for file in self.files)

    @property
    def per_case(self) -> bool:
        """Whether it is known of every case what it reaches."""
        return bool(self.cases) and self.apart == len(self.cases)

    def cases_of(self, one: FunctionCode) -> list[str]:
        """The cases that are known to reach a function."""
        return [case for number, case in enumerate(self.cases) if one.by >> number & 1]


@dataclass(slots=True)
class _Gathered:
    """What is known of one build while rows are read."""

    target: str
    build: str
    program: Program | None = None
    reached: Reached = field(default_factory=dict)
    by: dict[int, int] = field(default_factory=dict)
    shared: set[int] = field(default_factory=set)
    processes: int = 0
    lost: int = 0
    played: dict[str, int] = field(default_factory=dict)
    """Cases, numbered as they come."""
    together: set[str] = field(default_factory=set)
    unrecorded: set[str] = field(default_factory=set)
    folders: list[Path] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    interrupted: bool = False


def functions_named(one: ServerCode, pattern: str) -> list[FunctionCode]:
    """The functions that a glob names, by their file, its last part, or their own name."""
    found = [
        each
        for each in one.functions
        if any(
            fnmatch.fnmatchcase(text, pattern)
            for text in (
                each.function.file,
                each.function.file.rpartition("/")[2],
                each.function.name,
                each.function.name.lstrip("*"),
            )
        )
    ]
    if not found:
        raise JetproofError(
            f"{one.target} has no function and no file {pattern!r}",
            phase="plan",
            hint="a glob of a file or a function, such as stream.go or '*stream.process*'",
        )
    return found


def server_code(runs: Sequence[Run]) -> list[ServerCode]:
    """What the servers of these runs recorded, one entry per build; runs of one build add up."""
    found: dict[tuple[str, str], _Gathered] = {}
    for run in runs:
        rows = list(read_rows(run.folder, ServerCodeRow, JOURNAL))
        if not rows:
            raise without_data(run)
        here: dict[tuple[str, str], _Gathered] = {}
        for row in rows:
            key = (row.target, row.build)
            one = here[key] = found.setdefault(key, _Gathered(*key))
            _add(one, run.folder, row)
        for (target, _), one in here.items():
            cells = [cell for cell in run.latest if cell.target == target and cell.ms > 0]
            one.unrecorded |= {cell.case for cell in cells} - one.played.keys()
            one.versions.extend(cell.server for cell in cells[:1])
            one.folders.append(run.folder)
            one.interrupted |= run.document.get("finished_at") is None
            one.interrupted |= bool(run.document.get("interrupted"))
    whole = [_code(one) for one in found.values() if one.program is not None]
    if not whole:
        raise _nothing_written(runs)
    return whole


def _add(one: _Gathered, folder: Path, row: ServerCodeRow) -> None:
    cases, files = row.cases, row.counters
    one.processes += row.lives
    one.lost += max(0, row.lives - len(files))
    for case in cases:
        one.played.setdefault(case, len(one.played))
    if len(cases) > 1:
        one.together.update(cases)
    if not row.program:
        return
    place = folder / FOLDER / row.program
    if one.program is None:
        one.program = read_program(place / f"{META}{row.program}")
    for name in files:
        for number, mask in read_counters(place / name, one.program).items():
            one.reached[number] = one.reached.get(number, 0) | mask
            if len(cases) == 1:
                one.by[number] = one.by.get(number, 0) | 1 << one.played[cases[0]]
            else:
                one.shared.add(number)


def _code(one: _Gathered) -> ServerCode:
    assert one.program is not None
    names = tuple(one.played)
    by_file: dict[str, list[FunctionCode]] = {}
    for number, function in enumerate(one.program.functions):
        if not function.statements:
            continue
        by, shared = one.by.get(number, 0), number in one.shared
        only = names[by.bit_length() - 1] if by.bit_count() == 1 and not shared else None
        code = FunctionCode(function, one.reached.get(number, 0), by, shared, only)
        by_file.setdefault(function.file, []).append(code)
    files = tuple(
        FileCode(name, tuple(sorted(functions, key=lambda each: each.function.line)))
        for name, functions in sorted(by_file.items())
    )
    return ServerCode(
        target=one.target,
        build=one.build,
        version=one.versions[-1] if one.versions else "",
        files=files,
        processes=one.processes,
        lost=one.lost,
        cases=names,
        apart=len(names) - len(one.together),
        unrecorded=frozenset(one.unrecorded),
        interrupted=one.interrupted,
        folders=tuple(one.folders),
    )


def without_data(run: Run) -> JetproofError:
    targets = run.document.get("targets")
    names = [str(row["target"]) for row in targets] if isinstance(targets, list) else []
    covered = [name for name in names if name.startswith("cover:")]
    played = ", ".join(names) or "nothing"
    if covered:
        return JetproofError(
            f"{run.folder} has no data of server code: it ended before a server of "
            f"{', '.join(covered)} did",
            phase="load",
            hint=f"finish it with `jetproof run --resume {run.folder}`, or play it again",
        )
    return JetproofError(
        f"{run.folder} has no data of server code: it played {played}",
        phase="load",
        hint="play a server that is built with coverage: `jetproof run --server cover:2.15.1`",
    )


def _nothing_written(runs: Sequence[Run]) -> JetproofError:
    folders = ", ".join(str(run.folder) for run in runs)
    return JetproofError(
        f"no server of {folders} left any data: all of them were killed or crashed",
        phase="load",
        hint="a server writes when it ends in order; play cases that do not kill it",
    )
