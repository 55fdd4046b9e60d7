"""Controls of client cases: the tap strips a feature from what the library sends.

A case about a library does not send the feature itself, so its control is the same case with rules
of the tap in front of its own. They take the fields, headers and reply subjects of the feature away
before the server, later rules and the steps of the case see a frame: the control stands for a
library that never sends the feature. One that still passes notices neither on the wire nor by what
the server does that the feature is not used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from jetproof.engine.client_side import CLIENT, STRIPPED
from jetproof.load.rules import parse_rules
from jetproof.model.case import Case
from jetproof.model.client import TapStep
from jetproof.model.feature import Control, Feature
from jetproof.model.verdict import FrameRecord
from jetproof.results import Key, Run
from jetproof.wire.frames import Pub
from jetproof.wire.headers import Headers
from jetproof.wire.rules import Rule
from jetproof.wire.rules.changing import stripped
from jetproof.wire.rules.model import Strip
from jetproof.wire.rules.selecting import FrameView, selects

_API = "$JS.API."
_API_OF_A_DOMAIN = "$JS.*.API."


def client_control(case: Case, feature: Feature) -> Control:
    """The case behind a tap that strips the feature. How many frames lose it, only a play shows."""
    rules = strip_rules(feature)
    first = TapStep(verb="rules", rules=rules, line=case.line, address="control")
    return Control(replace(case, steps=(first, *case.steps)))


def strip_rules(feature: Feature) -> tuple[Rule, ...]:
    """Rules that take everything away that carries the feature, from frames of the client."""
    return parse_rules(
        [
            {"id": f"without-{feature.name}-{number}", "on": on, "do": {"strip": strip}}
            for number, (on, strip) in enumerate(_parts(feature), 1)
        ]
    )


def _parts(feature: Feature) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Which frames, and what they lose."""
    headers = [*feature.headers, *feature.with_headers]
    besides = {"headers": headers} if headers else {}
    for name in feature.headers:
        yield {"op": "PUB", "headers": {name: {"exists": True}}}, besides
    if feature.reply_ends is not None:
        end = {"match": f"{re.escape(feature.reply_ends).replace('$', '$$')}$"}
        yield {"op": "PUB", "reply": end}, {**besides, "reply_end": feature.reply_ends}
    for each in feature.fields:
        for subject in each.subjects:
            for own in dict.fromkeys((subject, subject.replace(_API, _API_OF_A_DOMAIN, 1))):
                yield {"op": "PUB", "subject": own}, {"json": list(each.paths)}


def lost(frames: Iterable[FrameRecord], feature: Feature) -> int:
    """How many frames of a control lost the feature."""
    mine = f"without-{feature.name}-"
    return sum(one.note.startswith(STRIPPED) and mine in one.note for one in frames)


def publishes(frames: Iterable[FrameRecord]) -> bool:
    """Whether the tap saw the library publish anything. Of TLS it sees nothing."""
    return any(_is_publish(one) for one in frames)


def _is_publish(frame: FrameRecord) -> bool:
    return frame.connection == CLIENT and frame.direction == ">" and frame.op in ("PUB", "HPUB")


def sent_features(run: Run, features: Sequence[Feature]) -> dict[Key, list[str]]:
    """By cell: the features that the library sent, as the frames of the run show."""
    rules = [(feature.name, strip_rules(feature)) for feature in features]
    found: dict[Key, set[str]] = {}
    for key, row in run.frames():
        if not _is_publish(row):
            continue
        headers = None if row.headers is None else Headers(row.headers)
        frame = Pub(row.subject, row.reply or None, headers, row.payload)
        view, names = FrameView("client", frame), found.setdefault(key, set())
        for name, its in rules:
            if name not in names and any(_strips(rule, view, frame) for rule in its):
                names.add(name)
    order = [feature.name for feature in features]
    return {key: sorted(names, key=order.index) for key, names in found.items()}


def _strips(rule: Rule, view: FrameView, frame: Pub) -> bool:
    assert isinstance(rule.do, Strip)
    return selects(rule.on, view, {}) and stripped(rule.do, frame) is not frame
