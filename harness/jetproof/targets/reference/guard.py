"""ADR-53's rule for guarded reads, as a pure function: who may answer, and what if nobody may.

A read that carries `min_last_seq` is answered with data only by a server whose own copy of the
stream has reached that sequence. Whoever may pick the request up is a `Copy`; which of them does
is chance, so a read is simply served only if all of them are far enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from jetproof.targets.reference.knobs import Conduct


@dataclass(frozen=True, slots=True)
class Copy:
    """One server's copy of a stream, or of a mirror of it.

    `last_seq` is the highest sequence it has shown: a server that does not answer (it is paused,
    say) may have more by now, never less. `leads` if it alone says that it does.
    """

    node: str
    last_seq: int
    messages: int = 0
    leads: bool = False
    mirror: bool = False
    answers: bool = True


class Ruling(Enum):
    SERVE = "serve"
    """Whoever picks the request up is far enough."""
    REDIRECT = "redirect"
    """A follower may not be: the leader answers in its place."""
    REFUSE = "refuse"
    """Nobody can answer for sure: 412, after a while."""


def rule(minimum: int, copies: Sequence[Copy], conduct: Conduct) -> Ruling:
    """What becomes of a read that may be picked up by any of these copies."""
    behind = [copy for copy in copies if not reached(minimum, copy, conduct)]
    if not behind:
        if conduct.knobs.refuse_when_met and conduct.wrong("refuse_when_met"):
            return Ruling.REFUSE
        if any(copy.mirror for copy in copies) and conduct.wrong("mirrors_refuse"):
            return Ruling.REFUSE
        if not _majority(copies) and conduct.wrong("reads_need_quorum"):
            return Ruling.REFUSE
        return Ruling.SERVE
    leader = next((copy for copy in copies if copy.leads and not copy.mirror), None)
    if leader is None:
        # A mirror redirects to nobody, not even to its own leader.
        if any(copy.mirror for copy in copies):
            if conduct.wrong("mirrors_answer_behind"):
                return Ruling.SERVE
            if conduct.wrong("mirrors_redirect"):
                return Ruling.REDIRECT
        return Ruling.REFUSE
    if leader in behind or not leader.answers:
        if leader.answers and conduct.wrong("leader_answers_behind"):
            return Ruling.SERVE
        return Ruling.REFUSE
    if conduct.wrong("followers_answer"):
        return Ruling.SERVE
    if conduct.wrong("followers_refuse"):
        return Ruling.REFUSE
    return Ruling.REDIRECT


def reached(minimum: int, copy: Copy, conduct: Conduct) -> bool:
    """Whether a copy's last sequence is at least the one asked for."""
    if copy.last_seq == minimum and conduct.wrong("want_more_than_asked"):
        return False
    if (copy.last_seq >= minimum) != (copy.messages >= minimum) and conduct.wrong(
        "compare_number_of_messages"
    ):
        return copy.messages >= minimum
    return copy.last_seq >= minimum


def _majority(copies: Sequence[Copy]) -> bool:
    return sum(copy.answers for copy in copies) > len(copies) // 2
