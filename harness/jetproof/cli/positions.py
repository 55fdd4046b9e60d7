"""`jetproof positions`: what servers or libraries do where a text is silent, side by side."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.results.documents.analysis import PositionsDocument
    from jetproof.results.positions import Point


LONGEST = 120  # characters of an answer that are printed


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "positions", "Show what servers or libraries do where a text is silent."
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run")
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="the beginning of a suite's or case's name, or a glob; all unless given",
    )
    parser.add_argument(
        "--all", action="store_true", help="also what all that were asked do in the same way"
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.results import read_run
    from jetproof.results.positions import points

    every = points(read_run(args.folder).latest)
    asked = [point for point in every if _wanted(point, args.patterns)]
    if args.patterns and not asked:
        raise JetproofError(
            f"no position of {args.folder} matches {' '.join(args.patterns)}",
            phase="plan",
            hint="`jetproof positions RUN --all` shows all that there are",
        )
    shown = asked if args.all else [point for point in asked if point.differs]
    if args.json:
        write_json(_document(shown))
        return 0
    _markdown(shown) if args.markdown else _print(shown)
    equal = len(asked) - len(shown)
    left_out = f"; {equal} of them, on which all agree, are not shown" if equal else ""
    odd = sum(point.odd is not None for point in asked)
    alone = f"; on {odd} of them one alone differs" if odd else ""
    sys.stdout.write(f"\n{plural(len(asked), 'position')}{left_out}{alone}\n")
    return 0


def _wanted(point: Point, patterns: Sequence[str]) -> bool:
    from fnmatch import fnmatchcase

    return not patterns or any(
        point.case.startswith(pattern) or fnmatchcase(point.case, pattern) for pattern in patterns
    )


def _document(shown: Sequence[Point]) -> PositionsDocument:
    from jetproof.results.documents.analysis import PositionsDocument, PositionsPoint

    return PositionsDocument(
        schema=1,
        points=[
            PositionsPoint(
                suite=point.suite,
                case=point.case,
                topology=point.topology,
                position=point.name,
                clauses=list(point.clauses),
                differs=point.differs,
                odd=point.odd,
                told=dict(point.told),
            )
            for point in shown
        ],
    )


def _print(shown: Sequence[Point]) -> None:
    from jetproof.sinks.console.lines import Part, bold, dim, line
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.console.tables import table_lines
    from jetproof.sinks.text import visible

    screen = Screen(sys.stdout)
    suite = ""
    for point in shown:
        lines = []
        if point.suite != suite:
            lines += [*([line()] if suite else []), line(bold(point.suite))]
            suite = point.suite
        by_value: dict[str, list[str]] = {}
        for who, value in point.told.items():
            mark = " (alone)" if who == point.odd else ""
            by_value.setdefault(value, []).append(who + mark)
        lines.append(line(f"  {point.title} ", dim(", ".join(point.clauses))))
        rows: list[list[Part]] = [
            [visible(value, LONGEST), dim(", ".join(those))] for value, those in by_value.items()
        ]
        screen.print([*lines, *table_lines(None, rows, screen.layout, indent=6)])


def _markdown(shown: Sequence[Point]) -> None:
    from jetproof.results.positions import everybody

    suites: dict[str, list[Point]] = {}
    for point in shown:
        suites.setdefault(point.suite, []).append(point)
    for suite, of_suite in suites.items():
        columns = everybody(of_suite)
        head = [f"{_cell(suite)}: what is asked", *map(_cell, columns)]
        lines = [head, ["---"] * len(head)]
        lines += [
            [_cell(point.title), *(_answer(point, who) for who in columns)] for point in of_suite
        ]
        sys.stdout.write("\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n\n")


def _answer(point: Point, who: str) -> str:
    answer = _cell(point.told.get(who, ""))
    return f"**{answer}** (alone)" if who == point.odd else answer


def _cell(text: str) -> str:
    """Text in a table: data, of which nothing may act as markup."""
    from jetproof.sinks.text import visible

    return visible(text, LONGEST).translate(_ESCAPED) or "-"


_ESCAPED = {ord(mark): f"\\{mark}" for mark in "\\|`*_[]"} | {ord("<"): "&lt;", ord("&"): "&amp;"}
