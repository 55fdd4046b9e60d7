"""The errors that reach a user: what was asked, what happened, what to do, and in which phase."""

from __future__ import annotations

from typing import Literal

Phase = Literal["load", "plan", "start", "play", "adapter", "write"]


class JetproofError(Exception):
    """An error with the phase it belongs to and, where there is one, the way out."""

    def __init__(self, message: str, *, phase: Phase, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.phase: Phase = phase
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


class TooSlow(JetproofError):
    """The machine did not keep the time that a case needs: nothing is said about the server."""
