"""What a position records of a message: its kind, and the few fields that show what was done.

"pub-ack" is the same text for whatever was stored, and a change behind it would not be seen. So a
position adds which message it was, under which sequence, or in which state. Only fields that are
equal in every play are added: no times, no generated names, no sizes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from jetproof.engine.ack_subjects import delivered_by
from jetproof.model.matching import MISSING, at_path

LONGEST = 60  # characters of a payload that are shown as they are

# In the order in which they are shown; what a message does not have is left out.
_ACK = ("seq", "count", "val")
_FLOW = ("last_seq", "seq")
_API = (
    "success",
    "purged",
    "action",
    "reason",
    "config.retention",
    "config.deliver_policy",
    "config.ack_policy",
    "config.replay_policy",
    "state.messages",
    "state.first_seq",
    "state.last_seq",
    "num_pending",
    "num_ack_pending",
)


def precise(
    kind: str, document: object, text: str, reply: str, sequences: Sequence[str] = ()
) -> str:
    """A message without a status; `kind` is its summary, `sequences` what Nats-Sequence says."""
    which = _which(reply, sequences)
    if not isinstance(document, Mapping):
        return ", ".join((_payload(kind, text), *which))
    if "error" in document:
        return kind
    if kind.endswith("pub-ack"):
        return " ".join((kind, *_fields(document, _ACK)))
    if kind == "json":
        return ", ".join((_payload(kind, text), *which))
    if kind in ("ack", "gap"):
        return " ".join((kind, *_fields(document, _FLOW)))
    fields = ", ".join(_fields(document, _API))
    return f"{kind} ({fields})" if fields else kind


def _payload(kind: str, text: str) -> str:
    """The payload itself where it is short and can be read."""
    shown = text and len(text) <= LONGEST and text.isprintable()
    return f"payload {text}" if shown else kind


def _which(reply: str, sequences: Sequence[str]) -> tuple[str, ...]:
    """Which stored message it is: by the header of a direct get, or by the subject of its ack."""
    if sequences:
        return (f"seq {' and '.join(sequences)}",)
    said = delivered_by(reply)
    return () if said is None else (f"seq {said.stream_seq}", f"delivery {said.count}")


def _fields(document: object, paths: Sequence[str]) -> list[str]:
    found = ((path.rpartition(".")[2], at_path(document, path)) for path in paths)
    return [
        f"{name} {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in found
        if value is not MISSING and isinstance(value, (str, int, float))
    ]
