"""Transcripts of a run's folder, found again by cell: one pass notes where each one stands.

A run writes the frames of a cell in one piece, so that a place in the file is all that has to be
kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

import msgspec

from jetproof.model.verdict import FrameRecord
from jetproof.results import Key, key_of
from jetproof.results.rows import FrameRow, frame_of

FILE = "frames.jsonl"


@dataclass(slots=True)
class Transcripts:
    """The transcripts of one folder."""

    folder: Path
    _places: dict[Key, int] = field(default_factory=dict)

    def scan(self) -> Iterator[tuple[Key, list[FrameRecord]]]:
        """Every transcript in the order of the file; their places are noted on the way."""
        try:
            stream = (self.folder / FILE).open("rb")
        except FileNotFoundError:
            return
        with stream:
            place = 0
            for key, frames, after in _pieces(stream, 0):
                self._places[key] = place
                place = after
                yield key, frames

    def frames(self, key: Key) -> list[FrameRecord]:
        """The transcript of a cell that `scan` passed; empty if it has none."""
        place = self._places.get(key)
        if place is None:
            return []
        with (self.folder / FILE).open("rb") as stream:
            stream.seek(place)
            return next((frames for found, frames, _ in _pieces(stream, place) if found == key), [])


def _pieces(stream: BinaryIO, place: int) -> Iterator[tuple[Key, list[FrameRecord], int]]:
    """The transcripts from here on, each with the place behind it."""
    current: Key | None = None
    frames: list[FrameRecord] = []
    decoder = msgspec.json.Decoder(FrameRow)
    for line in stream:
        if not line.endswith(b"\n"):  # cut off with the process that wrote it
            break
        row = decoder.decode(line)
        key = key_of(row)
        if key != current:
            if current is not None:
                yield current, frames, place
            current, frames = key, []
        frames.append(frame_of(row))
        place += len(line)
    if current is not None:
        yield current, frames, place
