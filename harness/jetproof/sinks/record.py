"""What the printing sinks remember of a run: the last attempt of every result, and little evidence.

Transcripts of thousands of cells would not fit into memory, and they are in the result files: only
cells that need an explanation keep their failed checks and last frames here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from jetproof.events import (
    CaseFinished,
    Event,
    Notice,
    RunFinished,
    RunStarted,
    SchemaJudged,
    TargetFailed,
    TargetStarted,
)
from jetproof.model.clause import Clause
from jetproof.model.verdict import (
    EXPLAINED,
    Cell,
    Check,
    FrameRecord,
    Result,
    SchemaResult,
    Verdict,
)

LAST_FRAMES = 12


@dataclass(frozen=True, slots=True)
class Outcome:
    """A cell, or the result of a schema, with the evidence that is kept for it."""

    cell: Result
    failed: tuple[Check, ...] = ()
    frames: tuple[FrameRecord, ...] = ()
    frames_seen: int = 0

    def is_explained(self, *, all_cells: bool = False) -> bool:
        """Whether people are shown why: what no edition scores only if they ask for all."""
        return self.cell.verdict in EXPLAINED and (self.cell.scored or all_cells)


@dataclass(slots=True)
class Record:
    """Collects events; `keep_frames` None keeps whole transcripts, of every cell."""

    keep_frames: int | None = LAST_FRAMES
    started: RunStarted | None = None
    finished: RunFinished | None = None
    servers: list[TargetStarted | TargetFailed] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    _outcomes: dict[tuple[str, str], Outcome] = field(default_factory=dict)

    def handle(self, event: Event) -> None:
        match event:
            case RunStarted():
                self.started = event
            case TargetStarted() | TargetFailed():
                self.servers.append(event)
            case CaseFinished():
                # A retry replaces the attempt before it; the files keep both.
                self._outcomes.pop((event.cell.name, event.cell.target), None)
                self._outcomes[event.cell.name, event.cell.target] = self._outcome(event)
            case SchemaJudged(result=result):
                self._outcomes.pop((result.name, result.target), None)
                self._outcomes[result.name, result.target] = Outcome(result, result.checks)
            case Notice():
                self.notices.append(event.text)
            case RunFinished():
                self.finished = event
            case _:
                pass

    def close(self) -> None:
        """Nothing is held."""

    @property
    def outcomes(self) -> list[Outcome]:
        """By cell name, so that two runs read alike whatever the order of their cases was."""
        return sorted(self._outcomes.values(), key=lambda outcome: outcome.cell.name)

    @property
    def results(self) -> list[Result]:
        """Everything that has a verdict: cells, and what was judged of schemas."""
        return [outcome.cell for outcome in self.outcomes]

    @property
    def schemas(self) -> list[SchemaResult]:
        return [one for one in self.results if isinstance(one, SchemaResult)]

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many scored results have each verdict; every verdict is named."""
        cells = (outcome.cell for outcome in self._outcomes.values())
        counts = Counter(cell.verdict for cell in cells if cell.scored)
        return {verdict: counts[verdict] for verdict in Verdict}

    @property
    def played(self) -> int:
        """How many of the planned cells have come."""
        return sum(isinstance(outcome.cell, Cell) for outcome in self._outcomes.values())

    @property
    def planned(self) -> int:
        return max(self.played, self.started.cells if self.started else 0)

    @property
    def clauses(self) -> dict[str, Clause]:
        return {clause.id: clause for clause in self.started.clauses} if self.started else {}

    @property
    def slowest(self) -> Cell | None:
        results = (outcome.cell for outcome in self._outcomes.values())
        cells = (one for one in results if isinstance(one, Cell))
        return max(cells, key=lambda cell: cell.ms, default=None)

    def _outcome(self, event: CaseFinished) -> Outcome:
        count = len(event.frames)
        failed = tuple(check for check in event.checks if not check.ok)
        if self.keep_frames is None:
            frames = tuple(event.frames)
        elif event.cell.verdict is Verdict.UNSTABLE:
            frames = tuple(event.frames)  # of all its plays, to be held side by side
        elif event.cell.verdict in EXPLAINED:
            frames = frames_before_failure(event.frames, failed, self.keep_frames)
        else:
            return Outcome(event.cell, frames_seen=count)
        return Outcome(event.cell, failed, frames, count)


def frames_before_failure(
    frames: Sequence[FrameRecord], failed: Sequence[Check], most: int
) -> tuple[FrameRecord, ...]:
    """The last frames up to the last step that failed: what is read after it explains nothing."""
    steps = {check.step for check in failed}
    end = max((place for place, one in enumerate(frames, 1) if one.step in steps), default=None)
    shown = frames[:end]
    return tuple(shown[max(0, len(shown) - most) :])
