"""`jetproof clauses`: every sentence of the specifications, and which cases test it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json
from jetproof.model.wording import plural

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
    from jetproof.model.clause import Actor
    from jetproof.sinks.console.lines import bold, dim, line
    from jetproof.sinks.console.screen import Screen

    screen = Screen(sys.stdout)
    layout, lines = screen.layout, []
    section = ""
    for clause in clauses:
        title = f"{clause.spec}, {clause.section}"
        if title != section:
            lines += [*([line()] if section else []), line(bold(title))]
            section = title
        kind = clause.level.value if clause.decides else clause.status.value
        if clause.actor is not Actor.SERVER:
            kind += f", {clause.actor.value}"
        lines.append(line("  ", (clause.id, "blue"), " ", dim(kind)))
        lines += layout.wrapped(clause.text, "      ")
        for case in cases.get(clause.id, ()):
            lines.append(line("      ", ("tested by", "green"), f" {case}"))
        if not cases.get(clause.id):
            lines.append(line("      ", ("untested", "yellow")))
            lines += layout.wrapped(clause.note or "", "      ", "dim")
    untested = sum(not cases.get(clause.id) for clause in clauses)
    count = f"{plural(len(clauses), 'clause')}, {len(clauses) - untested} tested, {untested} not"
    screen.print([*lines, line(), line(count)] if clauses else ["no clause of these is untested"])
