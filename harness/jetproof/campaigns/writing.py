"""Where the events of one run of a campaign go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from jetproof.errors import JetproofError
from jetproof.events import Event

UNWRITTEN = "the results cannot be written"


class Writer(Protocol):
    """A run's folder. A write that fails is kept in `failures`."""

    @property
    def failures(self) -> Sequence[JetproofError]: ...

    def __call__(self, event: Event) -> None: ...

    def close(self) -> None: ...
