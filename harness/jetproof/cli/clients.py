"""`jetproof clients`: the adapters that there are, and building them."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Literal

from jetproof.cli.common import add_command, say, write_json
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jetproof.cli.common import Commands
    from jetproof.targets.clients.inventory import Entry

_LOOKS = {"built": "green", "not built": "bold", "n/a": "yellow", "failed": "bold red"}


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

    return _show(args, entries(), 0)


def run_build(args: argparse.Namespace) -> int:
    from jetproof.targets.clients.inventory import built
    from jetproof.targets.clients.spec import known_adapters, parse_client

    names = dict.fromkeys(args.names or known_adapters())
    specs = [parse_client(name) for name in names]
    made = [built(spec, notify=say) for spec in specs]
    # Without names, everything that can be built here is asked for: the rest is no failure.
    missing = bool(args.names) and any(entry.state == "n/a" for entry in made)
    code: Literal[0, 3] = 3 if missing or any(entry.state == "failed" for entry in made) else 0
    return _show(args, made, code)


def _show(args: argparse.Namespace, entries: Iterable[Entry], code: Literal[0, 3]) -> int:
    from jetproof.results.documents.library import ClientsClient, ClientsDocument
    from jetproof.sinks.console.lines import Part, bold, line
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.console.tables import table_lines
    from jetproof.sinks.text import visible

    rows = list(entries)
    if args.json:
        clients = [
            ClientsClient(
                name=row.name,
                version=row.version,
                about=row.about,
                state=row.state,
                reason=row.reason,
                hint=row.hint,
                log=row.log,
            )
            for row in rows
        ]
        write_json(ClientsDocument(schema=1, clients=clients, exit_code=code))
        return code
    table: list[list[Part]] = []
    for row in rows:
        about = row.about if row.state in ("built", "not built") else row.reason.splitlines()[0]
        look = row.state, _LOOKS[row.state]
        table.append([row.name, row.version, look, visible(about, 200)])
        if row.hint and row.state == "n/a":
            table.append(["", "", "", bold(row.hint)])
    screen = Screen(sys.stdout)
    lines = table_lines(None, table, screen.layout)
    for row in rows:
        if row.state == "failed" or (args.verbose and row.log):
            lines += [line(), line(bold(row.name))]
            lines += [line("  ", text) for text in (row.reason or row.log).splitlines()]
    screen.print([*lines, line(), line(plural(len(rows), "client"))])
    return code
