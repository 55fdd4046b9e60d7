"""The clauses of promises, by what they are about, and the streams that a case has."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from jetproof.engine.play import Play
from jetproof.model.verdict import ALIVE

STORED: Final = "PRM-001"
BATCH: Final = "PRM-002"
ORDER: Final = "PRM-003"
GAPS: Final = "PRM-004"
ACKED: Final = "PRM-005"
REFUSED: Final = "PRM-006"
STREAM: Final = "PRM-007"
CONSUMER: Final = "PRM-008"
PATHS: Final = "PRM-009"
LIMITS: Final = "PRM-014"
RETURNS: Final = "PRM-021"
HANDED: Final = "PRM-024"
ACKNOWLEDGED: Final = "PRM-025"
COMMITTED: Final = "PRM-026"
WHOLE: Final = "PRM-027"
UNCHANGED: Final = "PRM-028"
AS_GIVEN: Final = "PRM-029"
OF_CLIENTS: Final = frozenset(
    {RETURNS, HANDED, ACKNOWLEDGED, COMMITTED, WHOLE, UNCHANGED, AS_GIVEN}
)
JUDGED: Final = OF_CLIENTS | {
    *(STORED, BATCH, ORDER, GAPS, ACKED, REFUSED, STREAM, CONSUMER, PATHS, LIMITS, ALIVE)
}


def streams_of(play: Play) -> list[str]:
    """The streams that the case was given, and those that it has made so far."""
    given = [str(play.env[name]) for name, _ in play.case.given.streams]
    return list(dict.fromkeys((*given, *_made(play.token, play.api_subjects))))


def _made(token: str, subjects: Iterable[str]) -> Iterable[str]:
    for subject in subjects:
        if ".STREAM.CREATE." in subject and token in subject:
            yield subject.rsplit(".", 1)[1]
