"""`jetproof list`: which cases there are."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_selection, write_json
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.plan import Item
    from jetproof.results.documents.library import ListCase


def add_parser(commands: Commands) -> None:
    parser = add_command(commands, "list", "List cases.")
    add_selection(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.selecting import select_cases
    from jetproof.load.library import load_library
    from jetproof.plan import Selection
    from jetproof.results.documents.library import ListDocument

    library = load_library()
    selection = Selection(tuple(args.patterns), tuple(args.clauses), tuple(args.specs))
    items = select_cases(library, selection, for_clients=None).items
    if args.json:
        write_json(ListDocument(schema=1, cases=[_row(item) for item in items]))
    else:
        _print(items, verbose=args.verbose)
    return 0


def _row(item: Item) -> ListCase:
    from jetproof.results.documents.library import ListCase

    case = item.case
    return ListCase(
        case=case.id,
        suite=case.suite,
        about=case.about,
        spec=case.spec,
        spec_revision=item.revision,
        topology=case.given.topology,
        configuration=case.given.configuration,
        isolation=case.given.isolation,
        actions=sorted(case.actions),
        clauses=list(case.clauses),
        budget_s=case.budget,
        file=case.file,
        line=case.line,
        hash=case.hash,
    )


def _print(items: tuple[Item, ...], *, verbose: bool) -> None:
    from jetproof.sinks.console.lines import bold, dim, line
    from jetproof.sinks.console.screen import Screen

    lines = []
    suite = ""
    for item in items:
        case = item.case
        if case.suite != suite:
            lines += [*([line()] if suite else []), line(bold(case.suite))]
            suite = case.suite
        given = case.given
        needs = [
            need
            for need, usual in (
                (given.topology, "single"),
                (given.configuration, "default"),
                (f"own {given.isolation}", "own shared"),
            )
            if need != usual
        ]
        mark = f"  [{', '.join(needs)}]" if needs else ""
        lines.append(line("  ", dim("::"), case.name, (mark, "yellow")))
        if verbose:
            if case.about:
                lines.append(line(f"      {case.about}"))
            lines.append(line("      ", (", ".join(case.clauses), "blue")))
            lines.append(line("      ", dim(f"{case.file}:{case.line}")))
    suites = len({item.case.suite for item in items})
    count = f"{plural(len(items), 'case')} in {plural(suites, 'suite')}"
    Screen(sys.stdout).print([*lines, line(), line(count)])
