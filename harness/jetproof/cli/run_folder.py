"""How commands show a campaign that fills one run folder: `run`, `matrix`, `gate`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.interrupts import Interrupts, attended, exit_code
from jetproof.cli.common import write_json
from jetproof.cli.report_files import open_report_files
from jetproof.model.verdict import Cell
from jetproof.results.documents.playing import RunDocument
from jetproof.results.rows import plain
from jetproof.sinks import FanOut, Sink
from jetproof.sinks.claimed import Claimed
from jetproof.sinks.console.campaign import Console
from jetproof.sinks.console.summary import SummaryOptions
from jetproof.sinks.document import Document
from jetproof.sinks.files import DEFAULT_PARENT, RunFolder
from jetproof.sinks.releases import Board


async def play_campaign(
    args: argparse.Namespace,
    campaign: Campaign,
    *,
    summary: SummaryOptions | None = None,
    board: Board | None = None,
    heading: str = "",
    introductions: Sequence[str] = (),
    document_of: Callable[[RunDocument], RunDocument] = lambda run: run,
) -> int:
    """Plays a campaign, and shows it as `args` asks for.

    `document_of` makes the `--json` document of a command that says more than a run does."""
    folder = _folder(args, campaign)
    console = Console(
        sys.stderr if args.json else sys.stdout,
        options=summary,
        board=board,
        heading=heading,
        verbose=args.verbose,
        results=str(folder.folder),
        stopped=lambda: campaign.stop.reason or "",
    )
    for text in introductions:
        console.say(text)
    interrupts = Interrupts(campaign.stop, notify=console.say)

    def code() -> int:
        return exit_code(interrupts, fan.failures, lambda: campaign.exit_code)

    document = Document()
    shown: list[Sink] = [console, *open_report_files(args, folder, campaign.cases, code)]
    if campaign.planned is not None:
        shown = [Claimed(campaign.counts, campaign.planned, sink) for sink in shown]
    fan = FanOut([folder, document, *shown])
    try:
        async with attended(interrupts, console.tick) as owner:
            await campaign.play(fan, owner)
    finally:
        fan.close()
    for failure in fan.failures:
        console.say(str(failure))
    if args.json:
        built = document.build(
            results=str(folder.folder),
            code=code(),
            counted=None if campaign.planned is None else lambda cell: _counted(campaign, cell),
            counts=campaign.counts,
        )
        write_json(document_of(built))
    return code()


def _counted(campaign: Campaign, cell: Cell) -> bool:
    return campaign.counts(cell) and cell.scored


def _folder(args: argparse.Namespace, campaign: Campaign) -> RunFolder:
    if campaign.earlier is not None:
        return RunFolder.resume(campaign.earlier)
    place = args.out or Path(DEFAULT_PARENT) / campaign.id
    return RunFolder.create(place, campaign.request, list(map(plain, campaign.libraries)))
