"""Which revision of each text the client keeps to, and which class plays each part of it."""

from __future__ import annotations

from typing import Final

from jetproof.errors import JetproofError
from jetproof.targets.parts import Parts

NEWEST: Final = {"adr-31": 8, "adr-37": 3, "adr-50": 10, "adr-53": 4, "model": 1}
"""The revisions that are claimed by default."""

SPOKEN: Final = {"adr-37": (0, 1, 2, 3), "adr-50": (7, 10)}
"""The revisions that can be chosen. Of the other texts the client speaks only the newest."""

DRAFT: Final = 0
"""The first form of ADR-37, which ends a consume on most errors."""


class Conduct(Parts):
    """What the parts of the client ask before they act in one of several ways."""

    def __init__(self, *, adr37: int = NEWEST["adr-37"], adr50: int = NEWEST["adr-50"]) -> None:
        self.adr37 = adr37
        self.adr50 = adr50
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

    @property
    def parts(self) -> dict[str, str]:
        """What `hello` says about this client beside its version."""
        return {}
