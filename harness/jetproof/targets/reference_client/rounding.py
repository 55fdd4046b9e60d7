"""A knob for all numbers: those that a double cannot hold are rounded, in calls and in what comes of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from jetproof.targets.reference_client.conduct import Conduct
from jetproof.targets.reference_client.protocol import Handler

_EXACT: Final = 2**53


def rounding(handler: Handler, conduct: Conduct) -> Handler:
    """The handler of a client that keeps numbers as doubles, if that is its knob."""

    async def handle(params: Mapping[str, Any]) -> Mapping[str, Any]:
        told: Mapping[str, Any] = rounded(await handler(rounded(params, conduct)), conduct)
        return told

    return handle


def rounded(value: Any, conduct: Conduct) -> Any:
    """The same document; 64-bit numbers are digits in it."""
    if isinstance(value, Mapping):
        return {name: rounded(one, conduct) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one, conduct) for one in value]
    if not isinstance(value, str) or not value.isdecimal() or int(value) <= _EXACT:
        return value
    return str(int(float(value))) if conduct.wrong("numbers-rounded") else value
