"""What commands share: options, patterns, JSON documents."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from jetproof.model.law_modes import ABOUT_LAWS, LAW_MODES
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from msgspec import Struct

    from jetproof.campaigns.request import Request, Settings
    from jetproof.errors import JetproofError
    from jetproof.load.mistakes import Mistake
    from jetproof.results.documents.library import ErrorDocument, ValidateMistake

    Commands = argparse._SubParsersAction[argparse.ArgumentParser]


def add_command(commands: Commands, name: str, about: str) -> argparse.ArgumentParser:
    """A command with the options that every command has."""
    parser = commands.add_parser(name, help=about, description=about)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("-v", "--verbose", action="store_true", help="show more")
    return parser


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Which cases: patterns, clauses, specifications."""
    parser.add_argument("patterns", nargs="*", metavar="PATTERN", help=ABOUT_PATTERNS)
    parser.add_argument(
        "--clause",
        action="append",
        default=[],
        metavar="ID",
        dest="clauses",
        help="cases that test this clause (a glob is fine; may be repeated)",
    )
    parser.add_argument(
        "--spec",
        action="append",
        default=[],
        type=spec_revision,
        metavar="SPEC[@REV]",
        dest="specs",
        help="cases of this specification, judged by that revision, such as adr-50@10",
    )


def add_servers(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-s",
        "--server",
        action="append",
        default=[],
        metavar="TARGET",
        dest="servers",
        help="what to test (may be repeated; default: latest)",
    )


def add_laws(parser: argparse.ArgumentParser) -> None:
    """How much is read to judge promises; `laws` of the arguments is None if nothing was said."""
    parser.add_argument("--laws", choices=LAW_MODES, help=ABOUT_LAWS)


def add_jobs(
    parser: argparse.ArgumentParser, about: str = "server processes at the same time (default: 8)"
) -> None:
    parser.add_argument("-j", "--jobs", type=at_least_one, metavar="N", help=about)


def add_out(
    parser: argparse.ArgumentParser,
    about: str = "the run's folder (default: jetproof-runs/<run id>)",
) -> None:
    parser.add_argument("--out", type=local_path, metavar="DIR", help=about)


def add_parts(parser: argparse.ArgumentParser) -> None:
    """Play a run in parts: one of several shards, or what is missing of an earlier part."""
    parser.add_argument("--shard", type=shard, metavar="I/N", help="play the I-th of N parts")
    parser.add_argument("--resume", type=Path, metavar="DIR", help="finish the run of that folder")


def add_campaign(parser: argparse.ArgumentParser, out: str) -> None:
    """What is played, where and how, for commands that play a selection for one question."""
    add_selection(parser)
    add_servers(parser)
    add_laws(parser)
    add_jobs(parser)
    add_out(parser, out)


def request_of(args: argparse.Namespace) -> Request:
    """Which cells the arguments ask for."""
    from jetproof.campaigns.request import Request

    return Request(
        patterns=tuple(args.patterns),
        servers=tuple(args.servers),
        clauses=tuple(args.clauses),
        specs=tuple(args.specs),
        shard=getattr(args, "shard", None),
        per_case=getattr(args, "per_case", False),
        edition=getattr(args, "edition", None),
        laws=args.laws,
    )


def settings_of(args: argparse.Namespace) -> Settings:
    """How the arguments ask to play them."""
    from jetproof.campaigns.request import Settings

    return Settings(tuple(args.command_line), getattr(args, "jobs", None), args.laws)


def add_edition(parser: argparse.ArgumentParser, default: str = "every case is scored") -> None:
    parser.add_argument(
        "--edition",
        metavar="NAME",
        help="score the cases of this edition only, such as 2026.11; newer and changed ones are "
        f"played and shown (default: {default})",
    )


def spec_revision(text: str) -> tuple[str, int | None]:
    """`adr-50` or `adr-50@10`."""
    name, at, revision = text.partition("@")
    if not name or (at and not revision.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not like adr-50 or adr-50@10")
    return name, int(revision) if at else None


def shard(text: str) -> tuple[int, int]:
    """`2/5`."""
    found = re.fullmatch(r"(\d+)/(\d+)", text)
    if found is None or not 1 <= int(found[1]) <= int(found[2]):
        raise argparse.ArgumentTypeError(f"{text!r} is not a shard like 2/5")
    return int(found[1]), int(found[2])


def at_least_one(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number, at least 1")
    return int(text)


def local_text(text: str) -> str:
    """The text of a path on this machine: as a path, a URL would be a folder called `s3a:`."""
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]*://", text):
        raise argparse.ArgumentTypeError(
            f"{text!r} is a URL, and only folders of this machine can be read and written; "
            "mount that storage, and write the path of the mount"
        )
    return text


def local_path(text: str) -> Path:
    return Path(local_text(text))


def say(line: str) -> None:
    """One line for a person, while nothing else is shown: a build takes minutes."""
    from jetproof.sinks.text import visible

    sys.stderr.write(f"{visible(line, 300)}\n")


def write_json(document: Struct | Mapping[str, object]) -> None:
    """One document on stdout. Pure ASCII: what a server said cannot act on a terminal."""
    from jetproof.results.rows import json_default

    sys.stdout.write(json.dumps(document, indent=2, default=json_default) + "\n")


def error_document(error: JetproofError, code: Literal[2, 3]) -> ErrorDocument:
    """What `--json` prints when a command could not do what it was asked to."""
    from msgspec import UNSET

    from jetproof.load.mistakes import LoadError
    from jetproof.results.documents.library import ErrorDocument, ErrorError

    return ErrorDocument(
        schema=1,
        error=ErrorError(
            phase=error.phase,
            message=error.message,
            hint=error.hint,
            mistakes=mistake_rows(error.mistakes) if isinstance(error, LoadError) else UNSET,
        ),
        exit_code=code,
    )


def mistake_rows(mistakes: Sequence[Mistake]) -> list[ValidateMistake]:
    from jetproof.results.documents.library import ValidateMistake

    return [ValidateMistake(file=one.file, line=one.line, message=one.message) for one in mistakes]
