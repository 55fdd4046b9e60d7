"""Two clocks of a consume, without a clock: they are told the time.

`Heartbeat` says when too long nothing was heard. `Pace` keeps a consume that goes on after every
status from asking again and again without a pause: at once the first time, then ever later.
"""

from __future__ import annotations

from dataclasses import dataclass


class Heartbeat:
    """Runs out when nothing was heard for too long; stands still while paused."""

    def __init__(self, idle: float, now: float) -> None:
        self.limit = self.patience(idle)
        self.deadline = now + self.limit
        self.paused: float | None = None
        """Since when it stands still."""

    def patience(self, idle: float) -> float:
        """How long silence may last: twice the idle heartbeat."""
        return 2 * idle

    def heard(self, now: float) -> None:
        """Something came: a message, a status, or a heartbeat."""
        if self.paused is None:
            self.deadline = now + self.limit

    def pause(self, now: float) -> None:
        """The connection is lost."""
        if self.paused is None:
            self.paused = now

    def resume(self, now: float) -> None:
        """The connection is there again: the timer starts anew."""
        self.paused = None
        self.deadline = now + self.limit

    def run_out(self, now: float) -> bool:
        """Whether it has; it then starts anew, so that silence is told time and again."""
        if self.paused is not None or now < self.deadline:
            return False
        self.deadline = now + self.limit
        return True

    @property
    def next_look(self) -> float:
        return float("inf") if self.paused is not None else self.deadline


@dataclass(slots=True)
class Pace:
    """How long to wait before a pull request that follows a status."""

    first: float = 0.1
    most: float = 2.0
    _last: float = float("-inf")
    _step: float = 0.0

    def delay(self, now: float) -> float:
        """The pause before going on now; nothing if the last time is long ago."""
        if now - self._last > self.most:
            self._step = 0.0
        rest = max(0.0, self._last + self._step - now)
        self._step = min(self.most, self._step * 2 or self.first)
        self._last = now + rest
        return rest

    def calm(self) -> None:
        """Something useful came: the next status is the first again."""
        self._step = 0.0
