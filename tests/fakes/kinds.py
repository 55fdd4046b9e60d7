"""Every fake by a name, for those who only have a command line."""

from __future__ import annotations

from collections.abc import Callable

from .confusing import AdvisoryFirst, AfterTheEnd, Late, NewStatus, OddHeaders, Twice
from .server import (
    Crashes,
    Cuts,
    Flaky,
    Garbage,
    Mute,
    PingDeaf,
    Polite,
    Refuses,
    Silent,
    Slow,
    Wrong,
    hostile,
)

KINDS: dict[str, Callable[[], Polite]] = {
    "polite": Polite,
    "silent": Silent,
    "mute": lambda: Mute(lambda frame: not frame.subject.startswith("$JS")),
    "ping-deaf": PingDeaf,
    "wrong": Wrong,
    "wrong-acks": lambda: Wrong(about=lambda frame: not frame.subject.startswith("$JS")),
    "slow": Slow,
    "flaky": Flaky,
    "wrong-second": lambda: Flaky(once=True),
    "crashes": Crashes,
    "cuts": Cuts,
    "garbage": Garbage,
    "refuses": Refuses,
    "hostile": hostile,
    "new-status": NewStatus,
    "after-the-end": AfterTheEnd,
    "late": Late,
    "odd-headers": OddHeaders,
    "twice": Twice,
    "advisory-first": AdvisoryFirst,
}
