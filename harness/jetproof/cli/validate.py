"""`jetproof validate`: find every mistake in case files, catalogues and ledgers; start nothing."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, mistake_rows, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    from jetproof.load.validation import validate
    from jetproof.results.documents.library import ValidateDocument

    for path in args.paths:
        if not Path(path).exists():
            raise JetproofError(f"no such file or folder: {path}", phase="load")
    found = validate(list(split_patterns(suites_dir(), args.paths).files))
    if args.json:
        write_json(
            ValidateDocument(
                schema=1,
                valid=not found.mistakes,
                cases=found.cases,
                clauses=found.clauses,
                editions=found.editions,
                mistakes=mistake_rows(found.mistakes),
            )
        )
    elif found.mistakes:
        _print(found.mistakes)
    else:
        counts = ((found.cases, "case"), (found.clauses, "clause"), (found.editions, "edition"))
        sys.stdout.write(f"valid: {', '.join(plural(*each) for each in counts)}\n")
    return 2 if found.mistakes else 0


def _print(mistakes: Sequence[Mistake]) -> None:
    from jetproof.sinks.text import visible

    for mistake in mistakes:
        sys.stdout.write(f"{visible(str(mistake))}\n")
    sys.stdout.write(f"{plural(len(mistakes), 'mistake')}\n")
