"""Transcripts: every frame in order, and no more than a few thousand of them in memory."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from jetproof.engine.transcript import HEAD, TAIL, Frames, Transcript
from jetproof.events import CaseFinished
from jetproof.model.verdict import Cell, FrameRecord, Verdict
from jetproof.sinks.files import RunFolder
from jetproof.wire import Pub

MANY = 20_000


def frame(number: int) -> FrameRecord:
    return FrameRecord(float(number), ">", "main", "PUB", f"s.{number}", headers=(("A", "b"),))


def filled(count: int, head: int = 5, tail: int = 3) -> Frames:
    frames = Frames(head, tail)
    for number in range(count):
        frames.append(frame(number))
    return frames


@pytest.mark.parametrize("count", [0, 1, 5, 8, 10, 11, 12, 50])
def test_nothing_is_lost_and_the_order_is_kept(count: int) -> None:
    frames, plain = filled(count), [frame(number) for number in range(count)]
    assert len(frames) == count
    assert list(frames) == plain
    assert list(frames) == plain  # and once more
    for part in (slice(None), slice(-2, None), slice(3, 9), slice(9, 3), slice(None, None, 2)):
        assert list(frames[part]) == plain[part]
    for index in (0, 4, 5, 7, 20, -1, -7):
        if -count <= index < count:
            assert frames[index] == plain[index]
    with pytest.raises(IndexError):
        frames[count]


def test_what_is_added_while_somebody_reads_disturbs_nobody() -> None:
    frames = filled(30)
    reader = iter(frames)
    first = [next(reader) for _ in range(10)]
    for number in range(30, 60):
        frames.append(frame(number))
    seen = [it.subject for it in (*first, *reader)]
    assert seen == list(dict.fromkeys(seen))
    assert [it.subject for it in frames] == [f"s.{number}" for number in range(60)]


def test_frames_in_great_number_do_not_stay_in_memory() -> None:
    transcript = Transcript(lambda: 0.0)
    tracemalloc.start()
    try:
        for number in range(MANY):
            transcript.sent("main", Pub(f"s.{number}", f"reply.{number}", None, b"x" * 64))
            if number == HEAD + 2 * TAIL:
                early, _ = tracemalloc.get_traced_memory()
                tracemalloc.reset_peak()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(transcript.frames) == MANY
    assert transcript.frames.in_memory < HEAD + 2 * TAIL
    assert peak < 2 * early
    assert transcript.frames[-1].subject == f"s.{MANY - 1}"


def test_the_journal_gets_every_frame(tmp_path: Path) -> None:
    frames = filled(5_000, head=100, tail=50)
    cell = Cell(
        case="s::c",
        suite="s",
        spec="s",
        spec_revision=1,
        server="2.15.1",
        provider="embedded",
        topology="single",
        configuration="default",
        verdict=Verdict.FAIL,
        clauses=(),
    )
    with RunFolder.create(tmp_path / "run") as folder:
        folder.handle(CaseFinished(cell, (), frames))
    lines = (tmp_path / "run" / "frames.jsonl").read_text().splitlines()
    assert [json.loads(line)["subject"] for line in lines] == [f"s.{n}" for n in range(5_000)]
