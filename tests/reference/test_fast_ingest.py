"""Fast ingest as a state machine, with the sentences of ADR-50's revision 7 as its tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.targets.reference.fast_ingest import (
    IDLE_SECONDS,
    PER_SERVER,
    PER_STREAM,
    Advise,
    Effect,
    Ingest,
    Store,
    Tell,
)
from jetproof.targets.reference.fast_ingest_message import (
    LAST_MSG_ID,
    LAST_SEQUENCE,
    LAST_SUBJECT_SEQUENCE,
    Commit,
    Message,
)
from jetproof.targets.reference.knobs import knob_names, parts_with

CONTROL = "inbox"


class Peer:
    """An ingest with a stream behind it that stores whatever it is given."""

    def __init__(self, *knobs: str) -> None:
        self.parts = parts_with(dict.fromkeys(knobs, True))
        self.places: Counter[str] = Counter()
        self.ingest = self.parts.part(Ingest)("S", self.places)
        self.stored: list[Message] = []
        self.effects: list[Effect] = []
        self.now = 0.0

    def send(
        self,
        sequence: int | None,
        batch: str = "b",
        *,
        enabled: bool = True,
        leader: str = "n1",
        duplicate: bool = False,
        error: Mapping[str, Any] | None = None,
        lost: bool = False,
        reply: str | None = CONTROL,
        **said: Any,
    ) -> list[Mapping[str, Any]]:
        """Plays one message; what the control channel is told because of it."""
        message = Message(batch, sequence, reply=reply, **said)
        done: list[Effect] = []
        for effect in self.ingest.arrives(message, self.now, enabled=enabled, leader=leader):
            done.append(effect)
            if not isinstance(effect, Store) or lost:
                continue
            if error is not None:
                done += self.ingest.refused(message, error)
                continue
            if not duplicate:
                self.stored.append(message)
            done += self.ingest.stored(message, len(self.stored), duplicate=duplicate)
        self.effects = done
        return told(done)

    def idle(self, seconds: float, batch: str = "b") -> list[Effect]:
        self.now += seconds
        return self.ingest.idle(self.ingest.batches[batch], self.now)

    def sequences(self) -> list[int | None]:
        return [message.sequence for message in self.stored]


def told(effects: list[Effect]) -> list[Mapping[str, Any]]:
    return [effect.body for effect in effects if isinstance(effect, Tell)]


def errors(bodies: list[Mapping[str, Any]]) -> list[int]:
    return [body["error"]["err_code"] for body in bodies]


def pub_ack(seq: int, count: int, batch: str = "b") -> dict[str, Any]:
    return {"stream": "S", "seq": seq, "batch": batch, "count": count}


# -- starting, flow, and the end -----------------------------------------------------------------


def test_the_initial_message_gets_a_batch_flow_ack() -> None:
    assert Peer().send(1, flow="3") == [{"seq": 1, "messages": 3}]


def test_every_tenth_message_gets_an_ack() -> None:
    peer = Peer()
    acks = [body for n in range(1, 31) for body in peer.send(n, flow="10")]
    assert acks == [{"seq": n, "messages": 10} for n in (1, 10, 20, 30)]


def test_a_flow_of_one_acknowledges_each_message_once() -> None:
    peer = Peer()
    assert [body["seq"] for n in range(1, 5) for body in peer.send(n, flow="1")] == [1, 2, 3, 4]


def test_every_1024_bytes_get_an_ack() -> None:
    peer = Peer()
    assert peer.send(1, flow="1024B", size=1) == [{"seq": 1, "bytes": 1024}]
    assert peer.send(2, size=500) == []
    assert peer.send(3, size=600) == [{"seq": 3, "bytes": 1024}]
    assert peer.send(4, size=1023) == []
    assert peer.send(5, size=1) == [{"seq": 5, "bytes": 1024}]


def test_a_batch_that_asks_for_no_flow_gets_ten() -> None:
    assert Peer().send(1) == [{"seq": 1, "messages": 10}]


@pytest.mark.parametrize("flow", ["", "0", "-1", "ten", "10b", "B", "1.5", "10 ", "0B"])
def test_a_flow_that_is_none_is_refused(flow: str) -> None:
    peer = Peer()
    assert errors(peer.send(1, flow=flow)) == [10176]
    assert not peer.ingest.batches


def test_commit_1_stores_the_message_and_is_answered_with_a_pub_ack() -> None:
    peer = Peer()
    peer.send(1)
    peer.send(2)
    assert peer.send(3, commit=Commit.STORED) == [pub_ack(3, 3)]
    assert peer.sequences() == [1, 2, 3]
    assert not peer.ingest.batches


def test_eob_commits_without_storing_the_message() -> None:
    peer = Peer()
    peer.send(1)
    peer.send(2)
    assert peer.send(3, commit=Commit.NOT_STORED) == [pub_ack(2, 2)]
    assert peer.sequences() == [1, 2]


def test_a_batch_of_one_gets_both_answers() -> None:
    assert Peer().send(1, flow="5", commit=Commit.STORED) == [
        {"seq": 1, "messages": 5},
        pub_ack(1, 1),
    ]


def test_messages_are_stored_as_they_come() -> None:
    peer = Peer()
    for n in range(1, 4):
        peer.send(n)
        assert len(peer.stored) == n


def test_there_is_no_maximum_size() -> None:
    peer = Peer()
    for n in range(1, 3001):
        peer.send(n, flow="1000")
    assert peer.send(3001, commit=Commit.STORED) == [pub_ack(3001, 3001)]


def test_a_committed_batch_is_unknown_afterwards_and_its_id_is_free() -> None:
    peer = Peer()
    peer.send(1, commit=Commit.STORED)
    assert errors(peer.send(2)) == [10176]
    assert peer.send(1, flow="2") == [{"seq": 1, "messages": 2}]


def test_all_signals_go_to_the_reply_subject_of_the_first_message() -> None:
    peer = Peer()
    peer.send(1, flow="2", reply="first")
    peer.send(2, reply="second")
    assert [effect.to for effect in peer.effects if isinstance(effect, Tell)] == ["first"]


# -- gaps ----------------------------------------------------------------------------------------


def test_in_mode_ok_a_gap_is_told_at_once_with_last_seq_and_seq() -> None:
    peer = Peer()
    peer.send(1, gap="ok")
    assert peer.send(4) == [{"last_seq": 1, "seq": 4, "messages": 10}]
    assert peer.send(5) == []
    assert peer.send(6, commit=Commit.STORED) == [pub_ack(4, 6)]
    assert peer.sequences() == [1, 4, 5, 6]


@pytest.mark.parametrize("gap", ["fail", None])
def test_in_mode_fail_a_gap_ends_the_batch_with_what_came_before(gap: str | None) -> None:
    peer = Peer()
    peer.send(1, gap=gap)
    peer.send(2)
    assert peer.send(5) == [pub_ack(2, 2)]
    assert peer.sequences() == [1, 2]
    assert errors(peer.send(6)) == [10176]


def test_an_eob_beyond_a_gap_tells_of_it() -> None:
    peer = Peer()
    peer.send(1, gap="ok")
    assert peer.send(4, commit=Commit.NOT_STORED) == [
        {"last_seq": 1, "seq": 4, "messages": 10},
        pub_ack(1, 1),
    ]


@pytest.mark.parametrize("gap", ["", "OK", "Fail", "maybe", "ok,fail"])
def test_invalid_values_of_the_gap_mode_are_refused(gap: str) -> None:
    peer = Peer()
    assert errors(peer.send(1, gap=gap)) == [10202]
    assert errors(peer.send(2)) == [10176]
    assert not peer.stored


def test_a_repeated_message_ends_a_batch_without_gaps_and_is_passed_over_in_others() -> None:
    strict, lax = Peer(), Peer()
    for peer, gap in ((strict, "fail"), (lax, "ok")):
        peer.send(1, gap=gap)
        peer.send(2)
    assert strict.send(2) == [pub_ack(2, 2)]
    assert lax.send(2) == []
    assert lax.send(3, commit=Commit.STORED) == [pub_ack(3, 3)]


def test_a_message_that_is_lost_on_its_way_is_a_gap_for_the_next() -> None:
    peer = Peer()
    peer.send(1, gap="ok")
    assert peer.send(2, lost=True) == []
    assert peer.send(3) == [{"last_seq": 1, "seq": 3, "messages": 10}]


# -- errors --------------------------------------------------------------------------------------


def test_a_stream_that_is_not_enabled() -> None:
    peer = Peer()
    assert errors(peer.send(1, enabled=False)) == [10174]
    assert not peer.stored


def test_ids_of_64_characters_and_not_of_65() -> None:
    peer = Peer()
    assert "messages" in peer.send(1, "x" * 64)[0]
    assert errors(peer.send(1, "x" * 65)) == [10179]
    assert errors(peer.send(1, "")) == [10179]


def test_a_message_without_a_sequence() -> None:
    peer = Peer()
    assert errors(peer.send(None)) == [10175]
    peer.send(1)
    assert errors(peer.send(None)) == [10175]


def test_messages_of_an_unknown_batch_are_rejected() -> None:
    peer = Peer()
    assert errors(peer.send(2)) == [10176]
    assert errors(peer.send(1, commit=Commit.NOT_STORED)) == [10176]


@pytest.mark.parametrize("sequence", [1, 2])
def test_expected_last_msg_id_is_not_supported(sequence: int) -> None:
    peer = Peer()
    if sequence > 1:
        peer.send(1)
    assert errors(peer.send(sequence, expects=frozenset({LAST_MSG_ID}))) == [10177]
    assert not peer.ingest.batches
    assert len(peer.stored) == sequence - 1


def test_only_the_first_message_may_expect_a_last_sequence() -> None:
    peer = Peer()
    expects = frozenset({LAST_SEQUENCE})
    assert peer.send(1, expects=expects) == [{"seq": 1, "messages": 10}]
    assert errors(peer.send(2, expects=expects)) == [10177]
    assert not peer.ingest.batches


def test_a_subjects_sequence_may_be_expected_if_the_batch_has_not_written_it() -> None:
    peer = Peer()
    expects = frozenset({LAST_SUBJECT_SEQUENCE})
    peer.send(1, subject="S.a", expects=expects)
    assert peer.send(2, subject="S.b", expects=expects) == []
    assert errors(peer.send(3, subject="S.a", expects=expects)) == [10071]


def test_what_the_stream_refuses_ends_the_batch_with_that_error() -> None:
    peer = Peer()
    peer.send(1, gap="ok")
    error = {"error": {"code": 400, "err_code": 10071, "description": "wrong last sequence"}}
    assert peer.send(2, error=error) == [error]
    assert errors(peer.send(3)) == [10176]


def test_a_duplicate_ends_the_batch() -> None:
    peer = Peer()
    peer.send(1)
    assert errors(peer.send(2, duplicate=True)) == [10201]
    assert not peer.ingest.batches


def test_a_commit_that_is_neither_1_nor_eob_ends_the_batch() -> None:
    peer = Peer()
    peer.send(1)
    assert errors(peer.send(2, commit=Commit.NONSENSE)) == [10176]
    assert not peer.ingest.batches


# -- limits and time -----------------------------------------------------------------------------


def test_a_stream_has_fifty_batches_in_flight() -> None:
    peer = Peer()
    for n in range(PER_STREAM):
        assert "messages" in peer.send(1, f"b{n}")[0]
    assert errors(peer.send(1, "one-more")) == [10176]
    peer.send(2, "b0", commit=Commit.STORED)
    assert "messages" in peer.send(1, "one-more")[0]


def test_a_server_has_a_thousand_batches_in_flight() -> None:
    peer = Peer()
    peer.places["n1"] = PER_SERVER - 1
    assert "messages" in peer.send(1, "last", leader="n1")[0]
    assert errors(peer.send(1, "one-more", leader="n1")) == [10176]
    assert "messages" in peer.send(1, "elsewhere", leader="n2")[0]


def test_without_messages_for_ten_seconds_it_is_abandoned_without_a_reply() -> None:
    peer = Peer()
    peer.send(1)
    assert peer.idle(IDLE_SECONDS - 0.1) == []
    peer.send(2)
    assert peer.idle(IDLE_SECONDS - 0.1) == []
    assert peer.idle(0.1) == [Advise("b", "timeout")]
    assert errors(peer.send(3)) == [10176]
    assert peer.places["n1"] == 0


# -- another leader ------------------------------------------------------------------------------


def test_in_mode_ok_a_new_leader_continues_and_says_where() -> None:
    peer = Peer()
    peer.send(1, gap="ok")
    peer.send(2)
    batch = peer.ingest.batches["b"]
    assert peer.ingest.leads(batch, "n1") == []
    assert told(peer.ingest.leads(batch, "n2")) == [{"last_seq": 2, "seq": 2, "messages": 10}]
    assert peer.send(5) == [{"last_seq": 2, "seq": 5, "messages": 10}]
    assert peer.send(6, commit=Commit.STORED) == [pub_ack(4, 6)]
    assert +peer.places == Counter()


def test_in_mode_fail_a_new_leader_abandons_the_batch_with_the_final_pub_ack() -> None:
    peer = Peer()
    peer.send(1, gap="fail")
    peer.send(2)
    (answer,) = peer.ingest.leads(peer.ingest.batches["b"], "n2")
    assert answer == Tell(CONTROL, pub_ack(2, 2))
    assert errors(peer.send(3)) == [10176]
    assert +peer.places == Counter()


def test_a_message_stored_after_its_batch_has_ended_says_nothing() -> None:
    peer = Peer()
    peer.send(1)
    batch = peer.ingest.batches["b"]
    late = Message("b", 2, reply=CONTROL)
    assert peer.ingest.arrives(late, 0.0, enabled=True) == [Store()]
    peer.ingest.leads(batch, "n2")
    assert peer.ingest.stored(late, 2) == []
    assert peer.ingest.refused(late, {}) == []


def test_a_stream_that_is_gone_gives_its_places_back() -> None:
    peer = Peer()
    peer.send(1, "a")
    peer.send(1, "b")
    peer.ingest.clear()
    assert +peer.places == Counter()


# -- whatever is sent ----------------------------------------------------------------------------

_STEPS = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.sampled_from([Commit.NO, Commit.NO, Commit.NO, Commit.STORED, Commit.NOT_STORED]),
        st.integers(0, 40),
    ),
    max_size=40,
)


@given(st.sampled_from(["ok", "fail", None]), st.sampled_from(["1", "3", "50B", None]), _STEPS)
def test_no_flow_above_what_was_asked_for_and_nothing_acked_that_did_not_come(
    gap: str | None, flow: str | None, steps: list[tuple[int, Commit, int]]
) -> None:
    peer = Peer("fast-lowers-the-flow")
    most = {"bytes": 50} if flow == "50B" else {"messages": int(flow or 10)}
    highest = 0
    for sequence, commit, size in [(1, Commit.NO, 1), *steps]:
        highest = max(highest, sequence)
        for body in peer.send(sequence, gap=gap, flow=flow, commit=commit, size=size):
            if "stream" in body:
                assert ("batch" in body) is not ("error" in body)
                continue
            assert body["seq"] <= highest
            assert body.get("last_seq", 0) < body["seq"]
            assert all(1 <= body[unit] <= asked for unit, asked in most.items())
    assert sum(peer.places.values()) == len(peer.ingest.batches) <= 1
    assert all(message.commit is not Commit.NOT_STORED for message in peer.stored)


# -- doing wrong ---------------------------------------------------------------------------------


def _gap(peer: Peer, mode: str | None = "fail") -> object:
    peer.send(1, gap=mode)
    return peer.send(3), peer.sequences()


def _many(peer: Peer) -> object:
    return [peer.send(n, flow="2") for n in range(1, 9)]


def _bytes(peer: Peer) -> object:
    return [peer.send(n, flow="10B", size=6) for n in range(1, 7)]


def _limit(peer: Peer) -> object:
    for n in range(PER_STREAM):
        peer.send(1, f"b{n}")
    return peer.send(1, "one-more")


def _server_limit(peer: Peer) -> object:
    peer.places["n1"] = PER_SERVER
    return peer.send(1)


def _long(peer: Peer) -> object:
    for n in range(1, 1002):
        peer.send(n, flow="2000")
    return len(peer.stored)


def _expects(peer: Peer, *headers: str) -> object:
    peer.send(1, subject="S.a")
    return peer.send(2, subject="S.a", expects=frozenset(headers))


def _timeout(peer: Peer, seconds: float = IDLE_SECONDS) -> object:
    peer.send(1)
    return peer.idle(seconds)


def _new_leader(peer: Peer, mode: str) -> object:
    peer.send(1, gap=mode)
    return peer.ingest.leads(peer.ingest.batches["b"], "n2"), set(peer.ingest.batches)


def _commit(peer: Peer, commit: Commit) -> object:
    peer.send(1)
    return peer.send(2, commit=commit), peer.sequences()


def _duplicate(peer: Peer) -> object:
    peer.send(1)
    return peer.send(2, duplicate=True)


SCENES: Mapping[str, Callable[[Peer], object]] = {
    "fast-ingests-everywhere": lambda peer: peer.send(1, enabled=False),
    "fast-takes-long-ids": lambda peer: peer.send(1, "x" * 65),
    "fast-numbers-messages-itself": lambda peer: peer.send(None),
    "fast-starts-anywhere": lambda peer: peer.send(4),
    "fast-takes-any-gap-mode": lambda peer: peer.send(1, gap="maybe"),
    "fast-streams-have-no-limit": _limit,
    "fast-servers-have-no-limit": _server_limit,
    "fast-batches-have-a-limit": _long,
    "fast-takes-bytes-for-messages": _bytes,
    "fast-gaps-are-fine-by-default": lambda peer: _gap(peer, None),
    "fast-gaps-always-end-it": lambda peer: _gap(peer, "ok"),
    "fast-gaps-never-end-it": _gap,
    "fast-gaps-end-it-with-an-error": _gap,
    "fast-gaps-are-not-told": lambda peer: _gap(peer, "ok"),
    "fast-tells-what-it-expected": lambda peer: _gap(peer, "ok"),
    "fast-stores-after-the-gap": _gap,
    "fast-counts-beyond-the-gap": _gap,
    "fast-allows-last-msg-id": lambda peer: _expects(peer, LAST_MSG_ID),
    "fast-expects-in-every-message": lambda peer: _expects(peer, LAST_SEQUENCE),
    "fast-skips-duplicates": _duplicate,
    "fast-stores-eob": lambda peer: _commit(peer, Commit.NOT_STORED),
    "fast-drops-the-commit": lambda peer: _commit(peer, Commit.STORED),
    "fast-starts-in-silence": _many,
    "fast-starts-only-are-acked": _many,
    "fast-acks-half-as-often": _many,
    "fast-acks-twice": _many,
    "fast-acks-without-the-flow": _many,
    "fast-raises-the-flow": _many,
    "fast-lowers-the-flow": _many,
    "fast-gives-up-early": lambda peer: _timeout(peer, IDLE_SECONDS / 5),
    "fast-never-gives-up": _timeout,
    "fast-tells-of-a-timeout": _timeout,
    "fast-keeps-a-timeout-to-itself": _timeout,
    "fast-new-leaders-forget": lambda peer: _new_leader(peer, "fail"),
    "fast-new-leaders-always-go-on": lambda peer: _new_leader(peer, "fail"),
    "fast-new-leaders-say-nothing": lambda peer: _new_leader(peer, "ok"),
}


@pytest.mark.parametrize("knob", SCENES)
def test_a_knob_makes_a_difference_and_is_counted(knob: str) -> None:
    right, wrong = Peer(), Peer(knob)
    assert SCENES[knob](right) != SCENES[knob](wrong)
    assert wrong.parts.fired[knob] >= 1


def test_every_knob_of_fast_ingest_has_a_scene() -> None:
    own = {name for name in knob_names() if name.startswith("fast-")}
    # Those that are no matter of the machine: test_fast_ingest_part has them.
    carried_out = {"fast-is-ignored", "fast-checks-nothing", "fast-marks-messages"}
    assert own - SCENES.keys() == carried_out
