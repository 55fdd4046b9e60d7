"""What two transcripts of one case say differently, field by field.

Frames are aligned first; then each pair is taken apart into fields (a status, a header, a place in a JSON
document). A field has a place in its case (`Place`) and a kind that cases share (`Signature`): a field
that a release adds to every reply is one difference and not a thousand.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from jetproof.campaigns.alignment import (
    aligned,
    comparable,
    plain,
    steps_of,
)
from jetproof.model.verdict import FrameRecord

ABSENT = "absent"
WHOLE = "message"
_API = "$JS.API."
_ADVISORY = "$JS.EVENT.ADVISORY."
_SETUP = re.compile(
    r"^\$JS\.EVENT\.ADVISORY\.(API|STREAM\.(CREATED|LEADER_ELECTED|QUORUM_LOST)"
    r"|CONSUMER\.(LEADER_ELECTED|QUORUM_LOST))(\.|$)"
)
_PAYLOAD_SHOWN = 200
_INDEX = re.compile(r"\[[0-9]+\]")
_FREE = re.compile(
    r"(^|\.)(leader|leader_since|raft_group|replicas(\[.*)?|active|last_active|lag)$"
)
"""Fields that say who leads at the moment, and how long ago something was."""


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where in a case something differs; `number` counts the fields of a step with this name."""

    step: str
    kind: str
    field: str
    number: int = 0

    @property
    def signature(self) -> Signature:
        return Signature(self.kind, _INDEX.sub("[]", self.field))


@dataclass(frozen=True, slots=True, order=True)
class Signature:
    """What differs, in whatever case: `reply to STREAM.INFO`, `config.allow_batched`."""

    kind: str
    field: str


Change = tuple[str, str]
"""What stands there on either side."""


def neutral(frames: Sequence[FrameRecord], versions: Collection[str]) -> list[FrameRecord]:
    """The frames without the versions of what is compared, which always differ."""
    told = [version.encode() for version in versions if version]

    def without(frame: FrameRecord) -> FrameRecord:
        payload = frame.payload
        for version in told:
            payload = payload.replace(version, b"<version>")
        return frame if payload is frame.payload else replace(frame, payload=payload)

    return [without(frame) for frame in frames]


def mark_of(frames: Sequence[FrameRecord], *, of_client: bool) -> str:
    """A hash of all that counts in a transcript."""
    found = hashlib.sha256()
    steps = steps_of(frames)
    for step in sorted(steps):
        for frame in steps[step]:
            if _counts(frame, of_client):
                found.update(repr((step, comparable(frame))).encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


def differences(
    a: Sequence[FrameRecord], b: Sequence[FrameRecord], *, of_client: bool
) -> dict[Place, Change]:
    """The fields that differ between two transcripts."""
    asked = {frame.reply: frame.subject for frame in (*a, *b) if frame.direction == ">"}
    found: dict[Place, Change] = {}
    for pair in aligned(a, b):
        one, other = pair.a, pair.b
        known = one or other
        if pair.same or known is None or not _counts(known, of_client):
            continue
        kinds = [_kind(frame, asked) for frame in (one, other) if frame is not None]
        if one is None or other is None or len(set(kinds)) > 1:
            for frame, kind, change in (
                (one, kinds[0], ("present", ABSENT)),
                (other, kinds[-1], (ABSENT, "present")),
            ):
                if frame is not None:
                    _put(found, Place(pair.step, kind, WHOLE), change)
            continue
        fields = _fields(one), _fields(other)
        for name in sorted(fields[0].keys() | fields[1].keys()):
            change = fields[0].get(name, ABSENT), fields[1].get(name, ABSENT)
            if change[0] != change[1]:
                _put(found, Place(pair.step, kinds[0], name), change)
    return found


def stable(
    across: Sequence[Mapping[Place, Change]], within: Iterable[Mapping[Place, Change]]
) -> dict[Place, Change]:
    """What differs between the sides in every play, and between two plays of no side."""
    if not across:
        return {}
    unsteady = {place for one in within for place in one}
    return {
        place: change
        for place, change in across[0].items()
        if place not in unsteady and all(place in one for one in across[1:])
    }


def _put(found: dict[Place, Change], place: Place, change: Change) -> None:
    while place in found:
        place = replace(place, number=place.number + 1)
    found[place] = change


def _counts(frame: FrameRecord, of_client: bool) -> bool:
    """Whether a frame is the doing of what is compared, and not of the harness."""
    if of_client:
        return frame.direction != "!"
    return frame.direction == "<" and _SETUP.match(frame.subject) is None


def _kind(frame: FrameRecord, asked: Mapping[str, str]) -> str:
    """What a frame is, in words that do not depend on the case."""
    if frame.direction == ">":
        return f"sent: {_short(frame.subject)}"
    if frame.subject.startswith(_ADVISORY):
        return f"advisory {_words(frame.subject.removeprefix(_ADVISORY))}"
    request = asked.get(frame.subject)
    if request is not None and request.startswith(_API) and "CONSUMER.MSG.NEXT" not in request:
        return f"reply to {_words(request.removeprefix(_API))}"
    if frame.status is not None:
        return f"status {frame.status}"
    if frame.reply.startswith("$JS.ACK."):
        return "delivered message"
    return "message" if request is None else "reply to a message"


def _short(subject: str) -> str:
    return _words(subject.removeprefix(_API)) if subject.startswith(_API) else "message"


def _words(subject: str) -> str:
    """The upper-case words that a subject begins with: STREAM.MSG.GET, DIRECT.GET."""
    words = []
    for word in subject.split("."):
        if not word.isupper() or not word.replace("_", "").isalpha():
            break
        words.append(word)
    return ".".join(words) or "a message"


def _fields(frame: FrameRecord) -> dict[str, str]:
    """A frame as a flat mapping; its payload field by field where it is a JSON object."""
    found = {"op": frame.op, "subject": plain(frame.subject)}
    if frame.reply:
        found["reply subject"] = plain(frame.reply)
    if frame.status is not None:
        found["status"] = str(frame.status)
    if frame.description:
        found["description"] = plain(frame.description)
    if frame.note:
        found["note"] = plain(frame.note)
    for name, value in frame.headers or ():
        while f"header {name}" in found:
            name += " (again)"
        found[f"header {name}"] = plain(value)
    text = frame.payload.decode("utf-8", "backslashreplace")
    if frame.payload.startswith(b"{"):
        try:
            found.update(_flat(json.loads(text), ""))
            return found
        except (ValueError, RecursionError):
            pass
    if text:
        found["payload"] = plain(text)[:_PAYLOAD_SHOWN]
    return found


def _flat(value: object, path: str) -> Iterator[tuple[str, str]]:
    match value:
        case dict() if value:
            for name, inner in value.items():
                yield from _flat(inner, f"{path}.{plain(name)}" if path else plain(name))
        case list() if value:
            for place, inner in enumerate(value):
                yield from _flat(inner, f"{path}[{place}]")
        case _ if _FREE.search(path):
            return
        case str():
            yield path or "document", plain(value)
        case _:
            yield path or "document", plain(json.dumps(value))


__all__ = [
    "ABSENT",
    "WHOLE",
    "Change",
    "Place",
    "Signature",
    "differences",
    "mark_of",
    "neutral",
    "stable",
]
