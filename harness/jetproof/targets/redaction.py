"""Events as they may be shown and written: without the passwords of targets."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from jetproof.events import (
    CaseFinished,
    CaseHeld,
    CaseStarted,
    Event,
    RunStarted,
    SchemaJudged,
    TargetFailed,
    TargetStarted,
    TargetStopped,
)
from jetproof.model.verdict import Cell, SchemaResult
from jetproof.targets.spec import redacted

Judged = TypeVar("Judged", Cell, SchemaResult)


def without_passwords(event: Event) -> Event:
    """The event with every URL as it may be shown and written."""
    match event:
        case RunStarted():
            targets = tuple(map(redacted, event.targets))
            return replace(event, targets=targets, command=tuple(map(redacted, event.command)))
        case TargetFailed():
            return replace(event, target=redacted(event.target), reason=redacted(event.reason))
        case TargetStarted() | TargetStopped() | CaseStarted() | CaseHeld():
            return replace(event, target=redacted(event.target))
        case CaseFinished():
            return replace(event, cell=_shown(event.cell))
        case SchemaJudged():
            return replace(event, result=_shown(event.result))
        case _:
            return event


def _shown(one: Judged) -> Judged:
    return replace(
        one,
        target=redacted(one.target),
        replay=redacted(one.replay),
        reason=redacted(one.reason),
    )
