"""The names that a case has to itself, fresh in every run, and the way back to how it says them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jetproof.model.template import Scalar


class FreshNames:
    """Values for what is given to a case, all made from one token that no other case has."""

    def __init__(self, token: str, case: str, streams: Iterable[str]) -> None:
        self.token = token
        named = {name: f"{name}_{token}" for name in streams}
        fresh = {"batch": f"batch_{token}", "inbox": f"_INBOX.{token}", **named}
        self.values: dict[str, Scalar] = {"case": case, "id": token, **fresh}
        # The longest first: $upstream's value ends with that of $stream.
        self._fresh = sorted(fresh.items(), key=lambda pair: -len(pair[1]))

    def generic(self, value: Any) -> Any:
        """The value with what is fresh in every run put back to its variable's name."""
        if isinstance(value, str):
            if self.token not in value:
                return value
            for name, fresh in self._fresh:
                value = value.replace(fresh, f"${name}")
            return value.replace(self.token, "$id")
        if isinstance(value, list):
            return [self.generic(item) for item in value]
        if isinstance(value, dict):
            return {self.generic(key): self.generic(item) for key, item in value.items()}
        return value
