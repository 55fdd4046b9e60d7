"""The work of `jetproof soak`: load, plan, play the rounds, report."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.campaigns.load import check_cores
from jetproof.campaigns.soak import Soak, SoakOptions, check_rounds, details
from jetproof.campaigns.writing import Writer
from jetproof.cli.campaigning import DEFAULT_TARGETS, options_of, selection_of
from jetproof.cli.common import say, write_json
from jetproof.engine.run import Stop
from jetproof.errors import JetproofError
from jetproof.load.library import load_library
from jetproof.plan import make_plan
from jetproof.sinks import FanOut
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder, write_document
from jetproof.sinks.soak_report import About, SoakConsole, flip_row, soak_document
from jetproof.targets.resolve import resolve
from jetproof.targets.spec import redacted

RESULT_FILE = "soak.json"


async def execute(args: argparse.Namespace) -> int:
    """Everything from loading to the last line."""
    check_rounds(args.rounds)
    if args.load is not None:
        check_cores(args.load)
    library = load_library()
    request, selected = selection_of(args, library)
    targets = await resolve(request.servers or DEFAULT_TARGETS, notify=say)
    request = replace(request, servers=tuple(target.name for target in targets))
    plan = make_plan(library, selected, targets, skip=frozenset())

    options = replace(options_of(args), confirm=0)  # a flip is what it looks for
    soak_id = options.run
    place = args.out or Path(DEFAULT_PARENT) / f"soak-{soak_id}"
    _must_be_free(place)
    about = About(
        id=soak_id,
        rounds=args.rounds,
        cells=plan.cells,
        targets=tuple(redacted(target.name) for target in targets),
        shared=tuple(redacted(target.name) for target in targets if target.fixed is not None),
        partial=plan.partial,
        load=args.load,
        results=str(place),
    )

    def folder_of(number: int) -> Path:
        return place / f"round-{number}"

    def open_round(number: int) -> Writer:
        folder = RunFolder.create(folder_of(number), request.document())
        return FanOut([folder])

    stream = sys.stderr if args.json else sys.stdout
    console = SoakConsole(stream, about, verbose=args.verbose)
    stop = Stop()
    interrupts = Interrupts(stop, notify=console.say)
    soak = Soak(plan, library, SoakOptions(args.rounds, options, args.load), stop)
    try:
        async with attended(interrupts, console.tick) as owner:
            await soak.play(open_round, owner, console)
    finally:
        console.close()
    return _reported(args, soak, console, interrupts, folder_of)


def _reported(
    args: argparse.Namespace,
    soak: Soak,
    console: SoakConsole,
    interrupts: Interrupts,
    folder_of: Callable[[int], Path],
) -> int:
    """Print what flipped, write the document, and return the exit code."""
    flips = soak.flips
    rows: list[dict[str, object]] = []
    for number, detail in enumerate(details(flips, folder_of)):
        console.flip(number, detail)
        rows.append(flip_row(detail))
    failures = list(soak.failures)
    code = _exit_code(soak, interrupts, failures)
    document = soak_document(console.about, soak, rows, interrupts.signal is not None, code)
    try:
        write_document(Path(console.about.results) / RESULT_FILE, document)
    except JetproofError as error:
        failures.append(error)
        code = _exit_code(soak, interrupts, failures)
        document["exit_code"] = code
    document["failures"] = [failure.message for failure in failures]
    console.end(soak, interrupted=interrupts.signal is not None, failures=failures)
    if args.json:
        write_json(document)
    return code


def _exit_code(soak: Soak, interrupts: Interrupts, failures: Sequence[JetproofError]) -> int:
    """3 wins over 1, as everywhere; an unwritten result over both, an interruption over all."""
    if interrupts.exit_code is not None:
        return interrupts.exit_code
    if failures:
        return 2
    if soak.undecided:
        return 3
    return 1 if soak.flips else 0


def _must_be_free(place: Path) -> None:
    if (place / RESULT_FILE).exists() or any(place.glob("round-*")):
        raise JetproofError(
            f"{place} holds another soak", phase="write", hint="choose another --out"
        )
