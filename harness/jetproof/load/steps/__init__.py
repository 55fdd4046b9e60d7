"""Step kinds: one record each, with its key, its model, its reader, its schema and its documentation.

A new kind is a type in `jetproof.model`, a record in `KINDS`, and a player in `jetproof.engine.player`.
The schema of case files and the tables of the documentation follow (`load.case_schema`).
"""

from __future__ import annotations

from collections.abc import Mapping

from jetproof.load.steps.acting import ACTION
from jetproof.load.steps.client import ANSWERED, CALL, EVENT, WIRE
from jetproof.load.steps.control import FOR_EACH, LOOP, REPEAT, TOGETHER
from jetproof.load.steps.exchange import (
    PUBLISH,
    RECEIVE,
    REQUEST,
    SILENCE,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from jetproof.load.steps.kind import StepKind
from jetproof.load.steps.laws import LAW
from jetproof.load.steps.looking import ADVISORY, CONSUMER, STORED, STREAM
from jetproof.load.steps.tap import FIRED, TAP

KINDS: Mapping[str, StepKind] = {
    kind.key: kind
    for kind in (
        *(PUBLISH, REQUEST, SUBSCRIBE, UNSUBSCRIBE, RECEIVE, SILENCE),
        *(STREAM, CONSUMER, STORED, ADVISORY),
        *(REPEAT, FOR_EACH, TOGETHER, LOOP),
        *(ACTION, LAW),
        *(CALL, ANSWERED, EVENT, WIRE, FIRED, TAP),
    )
}
"""By key, in the order in which messages and pages list them."""
