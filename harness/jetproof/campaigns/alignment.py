"""Two transcripts of one case, side by side: which frames correspond, and where they first differ.

What a run makes up (names, times, ids) is put back to placeholders before frames are compared. A
reply stands in the step of its request, whenever it came; repeated questions count once, with the
last answer; advisories stand at the end, sorted, since they race with everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from jetproof.engine.session import TOKEN
from jetproof.model.verdict import FrameRecord

ADVISORIES = "advisories"
_OBSERVER = "observer"
_PAIRS_MOST = 250_000
_POLL = re.compile(
    r"\$JS\.API\.(INFO|STREAM\.(INFO|MSG\.GET|NAMES|LIST)|CONSUMER\.(INFO|NAMES|LIST)|DIRECT\.GET)"
)
_PLACEHOLDERS = (
    (TOKEN, "<id>"),
    (re.compile(r"_INBOX\.<id>(\.r[0-9]+)?"), "<inbox>"),
    # The zero time is an answer, not a time.
    (
        re.compile(r"(?!0001-)\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:\d\d)"),
        "<time>",
    ),
    (re.compile(r"\bN[A-Z2-7]{55}\b"), "<server>"),
    (
        re.compile(
            r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*[0-9])(?=[0-9A-Za-z]*[A-Z])[0-9A-Za-z]{22}(?![0-9A-Za-z])"
        ),
        "<nuid>",
    ),
    (re.compile(r"(?<![0-9])1[0-9]{18}(?![0-9])"), "<nanoseconds>"),
    # How much is pending when a message leaves depends on how fast it was asked for.
    (re.compile(r"(\$JS\.ACK\.[^ ]+\.<nanoseconds>)\.[0-9]+"), r"\1.<pending>"),
    (re.compile(r'"leader":"[^"]*"'), '"leader":"<node>"'),
    (re.compile(r'"replicas":\[[^\]]*\]'), '"replicas":<replicas>'),
    (re.compile(r'"raft_group":"[^"]*"'), '"raft_group":"<group>"'),
    (re.compile(r'"(active|last_active)":[0-9]+'), r'"\1":<duration>'),
)

Comparable = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two frames that stand for each other; None where one side has none."""

    step: str
    a: FrameRecord | None
    b: FrameRecord | None
    same: bool


def plain(text: str) -> str:
    """The text without what differs from run to run."""
    for pattern, instead in _PLACEHOLDERS:
        text = pattern.sub(instead, text)
    return text


def comparable(frame: FrameRecord) -> Comparable:
    """All that a frame says, apart from when, and without what the run made up."""
    headers = frame.headers
    return (
        frame.direction,
        frame.connection,
        frame.op,
        plain(frame.subject),
        plain(frame.reply),
        frame.status,
        plain(frame.description),
        None if headers is None else tuple((name, plain(value)) for name, value in headers),
        plain(frame.payload.decode("utf-8", "surrogateescape")),
        plain(frame.note),
    )


def aligned(a: Sequence[FrameRecord], b: Sequence[FrameRecord]) -> list[Pair]:
    """The frames of both, step by step, each beside the one that it corresponds to."""
    sides = steps_of(a), steps_of(b)
    names = [*sides[0], *(name for name in sides[1] if name not in sides[0])]
    if ADVISORIES in names:
        names.remove(ADVISORIES)
        names.append(ADVISORIES)
    return [
        pair
        for name in names
        for pair in _step(name, sides[0].get(name, []), sides[1].get(name, []))
    ]


def first_difference(pairs: Sequence[Pair]) -> int | None:
    """The place of the first pair that differs."""
    return next((place for place, pair in enumerate(pairs) if not pair.same), None)


def steps_of(frames: Sequence[FrameRecord]) -> dict[str, list[FrameRecord]]:
    """The frames by the step that they belong to."""
    asked: dict[str, str] = {}
    steps: dict[str, list[FrameRecord]] = {}
    for frame in frames:
        step = frame.step
        if frame.direction == ">" and frame.reply:
            asked.setdefault(frame.reply, step)
        elif frame.direction == "<" and frame.connection == _OBSERVER:
            step = ADVISORIES
        elif frame.direction == "<":
            step = asked.get(frame.subject, step)
        steps.setdefault(step, []).append(replace(frame, step=step))
    polled = {name: _without_polls(found) for name, found in steps.items()}
    if ADVISORIES in polled:
        polled[ADVISORIES].sort(key=lambda frame: (plain(frame.subject), frame.ms))
    return polled


def _without_polls(frames: Sequence[FrameRecord]) -> list[FrameRecord]:
    """The frames of a step; of a question that was asked several times only the last."""
    last: dict[Comparable, str] = {}
    inboxes: dict[str, Comparable] = {}
    for frame in frames:
        if frame.direction == ">" and frame.reply and _POLL.match(frame.subject):
            question = comparable(frame)
            inboxes[frame.reply] = question
            last[question] = frame.reply

    def superseded(frame: FrameRecord) -> bool:
        inbox = frame.reply if frame.direction == ">" else frame.subject
        return inbox in inboxes and last[inboxes[inbox]] != inbox

    return [frame for frame in frames if not superseded(frame)]


def _step(step: str, a: Sequence[FrameRecord], b: Sequence[FrameRecord]) -> Iterator[Pair]:
    one, other = [comparable(frame) for frame in a], [comparable(frame) for frame in b]
    if len(one) * len(other) > _PAIRS_MOST:
        yield from _by_place(step, a, b)
        return
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            for left, right in zip(a[a1:a2], b[b1:b2], strict=True):
                yield Pair(step, left, right, same=True)
        else:
            yield from _by_place(step, a[a1:a2], b[b1:b2])


def _by_place(step: str, a: Sequence[FrameRecord], b: Sequence[FrameRecord]) -> Iterator[Pair]:
    for place in range(max(len(a), len(b))):
        left = a[place] if place < len(a) else None
        right = b[place] if place < len(b) else None
        same = left is not None and right is not None and comparable(left) == comparable(right)
        yield Pair(step, left, right, same)
