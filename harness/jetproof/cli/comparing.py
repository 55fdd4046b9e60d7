"""The work of `jetproof compare`: two sides, their plans, the rounds, the report."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jetproof.campaigns.compare import Compare, Side
from jetproof.campaigns.compare_rulings import Kind
from jetproof.campaigns.interrupts import Interrupts, attended
from jetproof.campaigns.libraries import Judged, meet, named, pools
from jetproof.campaigns.quick import quick
from jetproof.campaigns.selecting import select_cases
from jetproof.campaigns.writing import Writer
from jetproof.cli.common import laws_of, say, write_json
from jetproof.engine.calibrate import time_factor
from jetproof.engine.run import RunOptions, Stop, fresh_run_id
from jetproof.errors import JetproofError
from jetproof.load.library import Library, load_library
from jetproof.plan import Item, PlanTarget, Selection, client_items
from jetproof.sinks import FanOut
from jetproof.sinks.compare_markdown import compare_markdown
from jetproof.sinks.compare_report import About, CompareConsole, compare_document
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder, replace_file, write_document
from jetproof.targets.resolve import resolve_one
from jetproof.targets.spec import redacted

RESULT_FILE, COMMENT_FILE = "compare.json", "compare.md"
_DEFAULT_TARGET = "latest"
_JOBS = 4
_NAMES = ("base", "head")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is compared: two targets, or two libraries on one target."""

    targets: tuple[str, str]
    clients: tuple[str, str] | None
    patterns: tuple[str, ...]


def asked(args: argparse.Namespace) -> Asked:
    """Tell sides from patterns."""
    words, servers = tuple(args.patterns), tuple(args.servers)
    if args.clients is not None:
        if len(servers) > 1:
            raise JetproofError(
                f"two versions of a library are compared on one server, not on {len(servers)}",
                phase="plan",
                hint="name one --server, or compare once per server",
            )
        one = servers[0] if servers else _DEFAULT_TARGET
        return Asked((one, one), tuple(args.clients), words)
    if servers or len(words) < 2:
        raise JetproofError(
            "which two targets? Write base and head first: jetproof compare 2.14.5 2.14.6",
            phase="plan",
            hint="patterns follow them; --server goes with --client only",
        )
    return Asked((words[0], words[1]), None, words[2:])


async def execute(args: argparse.Namespace) -> int:
    """Everything from loading to the last line."""
    wanted = asked(args)
    library = load_library()
    selection = Selection(wanted.patterns, tuple(args.clauses), tuple(args.specs))
    chosen = select_cases(library, selection, for_clients=wanted.clients is not None)
    left_out: tuple[str, ...] = ()
    items = chosen.items
    if args.quick:
        items, left_out = quick(items)
    targets = [await _target(text, name) for text, name in zip(wanted.targets, _NAMES, strict=True)]
    compare_id, stop = fresh_run_id(), Stop()
    place = args.out or Path(DEFAULT_PARENT) / f"compare-{compare_id}"
    _must_be_free(place)
    async with _sides(args, wanted, library, items, targets) as sides:
        about = About(
            id=compare_id,
            base=sides[0].label,
            head=sides[1].label,
            cases=len(items),
            results=str(place),
            partial=chosen.partial,
            left_out=left_out,
            notes=_notes(sides),
        )
        console = CompareConsole(
            sys.stderr if args.json else sys.stdout, about, verbose=args.verbose
        )
        compare = Compare(library, sides, stop)
        interrupts = Interrupts(stop, notify=console.say)
        request = {
            "patterns": list(wanted.patterns),
            "servers": list(map(redacted, wanted.targets)),
        }

        def open_run(how: str, side: str) -> tuple[Writer, Path]:
            folder = place / how / side
            return FanOut([RunFolder.create(folder, request)]), folder

        console.start()
        try:
            async with attended(interrupts, console.tick) as owner:
                await compare.play(open_run, owner, console)
        finally:
            console.close()
    return _reported(args, compare, console, interrupts)


async def _target(text: str, name: str) -> PlanTarget:
    """The one target of a side."""
    try:
        return await resolve_one(
            text,
            hint="jetproof matrix plays many releases",
            notify=lambda line: say(f"{name}: {line}"),
        )
    except JetproofError as error:
        error.message = f"{name}: {error.message}"
        raise


@contextlib.asynccontextmanager
async def _sides(
    args: argparse.Namespace,
    wanted: Asked,
    library: Library,
    items: Sequence[Item],
    targets: Sequence[PlanTarget],
) -> AsyncIterator[tuple[Side, Side]]:
    """Both sides, ready to be played."""
    options = RunOptions(
        run="",
        time_factor=time_factor(),
        servers_at_once=args.jobs or _JOBS,
        command=tuple(args.command_line),
        confirm=0,
        laws=laws_of(args),
    )
    if wanted.clients is None:
        both = [
            Side(name, _label(target), target, tuple(items), options)
            for name, target in zip(_NAMES, targets, strict=True)
        ]
        yield both[0], both[1]
        return
    cases = [item.case for item in items]
    async with contextlib.AsyncExitStack() as stack:
        both = []
        for name, text, target in zip(_NAMES, wanted.clients, targets, strict=True):
            one = (await meet(named([text], False), None, library, options.time_factor))[0]
            _must_play(one, name)
            ready = await stack.enter_async_context(pools([one], options.time_factor, _JOBS * 2))
            both.append(
                Side(
                    name,
                    f"{one.plan.name} on {_label(target)}",
                    target,
                    client_items(library, cases, one.plan),
                    replace(options, libraries=ready),
                    client=one.plan.name,
                )
            )
        yield both[0], both[1]


def _must_play(one: Judged, name: str) -> None:
    if reason := one.plan.missing or one.plan.broken:
        raise JetproofError(f"{name}: {one.plan.name} cannot be played: {reason}", phase="plan")


def _label(target: PlanTarget) -> str:
    """The target as it was written, with what it turned out to be."""
    name, more = redacted(target.name), []
    if str(target.version) not in name:
        more.append(str(target.version))
    if target.build:
        more.append(target.build[:12] + ("-dirty" if "-dirty-" in target.build else ""))
    return f"{name} ({', '.join(more)})" if more else name


def _notes(sides: tuple[Side, Side]) -> tuple[str, ...]:
    base, head = (side.target for side in sides)
    notes = []
    if base.version.line != head.version.line:
        notes.append(
            f"base is of line {_line(base)}, head of line {_line(head)}: a case that applies to "
            "one of them is not compared"
        )
    if sides[0].client is None and base.build and base.build == head.build:
        notes.append("base and head are the same build")
    return tuple(notes)


def _line(target: PlanTarget) -> str:
    return ".".join(map(str, target.version.line))


def _reported(
    args: argparse.Namespace, compare: Compare, console: CompareConsole, interrupts: Interrupts
) -> int:
    """Write document and comment, print the end, and return the exit code."""
    failures = list(compare.failures)
    interrupted = interrupts.signal is not None
    stopped = "" if compare.complete else compare.stop.reason or "it was stopped"
    code = _exit_code(compare, interrupts, failures, args.fail_on)
    folder = Path(console.about.results)
    comment = compare_markdown(console.about, compare, stopped=stopped)
    document = compare_document(console.about, compare, interrupted=interrupted, code=code)
    try:
        write_document(folder / RESULT_FILE, document)
        for path in filter(None, (folder / COMMENT_FILE, args.markdown)):
            _write_text(path, comment)
    except JetproofError as error:
        failures.append(error)
        code = _exit_code(compare, interrupts, failures, args.fail_on)
        document["exit_code"] = code
    console.end(compare, failures, stopped=stopped)
    if args.json:
        write_json(document)
    return code


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise JetproofError(
            f"cannot write {path}: {error.strerror or error}",
            phase="write",
            hint="choose another place with --markdown or --out",
        ) from error


def _exit_code(
    compare: Compare, interrupts: Interrupts, failures: Sequence[JetproofError], fail_on: str
) -> int:
    """What is proven worse is worse, whatever else got no verdict."""
    if interrupts.exit_code is not None:
        return interrupts.exit_code
    if failures:
        return 2
    if not compare.complete or not compare.started(0):
        return 3
    failing = compare.worse or not compare.started(1)
    if fail_on != "worse":
        failing = failing or bool(compare.of_kind(Kind.CHANGED))
    if fail_on == "wire":
        failing = failing or any(one.confirmed for one in compare.wire)
    if failing:
        return 1
    return 3 if compare.of_kind(Kind.UNDECIDED) else 0


def _must_be_free(place: Path) -> None:
    if place.exists() and any(place.iterdir()):
        raise JetproofError(f"{place} is not empty", phase="write", hint="choose another --out")
