"""Which revision the reference client keeps to, and in which ways it is told to be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Final

from jetproof.errors import JetproofError
from jetproof.targets.reference_client.knobs import KNOBS

NEWEST: Final = {"adr-31": 8, "adr-37": 3, "adr-50": 10, "adr-53": 4, "model": 1}
"""The revisions that are claimed, unless told otherwise."""

SPOKEN: Final = {"adr-37": (0, 1, 2, 3), "adr-50": (7, 10)}
"""The revisions that can be chosen; of the others it speaks the newest."""

DRAFT: Final = 0
"""The first form of ADR-37, which ends a consume on most errors."""


class Conduct:
    """Asked wherever revisions differ or a knob would show.

    `fired` counts how often each knob came to bear: one that never did has proved nothing.
    """

    def __init__(
        self,
        knobs: Iterable[str] = (),
        *,
        adr37: int = NEWEST["adr-37"],
        adr50: int = NEWEST["adr-50"],
    ) -> None:
        self.knobs = frozenset(knobs)
        self.adr37 = adr37
        self.adr50 = adr50
        self.fired: Counter[str] = Counter()
        known = {knob.name for knob in KNOBS}
        for name in sorted(self.knobs - known):
            raise JetproofError(
                f"the reference client has no knob {name!r}",
                phase="plan",
                hint=f"there are: {', '.join(sorted(known))}",
            )
        for spec, number in (("adr-37", adr37), ("adr-50", adr50)):
            if number not in SPOKEN[spec]:
                raise JetproofError(
                    f"the reference client does not speak {spec}@{number}",
                    phase="plan",
                    hint=f"it speaks {', '.join(f'{spec}@{one}' for one in SPOKEN[spec])}",
                )

    @property
    def draft(self) -> bool:
        """Whether consuming goes by the draft."""
        return self.adr37 == DRAFT

    @property
    def asks_after_reconnect(self) -> bool:
        """Whether a consume asks for its consumer when the connection is back (up to revision 1)."""
        return self.adr37 < 2

    @property
    def claims(self) -> dict[str, int]:
        return {**NEWEST, "adr-37": self.adr37, "adr-50": self.adr50}

    def wrong(self, knob: str) -> bool:
        """Whether to do the wrong thing here; asked only where it makes a difference."""
        if knob not in self.knobs:
            return False
        self.fired[knob] += 1
        return True
