"""Which of the lines that a checkout changed are reached: its diff, laid over what a run recorded.

A line counts as reached if a block of statements on it was. Lines without a statement (comments,
blank lines, declarations) do not count. Test files of the server are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from jetproof.errors import JetproofError
from jetproof.results.server_code import FunctionCode, ServerCode
from jetproof.targets.checkout import git, look_at
from jetproof.targets.spec import parse

_BRANCHES = ("origin/HEAD", "origin/main", "origin/master", "main", "master")
"""Where a branch is taken to come from, if nobody says it."""
_FILE = re.compile(rb"^\+\+\+ (?:b/(.*?)|/dev/null)\t?$")
_HUNK = re.compile(rb"^@@ -\S+ \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Range:
    """Changed lines of one function, one after the other, that are all reached or all not."""

    file: str
    line: int
    end_line: int
    function: FunctionCode
    reached: bool

    @property
    def lines(self) -> int:
        return self.end_line - self.line + 1


@dataclass(frozen=True, slots=True)
class Changes:
    """What a checkout changed. `outside` are changed Go files without a statement in this server."""

    code: ServerCode
    base: str
    commit: str
    ranges: tuple[Range, ...]
    outside: tuple[str, ...]

    @property
    def reached(self) -> int:
        return sum(one.lines for one in self.ranges if one.reached)

    @property
    def not_reached(self) -> int:
        return sum(one.lines for one in self.ranges if not one.reached)


def changed_code_of(found: Sequence[ServerCode], folder: Path | None, base: str) -> Changes:
    """The changed lines of the one checkout among what runs played."""
    checkouts = [one for one in found if parse(one.target).path is not None]
    if not checkouts:
        raise JetproofError(
            f"--diff is for a checkout, and the runs played {_targets(found)}",
            phase="plan",
            hint="play one: `jetproof run --server cover:../nats-server`",
        )
    if len(checkouts) > 1:
        raise JetproofError(
            f"--diff is for one build, and the runs played {_targets(checkouts)}",
            phase="plan",
            hint="name the runs of one of them",
        )
    return changed_code(checkouts[0], folder, base)


def changed_code(code: ServerCode, folder: Path | None, base: str) -> Changes:
    """The changed lines of the checkout that was played, which must not have changed since."""
    named = parse(code.target).path
    assert named is not None
    place = (folder or Path(named)).expanduser().resolve()
    if not place.is_dir():
        raise JetproofError(
            f"there is no checkout at {place}",
            phase="load",
            hint="name the folder with --checkout, or ask where the run was played",
        )
    now = look_at(place)
    if now.identity != code.build:
        raise JetproofError(
            f"{place} is not what was played: it is {now.shown} now, and was {code.build}",
            phase="load",
            hint="play it again: the lines of a diff must be those that were built",
        )
    name, commit = _base(place, base)
    found: list[Range] = []
    outside: list[str] = []
    by_file = {file.file: file.functions for file in code.files}
    for file, lines in sorted(_changed(place, commit).items()):
        if file.endswith("_test.go"):
            continue
        if file not in by_file:
            outside.append(file)
            continue
        text = (place / file).read_text(encoding="utf-8", errors="replace").splitlines()
        code_lines = [line for line in lines if line <= len(text) and _is_code(text[line - 1])]
        found.extend(_ranges(file, code_lines, by_file[file]))
    return Changes(code, name, commit, tuple(found), tuple(outside))


def _targets(found: Sequence[ServerCode]) -> str:
    return ", ".join(f"{one.target} ({one.build})" for one in found)


def _base(place: Path, asked: str) -> tuple[str, str]:
    """What to compare with: a name for people, and its commit."""
    if asked:
        commit = _commit(place, asked)
        if commit is None:
            raise JetproofError(
                f"{place} has no commit {asked!r}",
                phase="plan",
                hint="--diff takes a branch, a tag or a commit of the checkout",
            )
        return asked, commit
    head = _commit(place, "HEAD") or ""
    for branch in _BRANCHES:
        if _commit(place, branch) is not None:
            try:
                fork = git(place, "merge-base", "HEAD", branch).decode("ascii").strip()
            except JetproofError:  # two histories that have nothing in common
                continue
            return ("HEAD" if fork == head else f"where it left {branch}"), fork
    return "HEAD", head


def _commit(place: Path, name: str) -> str | None:
    try:
        said = git(place, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    except JetproofError:
        return None
    return said.decode("ascii", "replace").strip() or None


def _changed(place: Path, commit: str) -> dict[str, list[int]]:
    """By Go file: the lines that the commit does not have. Files that Git does not know are new."""
    options = ("--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--src-prefix=a/")
    text = git(
        place, "-c", "core.quotePath=off", "diff", *options, "--dst-prefix=b/", commit, "--", "*.go"
    )
    found: dict[str, list[int]] = {}
    file = None
    for line in text.split(b"\n"):
        if name := _FILE.match(line):
            file = name[1].decode("utf-8", "replace") if name[1] is not None else None
        elif file is not None and (hunk := _HUNK.match(line)):
            start, count = int(hunk[1]), int(hunk[2] or 1)
            found.setdefault(file, []).extend(range(start, start + count))
    new = git(place, "ls-files", "-z", "--others", "--exclude-standard", "--", "*.go")
    for raw in filter(None, new.split(b"\0")):
        name_ = raw.decode("utf-8", "replace")
        size = len((place / name_).read_bytes().splitlines())
        found[name_] = list(range(1, size + 1))
    return found


def _ranges(file: str, lines: Sequence[int], functions: Sequence[FunctionCode]) -> Iterator[Range]:
    """Changed lines with statements, joined where they follow each other in one function."""
    last: Range | None = None
    for line in lines:
        found = _at(line, functions)
        if found is None:
            continue
        function, reached = found
        if (
            last is not None
            and last.end_line + 1 == line
            and last.function is function
            and last.reached == reached
        ):
            last = Range(file, last.line, line, function, reached)
            continue
        if last is not None:
            yield last
        last = Range(file, line, line, function, reached)
    if last is not None:
        yield last


def _at(line: int, functions: Sequence[FunctionCode]) -> tuple[FunctionCode, bool] | None:
    """The function of a line, and whether a block on it was reached; None without a statement.

    Where a block ends and another one begins on the line, one of them being reached is enough:
    `if x {` was decided, at least."""
    for each in functions:
        on = [
            number
            for number, block in enumerate(each.function.blocks)
            if block.statements and block.line <= line <= block.end_line
        ]
        if on:
            return each, any(each.reached >> number & 1 for number in on)
    return None


def _is_code(text: str) -> bool:
    """Neither blank, nor a comment alone, nor brackets alone."""
    bare = text.strip()
    return bool(bare.strip("(){}[],;")) and not bare.startswith("//")
