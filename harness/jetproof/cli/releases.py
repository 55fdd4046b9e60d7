"""`jetproof releases`: the versions of nats-server that there are, and where each comes from."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from jetproof.cli.common import add_command, at_least_one, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from jetproof.cli.common import Commands
    from jetproof.results.documents.library import ReleasesDocument, ReleasesVersion
    from jetproof.targets.checkout_build import Removed
    from jetproof.targets.inventory import Inventory, Known

_HEADS = ("target", "from", "here", "")
_GO_ALONE = "Go module"
_BOTH = "PyPI, Go module"
_TABLE = "PyPI"


def add_parser(commands: Commands) -> None:
    about = "List the versions of nats-server that can be tested, and where each comes from."
    parser = add_command(commands, "releases", about)
    parser.add_argument(
        "--prune",
        action="store_true",
        help="remove builds of checkouts from the cache; those of the Go module stay",
    )
    parser.add_argument(
        "--keep",
        type=at_least_one,
        metavar="N",
        help="with --prune: the N builds of checkouts that were used last stay (default: 1)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from jetproof.targets.checkout_build import prune
    from jetproof.targets.inventory import take_inventory

    if args.keep is not None and not args.prune:
        raise JetproofError("--keep is about --prune", phase="plan", hint="add --prune")
    removed = prune(args.keep or 1) if args.prune else None
    if args.json:
        write_json(_document(take_inventory(), removed))
    elif removed is not None:
        _print_removed(removed)
    else:
        _print(take_inventory(), everything=args.verbose)
    return 0


def _print_removed(removed: Sequence[Removed]) -> None:
    from jetproof.sinks.text import visible

    for one in removed:
        sys.stdout.write(f"removed {visible(one.name)}  {one.size / 1e6:.1f} MB\n")
    room = sum(one.size for one in removed) / 1e6
    sys.stdout.write(f"{plural(len(removed), 'build')} of checkouts removed, {room:.1f} MB\n")


def _document(found: Inventory, removed: Sequence[Removed] | None) -> ReleasesDocument:
    from jetproof.results.documents.library import ReleasesDocument, ReleasesRemoved

    return ReleasesDocument(
        schema=1,
        versions=list(map(_version, found.versions)),
        listed_at=None if found.at is None else found.at.isoformat(),
        problem=found.problem or None,
        removed=None
        if removed is None
        else [ReleasesRemoved(name=one.name, size=one.size) for one in removed],
        exit_code=0,
    )


def _version(known: Known) -> ReleasesVersion:
    from jetproof.results.documents.library import ReleasesVersion

    sources: list[Literal["pypi", "go"]] = []
    if known.pypi:
        sources.append("pypi")
    if known.go:
        sources.append("go")
    return ReleasesVersion(
        version=str(known.version),
        target=known.target,
        table=known.table,
        from_=sources,
        here=list(known.here),
        new=known.new,
    )


def _print(found: Inventory, *, everything: bool) -> None:
    from jetproof.sinks.console.lines import line
    from jetproof.sinks.console.screen import Screen
    from jetproof.sinks.console.tables import table_lines
    from jetproof.sinks.text import visible

    screen = Screen(sys.stdout)
    first = next(known.version for known in found.versions if known.table)
    shown = [known for known in found.versions if everything or known.version >= first]
    rows = [[(cell, "green" if known.new else "") for cell in _cells(known)] for known in shown]
    lines = table_lines(_HEADS, rows, screen.layout)
    table = sum(known.table for known in found.versions)
    built = sum(known.table and not known.pypi for known in found.versions)
    new = sum(known.new for known in found.versions)
    count = (
        f"{plural(len(found.versions), 'version')}: {table} in the table of releases ({built} of them "
        f"without a release binary: Go builds these), {new} new since"
    )
    if hidden := len(found.versions) - len(shown):
        count += f"; {hidden} before {first} are shown with -v"
    lines += [line(), line(count)]
    if found.problem:
        when = "was never listed" if found.at is None else f"is as of {found.at:%Y-%m-%d %H:%M} UTC"
        lines.append(line(f"the Go module {when}: {visible(found.problem, 300)}"))
    screen.print(lines)


def _cells(known: Known) -> tuple[str, str, str, str]:
    source = _BOTH if known.pypi and known.go else _TABLE if known.pypi else _GO_ALONE
    return known.target, source, ", ".join(known.here), "new" if known.new else ""
