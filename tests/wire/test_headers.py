"""Header blocks: what is kept, what is read, what is refused."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.wire import Headers


def test_order_repetition_and_case_are_kept() -> None:
    headers = Headers([("B", "1"), ("a", "2"), ("B", "3"), ("b", "4")])
    assert headers.encode() == b"NATS/1.0\r\nB: 1\r\na: 2\r\nB: 3\r\nb: 4\r\n\r\n"
    assert Headers.parse(headers.encode()).items_list == headers.items_list
    assert headers.get("B") == "1"
    assert headers.get_all("B") == ("1", "3")
    assert headers.get("A") is None
    assert headers.names() == ("B", "a", "b")
    assert "b" in headers
    assert len(headers) == 4


def test_an_empty_block_is_a_block() -> None:
    assert Headers().encode() == b"NATS/1.0\r\n\r\n"
    assert bool(Headers())
    assert Headers.parse(b"NATS/1.0\r\n\r\n") == Headers()


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"Name: Value", "Value"),
        (b"Name:Value", "Value"),
        (b"Name:", ""),
        (b"Name: ", ""),
        (b"Name:  Value ", " Value "),
        (b"Name: a:b: c", "a:b: c"),
        (b"Name: \tx", "\tx"),
        (b"Name: \xff\x00", "\udcff\x00"),
        ("Name: ü€".encode(), "ü€"),
    ],
)
def test_one_blank_after_the_colon_is_not_part_of_the_value(line: bytes, value: str) -> None:
    block = b"NATS/1.0\r\n" + line + b"\r\n\r\n"
    headers = Headers.parse(block)
    assert headers.items_list == (("Name", value),)
    assert headers.problem is None
    assert headers.encode() == block


@pytest.mark.parametrize(
    ("first", "status", "description"),
    [
        (b"NATS/1.0", None, ""),
        (b"NATS/1.0 503", 503, ""),
        (b"NATS/1.0 100 Idle Heartbeat", 100, "Idle Heartbeat"),
        (b"NATS/1.0 404 ", 404, ""),
        (b"NATS/1.0  408  Request Timeout ", 408, "Request Timeout"),
        (b"NATS/1.0 ", None, ""),
        (b"NATS/1.0 409 \xff", 409, "\udcff"),
    ],
)
def test_the_status_line(first: bytes, status: int | None, description: str) -> None:
    block = first + b"\r\nA: 1\r\n\r\n"
    headers = Headers.parse(block)
    assert (headers.status, headers.description) == (status, description)
    assert headers.problem is None
    assert headers.get("A") == "1"
    assert headers.encode() == block


@pytest.mark.parametrize(
    ("block", "problem", "readable"),
    [
        (b"", "does not end with an empty line", ()),
        (b"\r\n\r\n", "does not start with NATS/1.0", ()),
        (b"NATS/1.0", "does not end with an empty line", ()),
        (b"NATS/1.0\r\nA: 1\r\n", "does not end with an empty line", (("A", "1"),)),
        (b"NATS/1.0\r\nA: 1", "does not end with an empty line", (("A", "1"),)),
        (b"NATS/2.0\r\nA: 1\r\n\r\n", "does not start with NATS/1.0", (("A", "1"),)),
        (b"NATS/1.0x\r\n\r\n", "status is not a number", ()),
        (b"NATS/1.0 what\r\n\r\n", "status is not a number", ()),
        (b"NATS/1.0 -5\r\n\r\n", "status is not a number", ()),
        (b"NATS/1.0 " + b"9" * 5000 + b"\r\n\r\n", "status is not a number", ()),
        (b"NATS/1.0\r\nno colon\r\nA: 1\r\n\r\n", "'no colon' is not", (("A", "1"),)),
        (b"NATS/1.0\r\n: no name\r\n\r\n", "': no name' is not", ()),
        (b"NATS/1.0\r\n\r\nA: 1\r\n\r\n", "'' is not", (("A", "1"),)),
        (b"NATS/1.0\r\nA: 1\nB: 2\r\n\r\n", "lone CR or LF", (("A", "1\nB: 2"),)),
        (b"NATS/1.0 2\n3\r\n\r\n", "lone CR or LF", ()),
    ],
)
def test_a_malformed_block_keeps_its_bytes_and_says_what_is_wrong(
    block: bytes, problem: str, readable: tuple[tuple[str, str], ...]
) -> None:
    headers = Headers.from_raw(block)
    assert problem in (headers.problem or "")
    assert headers.items_list == readable
    assert headers.encode() == block
    assert headers == Headers.from_raw(block)
    assert headers != Headers()
    assert hash(headers) == hash(Headers.from_raw(block))


@pytest.mark.parametrize(
    ("items", "status", "description"),
    [
        ([("", "x")], None, ""),
        ([("a:b", "x")], None, ""),
        ([("a\r", "x")], None, ""),
        ([("a", "x\ny")], None, ""),
        ([], None, "a description without a status"),
        ([], -1, ""),
        ([], 10**9, ""),
        ([], 100, "two\r\nlines"),
        ([], 100, " blanks "),
    ],
)
def test_what_would_not_survive_is_refused(
    items: list[tuple[str, str]], status: int | None, description: str
) -> None:
    with pytest.raises(ValueError, match=r"."):
        Headers(items, status=status, description=description)


def test_changes_give_new_headers() -> None:
    headers = Headers([("A", "1"), ("B", "2"), ("A", "3")], status=100, description="Hi")
    assert headers.with_("A", "4").get_all("A") == ("1", "3", "4")
    assert headers.without("A").items_list == (("B", "2"),)
    assert headers.replaced("A", "9").items_list == (("A", "9"), ("B", "2"))
    assert headers.replaced("C", "9").items_list[-1] == ("C", "9")
    assert headers.renamed("A", "a").names() == ("a", "B")
    assert headers.with_status(None).encode().startswith(b"NATS/1.0\r\n")
    assert headers.without("A").encode() == b"NATS/1.0 100 Hi\r\nB: 2\r\n\r\n"
    assert headers.get_all("A") == ("1", "3")
    with pytest.raises(AttributeError):
        headers.status = 5
    with pytest.raises(AttributeError):
        del headers.status


def test_headers_can_be_pickled_and_printed() -> None:
    headers = Headers([("A", "1")], status=100, description="Hi")
    assert pickle.loads(pickle.dumps(headers)) == headers
    assert repr(headers) == "Headers([('A', '1')], status=100, description='Hi')"
    assert repr(Headers.from_raw(b"bad")) == "Headers.from_raw(b'bad')"


def test_headers_differ_by_items_status_and_description() -> None:
    headers = Headers([("A", "1")], status=100, description="Hi")
    assert headers != Headers([("A", "2")], status=100, description="Hi")
    assert headers != Headers([("A", "1")], status=101, description="Hi")
    assert headers != Headers([("A", "1")], status=100, description="Ho")
    assert headers != "something else"


text = st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30)
names = st.text(
    st.characters(exclude_characters=":\r\n", exclude_categories=["Cs"]), min_size=1, max_size=20
)


@given(
    st.lists(st.tuples(names, text), max_size=8),
    st.none() | st.integers(0, 999_999_999),
    text.map(lambda value: value.strip(" ")),
)
def test_every_well_formed_block_survives_a_round_trip(
    items: list[tuple[str, str]], status: int | None, description: str
) -> None:
    headers = Headers(items, status=status, description="" if status is None else description)
    again = Headers.parse(headers.encode())
    assert again == headers
    assert hash(again) == hash(headers)
    assert again.problem is None
    assert again.encode() == headers.encode()


@given(
    st.binary(max_size=200)
    | st.lists(
        st.sampled_from(
            [b"NATS/1.0", b" ", b"503", b"\r\n", b"\r", b"\n", b"A", b":", b"\xff", b"x"]
        )
    ).map(b"".join)
)
def test_any_bytes_can_be_a_block(block: bytes) -> None:
    headers = Headers.from_raw(block)
    assert headers.encode() == block
    if headers.problem is None:
        rebuilt = Headers(
            headers.items_list, status=headers.status, description=headers.description
        )
        assert rebuilt == headers
