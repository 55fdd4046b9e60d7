"""ADR-53's rule for guarded reads, without any I/O: who may answer, and what if nobody may.

A read that carries `min_last_seq` is answered with data only by a server whose own copy of the
stream has reached that sequence. Whoever may pick the request up is a `Copy`; which of them does
is chance, so a read is simply served only if all of them are far enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum


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


class Guard:
    """Decides about reads by what the copies of a stream hold."""

    def rule(self, minimum: int, copies: Sequence[Copy]) -> Ruling:
        """What becomes of a read that may be picked up by any of these copies."""
        behind = [copy for copy in copies if not self.reached(minimum, copy)]
        if not behind:
            return self.all_reached(copies)
        leader = next((copy for copy in copies if copy.leads and not copy.mirror), None)
        if leader is None:
            return self.behind_without_leader(copies)
        if leader in behind or not leader.answers:
            return self.leader_behind(leader)
        return self.follower_behind()

    def reached(self, minimum: int, copy: Copy) -> bool:
        """Whether a copy's last sequence is at least the one asked for."""
        return copy.last_seq >= minimum

    def all_reached(self, copies: Sequence[Copy]) -> Ruling:
        """No quorum is needed, and a mirror may answer too."""
        return Ruling.SERVE

    def behind_without_leader(self, copies: Sequence[Copy]) -> Ruling:
        """A mirror redirects to nobody, not even to its own leader."""
        return Ruling.REFUSE

    def leader_behind(self, leader: Copy) -> Ruling:
        return Ruling.REFUSE

    def follower_behind(self) -> Ruling:
        return Ruling.REDIRECT

    def leader_serves(self, minimum: int, leader: Copy) -> bool:
        """Whether the leader answers a message get, which nobody else does."""
        return self.reached(minimum, leader)
