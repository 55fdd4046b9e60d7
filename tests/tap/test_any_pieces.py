"""However the bytes are cut into pieces: the same frames are told, the same bytes come out."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jetproof.targets.tap import Tap, TapEvent
from jetproof.wire import (
    Connect,
    Frame,
    Headers,
    Info,
    Msg,
    Ok,
    Ping,
    Pub,
    Raw,
    Sub,
    Unsub,
    encode,
)

LONG = bytes(70_000)
from_server: list[Frame] = [
    Info({"version": "2", "connect_urls": ["127.0.0.1:9"]}),
    Info({"version": "2"}),
    Msg("a", "1", None, None, b"x"),
    Msg("a", "1", None, None, b"y"),
    Msg("dropped", "1", "r", None, b"PING\r\n"),
    Msg("doubled", "1", None, Headers([("A", "1")], status=100), b""),
    Msg("changed", "1", None, None, b"INFO {}\r\n"),
    Msg("a", "2", None, Headers([("A", "1")]), LONG),
    Msg("dropped", "2", None, None, LONG),
    Ping(),
    Ok(),
]
from_client: list[Frame] = [
    Connect({"verbose": False}),
    Pub("a", None, None, b"x"),
    Pub("a", "r", Headers(), b"x"),
    Pub("dropped", None, None, b""),
    Pub("changed", None, None, b"before"),
    Pub("a", None, None, LONG),
    Sub("a", None, "1"),
    Unsub("1", 5),
    Ping(),
]
ends = [b"", b"", b"MSG a 1 5\r\nab", b"PUB a 5\r\nab", b"what\r\nPING\r\n", b"PI", b"\x16\x03\x01"]


def rules(sender: str) -> list[dict[str, Any]]:
    change = {"change": {"payload": "changed"}}
    return [
        {"on": {"from": sender, "subject": "dropped"}, "do": "drop"},
        {"on": {"from": sender, "subject": "doubled"}, "do": "duplicate"},
        {"on": {"from": sender, "subject": "changed"}, "do": change},
    ]


def after(frame: Frame, *, ruled: bool) -> bytes:
    """What comes out for a frame."""
    if isinstance(frame, Info):
        data = {key: value for key, value in frame.data.items() if key != "connect_urls"}
        return encode(Info(data))
    if not ruled or not isinstance(frame, Msg | Pub) or frame.subject == "a":
        return encode(frame)
    if frame.subject == "changed":
        if isinstance(frame, Msg):
            return encode(Msg(frame.subject, frame.sid, None, None, b"changed"))
        return encode(Pub(frame.subject, None, None, b"changed"))
    return encode(frame) * (2 if frame.subject == "doubled" else 0)


class Wire(asyncio.Transport):
    """A socket that remembers what was written."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.closed = False

    def write(self, data: Any) -> None:
        assert not self.closed
        self.sent += bytes(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def play(
    sender: str, pieces: list[bytes], *, ruled: bool, recorded: bool
) -> tuple[bytes, list[tuple[Frame, int]], list[bytes]]:
    """What comes out on the other side, which frames were told, and what passed for each."""
    tap = Tap("127.0.0.1", 1, rules(sender) if ruled else ())
    told: list[TapEvent] = []
    if recorded:
        tap.on_event(lambda event: told.append(event) if isinstance(event, TapEvent) else None)
    session = tap._new_session()
    client, server = Wire(), Wire()
    session.client.transport = client
    session.server.connection_made(server)
    source, end = (session.client, server) if sender == "client" else (session.server, client)
    for piece in pieces:
        source.data_received(piece)
    source.connection_lost(None)
    frames = [(event.frame, event.omitted) for event in told]
    return end.sent, frames, [b"".join(map(encode, event.passed)) for event in told]


@pytest.mark.parametrize("sender", ["client", "server"])
@pytest.mark.parametrize("recorded", [False, True])
@pytest.mark.parametrize("ruled", [False, True])
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_pieces(sender: str, recorded: bool, ruled: bool, data: st.DataObject) -> None:
    pool = from_client if sender == "client" else from_server
    frames = data.draw(st.lists(st.sampled_from(pool), max_size=7))
    end = data.draw(st.sampled_from(ends))
    wire = b"".join([*map(encode, frames), end])
    cuts = data.draw(st.lists(st.integers(0, 10**6), max_size=8))
    places = sorted({0, len(wire), *(cut % (len(wire) + 1) for cut in cuts)})
    pieces = [wire[start:stop] for start, stop in pairwise(places)]

    out, told, _ = asyncio.run(play(sender, pieces, ruled=ruled, recorded=recorded))
    assert out == b"".join(after(frame, ruled=ruled) for frame in frames) + end
    whole, told_whole, passed = asyncio.run(play(sender, [wire], ruled=ruled, recorded=recorded))
    assert out == whole
    parsed = [item for item in told if not isinstance(item[0], Raw)]
    assert parsed == [item for item in told_whole if not isinstance(item[0], Raw)]
    if recorded:
        assert [type(frame) for frame, _ in parsed] == [type(frame) for frame in frames]
        whole_frames = [frame for frame, omitted in parsed if not omitted]
        assert whole_frames == [
            frame for frame, (_, omitted) in zip(frames, parsed, strict=True) if not omitted
        ]
        if not any(omitted for _, omitted in told):
            assert b"".join(passed) == out
