"""What runs reach of a server's own code, as lines for a terminal."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from rich.text import Text

from jetproof.model.wording import plural
from jetproof.results.server_code import FileCode, FunctionCode, ServerCode
from jetproof.results.server_diff import Changes, Range
from jetproof.sinks.console.lines import Layout, bold, dim, line
from jetproof.sinks.console.tables import table_lines
from jetproof.sinks.text import visible

_NAME = 28
_COMMIT = 40
_HEAD = ("file", "statements", "reached", "functions", "no case", "one case")
_FILES_SHOWN = 13
_SMALL = 100
"""A file with fewer statements is shown with -v: its share says little."""


def overview_lines(one: ServerCode, layout: Layout, *, verbose: bool) -> Iterator[Text]:
    """Files, those that the cases reach most of first."""
    files = sorted(one.files, key=lambda file: (-share(file), file.file))
    shown = files if verbose else [f for f in files if f.statements >= _SMALL][:_FILES_SHOWN]
    rows = [
        [
            _cut(file.file, _NAME),
            str(file.statements),
            f"{share(file):.1f} %",
            str(len(file.functions)),
            str(len(file.never)),
            str(len(file.by_one_case)) if one.per_case else "-",
        ]
        for file in shown
    ]
    yield from head_lines(one)
    yield line()
    yield from table_lines(_HEAD, rows, layout)
    if hidden := len(files) - len(shown):
        yield line(dim(f"{plural(hidden, 'more file')} with -v"))
    yield line()
    yield from _foot_lines(one)


def head_lines(one: ServerCode) -> Iterator[Text]:
    """Whose code, how much of it, and what the numbers rest on."""
    commit = one.build[:12] + one.build[_COMMIT:] if len(one.build) >= _COMMIT else one.build
    yield line(bold(f"{_cut(one.target, 44)} {commit}".rstrip()))
    yield line(
        f"{one.statements_reached} of {one.statements} statements reached "
        f"({_percent(one.statements_reached, one.statements):.1f} %): "
        f"{plural(len(one.cases), 'case')}, {_processes(one.processes)}"
    )
    if one.lost:
        left = f"{_processes(one.lost)} left no data: killed by a case, or crashed"
        yield line((left, "yellow"))
    if one.unrecorded:
        text = f"{plural(len(one.unrecorded), 'case')} left no data: their server did not end"
        yield line((text, "yellow"))
    if one.interrupted:
        yield line(("the run was interrupted: not all cases were played", "yellow"))


def _foot_lines(one: ServerCode) -> Iterator[Text]:
    functions = list(one.functions)
    never = sum(not each.reached for each in functions)
    text = f"{never} of {len(functions)} functions are reached by no case"
    if one.per_case:
        only = sum(each.only_case is not None for each in functions)
        yield line(f"{text}, {only} by one case only")
    else:
        yield line(text)
        yield line(dim("play with --per-case to see which cases reach a function"))
    yield line(dim("--functions stream.go lists the functions of a file"))


def function_lines(
    one: ServerCode, functions: Sequence[FunctionCode], *, verbose: bool
) -> Iterator[Text]:
    """Functions that no case or one case reaches; with `verbose` all of them.

    One alone is shown with the cases that are known to reach it."""
    verbose = verbose or len(functions) == 1
    shown = [each for each in functions if verbose or not each.reached or each.only_case]
    yield from head_lines(one)
    for file, those in itertools.groupby(shown, key=lambda each: each.function.file):
        yield line()
        yield line(bold(file))
        for each in those:
            yield from _function(each)
    if len(functions) == 1 and functions[0].only_case is None:
        yield from (line(f"          {case}") for case in one.cases_of(functions[0]))
    if hidden := len(functions) - len(shown):
        yield line()
        yield line(dim(f"{plural(hidden, 'other function')} with -v"))


def _function(each: FunctionCode) -> Iterator[Text]:
    name = _cut(each.function.name, 44)
    text = f"{each.function.line:6}  {name:44}  {each.statements_reached:4} of {each.statements:4}"
    count = each.by.bit_count()
    cases = f"{plural(count, 'case')}{', or more' if each.shared else ''}"
    if not each.reached:
        yield line((f"{text}  no case", "yellow"))
    elif each.only_case is not None:
        yield line(f"{text}  one case")
        yield line(f"          {each.only_case}")
    else:
        yield line(f"{text}  {cases if count else 'shared'}")


def diff_lines(changes: Changes, *, verbose: bool) -> Iterator[Text]:
    """Changed lines that no case reaches, then with `verbose` those that some case does."""
    yield from head_lines(changes.code)
    count = changes.reached + changes.not_reached
    base = f"{changes.base} ({changes.commit[:12]})" if changes.base != "HEAD" else "HEAD"
    yield line()
    if not count:
        yield line(f"no statement differs from {base}")
    else:
        lines = plural(count, "line")
        yield line(f"{changes.reached} of {lines} that differ from {base} are reached")
    for reached, title in ((False, "not reached"), (True, "reached")):
        them = [one for one in changes.ranges if one.reached is reached]
        if not them or (reached and not verbose):
            continue
        yield line()
        yield line((title, "green" if reached else "yellow"))
        rows = [[_place(one), one.function.function.name] for one in them]
        yield from table_lines(None, rows, Layout(), indent=2)
    for file in changes.outside:
        yield line(dim(f"{file} has no statement in this server"))
    if changes.reached and not verbose:
        yield line()
        yield line(dim("the lines that are reached: -v"))


def _place(one: Range) -> str:
    end = "" if one.end_line == one.line else f"-{one.end_line}"
    return f"{one.file}:{one.line}{end}"


def share(file: FileCode) -> float:
    return _percent(file.statements_reached, file.statements)


def _percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _processes(count: int) -> str:
    return f"{count} server process{'' if count == 1 else 'es'}"


def _cut(text: str, size: int) -> str:
    """The end of a long name says more than its beginning."""
    text = visible(text)
    return text if len(text) <= size else f"…{text[1 - size :]}"
