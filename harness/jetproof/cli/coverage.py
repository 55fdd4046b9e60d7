"""`jetproof coverage`: which sentences, error codes and messages the cases and their runs cover.

`--server-code` asks something else of runs: see `cli.server_code`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jetproof.cli import server_code
from jetproof.cli.common import add_command, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.load.library import Library
    from jetproof.results.coverage import ClauseCoverage, Coverage
    from jetproof.results.documents.analysis import CoverageClause, CoverageDocument


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "coverage", "Show which clauses, error codes and messages runs cover."
    )
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        dest="runs",
        help="a run folder (may be repeated); without one, only what the cases name",
    )
    parser.add_argument("--errors", action="store_true", help="the table of error codes")
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a page")
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit code 1 if a clause for servers has no case, or a message has no schema",
    )
    server_code.add_options(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    if args.server_code is not None:
        return server_code.run(args)
    server_code.alone(args)
    from jetproof.cli.coverage_tables import markdown, terminal
    from jetproof.engine.wire_schemas import WireSchemas
    from jetproof.load.library import load_library
    from jetproof.load.lookup import cases_by_clause
    from jetproof.results import read_run
    from jetproof.results.controls import Vacuity
    from jetproof.results.coverage import clause_rows, coverage
    from jetproof.results.rows import clause_row, plain
    from jetproof.sinks.console.screen import Screen

    library = load_library()
    runs = [read_run(folder) for folder in args.runs]
    rows: Iterable[Mapping[str, object]] = clause_rows(runs).values()
    if not runs:
        clauses = [one for spec in library.specs.values() for one in spec.clauses.values()]
        rows = [plain(clause_row("", clause)) for clause in clauses]
    vacuity = Vacuity.of(library.features, library.cases, runs)
    found = coverage(rows, cases_by_clause(library), runs, WireSchemas(library.schemas), vacuity)
    incomplete = args.strict and (found.without_cases or found.undescribed)
    code: Literal[0, 1] = 1 if incomplete else 0
    if args.json:
        write_json(_document(library, found, args.runs, code))
    elif args.markdown:
        sys.stdout.write(markdown(library, found, played=bool(runs), errors=args.errors))
    else:
        screen = Screen(sys.stdout)
        lines = terminal(
            library,
            found,
            screen.layout,
            played=bool(runs),
            errors=args.errors,
            verbose=args.verbose,
        )
        screen.print(lines)
    return code


def _document(
    library: Library, found: Coverage, folders: Sequence[Path], code: Literal[0, 1]
) -> CoverageDocument:
    from jetproof.results.controls import Outcome
    from jetproof.results.digest import releases
    from jetproof.results.documents.analysis import (
        CoverageDocument,
        CoverageError,
        CoverageSchema,
        CoverageVacuous,
        CoverageWithoutSchema,
    )
    from jetproof.results.error_codes import code_rows

    return CoverageDocument(
        schema=1,
        runs=[str(folder) for folder in folders],
        clauses=[_clause(one) for one in found.clauses.values()],
        errors=[
            CoverageError(
                err_code=row.code,
                http=row.http,
                name=row.name,
                case=row.case,
                why_not=row.why_not,
                on_reference=list(row.on_reference),
                seen=row.seen.count,
                servers=list(releases(row.seen.servers)),
                cases=sorted(row.seen.cases),
                reference=row.seen.reference,
            )
            for row in code_rows(library, found)
        ],
        schemas=[
            CoverageSchema(schema=name, seen=found.schemas.get(name, 0))
            for name in sorted({*library.schemas.names(), *found.schemas})
        ],
        without_schema=[
            CoverageWithoutSchema(type=name, seen=count)
            for name, count in sorted(found.undescribed.items())
        ],
        vacuous=[
            CoverageVacuous(cell=one.cell.name, target=one.cell.target, why=one.why)
            for one in found.vacuous
        ],
        controls={Outcome(name): count for name, count in sorted(found.controls.items())},
        without_cases=[one.clause for one in found.without_cases],
        exit_code=code,
    )


def _clause(one: ClauseCoverage) -> CoverageClause:
    from jetproof.model.clause import Actor, Level, Status
    from jetproof.results.digest import releases
    from jetproof.results.documents.analysis import CoverageClause

    return CoverageClause(
        clause=one.clause,
        spec=one.spec,
        section=one.section,
        level=Level(one.level),
        actor=Actor(one.actor),
        status=Status(one.status),
        state=one.state,
        named_by=list(one.named_by),
        cases=sorted(one.cases),
        servers=list(releases(one.servers)),
        verdicts=dict(sorted(one.verdicts.items())),
        reference=dict(sorted(one.reference.items())),
    )
