"""`jetproof editions`: the editions that there are, what each leaves unscored, and freezing a new one."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.load.library import Library
    from jetproof.model.edition import Standing
    from jetproof.results.documents.library import EditionsEdition

_PARTS = ("new", "changed", "removed")


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "editions", "List the editions, show what one leaves unscored, or freeze one."
    )
    parser.add_argument(
        "edition", nargs="?", metavar="NAME", help="show what differs between it and the suites"
    )
    parser.add_argument(
        "--write",
        metavar="NAME",
        help="freeze the cases of this checkout as an edition, such as 2026.11",
    )
    parser.add_argument(
        "--replace", action="store_true", help="write it anew; never do that to a released edition"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.load.editions import find_edition, standing_of
    from jetproof.load.library import load_library
    from jetproof.results.documents.library import EditionsDocument

    library = load_library()
    if args.write is not None:
        if args.edition is not None:
            raise JetproofError("--write takes the name, and nothing else does", phase="plan")
        return _write(args, library)
    asked = find_edition(library, args.edition)
    shown = [asked] if asked else list(library.editions.values())
    rows = [standing_of(library, edition) for edition in shown]
    if args.json:
        write_json(EditionsDocument(schema=1, editions=list(map(_row, rows))))
    elif asked:
        _details(rows[0])
    else:
        _table(rows)
    return 0


def _write(args: argparse.Namespace, library: Library) -> int:
    from jetproof.load.editions import edition_text, new_edition_file, present
    from jetproof.results.documents.library import EditionsDocument, EditionsEdition
    from jetproof.sinks.files import write_text

    name = args.write
    path = new_edition_file(library, name, replace=args.replace)
    write_text(path, edition_text(library, name))
    place = path.relative_to(library.root)
    if args.json:
        written = EditionsEdition(
            edition=name,
            scored=len(present(library)),
            file=str(place),
            new=[],
            changed=[],
            removed=[],
        )
        write_json(EditionsDocument(schema=1, editions=[written]))
    else:
        cases = len(library.cases) + len(library.client_cases)
        schemas = len(library.schemas.names())
        sys.stdout.write(f"{place}: {plural(cases, 'case')}, {plural(schemas, 'schema')}\n")
    return 0


def _row(standing: Standing) -> EditionsEdition:
    from jetproof.results.documents.library import EditionsEdition

    return EditionsEdition(
        edition=standing.edition,
        scored=len(standing.same),
        file=None,
        new=list(standing.new),
        changed=list(standing.changed),
        removed=list(standing.removed),
    )


def _table(rows: list[Standing]) -> None:
    if not rows:
        sys.stdout.write("no edition yet\n")
        return
    sys.stdout.write("edition     scored     new  changed  removed\n")
    for row in rows:
        counts = (len(row.new), len(row.changed), len(row.removed))
        numbers = f"{len(row.same):>6}  {counts[0]:>6}  {counts[1]:>7}  {counts[2]:>7}"
        sys.stdout.write(f"{row.edition:<10}  {numbers}\n")


def _details(row: Standing) -> None:
    from jetproof.sinks.text import visible

    sys.stdout.write(f"edition {row.edition} scores {len(row.same)} cases and schemas\n")
    for part in _PARTS:
        for name in getattr(row, part):
            sys.stdout.write(f"  {part:<7}  {visible(name)}\n")
    if row.new or row.changed:
        sys.stdout.write("what is new or changed is played and shown, and not scored\n")
