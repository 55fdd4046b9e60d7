"""Reading for a proxy: messages in parts, or not looked at, and still no byte lost in any chunking."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jetproof.wire import Frame, Headers, Msg, Parser, Ping, Pub, Sub, encode
from jetproof.wire.codec import HEAD, STREAMED_FROM, Part
from jetproof.wire.lines import Role

LONG = STREAMED_FROM + 10
from_server = st.sampled_from(
    [
        Msg("a", "1", None, None, b"x"),
        Msg("a", "1", None, None, b"y"),
        Msg("a", "2", "r", None, b""),
        Msg("a", "2", "r", Headers([("A", "1")]), b"\r\n"),
        Msg("long", "1", None, None, bytes(LONG)),
        Msg("long", "1", "r", Headers([("A", "1")]), bytes(LONG)),
        Msg("whole", "1", None, None, bytes(LONG)),
        Ping(),
    ]
)
from_client = st.sampled_from(
    [
        Pub("a", None, None, b"x"),
        Pub("a", "r", Headers([("A", "1")]), b"x"),
        Pub("long", None, None, bytes(LONG)),
        Sub("a", None, "1"),
        Ping(),
    ]
)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def passed(items: list[Frame | Part]) -> bytes:
    return b"".join(item.data if isinstance(item, Part) else item.raw for item in items)


def frames_of(items: list[Frame | Part]) -> list[tuple[Frame, int]]:
    """Every frame, with how much of it was left out."""
    found = []
    for item in items:
        if not isinstance(item, Part):
            found.append((item, 0))
        elif item.frame is not None:
            found.append((item.frame, item.omitted))
    return found


def head_of(frame: Frame) -> tuple[Frame, int]:
    if not isinstance(frame, Msg | Pub) or frame.subject != "long":
        return frame, 0
    payload = frame.payload[:HEAD]
    left = len(frame.payload) - HEAD
    if isinstance(frame, Msg):
        return Msg(frame.subject, frame.sid, frame.reply, frame.headers, payload), left
    return Pub(frame.subject, frame.reply, frame.headers, payload), left


@pytest.mark.parametrize("role", ["client", "server"])
@given(data=st.data())
def test_long_messages_come_in_parts_in_any_chunking(role: Role, data: st.DataObject) -> None:
    frames = data.draw(st.lists(from_server if role == "client" else from_client, max_size=6))
    wire = b"".join(map(encode, frames))
    cuts = data.draw(st.lists(st.integers(0, 10**6), max_size=8))
    parser = Parser(role, streams=lambda op, subject, reply: subject == "long")
    items = [item for piece in chunks(wire, cuts) for item in parser.read(piece)]
    assert frames_of(items) == [head_of(frame) for frame in frames]
    assert passed(items) == wire
    assert parser.pending == b""
    assert parser.failed is None


@pytest.mark.parametrize("role", ["client", "server"])
@given(data=st.data())
def test_skimming_passes_every_byte_and_counts(role: Role, data: st.DataObject) -> None:
    frames = data.draw(st.lists(from_server if role == "client" else from_client, max_size=6))
    wire = b"".join(map(encode, frames))
    cuts = data.draw(st.lists(st.integers(0, 10**6), max_size=8))
    parser = Parser(role)
    sids: dict[bytes, int] = {}
    items = [item for piece in chunks(wire, cuts) for item in parser.skim(piece, sids)]
    others = [frame for frame in frames if not isinstance(frame, Msg | Pub)]
    assert frames_of(items) == [(frame, 0) for frame in others]
    assert passed(items) == wire
    counted = [frame.sid for frame in frames if isinstance(frame, Msg)]
    if role == "client":
        assert sids == {sid.encode(): counted.count(sid) for sid in counted}


@given(data=st.data())
def test_one_may_change_over_at_any_time(data: st.DataObject) -> None:
    frames = data.draw(st.lists(from_server, max_size=6))
    wire = b"".join(map(encode, frames))
    cuts = data.draw(st.lists(st.integers(0, 10**6), max_size=8))
    parser = Parser("client", streams=lambda *message: True)
    items: list[Frame | Part] = []
    for piece in chunks(wire, cuts):
        items += parser.skim(piece, {}) if data.draw(st.booleans()) else parser.read(piece)
    assert passed(items) == wire
    assert parser.failed is None


garbage = st.lists(
    st.sampled_from(
        [
            b"MSG a 1 2\r\nab\r\n", b"MSG a 1 2\r\nab", b"MSG a 1 70000\r\n" + bytes(70000),
            b"\r\n", b"\r", b"\n", b"x", b"HMSG a 1 12 12\r\nNATS/1.0\r\n\r\n\r\n",
            b"HMSG a 1 13 12\r\n", b"MSG a  1\t1\r\nx\r\n", b"msg a 1 1\nx\r\n", b"INFO {}\r\n",
            b"MSG a 1 99999999999\r\n", b"PING\r\n", b"MSG",
        ]
    ),
    max_size=8,
).map(b"".join)  # fmt: skip


@given(garbage, st.lists(st.integers(0, 10**6), max_size=8), st.booleans())
@example(b"MSG a 1 70000\r\n" + bytes(70000) + b"\rx", [70016], False)
@example(b"MSG a 1 2\r\nabx", [13], True)
def test_garbage_is_the_same_in_any_chunking_and_no_byte_is_lost(
    wire: bytes, cuts: list[int], skims: bool
) -> None:
    def play(pieces: list[bytes]) -> tuple[list[tuple[Frame, int]], str | None]:
        parser = Parser("client", streams=lambda *message: True)
        items: list[Frame | Part] = []
        for piece in pieces:
            items += parser.skim(piece, {}) if skims else parser.read(piece)
        assert passed(items) + parser.pending == wire
        return frames_of(items), None if parser.failed is None else parser.failed.problem

    assert play(chunks(wire, cuts)) == play([wire])


def test_a_long_message_is_never_held() -> None:
    parser = Parser("client", streams=lambda *message: True)
    parser.read(b"MSG a 1 8000000\r\n")
    for _ in range(1000):
        part = parser.read(bytes(8000))[-1]
        assert isinstance(part, Part)
        assert parser.pending == b""
    (last,) = parser.read(b"\r\n")
    assert isinstance(last, Part)
    assert last.frame == Msg("a", "1", None, None, bytes(HEAD))
    assert last.omitted == 8_000_000 - HEAD


def test_who_needs_it_whole_is_asked_with_what_is_known() -> None:
    asked = []

    def streams(op: str, subject: str, reply: str | None) -> bool:
        asked.append((op, subject, reply))
        return False

    payload = bytes(LONG)
    wire = encode(Pub("a", "r", Headers(), payload)) + encode(Pub("b", None, None, payload))
    items = Parser("server", streams=streams).read(wire)
    assert asked == [("HPUB", "a", "r"), ("PUB", "b", None)]
    assert items == [Pub("a", "r", Headers(), payload), Pub("b", None, None, payload)]
