"""How far each release of a matrix is.

A `Board` listens to the events of a run and knows from the plan how many cells are missing of each
release. It prints nothing: the console shows it, and `--json` takes its rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from jetproof.campaigns.planning import Expected
from jetproof.events import CaseFinished, CaseStarted, Event, SchemaJudged, TargetFailed
from jetproof.model.verdict import Cell, Verdict
from jetproof.results.documents.playing import MatrixRelease, verdict_counts


@dataclass(slots=True)
class Release:
    """One release: which of its cells have a verdict."""

    target: str
    expected: Expected
    began: float | None = None
    ended: float | None = None
    problems: list[str] = field(default_factory=list)
    _verdicts: dict[str, Verdict] = field(default_factory=dict)
    _schemas: dict[str, Verdict] = field(default_factory=dict)
    _not_scored: set[str] = field(default_factory=set)

    @property
    def played(self) -> int:
        return len(self._verdicts)

    @property
    def done(self) -> bool:
        return self.played >= self.expected.cells

    @property
    def verdicts(self) -> Counter[Verdict]:
        """Of the cells that are scored."""
        both = {**self._verdicts, **self._schemas}
        return Counter(verdict for name, verdict in both.items() if name not in self._not_scored)

    @property
    def seconds(self) -> float | None:
        """How long it took; None while it is being played, or if nothing had to be played."""
        return (
            self.ended - self.began if self.began is not None and self.ended is not None else None
        )

    def note(
        self, event: CaseStarted | CaseFinished | SchemaJudged | TargetFailed, now: float
    ) -> None:
        if isinstance(event, TargetFailed):
            self.problems.append(event.reason)
            return
        if isinstance(event, CaseStarted):
            self.began = now if self.began is None else self.began
            return
        one = event.result if isinstance(event, SchemaJudged) else event.cell
        kept = self._verdicts if isinstance(one, Cell) else self._schemas
        kept[one.name] = one.verdict
        if not one.scored:
            self._not_scored.add(one.name)
        if self.began is not None and self.done:
            self.ended = now


class Board:
    """Every release of the matrix, in the order in which they were asked for."""

    def __init__(self, expected: Mapping[str, Expected], side_by_side: int) -> None:
        self.releases = {name: Release(name, what) for name, what in expected.items()}
        self.side_by_side = side_by_side

    def handle(self, event: Event, now: float) -> Release | None:
        """Take note; the release that this event completes, if it completes one."""
        match event:
            case CaseStarted(target=target) | TargetFailed(target=target):
                pass
            case CaseFinished():
                target = event.cell.target
            case SchemaJudged():
                target = event.result.target
            case _:
                return None
        release = self.releases.get(target)
        if release is None:
            return None
        before = release.done
        release.note(event, now)
        return release if release.done and not before else None

    @property
    def done(self) -> int:
        return sum(release.done for release in self.releases.values())

    @property
    def to_play(self) -> int:
        """The cells of all releases that have to be played, from the beginning."""
        return sum(release.expected.to_play for release in self.releases.values())

    @property
    def running(self) -> list[Release]:
        return [row for row in self.releases.values() if row.began is not None and not row.done]

    def rows(self) -> list[MatrixRelease]:
        """The releases for `--json`."""
        return [
            MatrixRelease(
                target=row.target,
                cells=row.played,
                expected=row.expected.cells,
                verdicts=verdict_counts(row.verdicts),
                wall_ms=None if row.seconds is None else round(row.seconds * 1000, 3),
                problems=list(dict.fromkeys(row.problems)),
            )
            for row in self.releases.values()
        ]


def spans(names: Iterable[str], order: Sequence[str]) -> str:
    """Releases for people: `2.12.0 to 2.12.8, 2.15.1`, by their neighbourhood in `order`."""
    wanted = set(names)
    runs: list[list[str]] = []
    adjacent = False
    for name in order:
        if name in wanted:
            if adjacent:
                runs[-1].append(name)
            else:
                runs.append([name])
        adjacent = name in wanted
    words = []
    for run in runs:
        words += [f"{run[0]} to {run[-1]}"] if len(run) > 2 else run
    return ", ".join([*words, *sorted(wanted.difference(order))])
