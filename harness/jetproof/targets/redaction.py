"""Events as they may be shown and written: without the passwords of targets."""

from __future__ import annotations

from dataclasses import replace

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
from jetproof.targets.spec import redacted


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
        case CaseFinished(cell=cell):
            changes = (redacted(cell.target), redacted(cell.replay), redacted(cell.reason))
            target, replay, reason = changes
            return replace(event, cell=replace(cell, target=target, replay=replay, reason=reason))
        case SchemaJudged(result=result):
            changes = (redacted(result.target), redacted(result.replay), redacted(result.reason))
            target, replay, reason = changes
            clean = replace(result, target=target, replay=replay, reason=reason)
            return replace(event, result=clean)
        case _:
            return event
