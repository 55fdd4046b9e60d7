"""A new campaign is one class: folder, screen, documents, exit code and resumption are shared."""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from msgspec.structs import asdict

from jetproof.campaigns.campaign import Campaign
from jetproof.campaigns.request import Request, Settings
from jetproof.campaigns.resume import going_on, resumed
from jetproof.cli.run_folder import play_campaign
from jetproof.engine.options import RunOptions
from jetproof.engine.run_events import RunEvents
from jetproof.events import CaseFinished, Emit, Event, RunFinished, RunStarted
from jetproof.load.library import Library, load_library
from jetproof.model.verdict import Cell, Verdict
from jetproof.results import Run, read_run
from jetproof.results.documents.playing import RunDocument

REQUEST = Request(patterns=("dice",), servers=("2.15.1",))


@dataclass(slots=True, kw_only=True)
class Dice(Campaign):
    """Reports what it is given, and stops when it comes to a cell called `stop`."""

    faces: Mapping[str, Verdict]

    async def _play(self, emit: Emit, options: RunOptions) -> None:
        events = RunEvents([], self.library, emit, options, self.stop)
        events.start()
        for name, verdict in self.faces.items():
            if name == "stop":
                self.stop.now("the dice fell off the table")
                break
            cell = _cell(name, verdict)
            attempt = options.attempts.get(cell.name, 0) + 1
            events(CaseFinished(replace(cell, attempt=attempt)))
        events.finish()


class DiceDocument(RunDocument, frozen=True, kw_only=True):
    """What `--json` prints: a run, and more."""

    dice: int


@pytest.fixture(scope="module")
def library() -> Library:
    return load_library()


def _cell(name: str, verdict: Verdict) -> Cell:
    return Cell(
        case=f"dice::{name}",
        suite="dice",
        spec="dice",
        spec_revision=1,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=verdict,
        clauses=(),
        target="2.15.1",
    )


def _dice(library: Library, earlier: Run | None = None, **faces: Verdict) -> Dice:
    options = Settings(("jetproof", "dice"), laws="off").options()
    return Dice(
        library=library,
        request=REQUEST.document(),
        cases=(),
        options=going_on(earlier, options) if earlier else options,
        earlier=earlier,
        notices=("the dice are loaded",),
        faces=faces,
    )


def _play(campaign: Campaign, out: Path) -> int:
    args = argparse.Namespace(json=True, verbose=False, out=out, junit=None, ctrf=None)

    def document_of(run: RunDocument) -> DiceDocument:
        return DiceDocument(**asdict(run), dice=1)

    return asyncio.run(play_campaign(args, campaign, document_of=document_of))


def test_it_gets_a_folder_a_document_and_an_exit_code(
    library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = _play(_dice(library, one=Verdict.PASS, two=Verdict.FAIL), tmp_path / "out")
    printed = capsys.readouterr()
    document = json.loads(printed.out)
    assert (code, document["exit_code"], document["dice"]) == (1, 1, 1)
    assert document["notices"] == ["the dice are loaded"]
    assert "dice::two @2.15.1 single" in printed.err
    written = read_run(tmp_path / "out")
    assert {cell.case: cell.verdict for cell in written.latest} == {
        "dice::one": Verdict.PASS,
        "dice::two": Verdict.FAIL,
    }
    assert written.document["command"] == ["jetproof", "dice"]


def test_it_is_stopped_and_resumed(
    library: Library, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    first = _dice(library, one=Verdict.FAIL, lost=Verdict.ERROR, stop=Verdict.PASS)
    assert _play(first, out) == 3
    assert read_run(out).document["interrupted"] is True
    request, earlier = resumed(out, Request())
    assert request == REQUEST
    capsys.readouterr()
    assert _play(_dice(library, earlier, lost=Verdict.PASS, three=Verdict.PASS), out) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["run"] == first.id
    assert {cell["case"]: cell["attempt"] for cell in document["cells"]} == {
        "dice::one": 1,
        "dice::lost": 2,
        "dice::three": 1,
    }
    assert [cell.case for cell in read_run(out).cells].count("dice::one") == 1


def test_what_an_earlier_part_gave_is_marked(library: Library, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _play(_dice(library, one=Verdict.PASS, stop=Verdict.PASS), out)
    events: list[Event] = []
    campaign = _dice(library, read_run(out), two=Verdict.PASS)

    async def play() -> None:
        from jetproof.targets.sweep import own_run

        with own_run() as owner:
            await campaign.play(events.append, owner)

    asyncio.run(play())
    cells = [
        (event.cell.case, event.earlier) for event in events if isinstance(event, CaseFinished)
    ]
    assert cells == [("dice::one", True), ("dice::two", False)]
    assert [event.cells for event in events if isinstance(event, RunStarted)] == [1]
    [end] = [event for event in events if isinstance(event, RunFinished)]
    assert (end.verdicts, end.interrupted) == ({Verdict.PASS: 1}, False)
    assert [cell.case for cell in campaign.cells] == ["dice::one", "dice::two"]
