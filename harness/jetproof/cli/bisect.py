"""`jetproof bisect`: the first release, or commit, in which a case has another verdict."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from jetproof.cli.common import add_command, add_laws, say, settings_of, write_json
from jetproof.errors import JetproofError
from jetproof.model.patterns import ABOUT_PATTERNS

if TYPE_CHECKING:
    from jetproof.campaigns.bisect import Bisected
    from jetproof.campaigns.bisect_commits import BisectedCommits
    from jetproof.cli.common import Commands
    from jetproof.results.documents.playing import BisectCommits, BisectDocument, BisectLeftOut
    from jetproof.targets.spec import TargetSpec


def add_parser(commands: Commands) -> None:
    parser = add_command(
        commands, "bisect", "Find the first release or commit in which a case has another verdict."
    )
    parser.add_argument("case", metavar="CASE", help=f"one case: {ABOUT_PATTERNS}")
    parser.add_argument(
        "-s",
        "--servers",
        "--server",
        action="append",
        default=[],
        metavar="TARGETS",
        help="where to look, such as '2.12.*,2.14.*' (default: every known release), or one "
        "checkout, path:../nats-server, with --good",
    )
    parser.add_argument(
        "--against",
        metavar="RELEASE",
        help="the release to compare with; only newer ones are looked at (default: the oldest)",
    )
    parser.add_argument(
        "--candidates",
        action="store_true",
        help="look at the release candidates between these releases as well (built with Go)",
    )
    parser.add_argument(
        "--good", metavar="REV", help="search commits of a checkout: where the search begins"
    )
    parser.add_argument("--bad", metavar="REV", help="where it ends (default: HEAD)")
    add_laws(parser)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0 means that the question was answered, 3 that some verdict is missing."""
    import asyncio

    if args.good is not None or args.bad is not None:
        return asyncio.run(_search_commits(args))
    return asyncio.run(_search_releases(args))


async def _search_releases(args: argparse.Namespace) -> int:
    from jetproof.campaigns.bisect import bisect, one_case, releases_to_search
    from jetproof.load.library import load_library
    from jetproof.sinks.bisect_report import ReleaseReport

    library = load_library()
    selected = one_case(library, args.case)
    releases = await releases_to_search(
        library,
        selected,
        args.servers,
        against=args.against,
        with_candidates=args.candidates,
        notify=say,
    )
    report = ReleaseReport(sys.stderr if args.json else sys.stdout)
    result = await bisect(library, selected, releases, settings_of(args).options(), report.handle)
    report.end(result)
    if args.json:
        write_json(_releases_document(result))
    return result.exit_code


async def _search_commits(args: argparse.Namespace) -> int:
    from jetproof.campaigns.bisect import one_case
    from jetproof.campaigns.bisect_commits import bisect_commits, commits_to_search
    from jetproof.load.library import load_library
    from jetproof.sinks.bisect_report import CommitReport

    checkout = _checkout(args)
    library = load_library()
    selected = one_case(library, args.case)
    commits = await commits_to_search(checkout, args.good, args.bad or "HEAD")
    report = CommitReport(sys.stderr if args.json else sys.stdout)
    result = await bisect_commits(
        library, selected, commits, settings_of(args).options(), report.handle
    )
    report.end(result)
    if args.json:
        write_json(_commits_document(result))
    return result.exit_code


def _checkout(args: argparse.Namespace) -> TargetSpec:
    """The checkout whose commits are searched; the error says what to write."""
    from jetproof.campaigns.bisect_commits import checkout_asked

    hint = "jetproof bisect CASE --server path:../nats-server --good REV [--bad REV]"
    if args.good is None:
        raise JetproofError(
            "--bad names where a search ends, not where it begins", phase="plan", hint=hint
        )
    if args.against is not None or args.candidates:
        raise JetproofError(
            "--against and --candidates are about releases", phase="plan", hint=hint
        )
    checkout = checkout_asked(args.servers)
    if checkout is None:
        raise JetproofError(
            "--good wants one checkout of nats-server to search", phase="plan", hint=hint
        )
    return checkout


def _releases_document(result: Bisected) -> BisectDocument:
    from jetproof.results.documents.playing import BisectLeftOut
    from jetproof.targets.spec import redacted

    left_out = [
        BisectLeftOut(target=redacted(target.name), reason=reason)
        for target, reason in result.releases.left_out
    ]
    names = [redacted(target.name) for target in result.releases.targets]
    return _document(result, names, left_out, None)


def _commits_document(result: BisectedCommits) -> BisectDocument:
    from jetproof.results.documents.playing import BisectCommits, BisectFirst, BisectSkipped

    first = result.first
    commits = BisectCommits(
        first=None
        if first is None
        else BisectFirst(commit=first.id, subject=first.subject, author_date=first.date),
        doubtful=list(result.doubtful),
        skipped=[BisectSkipped(commit=one, reason=why) for one, why in result.skipped.items()],
    )
    return _document(result, list(result.commits.ends), [], commits)


def _document(
    result: Bisected | BisectedCommits,
    names: list[str],
    left_out: list[BisectLeftOut],
    commits: BisectCommits | None,
) -> BisectDocument:
    from jetproof.results.documents.playing import BisectDocument
    from jetproof.results.rows import cell_row

    last, first = result.last_same, result.first_other
    return BisectDocument(
        schema=1,
        case=result.case,
        releases=names,
        left_out=left_out,
        answered=result.answered,
        last_same=None if last is None else cell_row(result.run, last),
        first_other=None if first is None else cell_row(result.run, first),
        cells=[cell_row(result.run, cell) for cell in result.cells.values()],
        commits=commits,
        runs=len(result.cells),
        exit_code=result.exit_code,
    )
