"""A law about consumers with a delivery subject that a client library makes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from jetproof.engine.judge import Finding
from jetproof.engine.play import Play
from jetproof.wire.frames import Frame, Pub, Sub
from jetproof.wire.rules.selecting import subject_matches

_CREATE = ("$JS.API.CONSUMER.CREATE.", "$JS.API.CONSUMER.DURABLE.CREATE.")


def subscribed_first(play: Play, arguments: Mapping[str, object]) -> list[Finding]:
    """Whoever creates a consumer that delivers has subscribed to where it delivers."""
    sent = () if play.client is None else play.client.exchange()
    early = unheard(passed.frame for passed in sent)
    words = "a subscription to each delivery subject before its consumer is created"
    return [Finding("order", not early, words, f"{len(early)} without" if early else None)]


def unheard(frames: Iterable[Frame]) -> list[str]:
    """Delivery subjects of consumers whose creator had not subscribed to them by then.

    A subscription made before the connection was lost counts: a library subscribes again first.
    """
    subscribed: list[str] = []
    early: list[str] = []
    for frame in frames:
        if isinstance(frame, Sub):
            subscribed.append(frame.subject)
        elif isinstance(frame, Pub) and frame.subject.startswith(_CREATE):
            subject = _delivery_subject(frame.payload)
            if subject and not any(subject_matches(pattern, subject) for pattern in subscribed):
                early.append(subject)
    return early


def _delivery_subject(payload: bytes) -> str | None:
    try:
        document = json.loads(payload)
    except ValueError:
        return None
    config = document.get("config") if isinstance(document, Mapping) else None
    subject = config.get("deliver_subject") if isinstance(config, Mapping) else None
    return subject if isinstance(subject, str) else None
