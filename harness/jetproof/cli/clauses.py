"""`jetproof clauses`: every sentence of the specifications, and which cases test it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, plural, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.model.clause import Clause


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "clauses", "List clauses and the cases that test them.")
    parser.add_argument(
        "patterns",
        nargs="*",
        metavar="PATTERN",
        help="a clause id, a glob such as 'A50-*', or a specification such as adr-50",
    )
    parser.add_argument("--untested", action="store_true", help="only clauses that no case tests")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.load.library import load_library
    from jetproof.load.lookup import cases_by_clause, find_clauses

    library = load_library()
    cases = cases_by_clause(library)
    clauses = find_clauses(library, args.patterns)
    if args.untested:
        clauses = [clause for clause in clauses if not cases.get(clause.id)]
    if args.json:
        write_json({"schema": 1, "clauses": [_row(clause, cases) for clause in clauses]})
    else:
        _print(clauses, cases)
    return 0


def _row(clause: Clause, cases: Mapping[str, Sequence[str]]) -> dict[str, object]:
    from jetproof.results.rows import clause_row, plain

    row = plain(clause_row("", clause))
    del row["run"]
    return {**row, "cases": list(cases.get(clause.id, ()))}


def _print(clauses: Sequence[Clause], cases: Mapping[str, Sequence[str]]) -> None:
    import textwrap

    from jetproof.model.clause import Actor
    from jetproof.sinks.paint import paint_for
    from jetproof.sinks.text import visible

    paint = paint_for(sys.stdout)
    section = ""
    for clause in clauses:
        title = f"{clause.spec}, {clause.section}"
        if title != section:
            sys.stdout.write(("\n" if section else "") + f"{paint.bold(visible(title))}\n")
            section = title
        kind = clause.level.value if clause.decides else clause.status.value
        if clause.actor is not Actor.SERVER:
            kind += f", {clause.actor.value}"
        sys.stdout.write(f"  {paint.style(visible(clause.id), 'blue')} {paint.dim(kind)}\n")
        for line in textwrap.wrap(visible(clause.text), paint.width - 6):
            sys.stdout.write(f"      {line}\n")
        for case in cases.get(clause.id, ()):
            sys.stdout.write(f"      {paint.style('tested by', 'green')} {visible(case)}\n")
        if not cases.get(clause.id):
            sys.stdout.write(f"      {paint.style('untested', 'yellow')}\n")
            for line in textwrap.wrap(visible(clause.note or ""), paint.width - 6):
                sys.stdout.write(f"      {paint.dim(line)}\n")
    if not clauses:
        sys.stdout.write("no clause of these is untested\n")
        return
    untested = sum(not cases.get(clause.id) for clause in clauses)
    told = f"{plural(len(clauses), 'clause')}, {len(clauses) - untested} tested, {untested} not"
    sys.stdout.write(f"\n{told}\n")
