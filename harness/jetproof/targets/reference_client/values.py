"""Values of the protocol of adapters: 64-bit numbers as digits, payloads as base64, times."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final

from jetproof.targets.reference_client.errors import ClientError
from jetproof.wire.headers import Headers

MILLISECOND: Final = 1_000_000
"""In nanoseconds, the unit of durations in JetStream's JSON."""


def bad_call(text: str) -> ClientError:
    return ClientError("BadCall", text)


def not_open(name: object) -> ClientError:
    """Nothing of the kind that a call is made on has that name: its opening failed, or never was."""
    return ClientError("NotOpen", f"nothing that this can be called on is open as {name!r}")


def number(params: Mapping[str, Any], name: str) -> int | None:
    """A whole number, as digits or as a JSON number; None if it is not given."""
    value = params.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not str(value).lstrip("-").isdigit():
        raise bad_call(f"{name}: {value!r} is not a whole number")
    return int(value)


def text(params: Mapping[str, Any], name: str) -> str:
    """A text that must be given."""
    value = params.get(name)
    if not isinstance(value, str):
        raise bad_call(f"{name}: a text is needed, not {value!r}")
    return value


def payload(params: Mapping[str, Any]) -> bytes:
    try:
        return base64.b64decode(params.get("data") or "", validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise bad_call(f"data: {error}") from None


def header_items(params: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(str(name), str(value)) for name, value in params.get("headers") or []]


def encoded(data: bytes) -> str:
    return base64.b64encode(data).decode()


def header_pairs(headers: Headers | None) -> list[list[str]]:
    return [] if headers is None else [[name, value] for name, value in headers]


def digits(fields: Mapping[str, int | None]) -> dict[str, str]:
    """Those that are known, as strings of digits."""
    return {name: str(value) for name, value in fields.items() if value is not None}


def rfc3339(nanoseconds: int) -> str:
    """A time of nanoseconds since 1970, with all of them."""
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{rest:09d}Z"
