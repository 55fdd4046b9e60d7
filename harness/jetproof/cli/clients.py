"""`jetproof clients`: the adapters that there are, and building them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, plural, say, write_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jetproof.cli.common import Commands
    from jetproof.targets.clients.inventory import Entry

_LOOKS = {"built": "green", "not built": "bold", "n/a": "yellow", "failed": "alarm"}


def add_parser(commands: Commands) -> None:
    about = "List the client libraries that can be tested, or build their adapters."
    parser = commands.add_parser("clients", help=about, description=about)
    parts = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    listed = add_command(parts, "list", "List the adapters, and whether they can be built here.")
    listed.set_defaults(run=run_list)
    built = add_command(parts, "build", "Build adapters, so that nothing waits for it later.")
    built.add_argument(
        "names",
        nargs="*",
        metavar="CLIENT",
        help="such as go:nats.go, go:nats.go@1.54.0 or a folder (default: all that can be built)",
    )
    built.set_defaults(run=run_build)


def run_list(args: argparse.Namespace) -> int:
    from jetproof.targets.clients.inventory import entries

    return _told(args, entries(), 0)


def run_build(args: argparse.Namespace) -> int:
    from jetproof.targets.clients.inventory import built
    from jetproof.targets.clients.spec import known_adapters, parse_client

    names = dict.fromkeys(args.names or known_adapters())
    specs = [parse_client(name) for name in names]
    made = [built(spec, notify=say) for spec in specs]
    # Without names, everything that can be built here is asked for: the rest is no failure.
    missing = bool(args.names) and any(entry.state == "n/a" for entry in made)
    code = 3 if missing or any(entry.state == "failed" for entry in made) else 0
    return _told(args, made, code)


def _told(args: argparse.Namespace, entries: Iterable[Entry], code: int) -> int:
    from jetproof.sinks.paint import paint_for
    from jetproof.sinks.text import pad, visible, visible_lines

    rows = list(entries)
    if args.json:
        documents = [row.document() for row in rows]
        write_json({"schema": 1, "clients": documents, "exit_code": code})
        return code
    paint = paint_for(sys.stdout)
    sizes = [max(map(len, column), default=0) for column in zip(*map(_cells, rows), strict=True)]
    for row in rows:
        name, version, state = map(pad, _cells(row), sizes)
        told = row.about if row.state in ("built", "not built") else row.reason.splitlines()[0]
        look = paint.style(state, _LOOKS[row.state])
        sys.stdout.write(f"{name}  {version}  {look}  {visible(told, 200)}\n")
        if row.hint and row.state == "n/a":
            sys.stdout.write(f"{' ' * (sum(sizes) + 6)}{paint.bold(visible(row.hint))}\n")
        if row.state == "failed" or (args.verbose and row.log):
            sys.stdout.write(f"  {visible_lines(row.reason or row.log)}\n".replace("\n", "\n  "))
            sys.stdout.write("\n")
    sys.stdout.write(f"\n{plural(len(rows), 'client')}\n")
    return code


def _cells(entry: Entry) -> tuple[str, str, str]:
    return entry.name, entry.version, entry.state
