"""Batches and fast ingest where the text leaves the choice: what this client does, as it has chosen."""

from __future__ import annotations

import asyncio

from jetproof.wire.frames import Unsub

from .bench import Bench, notices
from .scenarios_batches import headers
from .scenarios_ingest import begin, pings

FIRST = {"from": "server", "json": {"type": "ack", "seq": 0}}
FINAL = {"from": "server", "json": {"batch": {"exists": True}}}


async def open_batch(bench: Bench, **options: object) -> str:
    await bench.make_stream(allow_atomic=True)
    await bench.call("batch.open", **{"as": "b"}, **options)
    return f"{bench.stream}.a"


def operations(bench: Bench) -> list[str]:
    return [str(frame.reply).split(".")[-2] for frame in bench.sent(f"{bench.stream}.")]


# Atomic batches


@notices("first-answer-not-awaited")
async def the_first_answer_of_a_batch_is_awaited(bench: Bench) -> None:
    subject = await open_batch(bench)
    bench.tap.add_rules([{"on": {"answers": "publish"}, "do": {"delay": "200ms"}}])
    assert await bench.call("batch.add", of="b", subject=subject) == {"acked": True}


@notices("unasked-start-without-reply")
async def the_first_message_is_a_request_in_any_case(bench: Bench) -> None:
    subject = await open_batch(bench, ack_first=False)
    await bench.call("batch.add", of="b", subject=subject)
    await bench.settled()
    assert bench.sent(subject)[0].reply is not None


@notices("member-acks-ignored every-member-acknowledged caller-id-ignored")
async def answers_as_they_are_asked_for(bench: Bench) -> None:
    subject = await open_batch(bench, batch_id="mine", ack_every=3)
    for ack in (None, True, None, None):
        await bench.call("batch.add", of="b", subject=subject, **({"ack": ack} if ack else {}))
    await bench.call("batch.commit", of="b", subject=subject)
    replies = [frame.reply is not None for frame in bench.sent(subject)]
    assert replies == [True, True, True, False, True]
    assert headers(bench, "Nats-Batch-Id") == ["mine"] * 5


@notices("close-gives-up")
async def closing_a_batch_commits_it(bench: Bench) -> None:
    subject = await open_batch(bench)
    await bench.call("batch.add", of="b", subject=subject)
    assert (await bench.call("batch.close", of="b"))["ack"]["seq"] == 1


@notices("empty-batch-ends-quietly")
async def an_empty_batch_is_an_error(bench: Bench) -> None:
    await open_batch(bench)
    assert (await bench.refused("batch.close", of="b"))["type"] == "EmptyBatch"
    assert (await bench.refused("batch.publish", messages=[]))["type"] == "InvalidOption"
    await bench.call("ingest.open", **{"as": "f"})
    assert (await bench.refused("ingest.close", of="f"))["type"] == "EmptyBatch"


@notices("batch-headers-of-the-caller-sent")
async def batch_headers_are_refused(bench: Bench) -> None:
    subject = await open_batch(bench)
    for name in ("Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit"):
        await bench.refused("batch.add", of="b", subject=subject, headers=[[name, "1"]])


@notices("conditions-in-a-batch-refused")
async def conditions_are_let_through(bench: Bench) -> None:
    subject = await open_batch(bench)
    await bench.call("batch.add", of="b", subject=subject, msg_id="one")
    await bench.call("batch.add", of="b", subject=subject, expect_last_seq=0)
    await bench.call("batch.add", of="b", subject=subject, expect_last_msg_id="x")


@notices("unanswered-commit-sent-again")
async def a_commit_is_sent_once(bench: Bench) -> None:
    subject = await open_batch(bench)
    await bench.call("batch.add", of="b", subject=subject)
    bench.tap.add_rules([{"on": {"op": "PUB"}, "do": {"answer": {"status": 503}}}])
    assert (await bench.refused("batch.commit", of="b", subject=subject))["status"] == 503
    assert len(bench.sent(subject)) == 2


@notices("no-responders-asked-again first-error-ignored")
async def a_first_message_is_sent_once(bench: Bench) -> None:
    subject = await open_batch(bench)
    bench.tap.add_rules([{"on": {"op": "PUB"}, "do": {"answer": {"status": 503}}}])
    assert (await bench.refused("batch.add", of="b", subject=subject))["status"] == 503
    assert len(bench.sent(subject)) == 1


@notices("first-error-loses-its-code")
async def a_refusal_has_its_code(bench: Bench) -> None:
    await bench.make_stream()
    await bench.call("batch.open", **{"as": "b"})
    error = await bench.refused("batch.add", of="b", subject=f"{bench.stream}.a")
    assert error["err_code"] == 10174


@notices("batch-size-guarded-early")
async def a_thousand_can_be_committed(bench: Bench) -> None:
    subject = await open_batch(bench)
    for _ in range(999):
        await bench.call("batch.add", of="b", subject=subject)
    assert (await bench.call("batch.commit", of="b", subject=subject))["ack"]["count"] == 1000


@notices("reconnects-end-batches")
async def a_batch_survives_the_connection(bench: Bench) -> None:
    subject = await open_batch(bench)
    await bench.call("batch.add", of="b", subject=subject)
    bench.tap.cut()
    await bench.until(lambda: [e for e in bench.events if e.body.get("kind") == "reconnected"])
    assert (await bench.call("batch.commit", of="b", subject=subject))["ack"]["count"] == 2


@notices("reconnects-end-batches")
async def fast_ingest_survives_the_connection(bench: Bench) -> None:
    subject = await begin(bench)
    await bench.call("ingest.add", of="f", subject=subject)
    bench.tap.cut()
    await bench.until(lambda: [e for e in bench.events if e.body.get("kind") == "reconnected"])
    assert (await bench.call("ingest.commit", of="f", subject=subject))["ack"]["count"] == 2


# Fast ingest: acknowledgements


@notices("acks-in-order-only")
async def one_ack_of_two_is_enough(bench: Bench) -> None:
    lost = {"from": "server", "json": {"type": "ack", "seq": 5}}
    bench.tap.add_rules([{"on": lost, "do": "drop"}])
    subject = await begin(bench, flow=5, max_outstanding=2, ack_timeout_ms=800)
    for _ in range(14):
        await bench.call("ingest.add", of="f", subject=subject)


@notices("doubled-acks-count-twice")
async def a_doubled_ack_counts_once(bench: Bench) -> None:
    rules = [
        {"on": {"from": "server", "json": {"type": "ack", "seq": 5}}, "do": "duplicate"},
        {"on": {"from": "server", "json": {"type": "ack", "seq": {"gte": 10}}}, "do": "drop"},
    ]
    bench.tap.add_rules(rules)
    subject = await begin(bench, flow=5, max_outstanding=2, ack_timeout_ms=600)
    for _ in range(14):
        await bench.call("ingest.add", of="f", subject=subject)
    assert (await bench.refused("ingest.add", of="f", subject=subject))["type"] == "Timeout"


@notices("late-acks-take-back")
async def a_late_ack_takes_nothing_back(bench: Bench) -> None:
    late = {"from": "server", "json": {"type": "ack", "seq": 5}}
    delay = {"delay": {"by": "300ms", "reorder": True}}
    bench.tap.add_rules([{"id": "late", "on": late, "do": delay}])
    subject = await begin(bench, flow=5, max_outstanding=3, ack_timeout_ms=2000)
    for _ in range(11):
        await bench.call("ingest.add", of="f", subject=subject)
    await asyncio.sleep(0.6)
    assert (await bench.call("ingest.add", of="f", subject=subject))["ack_seq"] == 10


@notices("future-acks-ignored")
async def any_ack_counts(bench: Bench) -> None:
    second = {"op": "PUB", "reply": {"match": r"\.2\.1\.\$FI$"}}
    ack = {"inject": {"json": {"type": "ack", "seq": 40, "msgs": 2}}}
    bench.tap.add_rules([{"on": second, "do": ack}])
    subject = await begin(bench)
    for _ in range(2):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    assert (await bench.call("ingest.add", of="f", subject=subject))["ack_seq"] == 40


@notices("final-ack-misplaced")
async def the_final_ack_may_come_for_an_earlier_message(bench: Bench) -> None:
    subject = await begin(bench)
    await bench.call("ingest.add", of="f", subject=subject)
    earlier = bench.sent(subject)[-1].reply
    final = {"from": "server", "json": {"batch": {"exists": True}}}
    bench.tap.add_rules([{"on": final, "do": {"change": {"subject": earlier}}}])
    assert (await bench.call("ingest.close", of="f"))["ack"]["count"] == 1


@notices("acks-known-by-their-bytes")
async def an_ack_is_read_as_json(bench: Bench) -> None:
    odd = {"change": {"payload": '{ "msgs": 9, "seq": 0, "type": "ack" }'}}
    bench.tap.add_rules([{"on": FIRST, "do": odd}])
    subject = await begin(bench)
    await bench.call("ingest.add", of="f", subject=subject)


@notices("unknown-messages-end-the-batch")
async def what_is_not_understood_is_ignored(bench: Bench) -> None:
    second = {"op": "PUB", "reply": {"match": r"\.2\.1\.\$FI$"}}
    said: list[dict[str, object]] = [
        {"payload": "+++"},
        {"json": {"type": "news"}},
        {"json": [1]},
        {"json": {}},
    ]
    bench.tap.add_rules([{"on": second, "do": {"inject": one}} for one in said])
    subject = await begin(bench)
    for _ in range(2):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    assert (await bench.call("ingest.commit", of="f", subject=subject))["ack"]["count"] == 3


# Fast ingest: what does not come


@notices("pings-all-the-time unanswered-messages-sent-again")
async def nothing_is_sent_while_the_final_ack_is_awaited(bench: Bench) -> None:
    bench.tap.add_rules([{"on": FINAL, "do": "drop"}])
    subject = await begin(bench, ack_timeout_ms=500)
    await bench.call("ingest.add", of="f", subject=subject)
    error = await bench.refused("ingest.commit", of="f", subject=subject)
    assert error["type"] == "Timeout"
    assert operations(bench) == ["0", "2"]


@notices("unanswered-messages-sent-again")
async def a_start_is_sent_once(bench: Bench) -> None:
    bench.tap.add_rules([{"on": FIRST, "do": "drop"}])
    subject = await begin(bench, ack_timeout_ms=400)
    assert (await bench.refused("ingest.add", of="f", subject=subject))["type"] == "Timeout"
    assert operations(bench) == ["0"]


@notices("a-timeout-ends-nothing")
async def a_timeout_is_the_end(bench: Bench) -> None:
    bench.tap.add_rules([{"on": FIRST, "do": "drop"}])
    subject = await begin(bench, ack_timeout_ms=300)
    await bench.refused("ingest.add", of="f", subject=subject)
    assert (await bench.refused("ingest.add", of="f", subject=subject))["type"] == "BatchOver"
    await bench.settled()
    assert bench.of(Unsub)


@notices("no-responders-overlooked")
async def nobody_is_there(bench: Bench) -> None:
    await bench.call("ingest.open", **{"as": "f"}, ack_timeout_ms=500)
    error = await bench.refused("ingest.add", of="f", subject=f"{bench.stream}.a")
    assert error["status"] == 503


# Fast ingest: errors and ends


@notices("ingest-errors-lose-their-code errors-told-once")
async def errors_are_told_one_by_one(bench: Bench) -> None:
    subject = await begin(bench, gap="ok")
    await bench.call("ingest.add", of="f", subject=subject)
    for _ in range(2):
        await bench.call("ingest.add", of="f", subject=subject, expect_last_seq=99)
    await bench.until(lambda: len(bench.told("ingest")) == 2)
    assert [event.body["error"]["err_code"] for event in bench.told("ingest")] == [10071] * 2


@notices("ingest-goes-on-after-its-end")
async def nothing_follows_the_end(bench: Bench) -> None:
    subject = await begin(bench, ack_timeout_ms=500)
    await bench.call("ingest.add", of="f", subject=subject)
    await bench.call("ingest.commit", of="f", subject=subject)
    await bench.refused("ingest.add", of="f", subject=subject)
    assert len(bench.sent(subject)) == 2


@notices("end-by-the-server-untold")
async def the_end_by_the_server_is_told(bench: Bench) -> None:
    second = {"from": "client", "op": "PUB", "reply": {"match": r"\.2\.1\.\$FI$"}}
    bench.tap.add_rules([{"on": second, "do": "drop"}])
    subject = await begin(bench, gap="fail")
    for _ in range(3):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    assert (await bench.call("ingest.close", of="f"))["ack"]["count"] == 1


@notices("batch-of-one-refused")
async def one_message_is_a_batch(bench: Bench) -> None:
    subject = await begin(bench)
    assert (await bench.call("ingest.commit", of="f", subject=subject))["ack"]["count"] == 1


# Fast ingest: what is asked for


@notices("ingest-end-repeats-the-sequence ingest-headers-refused other-defaults batch-id-too-long")
async def a_fast_batch_in_short(bench: Bench) -> None:
    subject = await begin(bench)
    await bench.call("ingest.add", of="f", subject=subject, msg_id="one")
    await bench.call("ingest.commit", of="f", subject=subject)
    said = [str(frame.reply).split(".")[-6:] for frame in bench.sent(subject)]
    assert [one[1:] for one in said] == [
        ["100", "ok", "1", "0", "$FI"],
        ["100", "ok", "2", "2", "$FI"],
    ]
    assert len(said[0][0]) <= 64
    assert not pings(bench)


@notices("reply-tells-the-flow-in-force")
async def the_flow_that_was_asked_for_is_repeated(bench: Bench) -> None:
    bench.tap.add_rules([{"on": FIRST, "do": {"change": {"json": {"msgs": 3}}}}])
    subject = await begin(bench, flow=7)
    for _ in range(2):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    assert [str(frame.reply).split(".")[-5] for frame in bench.sent(subject)] == ["7", "7"]


@notices("ingest-id-unchecked caller-id-ignored")
async def the_id_of_the_caller(bench: Bench) -> None:
    for wrong in ("x" * 65, "one.two"):
        await bench.refused("ingest.open", **{"as": "w"}, batch_id=wrong)
    subject = await begin(bench, batch_id="mine")
    await bench.call("ingest.add", of="f", subject=subject)
    assert ".mine.100.ok.1.0.$FI" in str(bench.sent(subject)[0].reply)
