"""The field min_last_seq in a request."""

from __future__ import annotations

import pytest

from jetproof.targets.reference.fields import minimum_of, sequence, without
from jetproof.wire.frames import Pub
from jetproof.wire.headers import Headers


@pytest.mark.parametrize("value", [0, 1, 5, (1 << 64) - 1])
def test_sequences(value: int) -> None:
    assert sequence(value) == value


@pytest.mark.parametrize("value", [-1, 1 << 64, 1.0, "1", True, None, [1], {"a": 1}])
def test_what_is_no_sequence(value: object) -> None:
    assert sequence(value) is None


@pytest.mark.parametrize("payload", [b"", b"{", b"[1]", b'"min_last_seq"', b'{"seq": 1}'])
def test_a_request_without_the_field_is_nobodys_business(payload: bytes) -> None:
    assert minimum_of(payload) is None


def test_the_request_is_passed_on_without_the_field_and_otherwise_as_it_is() -> None:
    asked = minimum_of(b'{"seq": 1, "min_last_seq": 7, "batch": 3}')
    assert asked == (7, {"seq": 1, "batch": 3})
    frame = Pub("$JS.API.DIRECT.GET.S", "_INBOX.x", Headers([("A", "b")]), b"...")
    passed = without(frame, asked[1])
    assert (passed.subject, passed.reply, passed.headers) == (
        frame.subject, frame.reply, frame.headers,
    )  # fmt: skip
    assert passed.payload == b'{"seq": 1, "batch": 3}'


def test_an_empty_request_has_no_payload() -> None:
    asked = minimum_of(b'{"min_last_seq": "seven"}')
    assert asked == (None, {})
    assert without(Pub("s", payload=b"x"), asked[1]).payload == b""
