"""`jetproof validate`: find every mistake in case files, catalogues and ledgers; start nothing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, mistake_rows, plural, write_json
from jetproof.errors import JetproofError

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.load.mistakes import Mistake


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "validate", "Check case files without starting anything.")
    parser.add_argument(
        "paths",
        nargs="*",
        metavar="PATH",
        help="case files elsewhere, or folders of them, besides all suites",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.selecting import split_patterns
    from jetproof.data import suites_dir
    from jetproof.load.library import Library, load_cases, load_library
    from jetproof.load.mistakes import LoadError

    for path in args.paths:
        if not Path(path).exists():
            raise JetproofError(f"no such file or folder: {path}", phase="load")
    files = list(split_patterns(suites_dir(), args.paths).files)
    mistakes: list[Mistake] = []
    library: Library | None = None
    count = 0
    try:
        library = load_library()
        count = len(library.cases) + len(library.client_cases)
    except LoadError as error:
        mistakes.extend(error.mistakes)
    if library is not None and files:
        try:
            count += len(load_cases(files, library))
        except LoadError as error:
            mistakes.extend(error.mistakes)
    clauses = sum(len(spec.clauses) for spec in library.specs.values()) if library else 0
    if args.json:
        write_json(
            {
                "schema": 1,
                "valid": not mistakes,
                "cases": count,
                "clauses": clauses,
                "editions": len(library.editions) if library else 0,
                "mistakes": mistake_rows(mistakes),
            }
        )
    elif mistakes:
        _print(mistakes)
    else:
        editions = plural(len(library.editions) if library else 0, "edition")
        told = f"{plural(count, 'case')}, {plural(clauses, 'clause')}, {editions}"
        sys.stdout.write(f"valid: {told}\n")
    return 2 if mistakes else 0


def _print(mistakes: list[Mistake]) -> None:
    from jetproof.sinks.text import visible

    for mistake in mistakes:
        sys.stdout.write(f"{visible(str(mistake))}\n")
    sys.stdout.write(f"{plural(len(mistakes), 'mistake')}\n")
