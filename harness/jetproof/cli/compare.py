"""`jetproof compare`: what differs between two servers, or two versions of a library?"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import (
    add_command,
    add_jobs,
    add_laws,
    add_out,
    add_selection,
    add_servers,
    local_path,
    request_of,
    say,
    settings_of,
    write_json,
)

if TYPE_CHECKING:
    from jetproof.campaigns.compare import Compare
    from jetproof.campaigns.interrupts import Interrupts
    from jetproof.cli.common import Commands
    from jetproof.sinks.compare_report import CompareConsole

RESULT_FILE, COMMENT_FILE = "compare.json", "compare.md"


def add_parser(commands: Commands) -> None:
    about = "Compare two servers, or two versions of a client library: is head worse than base?"
    parser = add_command(commands, "compare", about)
    parser.usage = (
        "jetproof compare BASE HEAD [PATTERN ...] [options]\n"
        "       jetproof compare --client BASE HEAD [--server TARGET] [options] [-- PATTERN ...]"
    )
    add_selection(parser)
    add_servers(parser)
    add_laws(parser)
    parser.add_argument(
        "--client",
        nargs=2,
        metavar=("BASE", "HEAD"),
        dest="clients",
        help="two libraries or versions of one: go:nats.go@1.54.0 go:nats.go@1.55.0, ./a ./b",
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="a selection for every pull request: less than 5 minutes on 2 cores",
    )
    parser.add_argument(
        "--fail-on",
        choices=("worse", "changed", "wire"),
        default="worse",
        help="what exits with 1: head breaks what base keeps (default), or besides that any change "
        "where the text is silent, or any difference on the wire",
    )
    parser.add_argument(
        "--markdown",
        type=local_path,
        metavar="FILE",
        help="write the comment for a pull request here too (always in the folder: compare.md)",
    )
    add_jobs(parser, "server processes of each side at the same time (default: 4)")
    add_out(parser, "the comparison's folder (default: jetproof-runs/compare-<id>)")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 if head is not worse, 1 if it is, 3 if some cell has no verdict."""
    import asyncio

    return asyncio.run(_run(args))


async def _run(args: argparse.Namespace) -> int:
    from jetproof.campaigns.compare_planning import plan_compare
    from jetproof.campaigns.interrupts import Interrupts, attended
    from jetproof.load.library import load_library
    from jetproof.sinks import FanOut
    from jetproof.sinks.compare_report import About, CompareConsole
    from jetproof.sinks.files import DEFAULT_PARENT, RunFolder

    if args.out is not None:
        _must_be_free(args.out)
    compare = await plan_compare(
        load_library(),
        request_of(args),
        settings_of(args),
        clients=args.clients,
        only_quick=args.quick,
        notify=say,
    )
    place = args.out or Path(DEFAULT_PARENT) / f"compare-{compare.id}"
    base, head = compare.sides
    about = About(
        id=compare.id,
        base=base.label,
        head=head.label,
        cases=len(base.items),
        results=str(place),
        partial=compare.partial,
        left_out=compare.left_out,
        notes=compare.notes,
    )
    console = CompareConsole(sys.stderr if args.json else sys.stdout, about, verbose=args.verbose)
    interrupts = Interrupts(compare.stop, notify=console.say)

    def open_run(how: str, side: str) -> tuple[FanOut, Path]:
        folder = place / how / side
        return FanOut([RunFolder.create(folder, compare.request)]), folder

    console.start()
    try:
        async with attended(interrupts, console.tick) as owner:
            await compare.play(open_run, owner, console)
    finally:
        console.close()
    return _report(args, compare, console, interrupts)


def _report(
    args: argparse.Namespace, compare: Compare, console: CompareConsole, interrupts: Interrupts
) -> int:
    """Write document and comment, print the end, and return the exit code."""
    from jetproof.campaigns.interrupts import exit_code
    from jetproof.errors import JetproofError
    from jetproof.sinks.compare_markdown import compare_markdown
    from jetproof.sinks.compare_report import compare_document
    from jetproof.sinks.files import write_document

    failures = list(compare.failures)

    def code() -> int:
        return exit_code(interrupts, failures, lambda: compare.exit_code(args.fail_on))

    stopped = "" if compare.complete else compare.stop.reason or "it was stopped"
    folder = Path(console.about.results)
    comment = compare_markdown(console.about, compare, stopped=stopped)
    document = compare_document(
        console.about, compare, interrupted=interrupts.signal is not None, code=code()
    )
    try:
        write_document(folder / RESULT_FILE, document)
        for path in filter(None, (folder / COMMENT_FILE, args.markdown)):
            _write_text(path, comment)
    except JetproofError as error:
        failures.append(error)
        document["exit_code"] = code()
    console.end(compare, failures, stopped=stopped)
    if args.json:
        write_json(document)
    return code()


def _write_text(path: Path, text: str) -> None:
    from jetproof.errors import JetproofError
    from jetproof.sinks.files import replace_file

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise JetproofError(
            f"cannot write {path}: {error.strerror or error}",
            phase="write",
            hint="choose another place with --markdown or --out",
        ) from error


def _must_be_free(place: Path) -> None:
    from jetproof.errors import JetproofError

    if place.exists() and any(place.iterdir()):
        raise JetproofError(f"{place} is not empty", phase="write", hint="choose another --out")
