"""What a position records of a message: its kind, and the few fields that show what was done.

"pub-ack" is the same text for whatever was stored, and a change behind it would not be seen. So a
position adds which message it was, under which sequence, or in which state. Only fields that are
equal in every play are added: no times, no generated names, no sizes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from jetproof.engine.ack_subjects import delivered_by
from jetproof.model.matching import MISSING, at_path

LONGEST = 60  # characters of a payload that are shown as they are
LONGEST_HEX = 16  # bytes of a payload that cannot be read
SEVERAL = 8  # things of a list that are named one by one

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


def effect(body: object) -> str:
    """What a call of a client library returned: which messages, under which numbers."""
    if not isinstance(body, Mapping):
        return ""
    found: list[str] = []
    if isinstance(ack := body.get("ack"), Mapping):
        found += ["duplicate"] if ack.get("duplicate") else []
        found += _fields(ack, ("seq", "count"))
    if body.get("acked"):
        found.append("acknowledged")
    found += _fields(body, ("batch_seq", "revision"))
    for name in ("messages", "keys"):
        if isinstance(several := body.get(name), list):
            found.append(f"{name} {listed(map(which, several)) or 'none'}")
    for name in ("message", "entry", "data"):
        if name in body:
            found.append(which(body[name]) if body[name] is not None else f"no {name}")
    if isinstance(info := body.get("info"), Mapping):
        found += _fields(info, ("num_pending", "num_ack_pending", "size"))
    return ", ".join(found)


def which(one: object) -> str:
    """Which message or entry it is: by its number, else by what it holds."""
    if not isinstance(one, Mapping):
        return str(_payload(f"of {len(str(one))} characters", str(one))).removeprefix("payload ")
    number = one.get("seq", one.get("revision"))
    shown = [] if number is None else [str(number)]
    if one.get("operation") not in (None, "put"):
        shown.append(str(one["operation"]))
    return " ".join(shown) or _payload("empty", str(one.get("data", "")))


def listed(words: Iterable[str]) -> str:
    """The first few of a list, and how many there are."""
    known = list(words)
    told = ", ".join(known[:SEVERAL])
    return f"{told}, … ({len(known)})" if len(known) > SEVERAL else told


def _payload(kind: str, text: str) -> str:
    """The payload itself where it is short and can be read, and its bytes where it is very short."""
    if text and len(text) <= LONGEST and text.isprintable():
        return f"payload {text}"
    octets = text.encode("utf-8", "surrogateescape") if text else b""
    return f"payload hex {octets.hex()}" if 0 < len(octets) <= LONGEST_HEX else kind


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
