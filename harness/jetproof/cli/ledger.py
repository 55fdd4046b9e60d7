"""`jetproof ledger`: the ledger of a client library as it should be after a run."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, say, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.model.edition import Edition
    from jetproof.results.edition_move import Move
    from jetproof.results.ledger_update import Update

_NAMED_MOST = 10


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "ledger", "Propose the ledger of a client library that a run of gate asks for."
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="the folder of a run of gate")
    parser.add_argument(
        "--client", required=True, metavar="CLIENT", help="the library, as in go:nats.go"
    )
    parser.add_argument(
        "--ledger",
        type=Path,
        metavar="FILE",
        help="the ledger as it is (default: the one beside the adapter, if there is one)",
    )
    parser.add_argument(
        "--edition",
        metavar="NAME",
        help="propose the move to this edition, such as 2026.11 or latest, and show what it makes red "
        "(default: the ledger keeps its edition)",
    )
    parser.add_argument(
        "--write", action="store_true", help="write it into the file, instead of printing it"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.load.library import load_library
    from jetproof.results import read_run
    from jetproof.results.ledger_update import update_of

    library, played = load_library(), read_run(args.folder)
    update = update_of(library, played, args.client, args.ledger, args.edition)
    if not update.is_new and update.move.moves:
        _say_move(update.move)
    if update.newer and update.newer.after:
        _say_move(update.newer)
        say(f"  jetproof ledger ... --edition {update.newer.after.name} proposes the move")
    if args.json:
        write_json(_document(update))
    elif args.write:
        if update.path is None:
            raise JetproofError("where to? Say --ledger FILE", phase="plan")
        update.path.write_text(update.text, encoding="utf-8")
        added, removed = len(update.found), len(update.outlived)
        sys.stdout.write(f"{update.path}: {added} added, {removed} removed\n")
    else:
        sys.stdout.write(update.text)
    return 0


def _document(update: Update) -> dict[str, object]:
    return {
        "schema": 1,
        "client": update.client,
        "removed": sorted({case for _, case in update.outlived}),
        "added": [finding.case for finding in update.found],
        "edition": _move(update.move),
        "newer": _move(update.newer) if update.newer else None,
        "ledger": update.text,
    }


def _move(move: Move) -> dict[str, object]:
    from jetproof.results.edition_move import name_of

    return {
        "from": name_of(move.before),
        "to": name_of(move.after),
        "scored_more": len(move.more),
        "scored_fewer": move.fewer,
        "red": [f"{cell.name}: {cell.verdict}" for cell in move.red],
        "not_played": move.missing,
    }


def _say_move(move: Move) -> None:
    """What a person wants to know before the move."""
    for line in _move_lines(move):
        say(line)


def _move_lines(move: Move) -> Iterator[str]:
    red = f", {len(move.red)} of them red" if move.red else ", none of them red"
    many = plural(len(move.more), "more cell")
    fewer = f", {move.fewer} fewer" if move.fewer else ""
    yield f"from {_words(move.before)} to {_words(move.after)}: {many} scored{red}{fewer}"
    for cell in move.red[:_NAMED_MOST]:
        yield f"  {cell.verdict}  {cell.name}"
    if len(move.red) > _NAMED_MOST:
        yield f"  and {len(move.red) - _NAMED_MOST} more"
    if move.missing:
        verb = "has" if move.missing == 1 else "have"
        yield f"  {move.missing} of its cases {verb} no verdict in this run: play them first"


def _words(edition: Edition | None) -> str:
    return f"edition {edition.name}" if edition else "every case"
