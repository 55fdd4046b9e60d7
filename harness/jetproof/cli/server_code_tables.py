"""What runs reach of a server's own code, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from jetproof.cli.common import plural
from jetproof.results.server_code import FileCode, FunctionCode, ServerCode
from jetproof.results.server_diff import Changes, Range
from jetproof.sinks.paint import Paint
from jetproof.sinks.text import visible

_NAME = 28
_COMMIT = 40
_FILES_SHOWN = 13
_SMALL = 100
"""A file with fewer statements is shown with -v: its share says little."""


def overview_lines(one: ServerCode, paint: Paint, *, verbose: bool) -> list[str]:
    """Files, those that the cases reach most of first."""
    files = sorted(one.files, key=lambda file: (-share(file), file.file))
    shown = files if verbose else [f for f in files if f.statements >= _SMALL][:_FILES_SHOWN]
    lines = [*head_lines(one, paint), ""]
    names = [_cut(visible(file.file), _NAME) for file in shown]
    width = max(map(len, [*names, "file"]))
    title = f"{'file':{width}}  statements  reached  functions  no case  one case"
    lines.append(paint.bold(title))
    for name, file in zip(names, shown, strict=True):
        only = str(len(file.by_one_case)) if one.per_case else "-"
        lines.append(
            f"{name:{width}}  {file.statements:10}  {share(file):5.1f} %"
            f"  {len(file.functions):9}  {len(file.never):7}  {only:>8}"
        )
    if hidden := len(files) - len(shown):
        lines.append(paint.dim(f"{plural(hidden, 'more file')} with -v"))
    return [*lines, "", *_foot_lines(one, paint)]


def head_lines(one: ServerCode, paint: Paint) -> list[str]:
    """Whose code, how much of it, and what the numbers rest on."""
    commit = one.build[:12] + one.build[_COMMIT:] if len(one.build) >= _COMMIT else one.build
    lines = [
        paint.bold(f"{_cut(visible(one.target), 44)} {commit}".rstrip()),
        f"{one.statements_reached} of {one.statements} statements reached "
        f"({_percent(one.statements_reached, one.statements):.1f} %): "
        f"{plural(len(one.cases), 'case')}, {_processes(one.processes)}",
    ]
    if one.lost:
        left = f"{_processes(one.lost)} left no data: killed by a case, or crashed"
        lines.append(paint.style(left, "yellow"))
    if one.unrecorded:
        text = f"{plural(len(one.unrecorded), 'case')} left no data: their server did not end"
        lines.append(paint.style(text, "yellow"))
    if one.interrupted:
        lines.append(paint.style("the run was interrupted: not all cases were played", "yellow"))
    return lines


def _foot_lines(one: ServerCode, paint: Paint) -> list[str]:
    functions = list(one.functions)
    never = sum(not each.reached for each in functions)
    lines = [f"{never} of {len(functions)} functions are reached by no case"]
    only = sum(each.only_case is not None for each in functions)
    if one.per_case:
        lines[0] += f", {only} by one case only"
    else:
        lines.append(paint.dim("play with --per-case to see which cases reach a function"))
    lines.append(paint.dim("--functions stream.go lists the functions of a file"))
    return lines


def function_lines(
    one: ServerCode, functions: Sequence[FunctionCode], paint: Paint, *, verbose: bool
) -> list[str]:
    """Functions that no case or one case reaches; with `verbose` all of them.

    One alone is shown with the cases that are known to reach it."""
    verbose = verbose or len(functions) == 1
    shown = [each for each in functions if verbose or not each.reached or each.only_case]
    lines = head_lines(one, paint)
    file = ""
    for each in shown:
        if each.function.file != file:
            file = each.function.file
            lines += ["", paint.bold(visible(file))]
        lines += _function(one, each, paint)
    if len(functions) == 1 and functions[0].only_case is None:
        lines += [f"          {visible(case)}" for case in one.cases_of(functions[0])]
    if hidden := len(functions) - len(shown):
        lines += ["", paint.dim(f"{plural(hidden, 'other function')} with -v")]
    return lines


def _function(one: ServerCode, each: FunctionCode, paint: Paint) -> list[str]:
    name = _cut(visible(each.function.name), 44)
    text = f"{each.function.line:6}  {name:44}  {each.statements_reached:4} of {each.statements:4}"
    if not each.reached:
        return [paint.style(f"{text}  no case", "yellow")]
    if each.only_case is not None:
        return [f"{text}  one case", f"          {visible(each.only_case)}"]
    count = each.by.bit_count()
    cases = f"{plural(count, 'case')}{', or more' if each.shared else ''}"
    return [f"{text}  {cases if count else 'shared'}"]


def diff_lines(changes: Changes, paint: Paint, *, verbose: bool) -> list[str]:
    """Changed lines that no case reaches, then with `verbose` those that some case does."""
    lines = head_lines(changes.code, paint)
    count = changes.reached + changes.not_reached
    base = f"{changes.base} ({changes.commit[:12]})" if changes.base != "HEAD" else "HEAD"
    if not count:
        lines += ["", f"no statement differs from {visible(base)}"]
    else:
        lines += [
            "",
            f"{changes.reached} of {plural(count, 'line')} that differ from {visible(base)} "
            "are reached",
        ]
    for reached, title in ((False, "not reached"), (True, "reached")):
        them = [one for one in changes.ranges if one.reached is reached]
        if not them or (reached and not verbose):
            continue
        lines += ["", paint.style(title, "green" if reached else "yellow")]
        width = max(len(_place(one)) for one in them)
        lines += [
            f"  {visible(_place(one)):{width}}  {visible(one.function.function.name)}"
            for one in them
        ]
    for file in changes.outside:
        lines.append(paint.dim(f"{visible(file)} has no statement in this server"))
    if changes.reached and not verbose:
        lines += ["", paint.dim("the lines that are reached: -v")]
    return lines


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
    """The end of a long name tells more than its beginning."""
    return text if len(text) <= size else f"…{text[1 - size :]}"
