"""Whoever makes a consumer that delivers has subscribed to where it delivers."""

from __future__ import annotations

import json

import pytest

from jetproof.engine.delivery_laws import unheard
from jetproof.wire.frames import Frame, Pub, Sub

CREATE = "$JS.API.CONSUMER.CREATE.S"


def creation(deliver: str | None, subject: str = CREATE) -> Pub:
    config = {"ack_policy": "none"} | ({} if deliver is None else {"deliver_subject": deliver})
    return Pub(subject, "_INBOX.r", None, json.dumps({"config": config}).encode())


@pytest.mark.parametrize(
    ("frames", "early"),
    [
        ((Sub("d.1", None, "1"), creation("d.1")), []),
        ((Sub("d.*", None, "1"), creation("d.1")), []),
        ((creation("d.1"), Sub("d.1", None, "1")), ["d.1"]),
        ((Sub("d.2", None, "1"), creation("d.1", f"{CREATE}.c.a")), ["d.1"]),
        ((creation("d.1", "$JS.API.CONSUMER.DURABLE.CREATE.S.c"),), ["d.1"]),
        ((Sub("d.1", None, "1"), creation("d.1"), creation("d.2")), ["d.2"]),
        ((creation(None),), []),
        ((Pub(CREATE, "_INBOX.r", None, b"not json"),), []),
        ((Pub("a", None, None, creation("d.1").payload),), []),
    ],
)
def test_subscribed_first(frames: tuple[Frame, ...], early: list[str]) -> None:
    assert unheard(frames) == early
