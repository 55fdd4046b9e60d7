"""`jetproof spec-diff`: what changed between two revisions, and what releases do of it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, spec_revision, write_json

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.model.clause import Clause, Revision
    from jetproof.results.revisions import Positions
    from jetproof.results.spec_comparison import SpecComparison

SIDE = "a revision of a specification, such as adr-50@7; without a number its default revision"


def add_parser(commands: Commands) -> None:
    about = "Tell what changed between two revisions of a specification."
    parser = add_command(commands, "spec-diff", about)
    parser.add_argument("a", metavar="A", type=spec_revision, help=SIDE)
    parser.add_argument("b", metavar="B", type=spec_revision, help=SIDE)
    parser.add_argument(
        "--run",
        action="append",
        default=[],
        type=Path,
        metavar="DIR",
        dest="runs",
        help="a run folder: what its releases do of each clause (may be repeated)",
    )
    parser.add_argument("--markdown", action="store_true", help="print Markdown, for a page")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.cli.spec_diff_text import markdown, terminal
    from jetproof.load.library import load_library
    from jetproof.results import read_run
    from jetproof.results.spec_comparison import compare_spec
    from jetproof.sinks.console.screen import Screen

    runs = [read_run(folder) for folder in args.runs]
    shown = compare_spec(load_library(), args.a, args.b, runs)
    if args.json:
        write_json(_document(shown, args.runs))
    elif args.markdown:
        sys.stdout.write(markdown(shown))
    else:
        screen = Screen(sys.stdout)
        screen.print(terminal(shown, screen.layout, verbose=args.verbose))
    return 0


def _document(shown: SpecComparison, folders: list[Path]) -> dict[str, object]:
    revised = shown.revised
    return {
        "schema": 1,
        "spec": revised.spec.id,
        "title": revised.spec.title,
        "a": revised.a,
        "b": revised.b,
        "runs": [str(folder) for folder in folders],
        "revisions": [_revision(one) for one in revised.spec.history],
        "releases": [str(release) for release in shown.releases],
        "counts": {
            "added": len(revised.added),
            "removed": len(revised.removed),
            "changed": len(revised.changed),
            "kept": len(revised.kept),
        },
        "added": [_clause(clause, shown) for clause in revised.added],
        "removed": [_clause(clause, shown) for clause in revised.removed],
        "changed": [
            {"before": _clause(one.before, shown), "after": _clause(one.after, shown)}
            for one in revised.changed
        ],
        "positions": [_positions(one) for one in shown.positions],
        "exit_code": 0,
    }


def _revision(one: Revision) -> dict[str, object]:
    return {
        "revision": one.number,
        "date": one.date,
        "server": one.server,
        "api_level": one.api_level,
        "note": one.note,
    }


def _clause(clause: Clause, shown: SpecComparison) -> dict[str, object]:
    by_release = shown.verdicts.get(clause.id, {})
    return {
        "clause": clause.id,
        "section": clause.section,
        "level": clause.level.value,
        "actor": clause.actor.value,
        "status": clause.status.value,
        "text": clause.text,
        "revision_from": clause.revision_from,
        "revision_to": clause.revision_to,
        "applies_from": None if clause.applies_from is None else str(clause.applies_from),
        "replaces": clause.replaces,
        "cases": list(shown.cases.get(clause.id, ())),
        "releases": [
            {
                "server": release.server,
                "provider": release.provider,
                "verdicts": dict(sorted(by_release[release].items())),
            }
            for release in sorted(by_release, key=lambda release: release.order)
        ],
    }


def _positions(one: Positions) -> dict[str, object]:
    return {
        "clause": one.clause.id,
        "level": one.clause.level.value,
        "status": one.clause.status.value,
        "text": one.clause.text,
        "case": one.case,
        "topology": one.topology,
        "provider": one.provider,
        "revision": one.revision,
        "changed": one.changed,
        "stances": [
            {
                "servers": [release.server for release in stance.releases],
                "position": dict(stance.position),
            }
            for stance in one.stances
        ],
    }
