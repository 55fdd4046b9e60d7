"""Frames and bytes: round trips in both directions, any chunking, limits, tolerance."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jetproof.wire import (
    Connect,
    Err,
    Frame,
    Headers,
    Info,
    Msg,
    Ok,
    Parser,
    Ping,
    Pong,
    ProtocolError,
    Pub,
    Raw,
    Sub,
    Unsub,
    encode,
)
from jetproof.wire.codec import MAX_CONTROL_LINE, MAX_MESSAGE, Role

# Any word, also one of bytes that are no UTF-8.
words = st.one_of(
    st.text(st.characters(exclude_characters=" \t\r\n", exclude_categories=["Cs"]), min_size=1),
    st.binary(min_size=1, max_size=12)
    .filter(lambda data: not set(data) & set(b" \t\r\n"))
    .map(lambda data: data.decode("utf-8", "surrogateescape")),
)
line_text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]))
documents = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3),
        max_leaves=5,
    ),
    max_size=4,
)
header_blocks = st.one_of(
    st.builds(
        Headers,
        st.lists(st.tuples(st.sampled_from(["A", "a", "Nats-Msg-Id"]), line_text), max_size=4),
        status=st.none() | st.integers(0, 999),
    ),
    st.binary(max_size=40).map(Headers.from_raw),
)
replies = st.none() | words
payloads = st.binary(max_size=300)
pings = st.sampled_from([Ping(), Pong()])
messages = st.builds(Msg, words, words, replies, st.none() | header_blocks, payloads)
publishes = st.builds(Pub, words, replies, st.none() | header_blocks, payloads)
from_server: st.SearchStrategy[Frame] = st.one_of(
    messages, pings, st.just(Ok()), st.builds(Err, line_text), st.builds(Info, documents)
)
from_client: st.SearchStrategy[Frame] = st.one_of(
    publishes,
    pings,
    st.builds(Sub, words, replies, words),
    st.builds(Unsub, words, st.none() | st.integers(0, 10**12)),
    st.builds(Connect, documents),
)


def chunks(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, len(data), *(cut % (len(data) + 1) for cut in cuts)})
    return [data[start:end] for start, end in pairwise(places)]


def read(role: Role, pieces: list[bytes]) -> tuple[list[Frame], str | None]:
    """The frames in these pieces and the problem that ended them, if one did."""
    return read_with(Parser(role), pieces)


def read_with(parser: Parser, pieces: list[bytes]) -> tuple[list[Frame], str | None]:
    frames: list[Frame] = []
    for piece in pieces:
        try:
            frames.extend(parser.feed(piece))
        except ProtocolError as error:
            return [*frames, *error.frames], error.problem
    return frames, None


@pytest.mark.parametrize("role", ["client", "server"])
@given(data=st.data())
def test_frames_survive_a_round_trip_in_any_chunking(role: Role, data: st.DataObject) -> None:
    frames = data.draw(st.lists(from_server if role == "client" else from_client, max_size=6))
    wire = b"".join(map(encode, frames))
    cuts = data.draw(st.lists(st.integers(0, 10**6), max_size=12))
    found, problem = read(role, chunks(wire, cuts))
    assert problem is None
    assert found == frames
    assert [type(frame) for frame in found] == [type(frame) for frame in frames]
    assert b"".join(frame.raw for frame in found) == wire
    assert b"".join(map(encode, found)) == wire


@pytest.mark.parametrize("role", ["client", "server"])
@given(data=st.data())
def test_a_byte_at_a_time_is_no_different(role: Role, data: st.DataObject) -> None:
    frames = data.draw(st.lists(from_server if role == "client" else from_client, max_size=3))
    wire = b"".join(map(encode, frames))
    assert read(role, [wire[i : i + 1] for i in range(len(wire))]) == (frames, None)


fragments = st.lists(
    st.sampled_from([
        b"PUB", b"HPUB", b"MSG", b"HMSG", b"msg", b"PING", b"+OK", b"-ERR", b"INFO {}", b"SUB",
        b"CONNECT {}", b"NATS/1.0\r\n\r\n", b"MSG a 1 0\r\n\r\n", b"PUB a 0\r\n\r\n",
        b" ", b"\t", b"\r\n", b"\r", b"\n", b"a", b"1", b"3", b"12", b"99999999",
        b"\xff", b"'", b"{",
    ]),
    max_size=14,
).map(b"".join)  # fmt: skip


@pytest.mark.parametrize("role", ["client", "server"])
@given(st.binary(max_size=80) | fragments, st.lists(st.integers(0, 10**6), max_size=10))
@example(b"PING\rx\n", [5])
@example(b"MSG a 1 1\r\nxy\r\n", [12, 13])
def test_garbage_gives_the_same_frames_and_the_same_error_in_any_chunking(
    role: Role, wire: bytes, cuts: list[int]
) -> None:
    whole = read(role, [wire])
    assert read(role, chunks(wire, cuts)) == whole
    frames, problem = whole
    if problem is None:
        assert wire.startswith(b"".join(frame.raw for frame in frames))


@given(st.lists(from_server, max_size=3), st.binary(min_size=1, max_size=30))
def test_no_byte_is_lost_when_reading_fails(frames: list[Frame], garbage: bytes) -> None:
    good = b"".join(map(encode, frames))
    parser = Parser("client")
    with pytest.raises(ProtocolError) as caught:
        parser.feed(good + b"WHAT " + garbage)
    assert list(caught.value.frames) == frames
    assert parser.pending == b"WHAT " + garbage
    assert caught.value.data == parser.pending
    with pytest.raises(ProtocolError) as again:
        parser.feed(b"PING\r\n")
    assert again.value.frames == ()
    assert parser.pending == b"WHAT " + garbage + b"PING\r\n"
    assert parser.failed is not None


@pytest.mark.parametrize(
    ("role", "wire", "frame"),
    [
        ("client", b"ping\r\n", Ping()),
        ("client", b"PONG\n", Pong()),
        ("client", b"+ok\r\n", Ok()),
        ("client", b"+OK whatever\r\n", Ok()),
        ("client", b"-ERR 'Stale Connection'\r\n", Err("Stale Connection")),
        ("client", b"-ERR no quotes\r\n", Err("no quotes")),
        ("client", b"-ERR\t 'a\tb' \r\n", Err("a\tb")),
        ("client", b"-ERR\r\n", Err("")),
        ("client", b"-ERR '\r\n", Err("'")),
        ("client", b'INFO {"a": "\xff"} \r\n', Info({"a": "\udcff"})),
        ("client", b'INFO\t{"a":1}\r\n', Info({"a": 1})),
        ("client", b"Msg  a\t1 \t5\r\nhello\r\n", Msg("a", "1", None, None, b"hello")),
        ("client", b"MSG a\x0bb 1 r 2\nhi\r\n", Msg("a\x0bb", "1", "r", None, b"hi")),
        ("client", b"HMSG a x 12 12\r\nNATS/1.0\r\n\r\n\r\n", Msg("a", "x", None, Headers(), b"")),
        ("client", b"HMSG a 1 0 1\r\nx\r\n", Msg("a", "1", None, Headers.from_raw(b""), b"x")),
        ("server", b"pub\ta\t0\r\n\r\n", Pub("a")),
        ("server", b"PUB a r 2\r\n\r\n\r\n", Pub("a", "r", None, b"\r\n")),
        ("server", b"SUB a  q 1 \r\n", Sub("a", "q", "1")),
        ("server", b"SUB a abc\r\n", Sub("a", None, "abc")),
        ("server", b"UNSUB 1  5\r\n", Unsub("1", 5)),
        ("server", b"CONNECT {}\r\n", Connect({})),
    ],
)
def test_reading_is_as_tolerant_as_servers_and_clients_are(
    role: Role, wire: bytes, frame: Frame
) -> None:
    (found,) = Parser(role).feed(wire)
    assert found == frame
    assert found.raw == wire
    assert encode(found) == wire


@pytest.mark.parametrize(
    ("role", "wire", "problem"),
    [
        ("client", b"HTTP/1.1 400 Bad Request\r\n", "unknown operation"),
        ("client", b"\x16\x03\x01", "unknown operation"),
        ("client", b"\r\n", "unknown operation"),
        ("client", b" PING\r\n", "unknown operation"),
        ("client", b"PUB a 0\r\n\r\n", "unknown operation"),
        ("server", b"MSG a 1 0\r\n\r\n", "unknown operation"),
        ("server", b"INFO {}\r\n", "unknown operation"),
        ("client", b"INFO [1]\r\n", "not a JSON object"),
        ("client", b"INFO {\r\n", "not a JSON object"),
        ("client", b"INFO " + b"[" * 60_000 + b"\r\n", "not a JSON object"),
        ("client", b"MSG a 1\r\n", "wrong number of arguments"),
        ("client", b"MSG a 1 r 2 3\r\n", "wrong number of arguments"),
        ("client", b"HMSG a 1 12\r\n", "wrong number of arguments"),
        ("server", b"PUB\r\n", "wrong number of arguments"),
        ("server", b"SUB a\r\n", "wrong number of arguments"),
        ("server", b"SUB a b c d\r\n", "wrong number of arguments"),
        ("server", b"UNSUB\r\n", "wrong number of arguments"),
        ("server", b"UNSUB 1 x\r\n", "maximum is not a number"),
        ("client", b"MSG a 1 -5\r\n", "message size is not a number"),
        ("client", b"MSG a 1 1_0\r\n", "message size is not a number"),
        ("client", b"MSG a 1 " + b"9" * 5000 + b"\r\n", "message size is not a number"),
        ("client", b"HMSG a 1 +1 5\r\n", "header size is not a number"),
        ("client", b"HMSG a 1 6 5\r\n", "headers are larger than the message"),
        ("client", b"MSG a 1 2\r\nabc\r\n", "no line break after the payload"),
        ("client", b"MSG a 1 2\r\nab\n", "no line break after the payload"),
        ("client", b"MSG a 1 2\r\nab\rx", "no line break after the payload"),
    ],
)
def test_what_is_not_the_protocol_is_an_error(role: Role, wire: bytes, problem: str) -> None:
    with pytest.raises(ProtocolError) as caught:
        Parser(role).feed(wire)
    assert problem in caught.value.problem
    assert caught.value.data == wire[:256]
    assert caught.value.phase == "play"
    assert str(caught.value).isprintable() or "\n  " in str(caught.value)


def test_an_endless_control_line_is_refused_before_it_fills_memory() -> None:
    parser = Parser("client")
    _, problem = read_with(parser, [b"INFO " + b" " * 1024] * 1000)
    assert problem == "a control line is longer than 65536 bytes"
    assert len(parser.pending) <= MAX_CONTROL_LINE + 2048


def test_a_long_control_line_is_refused_also_in_one_piece() -> None:
    with pytest.raises(ProtocolError, match="control line is longer"):
        Parser("client").feed(b"-ERR '" + b"x" * MAX_CONTROL_LINE + b"'\r\n")
    with pytest.raises(ProtocolError, match="control line is longer"):
        Parser("server").feed(b"PUB " + b"x" * MAX_CONTROL_LINE + b" 0\r\n\r\n")


@pytest.mark.parametrize("size", [MAX_MESSAGE + 1, 2**31, 2**63, 10**17])
def test_an_absurd_size_is_refused_when_it_is_announced(size: int) -> None:
    parser = Parser("client")
    with pytest.raises(ProtocolError, match="message"):
        parser.feed(b"MSG a 1 %d\r\n" % size)


def test_the_size_limit_can_be_lowered() -> None:
    assert Parser("client", max_message=2).feed(b"MSG a 1 2\r\nab\r\n")
    with pytest.raises(ProtocolError, match="larger than 2 bytes"):
        Parser("client", max_message=2).feed(b"MSG a 1 3\r\n")


def test_megabytes_in_small_pieces() -> None:
    payload = bytes(range(256)) * 4096 * 8
    wire = encode(Msg("big", "1", None, Headers([("A", "1")]), payload))
    pieces = [wire[start : start + 4096] for start in range(0, len(wire), 4096)]
    assert read("client", pieces) == ([Msg("big", "1", None, Headers([("A", "1")]), payload)], None)


@pytest.mark.parametrize(
    "frame",
    [
        Pub("a b"),
        Pub(""),
        Pub("a", "r\r\n"),
        Pub("a\tb"),
        Msg("a", "1 2"),
        Sub("a", "", "1"),
        Unsub("1\n"),
        Err("two\nlines"),
    ],
)
def test_what_would_mean_something_else_on_the_wire_is_not_encoded(frame: Frame) -> None:
    with pytest.raises(ValueError, match=r"cannot stand|does not fit"):
        encode(frame)


def test_raw_bytes_are_sent_as_they_are() -> None:
    assert encode(Raw(b"\x00 anything")) == b"\x00 anything"
    assert encode(Raw(b"")) == b""
    assert Raw(b"x").op == "RAW"


def test_a_malformed_header_block_goes_out_and_comes_in_unchanged() -> None:
    block = Headers.from_raw(b"NATS/9.9\r\nno colon\r\n")
    wire = encode(Pub("a", None, block, b"payload"))
    assert wire == b"HPUB a 20 27\r\nNATS/9.9\r\nno colon\r\npayload\r\n"
    (found,) = Parser("server").feed(wire)
    assert found == Pub("a", None, block, b"payload")


def test_no_headers_and_an_empty_block_are_different_frames() -> None:
    assert encode(Pub("a")) == b"PUB a 0\r\n\r\n"
    assert encode(Pub("a", headers=Headers())) == b"HPUB a 12 12\r\nNATS/1.0\r\n\r\n\r\n"
    assert Pub("a") != Pub("a", headers=Headers())
    assert (Pub("a").op, Pub("a", headers=Headers()).op) == ("PUB", "HPUB")
    assert (Msg("a", "1").op, Msg("a", "1", headers=Headers()).op) == ("MSG", "HMSG")


def test_a_changed_frame_does_not_keep_the_old_bytes() -> None:
    (found,) = Parser("client").feed(b"MSG  a 1 1\r\nx\r\n")
    assert isinstance(found, Msg)
    assert encode(replace(found, payload=b"yz")) == b"MSG a 1 2\r\nyz\r\n"


def test_status_and_description_are_at_hand() -> None:
    headers = Headers([("A", "1")], status=503, description="No Responders")
    for frame in (Msg("a", "1", headers=headers), Pub("a", headers=headers)):
        assert (frame.status, frame.description) == (503, "No Responders")
    assert (Msg("a", "1").status, Msg("a", "1").description) == (None, "")
    assert (Pub("a").status, Pub("a").description) == (None, "")


def test_operations_have_their_wire_names() -> None:
    ops = [frame.op for frame in (Info({}), Connect({}), Ping(), Pong(), Ok(), Err("x"))]
    assert ops == ["INFO", "CONNECT", "PING", "PONG", "+OK", "-ERR"]
    assert [Sub("a", None, "1").op, Unsub("1").op] == ["SUB", "UNSUB"]
    assert hash(Info({"a": 1})) == hash(Info({"a": 1}))
