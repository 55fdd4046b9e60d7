"""Judging a message: what every part says, what is kept, what silence means."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from jetproof.engine.judge import (
    NO_REPLY,
    Judgement,
    Rules,
    Seen,
    judge,
    merge,
    position_text,
    position_words,
    read_source,
    summary,
)
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.load.error_table import read_error_table
from jetproof.load.wire_schemas import read_schema_set
from jetproof.model.case import After, ErrorCode, Expectation
from jetproof.model.matcher import parse_matcher
from jetproof.model.matching import MISSING
from jetproof.model.versions import Version
from jetproof.wire import Headers


@pytest.fixture(scope="module")
def rules() -> Rules:
    return Rules(
        Version.parse("2.15.1"), "adr-50", 7, read_error_table(), WireSchemas(read_schema_set())
    )


def message(document: object = None, headers: Headers | None = None, **more: str) -> Seen:
    payload = b"" if document is None else json.dumps(document).encode()
    return Seen("subject", headers, payload, **more)  # type: ignore[arg-type]


def judged(expectation: Expectation, seen: Seen | None, rules: Rules) -> Judgement:
    return judge(expectation, seen, {"name": "x"}, rules, at="reply", marks={"begin": 0.0})


def failed(judgement: Judgement) -> list[tuple[str, str, object]]:
    return [(it.path, it.expected, it.actual) for it in judgement.findings if not it.ok]


ERROR = {"error": {"code": 400, "err_code": 10071, "description": "wrong last sequence: 3"}}
ACK = {"stream": "S", "seq": 3}


@pytest.mark.parametrize(
    ("seen", "kind"),
    [
        (message(), "empty"),
        (message(headers=Headers()), "empty"),
        (message(headers=Headers(status=503)), "status 503"),
        (message(headers=Headers(status=204, description="EOB")), "status 204 EOB"),
        (message(ACK), "pub-ack"),
        (message({**ACK, "duplicate": True}), "duplicate pub-ack"),
        (message({**ACK, "batch": "b", "count": 1}), "batch pub-ack"),
        (message(ERROR), "error 10071 (400)"),
        (message({"error": {}}), "error None (None)"),
        (
            message({"type": "io.nats.jetstream.api.v1.stream_info_response"}),
            "stream_info_response",
        ),
        (message({"type": 7}), "json"),
        (message([1]), "json"),
        (Seen("s", None, b"text"), "payload of 4 bytes"),
        (message({"type": "x" * 10**6}), "x" * 300 + "… (1,000,000 characters)"),
    ],
)
def test_a_message_in_a_word_or_two(seen: Seen, kind: str) -> None:
    assert summary(seen) == kind


ACK_SUBJECT = "$JS.ACK.S.c.2.7.9.1700000000000000000.0"
DOMAIN_ACK_SUBJECT = "$JS.ACK.hub.hash.S.c.2.7.9.1700000000000000000.0"
GAP = {"type": "gap", "last_seq": 2, "seq": 5}
API = "io.nats.jetstream.api.v1."


@pytest.mark.parametrize(
    ("seen", "words"),
    [
        (message(), "empty"),
        (message(headers=Headers([("Nats-Sequence", "4")])), "empty, seq 4"),
        (
            message(headers=Headers([("Nats-Sequence", "99"), ("Nats-Sequence", "4")])),
            "empty, seq 99 and 4",
        ),
        (message(headers=Headers(status=404, description="No Messages")), "status 404 No Messages"),
        (Seen("s", None, b"two"), "payload two"),
        (Seen("s", None, b"two", ACK_SUBJECT), "payload two, seq 7, delivery 2"),
        (Seen("s", None, b"two", DOMAIN_ACK_SUBJECT), "payload two, seq 7, delivery 2"),
        (Seen("s", None, b"two", "$JS.ACK.odd"), "payload two"),
        (Seen("s", None, b"x" * 61), "payload of 61 bytes"),
        (Seen("s", None, b"a\x00"), "payload hex 6100"),
        (message([1]), "payload [1]"),
        (message({"n": 1}), 'payload {"n": 1}'),
        (message(ACK), "pub-ack seq 3"),
        (message({**ACK, "val": "7"}), "pub-ack seq 3 val 7"),
        (message({**ACK, "duplicate": True}), "duplicate pub-ack seq 3"),
        (message({**ACK, "batch": "b", "count": 1}), "batch pub-ack seq 3 count 1"),
        (message({"type": "ack", "seq": 0, "msgs": 10}), "ack seq 0"),
        (message(GAP), "gap last_seq 2 seq 5"),
        (message({"type": "err", "seq": 2, **ERROR}), "error 10071 (400)"),
        (
            message({"type": API + "stream_msg_delete_response", "success": True}),
            "stream_msg_delete_response (success true)",
        ),
        (
            message(
                {
                    "type": API + "consumer_create_response",
                    "name": "xYz",
                    "created": "2026-01-01T00:00:00Z",
                    "config": {"ack_policy": "none", "ack_wait": 5},
                    "num_pending": 2,
                }
            ),
            "consumer_create_response (ack_policy none, num_pending 2)",
        ),
        (message({"type": API + "account_info_response"}), "account_info_response"),
    ],
)
def test_a_position_says_which_message_or_state_it_was(seen: Seen, words: str) -> None:
    assert position_words(seen) == words


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("json.list[0].n", 1),
        ("json.none", MISSING),
        ("header.N", 12),
        ("header.T", "t"),
        ("header.n", MISSING),
        ("header.Long", "9" * 20),
        ("status", 204),
        ("description", "EOB"),
        ("subject", "subject"),
        ("reply", "answer"),
        ("payload", '{"list": [{"n": 1}]}'),
    ],
)
def test_every_source_of_a_value(source: str, value: object) -> None:
    headers = Headers(
        [("N", "12"), ("T", "t"), ("T", "u"), ("Long", "9" * 20)], status=204, description="EOB"
    )
    assert read_source(message({"list": [{"n": 1}]}, headers, reply="answer"), source) == value


def test_an_error_is_its_code_and_the_http_code_that_belongs_to_it(rules: Rules) -> None:
    wanted = Expectation(error=ErrorCode((10071,)))
    assert not failed(judged(wanted, message(ERROR), rules))
    wrong = {"error": {**ERROR["error"], "code": 503}}
    assert failed(judged(wanted, message(wrong), rules)) == [
        ("reply.error", "error 10071 (400)", "error 10071 (503)")
    ]
    assert not failed(judged(Expectation(error=ErrorCode()), message(wrong), rules))


def test_the_text_of_an_error_is_a_position_if_it_is_another(rules: Rules) -> None:
    wanted = Expectation(error=ErrorCode((10071,)))
    assert judged(wanted, message(ERROR), rules).positions == {}
    other = {"error": {**ERROR["error"], "description": "no"}}
    assert judged(wanted, message(other), rules).positions == {"error-text-10071": "no"}


def test_an_error_is_judged_by_what_the_revision_in_force_says_with_its_number(
    rules: Rules,
) -> None:
    """10202 is one thing in revision 7 of ADR-50, and another in releases."""
    wanted = Expectation(error=ErrorCode((10202,)))
    by_law = {"code": 400, "err_code": 10202, "description": "batch publish gap mode is invalid"}
    releases = {**by_law, "description": "cluster member change is in progress"}
    later = replace(rules, revision=10)
    for told, its_rules, positions in (
        (by_law, rules, {}),
        (releases, rules, {"error-text-10202": releases["description"]}),
        (by_law, later, {"error-text-10202": by_law["description"]}),
        (releases, later, {}),
        (releases, replace(rules, spec="errors"), {}),
    ):
        judgement = judged(wanted, message({"error": told}), its_rules)
        assert not failed(judgement)
        assert judgement.positions == positions


def test_the_first_alternative_that_holds_gives_captures_and_positions(rules: Rules) -> None:
    def option(seq: int, source: str, position: str) -> Expectation:
        return Expectation(
            json={"seq": parse_matcher(seq)}, capture={"it": source}, position=position
        )

    wanted = Expectation(
        one_of=(
            option(1, "json.seq", "first"),
            option(3, "json.stream", "second"),
            option(3, "json.seq", "third"),
        )
    )
    judgement = judged(wanted, message(ACK), rules)
    assert judgement.ok
    assert judgement.captures == {"it": "S"}
    assert judgement.positions == {"second": "pub-ack seq 3"}


def test_an_alternative_whose_capture_is_missing_does_not_hold(rules: Rules) -> None:
    wanted = Expectation(
        one_of=(Expectation(capture={"it": "json.none"}), Expectation(capture={"it": "json.seq"}))
    )
    assert judged(wanted, message(ACK), rules).captures == {"it": 3}


def test_silence_is_a_mismatch_and_a_position(rules: Rules) -> None:
    wanted = Expectation(
        empty=True, position="kind", positions={"seq": "json.seq"}, capture={"it": "json.seq"}
    )
    judgement = judged(wanted, None, rules)
    assert failed(judgement) == [("reply", "an empty message", NO_REPLY)]
    assert judgement.positions == {"kind": NO_REPLY, "seq": NO_REPLY}
    assert judgement.captures == {}


def test_silence_is_only_a_position_where_nothing_else_is_asked(rules: Rules) -> None:
    assert judged(Expectation(position="kind"), None, rules).ok
    assert not judged(Expectation(position="kind", capture={"it": "status"}), None, rules).ok


def test_a_capture_of_a_list_or_object_is_a_mismatch(rules: Rules) -> None:
    judgement = judged(Expectation(capture={"it": "json.list"}), message({"list": [1]}), rules)
    assert failed(judgement) == [("reply.json.list", "a value to keep as $it", [1])]


def test_a_position_seen_again_with_another_value_keeps_both() -> None:
    positions = {"kind": "pub-ack"}
    for value in ("pub-ack", "empty", "pub", "empty"):
        merge(positions, {"kind": value, "other": "1"})
    assert positions == {"kind": "pub-ack | empty | pub", "other": "1"}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (MISSING, "absent"),
        (None, "null"),
        (True, "true"),
        (3, "3"),
        ("text", "text"),
        ({"b": 1, "a": [2]}, '{"a": [2], "b": 1}'),
        ("x" * 1000, "x" * 300 + "… (1,000 characters)"),
    ],
)
def test_positions_are_compared_as_text(value: object, text: str) -> None:
    assert position_text(value) == text


@pytest.mark.parametrize(
    ("by", "at", "early"),
    [
        (1.5, 1.6, False),
        (1.5, 1.4985, False),
        (1.5, 1.49, True),
        (0.0, 0.0, False),
        (0.0, -0.001, True),
    ],
)
def test_a_lower_bound_allows_for_the_tick_of_a_timer(
    rules: Rules, by: float, at: float, early: bool
) -> None:
    bound = Expectation(not_before=After("begin", by))
    found = failed(judged(bound, replace(message(ACK), at=at), rules))
    assert [path for path, *_ in found] == (["reply.not_before"] if early else [])
