"""A control: the same case without what carries a feature on the wire."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jetproof.model.case import (
    Case,
    Expectation,
    ForEach,
    Given,
    Outgoing,
    Publish,
    Repeat,
    Request,
    Step,
    Subscribe,
    Together,
)
from jetproof.model.client import Call
from jetproof.model.feature import Asking, Feature, Fieldset, control, sends
from jetproof.model.template import parse_text, parse_value

READ = Feature(
    "min_last_seq",
    "A read waits",
    fields=(
        Fieldset(("$JS.API.DIRECT.GET.>", "$JS.API.STREAM.MSG.GET.*"), ("min_last_seq",)),
        Fieldset(("$JS.API.CONSUMER.CREATE.>",), ("config.min_last_seq",)),
    ),
)
BATCH = Feature(
    "fast",
    "A batch",
    headers=("Nats-Fast-Batch-Id",),
    with_headers=("Nats-Batch-Sequence",),
    reply_ends=".$FI",
)


def case_of(*steps: Step, suite: str = "demo/one") -> Case:
    return Case(
        id=f"{suite}::it",
        suite=suite,
        name="it",
        spec="demo",
        revision=1,
        about="",
        clauses=("DEMO-001",),
        given=Given(),
        steps=steps,
        budget=1.0,
        file="one.yaml",
        line=1,
        hash="h",
    )


def message(subject: str, **parts: object) -> Outgoing:
    for name in ("json", "payload", "reply"):
        if name in parts:
            parts[name] = parse_value(parts[name])
    return Outgoing(parse_text(subject), **parts)  # type: ignore[arg-type]


def stripped(sent: Outgoing, feature: Feature) -> Outgoing:
    made = control(case_of(Publish(message=sent)), feature)
    assert made.case is not None, made.why_not
    [step] = made.case.steps
    assert isinstance(step, Publish)
    return step.message


def test_a_field_goes_and_the_others_stay() -> None:
    sent = message("$JS.API.DIRECT.GET.$stream", json={"seq": 1, "min_last_seq": 2})
    assert stripped(sent, READ).json == parse_value({"seq": 1})


def test_a_field_below_another_goes() -> None:
    sent = message(
        "$JS.API.CONSUMER.CREATE.$stream.c",
        json={"stream_name": "$stream", "config": {"name": "c", "min_last_seq": 2}},
    )
    assert stripped(sent, READ).json == parse_value(
        {"stream_name": "$stream", "config": {"name": "c"}}
    )


@pytest.mark.parametrize(
    "subject",
    ["$JS.API.DIRECT.GET.$stream", "$JS.HUB.API.DIRECT.GET.$stream", "$JS.API.DIRECT.GET.S.a.b"],
)
def test_a_field_belongs_to_its_subjects(subject: str) -> None:
    assert sends(case_of(Publish(message=message(subject, json={"min_last_seq": 2}))), READ)


@pytest.mark.parametrize(
    "sent",
    [
        message("$stream.a", json={"min_last_seq": 2}),
        message("$JS.API.STREAM.MSG.GET.S.more", json={"min_last_seq": 2}),
        message("$JS.API.DIRECT.GET", json={"min_last_seq": 2}),
        message("$JS.API.DIRECT.GET.S", json={"config": {"min_last_seq": 2}}),
        message("$JS.API.DIRECT.GET.S", payload="min_last_seq"),
    ],
)
def test_the_same_word_elsewhere_is_another_thing(sent: Outgoing) -> None:
    case = case_of(Publish(message=sent))
    assert not sends(case, READ)
    assert control(case, READ).why_not == "no step of the case sends it"


def test_a_request_that_is_written_as_text_loses_the_field_too() -> None:
    sent = message("$JS.API.DIRECT.GET.S", payload='{"seq":1,"min_last_seq":2}')
    bare = stripped(sent, READ)
    assert (bare.payload, bare.json) == ("", parse_value({"seq": 1}))


def test_a_text_that_cannot_be_read_gives_no_control() -> None:
    sent = message("$JS.API.DIRECT.GET.S", payload='{"min_last_seq": ${last + 1}}')
    made = control(case_of(Publish(message=sent, label="odd", line=7)), READ)
    assert made.case is None
    said = "the request is a text that is no JSON object; write it as json"
    assert made.why_not == f"one.yaml:7: step odd: {said}"


def test_a_subject_that_is_a_variable_gives_no_control() -> None:
    sent = message("$subject", json={"min_last_seq": 1})
    made = control(case_of(Publish(message=sent, label="odd")), READ)
    assert made.case is None
    assert "its subject is a variable" in made.why_not
    assert made.why_not.endswith("; write the subject out")


def test_headers_go_with_those_that_belong_to_them() -> None:
    headers = (("Nats-Fast-Batch-Id", "b"), ("Nats-Batch-Sequence", 1), ("X-Own", "kept"))
    bare = stripped(message("$stream.a", headers=headers), BATCH)
    assert bare.headers == (("X-Own", "kept"),)


def test_a_block_without_headers_goes() -> None:
    headers = (("Nats-Fast-Batch-Id", "b"),)
    assert stripped(message("$stream.a", headers=headers), BATCH).headers is None


def test_a_header_that_goes_with_others_shows_nothing_by_itself() -> None:
    sent = message("$stream.a", headers=(("Nats-Batch-Sequence", 1), ("nats-fast-batch-id", "b")))
    assert not sends(case_of(Publish(message=sent)), BATCH)


@pytest.mark.parametrize(
    ("reply", "bare"),
    [("$inbox.$batch.10.ok.1.0.$FI", "$inbox.$batch.10.ok.1.0"), ("a.b.$FI", "a.b")],
)
def test_a_reply_subject_loses_its_end(reply: str, bare: str) -> None:
    sent = message("$stream.a", reply=reply)
    assert stripped(sent, BATCH).reply == parse_text(bare)


def test_steps_within_steps_are_reached_and_the_rest_is_left_alone() -> None:
    read = message("$JS.API.DIRECT.GET.$stream", json={"min_last_seq": 2})
    plain = Subscribe(subject="a", to="box")
    case = case_of(
        plain,
        Repeat(variable="i", times=2, start=1, steps=(Request(message=read),)),
        ForEach(
            variables=("k",),
            values=(("a",),),
            steps=(Together(branches={"one": (Publish(message=read),), "two": (plain,)}),),
        ),
    )
    made = control(case, READ)
    assert made.messages == 2
    assert made.case is not None
    assert not sends(made.case, READ)
    assert (made.case.id, made.case.hash, made.case.steps[0]) == (case.id, case.hash, plain)
    assert len(list(made.case.all_steps())) == len(list(case.all_steps()))


ASKED = Feature(
    "batch",
    "A batch",
    headers=("Nats-Batch-Id",),
    calls=(Asking(("batch.publish",)), Asking(("fetch",), ("max_bytes",), ("demo@1",))),
)


def call(op: str, answer: str | None = None, **parameters: int) -> Call:
    wanted = None if answer is None else Expectation(outcome=None if answer == "any" else answer)
    return Call(op=op, parameters=parameters, answer=wanted)


@pytest.mark.parametrize(
    ("step", "asks"),
    [
        (call("batch.publish"), True),
        (call("fetch", max_bytes=10), True),
        (call("fetch", "ok", max_bytes=10), True),
        (call("fetch", batch=10), False),
        (call("next", max_bytes=10), False),
        # A library may refuse a call that may fail, and send nothing.
        (call("fetch", "error", max_bytes=10), False),
        (call("fetch", "any", max_bytes=10), False),
    ],
)
def test_a_call_that_must_succeed_asks_a_library_for_a_feature(step: Call, asks: bool) -> None:
    assert sends(case_of(step, suite="demo/client/one"), ASKED) is asks


def test_a_call_asks_by_the_revision_that_the_case_is_about() -> None:
    case = case_of(call("fetch", max_bytes=10), suite="demo/client/one")
    assert not sends(replace(case, revision=2), ASKED)


def test_what_the_harness_publishes_is_not_sent_by_the_library() -> None:
    sent = Publish(message=message("$stream.a", headers=(("Nats-Batch-Id", "b"),)))
    assert sends(case_of(sent), ASKED)
    assert not sends(case_of(sent, suite="demo/client/one"), ASKED)
