"""`jetproof spec-check`: whether the clauses still stand in a text, and what it says besides."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, spec_revision, write_json
from jetproof.errors import JetproofError
from jetproof.model.wording import plural

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.text import Text

    from jetproof.cli.common import Commands
    from jetproof.load.spec_text_check import TextCheck
    from jetproof.model.clause import Clause, Spec
    from jetproof.sinks.console.lines import Layout

_SHOWN = 600
_INDENT = "      "


def add_parser(commands: Commands) -> None:
    about = "Compare the text of a specification with the clauses of one of its revisions."
    parser = add_command(commands, "spec-check", about)
    parser.add_argument("file", metavar="FILE", type=Path, help="the text, as Markdown")
    parser.add_argument(
        "--spec",
        required=True,
        type=spec_revision,
        metavar="SPEC[@REV]",
        help="the specification and revision that the text should be, such as adr-50@7",
    )
    parser.add_argument(
        "--strict",
        action="store_true",
        help="exit code 1 also if a sentence that sounds normative has no clause",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """1 if the sentence of a clause is gone."""
    from jetproof.load.library import load_library
    from jetproof.load.lookup import find_revision
    from jetproof.load.spec_text_check import check_text
    from jetproof.sinks.console.screen import Screen

    spec, revision = find_revision(load_library(), *args.spec)
    found = check_text(spec, revision, _text(args.file))
    code = 1 if found.gone or (args.strict and found.bare) else 0
    if args.json:
        write_json(_document(found, spec, args.file, code))
    else:
        screen = Screen(sys.stdout)
        screen.print(_lines(found, spec, args.file, screen.layout, verbose=args.verbose))
    return code


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise JetproofError(
            f"cannot read {path}: {error}", phase="load", hint="name a Markdown file"
        ) from error


def _document(found: TextCheck, spec: Spec, path: Path, code: int) -> dict[str, object]:
    return {
        "schema": 1,
        "file": str(path),
        "spec": found.spec,
        "revision": found.revision,
        "title": spec.title,
        "other_title": found.other_title,
        "another_document": found.another_document,
        "counts": {
            "clauses": found.held,
            "standing": found.standing,
            "moved": len(found.moved),
            "gone": len(found.gone),
            "unread": len(found.unread),
            "without_clause": len(found.bare),
            "explained": found.explained,
        },
        "gone": [{**_clause(one.clause), "now": one.now} for one in found.gone],
        "moved": [{**_clause(one.clause), "now_at": list(one.anchors)} for one in found.moved],
        "unread": [_clause(clause) for clause in found.unread],
        "without_clause": [
            {"anchor": one.anchor, "sentence": one.sentence, "hash": one.hash} for one in found.bare
        ],
        "idle": [
            {"anchor": one.anchor, "hash": one.sentence_hash, "why": one.why} for one in found.idle
        ],
        "exit_code": code,
    }


def _clause(clause: Clause) -> dict[str, object]:
    return {
        "clause": clause.id,
        "level": clause.level.value,
        "actor": clause.actor.value,
        "status": clause.status.value,
        "text": clause.text,
        "anchor": clause.anchor,
        "hash": clause.sentence_hash,
    }


def _lines(
    found: TextCheck, spec: Spec, path: Path, layout: Layout, *, verbose: bool
) -> Iterator[Text]:
    from jetproof.sinks.console.lines import ALARM, bold, dim, line
    from jetproof.sinks.text import visible

    if found.other_title is not None:
        what = "is another document" if found.another_document else "has another title"
        title = visible(found.other_title, _SHOWN)
        yield line((f"{path} {what}: {title!r}, not {spec.title!r}", ALARM))
        yield from layout.wrapped(spec.note, "  ")
    counts = [f"{found.standing} stand", f"{len(found.gone)} gone"]
    counts += [f"{len(found.unread)} never read"] if found.unread else []
    counts += [f"{len(found.moved)} elsewhere"] if found.moved else []
    held = f"{plural(found.held, 'clause')}, {', '.join(counts)}"
    yield line(bold(f"{found.spec}@{found.revision}"), f" in {path}: {held}")
    if found.another_document and not verbose:
        yield line(dim("-v lists the clauses and sentences all the same"))
        return
    if found.gone:
        yield line()
        yield line((f"clauses whose sentence is gone ({len(found.gone)})", ALARM))
        for gone in found.gone:
            yield from _named(gone.clause, layout)
            now = "nothing" if gone.now is None else visible(gone.now, _SHOWN)
            yield from layout.wrapped(f"there now: {now}", _INDENT)
    if found.bare:
        yield line()
        number = len(found.bare)
        sounding = f"sentence{' that sounds' if number == 1 else 's that sound'} normative"
        yield line((f"{number} {sounding}, without a clause", "yellow"))
        for bare in found.bare:
            yield line(f"  {bare.anchor}")
            yield from layout.wrapped(visible(bare.sentence, _SHOWN), _INDENT)
    if found.unread:
        yield line()
        title = f"clauses whose sentence was never read ({len(found.unread)})"
        yield line((title, "yellow"))
        for clause in found.unread:
            yield from _named(clause, layout)
    if verbose and found.moved:
        yield line()
        yield line(f"clauses whose sentence stands elsewhere ({len(found.moved)})")
        for moved in found.moved:
            yield line(f"  {moved.clause.id}  {moved.clause.anchor or ''}")
            yield line(f"      now {moved.anchors[-1]}")
    if verbose and found.idle:
        yield line()
        yield line(f"sentences excused from a clause that are not in the text ({len(found.idle)})")
        for idle in found.idle:
            yield line(f"  {idle.anchor}")
            yield from layout.wrapped(idle.why, _INDENT)
    yield line()
    without = f"{plural(len(found.bare), 'normative sentence')} without a clause"
    yield line(f"{without}, {found.explained} more explained by the catalogue")


def _named(clause: Clause, layout: Layout) -> Iterator[Text]:
    from jetproof.sinks.console.lines import dim, line

    kind = clause.level.value if clause.decides else clause.status.value
    actor = dim(f"{kind}, {clause.actor.value}")
    yield line("  ", (clause.id, "blue"), " ", actor, f"  {clause.anchor or ''}")
    yield from layout.wrapped(clause.text, _INDENT)
