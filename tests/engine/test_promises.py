"""Promises: laws over what a case did and what its streams say at its end."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jetproof.engine.judge import Seen
from jetproof.engine.promises import consumer_laws, stream_laws
from jetproof.engine.promises.history import History, read_history
from jetproof.engine.promises.names import JUDGED
from jetproof.engine.promises.refusals import differences, is_refusal
from jetproof.engine.promises.state import StoredMessage, StreamView
from jetproof.engine.verdicts import rule
from jetproof.load.editions import held_promises, present
from jetproof.load.library import load_library
from jetproof.model.clause import Actor, Clause, Level, Status
from jetproof.model.edition import Edition
from jetproof.model.ledger import Deviation, KnownMismatch
from jetproof.model.matcher import parse_matcher
from jetproof.model.verdict import Check, FrameRecord, Verdict
from jetproof.model.versions import Releases
from jetproof.wire import Headers


def sent(subject: str, reply: str = "", payload: bytes = b"", **headers: str) -> FrameRecord:
    names = tuple((name.replace("_", "-"), value) for name, value in headers.items()) or None
    return FrameRecord(0, ">", "main", "PUB", subject, reply, headers=names, payload=payload)


def got(subject: str, document: object = None, *, reply: str = "") -> FrameRecord:
    payload = b"" if document is None else json.dumps(document).encode()
    return FrameRecord(0, "<", "main", "MSG", subject, reply, payload=payload)


def delivery(count: int, seq: int, number: int) -> FrameRecord:
    return got("s.a", reply=f"$JS.ACK.S.c.{count}.{seq}.{number}.1700000000.0")


def view(consumers: tuple[dict[str, object], ...] = (), **state: object) -> StreamView:
    config = {"name": "S", "subjects": ["s.>"], "retention": "limits", "max_msgs": -1}
    return StreamView("S", config, state, consumers)


def broken(findings: object) -> list[str]:
    return [finding.path for finding in findings if not finding.ok]  # type: ignore[attr-defined]


STORED = {"stream": "S", "seq": 1}


# -- what a case did -------------------------------------------------------------------------------


def test_acknowledged_messages_are_paired_with_their_acks() -> None:
    history = read_history(
        [sent("s.a", "r1", b"one"), got("r1", STORED), sent("s.b", "r2"), got("r2", {"error": {}})]
    )
    assert [(one.seq, one.message.payload) for one in history.acknowledged()] == [(1, b"one")]
    assert [message.answered for message in history.publications] == [True, True]
    assert history.highest == {"S": 1}


def test_a_duplicate_is_not_stored_again() -> None:
    history = read_history([sent("s.a", "r1"), got("r1", {**STORED, "duplicate": True})])
    assert not history.acknowledged()


def test_members_of_a_batch_have_the_sequences_before_the_commit() -> None:
    batch = {"Nats_Batch_Id": "b"}
    history = read_history(
        [
            sent("s.a", "r1", b"one", Nats_Batch_Sequence="1", **batch),
            got("r1"),
            sent("s.b", "r2", b"two", Nats_Batch_Sequence="2", Nats_Batch_Commit="1", **batch),
            got("r2", {"stream": "S", "seq": 8, "batch": "b", "count": 2}),
        ]
    )
    assert [(one.seq, one.message.payload) for one in history.acknowledged()] == [
        (7, b"one"),
        (8, b"two"),
    ]


def test_an_answer_that_is_no_json_leaves_its_message_open() -> None:
    frame = FrameRecord(0, "<", "main", "MSG", "r1", payload=b'{"stream": "S')
    history = read_history([sent("s.a", "r1"), frame])
    assert [message.answered for message in history.publications] == [False]


# -- streams ---------------------------------------------------------------------------------------

SOUND = {
    "messages": 3,
    "first_seq": 1,
    "last_seq": 5,
    "num_deleted": 2,
    "deleted": [2, 4],
    "num_subjects": 2,
    "subjects": {"s.a": 1, "s.b": 2},
}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"messages": 4}, "messages"),
        ({"num_deleted": 3}, "messages"),
        ({"deleted": [2]}, "deleted.listed"),
        ({"deleted": [2, 9]}, "deleted.range"),
        ({"subjects": {"s.a": 1, "s.b": 3}}, "subjects"),
        ({"num_subjects": 3}, "subjects.listed"),
        ({"messages": 0, "num_deleted": 0, "deleted": [], "subjects": {}}, "first_seq"),
    ],
)
def test_numbers_of_a_stream_that_do_not_agree(wrong: dict[str, object], path: str) -> None:
    assert not broken(stream_laws.adds_up(view(**SOUND)))
    assert path in broken(stream_laws.adds_up(view(**{**SOUND, **wrong})))


def test_a_message_must_be_stored_as_it_was_sent() -> None:
    history = read_history([sent("s.a", "r1", b"one", X_Trace="7"), got("r1", STORED)])
    (ack,) = history.acknowledged()
    right = StoredMessage("s.a", 1, (("X-Trace", "7"),), b"one")
    assert not broken(stream_laws.stored_as_sent(ack, right, view()))
    for wrong, path in (
        (replace(right, subject="s.b"), "stored.1.subject"),
        (replace(right, payload=b"on"), "stored.1.payload"),
        (replace(right, headers=()), "stored.1.headers"),
        (None, "stored.1"),
    ):
        assert broken(stream_laws.stored_as_sent(ack, wrong, view())) == [path]


def test_a_stream_holds_nothing_that_was_refused() -> None:
    history = read_history([sent("s.a", "r1"), got("r1", {"error": {"code": 400}})])
    assert not broken(stream_laws.nothing_else(view(last_seq=0), history))
    assert broken(stream_laws.nothing_else(view(last_seq=1), history)) == ["last_seq"]


@pytest.mark.parametrize(
    "frame",
    [
        sent("$JS.API.STREAM.PURGE.S"),
        sent("$JS.API.STREAM.MSG.DELETE.S"),
        sent("s.a", Nats_Rollup="all"),
        sent("s.a", Nats_TTL="1s"),
    ],
)
def test_a_stream_from_which_a_case_removes_messages_may_lack_some(frame: FrameRecord) -> None:
    assert stream_laws.is_append_only(view(), History())
    assert not stream_laws.is_append_only(view(), read_history([frame]))


# -- consumers -------------------------------------------------------------------------------------


def consumer(**info: object) -> dict[str, object]:
    whole: dict[str, object] = {
        "name": "c",
        "config": {"ack_policy": "explicit", "deliver_policy": "all"},
        "delivered": {"consumer_seq": 3, "stream_seq": 3},
        "ack_floor": {"consumer_seq": 1, "stream_seq": 1},
        "num_ack_pending": 2,
        "num_pending": 1,
    }
    return {**whole, **info}


@pytest.mark.parametrize(
    ("wrong", "path"),
    [
        ({"ack_floor": {"consumer_seq": 4, "stream_seq": 4}}, "consumer.c.ack_floor"),
        ({"num_ack_pending": 3}, "consumer.c.num_ack_pending"),
        ({"num_pending": 2}, "consumer.c.num_pending"),
    ],
)
def test_numbers_of_a_consumer_that_do_not_agree(wrong: dict[str, object], path: str) -> None:
    stream = view(**SOUND)
    assert not broken(consumer_laws.consumer_adds_up(stream, consumer()))
    assert path in broken(consumer_laws.consumer_adds_up(stream, consumer(**wrong)))


def test_first_deliveries_follow_the_stream() -> None:
    right = read_history([delivery(1, 1, 1), delivery(1, 3, 2), delivery(2, 1, 3)])
    wrong = read_history([delivery(1, 3, 1), delivery(1, 1, 2)])
    twice = read_history([delivery(1, 1, 1), delivery(1, 1, 2)])
    assert not broken(consumer_laws.in_order(right))
    assert broken(consumer_laws.in_order(wrong)) == ["order.c"]
    assert broken(consumer_laws.in_order(twice)) == ["order.c"]


def test_one_delivery_may_be_heard_twice() -> None:
    assert not broken(consumer_laws.in_order(read_history([delivery(1, 1, 1), delivery(1, 1, 1)])))


def test_a_message_that_the_filter_matches_is_not_left_out() -> None:
    published = [
        frame
        for seq, subject in ((1, "s.a"), (2, "s.a"), (3, "s.b"), (4, "s.a"))
        for frame in (sent(subject, f"r{seq}"), got(f"r{seq}", {"stream": "S", "seq": seq}))
    ]
    filtered = consumer(config={"deliver_policy": "all", "filter_subject": "s.a"})
    stream = view((filtered,))
    for seqs, wrong in (((1, 2, 4), []), ((1, 4), ["gaps.c"])):
        deliveries = [delivery(1, seq, number) for number, seq in enumerate(seqs, 1)]
        history = read_history([*published, *deliveries])
        found = consumer_laws.without_gaps(stream, history, history.acknowledged())
        assert broken(found) == wrong


def test_an_answered_ack_is_final() -> None:
    ack = "$JS.ACK.S.c.1.1.1.1700000000.0"
    acked = [delivery(1, 1, 1), sent(ack, "r1", b"+ACK"), got("r1")]
    assert not broken(consumer_laws.acked_is_final(read_history(acked)))
    again = read_history([*acked, delivery(2, 1, 2)])
    assert broken(consumer_laws.acked_is_final(again)) == ["acked.c"]
    naked = read_history(
        [delivery(1, 1, 1), sent(ack, "r1", b"-NAK"), got("r1"), delivery(2, 1, 2)]
    )
    assert not broken(consumer_laws.acked_is_final(naked))


def test_a_consumer_keeps_to_its_limits() -> None:
    config = {"ack_policy": "explicit", "max_deliver": 2, "max_ack_pending": 2}
    history = read_history([delivery(1, 1, 1), delivery(2, 1, 2)])
    stream = view((consumer(config=config),))
    assert not broken(consumer_laws.within_limits(stream, history))
    again = read_history([delivery(1, 1, 1), delivery(2, 1, 2), delivery(3, 1, 3)])
    assert broken(consumer_laws.within_limits(stream, again)) == ["limits.c.max_deliver"]
    crowded = view((consumer(config=config, num_ack_pending=3),))
    assert broken(consumer_laws.within_limits(crowded, history)) == ["limits.c.max_ack_pending"]


# -- refusals and verdicts -------------------------------------------------------------------------


def test_a_refusal_that_changes_something_is_found() -> None:
    before = {"S": {"last_seq": 1}, "NEW": None}
    assert broken(differences(before, before)) == []
    assert broken(differences(before, {"S": {"last_seq": 2}, "NEW": None})) == ["S.last_seq"]
    assert broken(differences(before, {"S": {"last_seq": 1}, "NEW": {}})) == ["NEW"]
    listed = {"names": {"listed": ["S"]}}
    assert broken(differences(listed, listed)) == []
    assert broken(differences(listed, {"names": {"listed": ["OTHER", "S"]}})) == ["names.listed"]


@pytest.mark.parametrize(
    ("answer", "refused"),
    [
        (
            Seen("r", Headers((), status=409, description="Exceeded MaxRequestBatch of 1"), b""),
            True,
        ),
        (Seen("r", Headers((), status=404, description="No Messages"), b""), False),
        (Seen("r", None, b'{"error": {"code": 400, "err_code": 10025}}'), True),
        (Seen("r", None, b'{"seq": 1}'), False),
        (None, False),
    ],
)
def test_an_error_and_a_status_that_refuses_are_refusals(
    answer: Seen | None, refused: bool
) -> None:
    assert is_refusal(answer) is refused


def _clause(status: Status) -> Clause:
    facts = ("X-001", "x", "s", Level.MUST, Actor.SERVER, status, "t", None, None, None, None)
    return Clause(*facts)


def test_a_broken_promise_fails_a_case_about_a_silent_sentence() -> None:
    check = Check("closing", "closing", "messages", False, "2", 3, clause="PRM-007")
    silent = (_clause(Status.SILENT),)
    assert rule(silent, [replace(check, clause=None)], ()).verdict is Verdict.POSITION
    assert rule(silent, [check], ()).verdict is Verdict.FAIL


def test_two_causes_in_one_cell_are_known_together() -> None:
    def entry(name: str, step: str) -> Deviation:
        known = KnownMismatch(step, "reply", parse_matcher(1))
        return Deviation(name, "c", Releases.parse("*"), "t", "does", (known,))

    failed = [Check(step, "request", "reply", False, "0", 1) for step in ("one", "two")]
    clauses, both = (_clause(Status.NORMATIVE),), (entry("a", "one"), entry("b", "two"))
    assert rule(clauses, failed, both).verdict is Verdict.KNOWN
    third = Check("three", "request", "reply", False, "0", 1)
    assert rule(clauses, [*failed, third], both).verdict is Verdict.STALE


def test_every_law_has_its_clause_and_every_clause_follows_from_a_text() -> None:
    library = load_library()
    assert library.promises >= JUDGED
    promises = library.specs["promises"].clauses.values()
    assert promises
    for clause in promises:
        assert clause.follows, clause.id


def test_an_edition_holds_cases_to_the_promises_that_it_lists() -> None:
    library = load_library()
    today = Edition("2026.11", present(library))
    stored = dict(today.hashes)
    del stored["promises::PRM-007"]
    stored["promises::PRM-008"] = "0" * 16
    assert held_promises(library, ()) == library.promises
    assert held_promises(library, (today,)) == library.promises
    earlier = Edition("2026.10", stored)
    assert held_promises(library, (today, earlier)) == library.promises - {"PRM-007", "PRM-008"}
