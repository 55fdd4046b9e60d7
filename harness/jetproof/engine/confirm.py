"""Red cells are played again before they are reported.

A failure that no ledger entry explains is a suspect. It is played among the same neighbours once more,
because concurrency exposes real races, and then alone, each time on a fresh server. A suspect that fails
again stands. One that never fails again is `unstable`, with the transcripts of all its plays. The number
of suspects that are played again has a bound; the others are reported unconfirmed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from jetproof.engine.player import Outcome
from jetproof.engine.verdicts import Ruling
from jetproof.model.verdict import Check, Fault, FrameRecord, Question, Verdict
from jetproof.plan import Group, Item

SUSPECTS_MOST: Final = 20
"""So many red cells of a target are played again."""


@dataclass(frozen=True, slots=True)
class Played:
    """One play of one item: where, what it left, and what it comes to."""

    group: Group
    item: Item
    outcome: Outcome
    ruling: Ruling
    started_at: str
    log: tuple[str, ...] = ()
    how: str = "first"

    @property
    def key(self) -> tuple[str, int, str, str]:
        """Which cell it is about."""
        client = self.item.client.name if self.item.client else ""
        return self.item.case.id, self.item.revision, client, self.group.target.name

    @property
    def subject(self) -> tuple[str, str]:
        """Whose failures have a bound together: a target, or a client library on one."""
        return self.key[2:]

    @property
    def red(self) -> bool:
        return self.ruling.verdict.nonconforming

    @property
    def broken(self) -> tuple[Check, ...]:
        return tuple(check for check in self.outcome.checks if not check.ok)


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the plays of one cell come to together."""

    ruling: Ruling
    plays: tuple[str, ...]
    never_right: bool
    checks: Sequence[Check]
    frames: Sequence[FrameRecord]
    questions: Sequence[Question]


def is_settled(plays: Sequence[Played]) -> bool:
    """Whether a further play can change nothing."""
    first, *more = plays
    return any(play.red or _turns_known(first, play) for play in more)


def settle(plays: Sequence[Played], unconfirmed: str = "") -> Confirmed:
    """What a suspect comes to after all its plays; `unconfirmed` is why there are no more."""
    first, *more = plays
    ruling, judged = (
        first.ruling,
        [play for play in more if play.ruling.verdict is not Verdict.ERROR],
    )
    known = next((play for play in judged if _turns_known(first, play)), None)
    shown = first if known is None else known
    checks, frames = shown.outcome.checks, shown.outcome.frames
    questions = shown.outcome.questions
    if known is not None:
        ruling = known.ruling
    elif any(play.red for play in more):
        pass  # it stands
    elif not judged:
        last = f"played again without a verdict: {more[-1].ruling.reason}" if more else "not played"
        why = unconfirmed or last
        ruling = replace(ruling, reason=f"{ruling.reason} (not confirmed: {why})")
    else:
        words = f"failed in 1 of {len(plays)} plays: {ruling.reason}"
        ruling = Ruling(Verdict.UNSTABLE, words)
        checks = tuple(chain.from_iterable(_labelled(n, play) for n, play in enumerate(plays, 1)))
        frames = tuple(chain.from_iterable(_separated(n, plays) for n in range(len(plays))))
        questions = _in_one_transcript(plays)
    return Confirmed(
        ruling,
        tuple(play.ruling.verdict.value for play in plays),
        any(
            check.fault is Fault.NEVER_RIGHT for play in plays if play.red for check in play.broken
        ),
        checks,
        frames,
        questions,
    )


def _turns_known(first: Played, play: Played) -> bool:
    """A `stale` that replays as `known` is `known`."""
    return first.ruling.verdict is Verdict.STALE and play.ruling.verdict is Verdict.KNOWN


def _labelled(number: int, play: Played) -> tuple[Check, ...]:
    """The checks of one play among several."""
    return tuple(
        replace(check, iteration=", ".join(filter(None, (f"play {number}", check.iteration))))
        for check in play.outcome.checks
    )


def _separated(index: int, plays: Sequence[Played]) -> Sequence[FrameRecord]:
    """The transcript of one play, below a line that says which one it is."""
    play = plays[index]
    words = f"play {index + 1} of {len(plays)}, {play.how}: {play.ruling.verdict.value}"
    return (FrameRecord(0.0, "!", "harness", "play", note=words), *play.outcome.frames)


def _in_one_transcript(plays: Sequence[Played]) -> tuple[Question, ...]:
    """The questions of all plays, each with its place among the frames of `_separated`."""
    found: list[Question] = []
    before = 0
    for play in plays:
        before += 1  # the line that says which play it is
        found += [replace(one, after=one.after + before) for one in play.outcome.questions]
        before += len(play.outcome.frames)
    return tuple(found)
