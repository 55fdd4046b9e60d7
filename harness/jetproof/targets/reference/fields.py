"""The field `min_last_seq` in a request, and a request without it."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, Final

from jetproof.wire.frames import Pub

FIELD: Final = b"min_last_seq"
NAME: Final = "min_last_seq"
_BEYOND: Final = 1 << 64


def read_object(payload: bytes) -> dict[str, Any] | None:
    """The JSON object that a payload is, or None."""
    try:
        document = json.loads(payload)
    except ValueError:
        return None
    return document if isinstance(document, dict) else None


def minimum_of(payload: bytes) -> tuple[int | None, dict[str, Any]] | None:
    """The field's value, and the request without it; None if the request does not have it.

    The value is None if it is no sequence.
    """
    document = read_object(payload)
    if document is None or NAME not in document:
        return None
    minimum = sequence(document.pop(NAME))
    return minimum, document


def sequence(value: object) -> int | None:
    """A stream sequence: a whole number of 64 bits."""
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and isinstance(value, int) and 0 <= value < _BEYOND else None


def without(frame: Pub, body: dict[str, Any]) -> Pub:
    """The same message with this body; an empty object is sent as no payload at all."""
    return replace(frame, payload=json.dumps(body).encode() if body else b"")
