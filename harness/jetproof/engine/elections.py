"""Elections that nobody asked for.

On a busy machine a cluster may elect another leader by itself. What a case about something else then
sees (a batch that is gone, an advisory that nobody sends) says nothing about its clauses.
"""

from __future__ import annotations

import re
from collections import Counter

from jetproof.engine.play import Play

_ELECTED = re.compile(r"\$JS\.EVENT\.ADVISORY\.(?:STREAM|CONSUMER)\.LEADER_ELECTED\.(.+)")
_CALLS = re.compile(
    r"\$JS\.API\.(?:STREAM\.(?:DELETE|LEADER|PEER|PURGE|RESTORE|UPDATE)"
    r"|CONSUMER\.(?:CREATE|DELETE|DURABLE|LEADER)|SERVER)\."
)
"""Requests that may well lead to an election, or make anew what had a leader before."""


def uncalled_for(play: Play) -> str | None:
    """Why a failure is none: a leader changed, and the case did nothing that would change it."""
    if any(frame.connection == "harness" for frame in play.transcript.frames):
        return None  # it did something to the servers
    if any(_CALLS.match(subject) for subject, _ in play.requests.values()):
        return None
    seen = [frame.subject for frame in play.transcript.frames if frame.connection == "observer"]
    elected = Counter(found[1] for subject in seen if (found := _ELECTED.match(subject)))
    again = [name for name, times in elected.items() if times > 1]
    return f"the leader of {again[0]} changed by itself" if again else None
