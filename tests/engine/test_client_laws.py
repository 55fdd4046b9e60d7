"""Laws about client libraries: what is outstanding, refills, and messages handed over."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.engine.client_laws import Account, delivered, handed_over, outstanding, refilled
from jetproof.engine.client_side import Passed
from jetproof.engine.judge import Seen
from jetproof.model.matcher import parse_matcher
from jetproof.wire import Headers
from jetproof.wire.frames import Connect, Frame, Msg, Pub, Sub

INBOX = "_INBOX.a"


@dataclass
class Library:
    """What a case knows of its library."""

    frames: list[Passed]
    messages: list[int] = field(default_factory=list)

    def exchange(self) -> list[Passed]:
        return self.frames

    def told(self, name: str, of: str) -> list[Seen]:
        assert (name, of) == ("message", "k")
        return [Seen("", None, json.dumps({"seq": seq}).encode()) for seq in self.messages]


@dataclass
class Played:
    """What laws look at of a case."""

    client: Library
    env: dict[str, object] = field(default_factory=dict)
    marks: dict[str, float] = field(default_factory=dict)


def case(*frames: Frame, messages: Iterable[int] = ()) -> Played:
    begin = (Connect({}), Sub(INBOX, None, "1"))
    timed = [Passed(frame, float(at)) for at, frame in enumerate((*begin, *frames))]
    return Played(Library(timed, list(messages)))


def pull(batch: int = 0, max_bytes: int = 0, expires: int = 0, reply: str = INBOX) -> Pub:
    body = {"batch": batch, "max_bytes": max_bytes, "expires": expires * 1_000_000_000}
    return Pub("$JS.API.CONSUMER.MSG.NEXT.S.c", reply, None, json.dumps(body).encode())


def message(seq: int = 1, payload: bytes = b"", headers: Headers | None = None) -> Msg:
    """Its subject and its reply subject have thirty bytes if the sequence has one digit."""
    return Msg("a", "1", f"$JS.ACK.S.c.1.{seq}.1.17000000.0", headers, payload)


def status(code: int, messages: int | None = None, size: int = 0, to: str = INBOX) -> Msg:
    pending = [("Nats-Pending-Messages", str(messages)), ("Nats-Pending-Bytes", str(size))]
    return Msg(to, "1", None, Headers(pending if messages is not None else (), status=code), b"")


def broken(findings: list[object]) -> dict[str, object]:
    return {it.path: it.actual for it in findings if not it.ok}  # type: ignore[attr-defined]


def law(name: object, played: Played, **arguments: object) -> dict[str, object]:
    if "now" in arguments:
        arguments["now"] = parse_matcher(arguments["now"])
    return broken(name(played, arguments))  # type: ignore[operator]


def test_outstanding_is_what_was_asked_for_and_has_not_come() -> None:
    played = case(pull(10), message(1), message(2), pull(2))
    assert law(outstanding, played, messages=10, now=10) == {}
    assert law(outstanding, played, messages=9) == {"most": 10}
    assert law(outstanding, played, messages=10, now={"lt": 10}) == {"now": 10}


def test_outstanding_needs_a_pull_request() -> None:
    assert law(outstanding, case(message(1)), messages=10) == {"requests": 0}


def test_pending_headers_are_taken_off() -> None:
    played = case(pull(10), message(1), message(2), status(408, 8), pull(10))
    assert law(outstanding, played, messages=10, now=10) == {}


def test_heartbeats_take_nothing_off() -> None:
    played = case(pull(10), status(100), pull(10))
    assert law(outstanding, played, messages=10) == {"most": 20}


def test_a_status_without_pending_headers_ends_the_oldest_request() -> None:
    played = case(pull(10), message(1), pull(1), status(409), pull(5))
    assert law(outstanding, played, messages=10, now=6) == {}


def test_a_status_ends_the_request_on_whose_subject_it_comes() -> None:
    one, two = f"{INBOX}.1", f"{INBOX}.2"
    played = case(
        Sub(f"{INBOX}.*", None, "1"), pull(6, reply=one), pull(4, reply=two), status(409, to=two)
    )
    assert law(outstanding, played, messages=10, now=6) == {}


def test_two_statuses_for_one_request_count_once() -> None:
    played = case(pull(10), status(409, 10), status(409), pull(10), pull(10))
    assert law(outstanding, played, messages=10) == {"most": 20}


def test_an_expired_request_is_over_whether_or_not_its_end_came() -> None:
    played = case(pull(10, expires=2), message(1), message(2), pull(10))
    assert law(outstanding, played, messages=10, now=10) == {}


def test_an_end_that_comes_after_the_time_of_its_request_counts_once() -> None:
    # The second request is over, by its time, when the third one is sent: its own end comes then.
    asked = [pull(10), message(1), message(2), pull(2, expires=2), status(408, 8), pull(8)]
    played = case(*asked, status(408, 2), pull(2))
    assert law(outstanding, played, messages=10, now=10) == {}
    twice = case(*asked, status(408, 2), status(408, 2), pull(2))
    assert law(outstanding, twice, messages=10, now=8) == {}


def test_a_new_connection_starts_from_nought() -> None:
    played = case(pull(10), Connect({}), Sub(INBOX, None, "1"), pull(10))
    assert law(outstanding, played, messages=10, now=10) == {}


def test_answers_to_others_take_nothing_off() -> None:
    other = Msg("_INBOX.b", "7", None, None, b"{}")
    played = case(Sub("_INBOX.b", None, "7"), pull(10), other, pull(1))
    assert law(outstanding, played, messages=10) == {"most": 11}


@pytest.mark.parametrize(("body", "asked"), [(b"", 1), (b"5", 5), (b"{}", 1), (b"no", 0)])
def test_short_forms_of_a_pull_request(body: bytes, asked: int) -> None:
    played = case(Pub("$JS.API.CONSUMER.MSG.NEXT.S.c", INBOX, None, body))
    assert law(outstanding, played, messages=10, now=asked) == {}


def test_bytes_are_those_of_subjects_headers_and_payload() -> None:
    headers = Headers([("A", "b")])
    size = 1 + len(message().reply or "") + len(headers.encode()) + 4
    played = case(pull(1000, 500), message(1, b"four", headers), pull(1000, size))
    assert law(outstanding, played, bytes=500, now=500) == {}
    assert law(refilled, played, bytes=500) == {}
    free = size - len(headers.encode())
    played = case(pull(1000, 500), message(1, b"four", headers), pull(1000, free))
    assert law(refilled, played, bytes=500, headers="free") == {}
    assert "full" in law(refilled, played, bytes=500)


def test_a_refill_may_come_before_the_last_messages_are_processed() -> None:
    played = case(pull(10), *map(message, range(1, 8)), pull(5))
    assert law(refilled, played, messages=10) == {}


def test_a_refill_of_more_than_was_taken_off() -> None:
    played = case(pull(10), message(1), message(2), pull(10))
    assert "full" in law(refilled, played, messages=10)


def test_there_must_be_a_refill() -> None:
    assert law(refilled, case(pull(10)), messages=10) == {"requests": 1}


@given(st.lists(st.integers(0, 5), max_size=30))
def test_a_library_that_counts_never_has_too_much_outstanding(steps: list[int]) -> None:
    account, left, seq = Account("messages"), 10, 0
    for frame in (Connect({}), Sub(INBOX, None, "1"), pull(10)):
        account.see(frame, 0.0)
    for count in steps:
        for _ in range(min(count, left)):
            seq += 1
            account.see(message(seq), 0.0)
            left -= 1
        if left <= 5:
            account.see(pull(10 - left), 0.0)
            left = 10
        assert account.outstanding == left
    assert account.highest == 10
    assert all(total - 10 in released for total, released in account.refills)


def test_handed_over_in_order() -> None:
    came = (pull(3), message(1), message(2), message(3))
    assert law(handed_over, case(*came, messages=(1, 2, 3)), consume="k") == {}
    assert law(handed_over, case(*came, messages=(2, 1, 3)), consume="k") == {"got": "2, 1, 3"}
    assert law(handed_over, case(*came, messages=(1, 2)), consume="k") == {"got": "1, 2"}
    assert law(handed_over, case(pull(3)), consume="k") == {"came": 0}


def test_handed_over_until_a_mark() -> None:
    played = case(pull(3), message(1), message(2), message(3), messages=(1, 2))
    played.marks["drained"] = 5.0
    assert law(handed_over, played, consume="k", until="drained") == {}


def test_delivered_are_exactly_these_in_this_order() -> None:
    def lacks(*messages: int) -> dict[str, object]:
        return law(delivered, case(messages=messages), consume="k", sequences="1, 2, 4")

    assert lacks(1, 2, 4) == {}
    assert lacks(1, 4, 2) == {"sequences": "1, 4, 2"}
    assert lacks(1, 2, 2, 4) == {"sequences": "1, 2, 2, 4"}
    assert lacks() == {"sequences": "none"}


@pytest.mark.parametrize("name", [outstanding, refilled])
def test_a_pull_request_without_max_bytes_asks_for_any_number_of_bytes(name: object) -> None:
    pulls = (pull(10, 100), pull(10))
    assert law(name, case(*pulls), bytes=100)["bounded"] == "1 without"
    assert "bounded" not in law(name, case(*pulls), messages=10)
    assert "bounded" not in law(name, case(pull(10, 100), pull(10, 50)), bytes=100)
