"""The values of the adapter protocol and the plain Python values that they stand for.

| on the line | here |
|---|---|
| `"seq": "7"`, and the other 64-bit numbers | `7` |
| `"data": "aGVsbG8="` | text that keeps every byte (`surrogateescape`), as a case writes it |
| `"headers": [["Name", "value"]]` | the same pairs; values are `WireText`, since headers have no types |

Both directions can be applied to what is plain already: nothing happens to it then, except that
`encode` takes every `data` for a payload.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from jetproof.model.matching import WireText

NUMBERS: Final = frozenset(
    {
        "ack_seq",
        "batch_seq",
        "consumer_seq",
        "count",
        "delivered",
        "expect_last_seq",
        "expect_last_subject_seq",
        "min_last_revision",
        "min_last_seq",
        "num_ack_pending",
        "num_pending",
        "num_redelivered",
        "num_waiting",
        "pending",
        "revision",
        "seq",
        "size",
        "start_seq",
        "up_to_seq",
    }
)
"""The fields that hold 64-bit numbers. Limits such as `batch` and `max_messages` are plain numbers."""

_AS_GIVEN: Final = frozenset({"config"})


class ValueRefused(ValueError):
    """A value that does not have the form which the protocol gives it."""


def decode(body: object) -> object:
    """What an adapter said, in plain Python values; ValueRefused if a payload is no base64."""
    if isinstance(body, dict):
        plain: dict[object, object] = {}
        for name, value in body.items():  # in one loop, since a fetch may bring thousands
            if type(value) is not str:
                plain[name] = _decoded(name, value)
            elif name in NUMBERS:
                plain[name] = int(value) if value.isdecimal() and value.isascii() else value
            else:
                plain[name] = _payload(value) if name == "data" else value
        return plain
    if isinstance(body, list):
        return [decode(item) for item in body]
    return body


def encode(params: Mapping[str, object]) -> dict[str, object]:
    """The parameters of a call in the form in which they are sent.

    A payload may be text or bytes, headers a list of pairs or a mapping.
    """
    return {name: _encoded(name, value) for name, value in params.items()}


def payload_bytes(data: object) -> bytes:
    """The bytes of a payload in a decoded body."""
    return data if isinstance(data, bytes) else str(data).encode("utf-8", "surrogateescape")


def _decoded(name: str, value: object) -> object:
    if name == "headers" and isinstance(value, list):
        return [[pair[0], WireText(pair[1])] for pair in value]
    return decode(value)


def _payload(text: str) -> WireText:
    try:
        content = binascii.a2b_base64(text, strict_mode=True)
    except (binascii.Error, ValueError) as error:
        raise ValueRefused(f"data is not base64: {error}") from None
    return WireText(content.decode("utf-8", "surrogateescape"))


def _encoded(name: str, value: object) -> object:
    if name in NUMBERS and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if name == "data" and isinstance(value, (str, bytes)):
        return base64.b64encode(payload_bytes(value)).decode("ascii")
    if name == "headers" and isinstance(value, Mapping):
        return [[str(key), str(item)] for key, item in value.items()]
    if name not in _AS_GIVEN and isinstance(value, Mapping):
        return encode(value)
    if isinstance(value, (list, tuple)):
        return [encode(item) if isinstance(item, Mapping) else item for item in value]
    return value
