"""Direct get and message get."""

from __future__ import annotations

import json
from typing import Any

from jetproof.engine.delivery_laws import unheard
from jetproof.wire.headers import Headers

from .bench import Bench, notices


async def begin(bench: Bench) -> str:
    await bench.make_stream(allow_direct=True)
    for name in "abcabc":
        await bench.raw.request(f"{bench.stream}.{name}", name.encode())
    return bench.stream


def bodies(bench: Bench) -> list[Any]:
    frames = bench.sent("$JS.API.DIRECT.GET.")
    return [json.loads(frame.payload) if frame.payload else None for frame in frames]


@notices(
    "guards-every-read sequence-off-by-one last-asked-for-as-next next-asked-for-as-last"
    " appended-subject-with-a-payload statuses-taken-for-messages"
)
async def one_message(bench: Bench) -> None:
    stream = await begin(bench)
    by_seq = await bench.call("direct.get", stream=stream, seq=2)
    assert by_seq["message"]["subject"] == f"{stream}.b"
    last = await bench.call("direct.get", stream=stream, last_by_subject=f"{stream}.a")
    assert last["message"]["seq"] == 4
    following = await bench.call("direct.get", stream=stream, seq=3, next_by_subject=f"{stream}.a")
    assert following["message"]["seq"] == 4
    assert bodies(bench) == [{"seq": 2}, None, {"seq": 3, "next_by_subj": f"{stream}.a"}]
    missing = await bench.refused("direct.get", stream=stream, seq=99)
    assert missing["status"] == 404


@notices("read-guard-dropped guarded-read-by-message-get guarded-last-by-body")
async def guarded_reads(bench: Bench) -> None:
    stream = await begin(bench)
    await bench.call("direct.get", stream=stream, seq=2, min_last_seq=4)
    subject = f"{stream}.a"
    await bench.call("direct.get", stream=stream, last_by_subject=subject, min_last_seq=4)
    assert bodies(bench) == [{"seq": 2, "min_last_seq": 4}, {"min_last_seq": 4}]
    assert bench.sent("$JS.API.DIRECT.GET.")[1].subject.endswith(f".{stream}.{subject}")


@notices("guard-status-as-not-found")
async def a_guarded_read_that_is_refused(bench: Bench) -> None:
    stream = await begin(bench)
    refusal = {"answer": {"status": 412, "description": "Min Last Sequence"}}
    asked = {"from": "client", "subject": "$JS.API.DIRECT.GET.>"}
    bench.tap.add_rules([{"on": asked, "do": refusal}])
    error = await bench.refused("direct.get", stream=stream, seq=2, min_last_seq=99)
    assert (error["status"], error["description"]) == (412, "Min Last Sequence")


@notices("empty-messages-taken-for-none payloads-read-as-answers")
async def messages_that_look_like_something_else(bench: Bench) -> None:
    stream = await begin(bench)
    odd = [b"", b'{"error": {"code": 404, "err_code": 10037, "description": "not found"}}']
    for payload in odd:
        await bench.raw.request(f"{stream}.odd", payload)
    got = [await bench.call("direct.get", stream=stream, seq=seq) for seq in (7, 8)]
    assert [one["message"]["data"].encode() for one in got] == odd


@notices("message-get-unguarded message-get-loses-the-code")
async def message_get(bench: Bench) -> None:
    stream = await begin(bench)
    got = await bench.call("message.get", stream=stream, seq=2)
    assert got["message"]["data"] == "b"
    assert got["message"]["subject"] == f"{stream}.b"
    error = await bench.refused("message.get", stream=stream, seq=99)
    assert error["err_code"] == 10037
    await bench.adapter.call("message.get", {"stream": stream, "seq": 2, "min_last_seq": 3})
    last = json.loads(bench.sent("$JS.API.STREAM.MSG.GET.")[-1].payload)
    assert last == {"seq": 2, "min_last_seq": 3}


@notices("requests-never-time-out")
async def an_answer_that_is_lost(bench: Bench) -> None:
    stream = await begin(bench)
    answers = {"from": "server", "answers": {"subject": "$JS.API.DIRECT.GET.>"}}
    bench.tap.add_rules([{"on": answers, "do": "drop"}])
    assert (await bench.refused("direct.get", stream=stream, seq=1))["type"] == "Timeout"


@notices("direct-get-falls-back")
async def nobody_answers_a_direct_get(bench: Bench) -> None:
    await bench.make_stream(messages=1)
    assert (await bench.refused("direct.get", stream=bench.stream, seq=1))["status"] == 503


@notices("batches-never-time-out unended-batch-in-peace")
async def a_batch_without_an_answer(bench: Bench) -> None:
    stream = await begin(bench)
    answers = {"from": "server", "answers": {"subject": "$JS.API.DIRECT.GET.>"}}
    bench.tap.add_rules([{"on": answers, "do": "drop"}])
    batch = await bench.call("direct.batch", stream=stream, batch=4)
    assert batch["error"]["type"] == "Timeout"


@notices("batch-gaps-untold")
async def a_batch_that_lacks_a_message(bench: Bench) -> None:
    stream = await begin(bench)
    second = {"from": "server", "answers": {"subject": "$JS.API.DIRECT.GET.>"}, "nth": 2}
    bench.tap.add_rules([{"on": second, "do": "drop"}])
    batch = await bench.call("direct.batch", stream=stream, batch=4)
    assert [message["seq"] for message in batch["messages"]] == [1]
    assert batch["error"]["type"] == "BatchGap"


@notices("one-value-per-header")
async def a_header_with_several_values(bench: Bench) -> None:
    await bench.make_stream(allow_direct=True)
    several = Headers([("X-Several", "one"), ("X-Several", "two")])
    await bench.raw.request(f"{bench.stream}.a", b"m", headers=several)
    told = await bench.call("direct.get", stream=bench.stream, seq=1)
    pairs = [pair for pair in told["message"]["headers"] if pair[0] == "X-Several"]
    assert pairs == [["X-Several", "one"], ["X-Several", "two"]]


@notices("batch-errors-untold")
async def a_stream_without_direct_get(bench: Bench) -> None:
    await bench.make_stream(1)
    error = await bench.refused("direct.get", stream=bench.stream, seq=1)
    assert error["status"] == 503
    batch = await bench.call("direct.batch", stream=bench.stream, batch=4)
    assert batch["error"]["status"] == 503


@notices("end-of-a-batch-unknown")
async def a_batch_ends_with_its_marker(bench: Bench) -> None:
    stream = await begin(bench)
    batch = await bench.call("direct.batch", stream=stream, batch=9)
    assert len(batch["messages"]) == 6
    assert "error" not in batch


@notices(
    "batch-without-its-number batch-without-a-start batch-with-two-starts batch-without-a-subject"
    " start-time-dropped max-bytes-dropped batch-number-unchecked"
)
async def batches(bench: Bench) -> None:
    stream = await begin(bench)
    batch = await bench.call("direct.batch", stream=stream, batch=4)
    assert [message["seq"] for message in batch["messages"]] == [1, 2, 3, 4]
    only = f"{stream}.b"
    part = await bench.call("direct.batch", stream=stream, batch=4, seq=2, next_by_subject=only)
    assert [message["seq"] for message in part["messages"]] == [2, 5]
    time = "2020-01-01T00:00:00Z"
    await bench.call("direct.batch", stream=stream, batch=1, start_time=time, max_bytes=99)
    assert bodies(bench) == [
        {"batch": 4, "seq": 1, "next_by_subj": ">"},
        {"batch": 4, "seq": 2, "next_by_subj": only},
        {"batch": 1, "max_bytes": 99, "start_time": time, "next_by_subj": ">"},
    ]
    none = await bench.call("direct.batch", stream=stream, batch=4, next_by_subject="none")
    assert none["messages"] == []
    assert none["error"]["status"] == 404
    refused = await bench.refused("direct.batch", stream=stream, batch=0)
    assert refused["type"] == "InvalidOption"


@notices("paging-stops-early paging-repeats-the-last paging-forgets-the-point-in-time")
async def several_subjects_page_by_page(bench: Bench) -> None:
    stream = await begin(bench)
    subjects = [f"{stream}.>"]
    whole = await bench.call("direct.multi", stream=stream, subjects=subjects)
    assert [message["seq"] for message in whole["messages"]] == [4, 5, 6]
    one = await bench.call("direct.multi", stream=stream, subjects=subjects, batch=2)
    assert [message["seq"] for message in one["messages"]] == [4, 5]
    paged = await bench.call("direct.multi", stream=stream, subjects=subjects, max_bytes=1)
    assert [message["seq"] for message in paged["messages"]] == [4, 5, 6]
    last = bodies(bench)[-1]
    assert (last["seq"], last["up_to_seq"]) == (6, 6)


@notices("only-the-first-subject point-in-time-dropped subjects-without-a-number page-starts-over")
async def several_subjects_as_they_were(bench: Bench) -> None:
    stream = await begin(bench)
    subjects = [f"{stream}.a", f"{stream}.b", f"{stream}.c"]
    asked = {"stream": stream, "subjects": subjects}
    early = await bench.call("direct.multi", **asked, batch=2, up_to_seq=3)
    assert [message["seq"] for message in early["messages"]] == [1, 2]
    later = await bench.call("direct.multi", **asked, batch=2, seq=3, up_to_seq=3)
    assert [message["seq"] for message in later["messages"]] == [3]


@notices("old-server-unnoticed")
async def an_old_server_is_noticed(bench: Bench) -> None:
    await begin(bench)
    change = {"change": {"headers": {"Nats-Num-Pending": {"remove": True}}}}
    old = {"from": "server", "headers": {"Nats-Num-Pending": {"exists": True}}}
    bench.tap.add_rules([{"on": old, "do": change}])
    batch = await bench.call("direct.batch", stream=bench.stream, batch=4)
    assert batch["error"]["type"] == "BatchUnsupported"


@notices("consumer-guard-dropped")
async def a_consumer_is_created_with_its_guard(bench: Bench) -> None:
    stream = await begin(bench)
    config = {"durable_name": "d", "ack_policy": "explicit", "min_last_seq": 3}
    await bench.adapter.call("consumer.create", {"as": "d", "stream": stream, "config": config})
    (sent,) = bench.sent("$JS.API.CONSUMER.CREATE.")
    assert json.loads(sent.payload)["config"]["min_last_seq"] == 3


@notices("consumers-guarded-unasked")
async def a_consumer_is_created_without_one(bench: Bench) -> None:
    stream = await begin(bench)
    config = {"durable_name": "d", "ack_policy": "explicit"}
    await bench.call("consumer.create", **{"as": "d"}, stream=stream, config=config)
    (sent,) = bench.sent("$JS.API.CONSUMER.CREATE.")
    assert json.loads(sent.payload)["config"] == config


@notices("consumer-before-its-subscription")
async def whoever_makes_a_consumer_that_delivers_has_subscribed(bench: Bench) -> None:
    stream = await begin(bench)
    await bench.call("ordered.get", **{"as": "o"}, stream=stream)
    assert not unheard(event.frame for event in bench.frames if event.sender == "client")


@notices("ordered-guard-dropped")
async def an_ordered_consumer_has_its_guard(bench: Bench) -> None:
    stream = await begin(bench)
    await bench.adapter.call("ordered.get", {"as": "o", "stream": stream, "min_last_seq": 3})
    sent = bench.sent("$JS.API.CONSUMER.CREATE.")[0]
    assert json.loads(sent.payload)["config"]["min_last_seq"] == 3
