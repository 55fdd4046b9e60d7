"""Values cross the protocol exactly, whatever they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jetproof.data import fixtures_dir
from jetproof.model.client import OPERATIONS
from jetproof.model.matching import WireText, same
from jetproof.targets.clients.protocol import check_call, check_ok, operations, parameters
from jetproof.targets.clients.values import (
    NUMBERS,
    ValueRefused,
    decode,
    encode,
    payload_bytes,
)

UNSIGNED = st.integers(0, 2**64 - 1)


@given(st.binary())
def test_a_payload_of_any_bytes_comes_back(payload: bytes) -> None:
    sent = json.loads(json.dumps(encode({"data": payload})))
    got = decode(sent)
    assert isinstance(got, dict)
    assert payload_bytes(got["data"]) == payload
    assert json.loads(json.dumps(encode(got))) == sent


@given(st.sampled_from(sorted(NUMBERS)), UNSIGNED)
def test_a_number_is_digits_on_the_line_and_a_number_here(name: str, number: int) -> None:
    sent = encode({name: number})
    assert sent == {name: str(number)}
    assert decode(json.loads(json.dumps(sent))) == {name: number}


@given(st.recursive(st.none() | st.booleans() | UNSIGNED | st.text(), st.lists, max_leaves=9))
def test_what_is_no_value_of_the_protocol_stays_as_it_is(value: object) -> None:
    assert decode({"info": value}) == {"info": value}


def test_the_schemas_have_digits_where_values_has_numbers() -> None:
    found: set[str] = set()

    def look(part: object) -> None:
        if isinstance(part, dict):
            for name, shape in part.get("properties", {}).items():
                if shape == {"$ref": "#/$defs/digits"}:
                    found.add(name)
            for inner in part.values():
                look(inner)
        elif isinstance(part, list):
            for inner in part:
                look(inner)

    for name in ("calls", "lines"):
        path = fixtures_dir() / "schemas" / "adapter" / f"{name}.json"
        look(json.loads(path.read_text(encoding="utf-8")))
    assert found == NUMBERS


def test_lists_of_messages_are_gone_through() -> None:
    messages = [{"subject": "a", "data": "1", "expect_last_seq": 7, "headers": {"A": "b"}}]
    sent = encode({"messages": messages})
    assert sent == {
        "messages": [
            {"subject": "a", "data": "MQ==", "expect_last_seq": "7", "headers": [["A", "b"]]}
        ]
    }
    got = decode({"messages": [{"data": "MQ==", "seq": "7", "headers": [["A", "5"]]}]})
    assert got == {"messages": [{"data": "1", "seq": 7, "headers": [["A", "5"]]}]}


def test_a_case_may_expect_a_number_where_text_came() -> None:
    got = decode({"data": "Nw==", "headers": [["A", "5"]]})
    assert isinstance(got, dict)
    assert same(7, got["data"])
    assert same(5, got["headers"][0][1])


def test_what_is_plain_already_stays_plain() -> None:
    plain = decode({"data": "aGVsbG8=", "seq": "7"})
    assert decode(plain) == plain == {"data": WireText("hello"), "seq": 7}


def test_a_consumer_configuration_is_sent_as_it_is() -> None:
    config = {"name": "C", "opt_start_seq": 7, "metadata": {"seq": 9}}
    assert encode({"config": config}) == {"config": config}


@pytest.mark.parametrize("text", ["é", "a", "aGVsbG8", "aGVs bG8="])
def test_a_payload_that_is_no_base64_is_refused(text: str) -> None:
    with pytest.raises(ValueRefused, match="data is not base64"):
        decode({"message": {"data": text}})


def test_every_operation_knows_its_parameters() -> None:
    assert len(operations()) == len(set(operations())) == 40
    assert parameters("publish")["subject"] is True
    assert parameters("publish")["msg_id"] is False
    assert parameters("kv.update") == {"of": True, "key": True, "data": False, "revision": True}


def test_cases_are_checked_against_the_same_operations() -> None:
    of_cases = {op: set(given) for op, given in OPERATIONS.items()}
    of_schemas = {op: set(parameters(op)) for op in operations() if op in OPERATIONS}
    assert of_cases == of_schemas
    assert set(operations()) - OPERATIONS.keys() <= {"hello"}


def test_calls_are_held_against_their_schema() -> None:
    assert check_call("publish", encode({"subject": "a", "expect_last_seq": 7})) is None
    assert check_call("smoke.unknown", {"anything": 1}) is None
    assert "subject" in str(check_call("publish", {}))
    assert "not of type 'string'" in str(check_call("publish", {"subject": "a", "data": 7}))
    assert "was unexpected" in str(check_call("close", {"of": "x"}))


@pytest.mark.parametrize(
    ("op", "body"),
    [
        ("publish", {"ack": {"stream": "S", "seq": "7", "duplicate": True}}),
        ("fetch", {"messages": [], "error": {"type": "E", "text": ""}}),
        ("next", {"message": None}),
        ("consumer.info", {"info": {"name": "C", "num_pending": "3", "anything": [1]}}),
        ("close", {}),
        ("not.in.the.protocol", {"anything": 1}),
    ],
)
def test_good_answers(op: str, body: object) -> None:
    assert check_ok(op, body) is None


@pytest.mark.parametrize(
    ("op", "body", "words"),
    [
        ("publish", {}, "'ack' is a required property"),
        ("publish", {"ack": {"seq": 7}}, "ack.seq: 7 is not of type 'string'"),
        ("publish", {"ack": {"seq": "-1"}}, "ack.seq"),
        ("publish", {"ack": {"sequence": "1"}}, "'sequence' was unexpected"),
        ("fetch", {"messages": None}, "messages"),
        ("fetch", {"messages": [{"data": None}]}, "messages[0].data: None is not of type"),
        ("next", {"message": {"seq": 1}}, "message.seq: 1 is not of type 'string'"),
        ("close", {"closed": True}, "'closed' was unexpected"),
        ("kv.get", {"entry": {"data": "x"}}, "'key' is a required property"),
    ],
)
def test_bad_answers_are_told_with_their_place(op: str, body: object, words: str) -> None:
    assert words in str(check_ok(op, body))
