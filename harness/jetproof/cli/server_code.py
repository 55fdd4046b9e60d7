"""`jetproof coverage --server-code`: which of a server's own statements runs reach."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import write_json
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    from jetproof.results.server_code import FunctionCode, ServerCode
    from jetproof.results.server_diff import Changes

OPTIONS = ("functions", "diff", "checkout")


def add_options(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("the server's own code")
    group.add_argument(
        "--server-code",
        nargs="+",
        type=Path,
        metavar="RUN",
        help="which statements of the server runs on a target cover: reach (several add up)",
    )
    group.add_argument(
        "--functions",
        nargs="?",
        const="*",
        metavar="GLOB",
        help="list functions that no case or one case reaches (-v: all), by file or name",
    )
    group.add_argument(
        "--diff",
        nargs="?",
        const="",
        metavar="BASE",
        help="of a checkout: which lines that differ from BASE are reached (default: from the "
        "branch it came from)",
    )
    group.add_argument(
        "--checkout", type=Path, metavar="DIR", help="where the checkout is now, for --diff"
    )


def run(args: argparse.Namespace) -> int:
    """Read the runs and show what was asked for."""
    from jetproof.cli.server_code_tables import diff_lines, function_lines, overview_lines
    from jetproof.results import read_run
    from jetproof.results.server_code import functions_named, server_code
    from jetproof.sinks.console.screen import Screen

    _check_options(args)
    found = server_code([read_run(folder) for folder in args.server_code])
    if args.diff is not None:
        from jetproof.results.server_diff import changed_code_of

        changes = changed_code_of(found, args.checkout, args.diff)
        if args.json:
            write_json(_diff_document(args.server_code, changes))
        else:
            Screen(sys.stdout).print(diff_lines(changes, verbose=args.verbose))
        return 0
    if args.json:
        write_json(_document(args.server_code, found, args.functions))
        return 0
    screen = Screen(sys.stdout)
    for number, one in enumerate(found):
        if number:
            screen.print([""])
        if args.functions is None:
            screen.print(overview_lines(one, screen.layout, verbose=args.verbose))
        else:
            functions = functions_named(one, args.functions)
            screen.print(function_lines(one, functions, verbose=args.verbose))
    return 0


def _check_options(args: argparse.Namespace) -> None:
    others = ("runs", "errors", "markdown", "strict")
    given = [name for name in others if getattr(args, name)]
    if given:
        name = "run" if given[0] == "runs" else given[0]
        raise JetproofError(
            f"--{name} is about clauses and messages, --server-code about the server's own code",
            phase="plan",
            hint="ask for one of them; the runs to read stand behind --server-code",
        )
    if args.functions is not None and args.diff is not None:
        raise JetproofError(
            "--functions and --diff are two questions", phase="plan", hint="ask for one of them"
        )
    if args.checkout is not None and args.diff is None:
        raise JetproofError("--checkout is for --diff", phase="plan", hint="add --diff")


def alone(args: argparse.Namespace) -> None:
    """Without --server-code, its options mean nothing."""
    for name in OPTIONS:
        if getattr(args, name) is not None:
            raise JetproofError(
                f"--{name} is about the server's own code",
                phase="plan",
                hint=f"name a run: jetproof coverage --server-code RUN --{name}",
            )


def _document(
    folders: Sequence[Path], found: Sequence[ServerCode], pattern: str | None
) -> dict[str, object]:
    return {
        "schema": 1,
        "runs": [str(folder) for folder in folders],
        "servers": [_server(one, pattern) for one in found],
        "exit_code": 0,
    }


def _server(one: ServerCode, pattern: str | None) -> dict[str, object]:
    from jetproof.results.server_code import functions_named

    chosen = None if pattern is None else {id(each) for each in functions_named(one, pattern)}
    return {
        "target": one.target,
        "build": one.build,
        "version": one.version,
        "statements": one.statements,
        "reached": one.statements_reached,
        "processes": one.processes,
        "processes_without_data": one.lost,
        "cases": len(one.cases),
        "cases_alone": one.apart,
        "cases_without_data": sorted(one.unrecorded),
        "interrupted": one.interrupted,
        "files": [
            {
                "file": file.file,
                "statements": file.statements,
                "reached": file.statements_reached,
                "functions": [
                    _function(one, each, listed=chosen is not None)
                    for each in file.functions
                    if chosen is None or id(each) in chosen
                ],
            }
            for file in one.files
            if chosen is None or any(id(each) in chosen for each in file.functions)
        ],
    }


def _function(one: ServerCode, each: FunctionCode, *, listed: bool) -> dict[str, object]:
    known: dict[str, object] = {
        "name": each.function.name,
        "line": each.function.line,
        "statements": each.statements,
        "reached": each.statements_reached,
        "cases": each.by.bit_count(),
        "shared": each.shared,
        "only_case": each.only_case,
    }
    return known | {"reached_by": one.cases_of(each)} if listed else known


def _diff_document(folders: Sequence[Path], changes: Changes) -> dict[str, object]:
    document = _document(folders, [changes.code], None)
    server = _server(changes.code, None)
    del server["files"]
    return {
        **document,
        "servers": [server],
        "diff": {
            "base": changes.base,
            "commit": changes.commit,
            "lines_reached": changes.reached,
            "lines_not_reached": changes.not_reached,
            "ranges": [
                {
                    "file": one.file,
                    "line": one.line,
                    "end_line": one.end_line,
                    "function": one.function.function.name,
                    "reached": one.reached,
                    "function_reached_by": changes.code.cases_of(one.function),
                }
                for one in changes.ranges
            ],
            "files_outside": list(changes.outside),
        },
    }
