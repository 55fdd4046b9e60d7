"""Single messages and atomic batches."""

from __future__ import annotations

from .bench import Bench, notices


def headers(bench: Bench, name: str) -> list[str | None]:
    frames = bench.sent(f"{bench.stream}.")
    return [None if frame.headers is None else frame.headers.get(name) for frame in frames]


@notices("publish-without-reply publish-error-untold msg-id-dropped")
async def a_publish_is_a_request(bench: Bench) -> None:
    await bench.make_stream()
    subject = f"{bench.stream}.a"
    first = await bench.call("publish", subject=subject, data="m", msg_id="one")
    assert first["ack"] == {"stream": bench.stream, "seq": 1}
    second = await bench.call("publish", subject=subject, data="m", msg_id="one")
    assert second["ack"]["duplicate"] is True
    error = await bench.refused("publish", subject=subject, data="m", expect_last_seq=7)
    assert (error["code"], error["err_code"]) == (400, 10071)
    assert (await bench.refused("publish", subject="nobody.listens"))["status"] == 503


@notices()
async def a_message_above_the_limit_is_not_sent(bench: Bench) -> None:
    await bench.make_stream()
    large = "x" * (1024 * 1024 + 1)
    error = await bench.refused("publish", subject=f"{bench.stream}.a", data=large)
    assert error["type"] == "InvalidOption"
    assert not bench.sent(bench.stream)


@notices("answers-taken-in-turn")
async def an_answer_that_comes_twice_answers_once(bench: Bench) -> None:
    await bench.make_stream()
    twice = {"answers": "publish", "nth": 1}
    bench.tap.add_rules([{"on": twice, "do": "duplicate"}])
    for seq in (1, 2, 3):
        told = await bench.call("publish", subject=f"{bench.stream}.a")
        assert told["ack"]["seq"] == seq
        await bench.settled()


@notices("no-answer-taken-for-an-ack")
async def a_lost_pub_ack_is_a_timeout(bench: Bench) -> None:
    await bench.make_stream()
    bench.tap.add_rules([{"on": {"answers": "publish"}, "do": "drop"}])
    error = await bench.refused("publish", subject=f"{bench.stream}.a", timeout_ms=300)
    assert error["type"] == "Timeout"


@notices(
    "batch-start-without-reply batch-sequence-skips batch-id-changes batch-starts-at-zero"
    " batch-starts-by-a-message-of-its-own empty-first-answer-refused commit-value-unknown"
    " commit-repeats-the-sequence commit-without-id empty-ack-in-the-middle-refused"
    " batch-count-untold batch-goes-on-after-its-end"
)
async def an_atomic_batch(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    await bench.call("batch.open", **{"as": "b"}, batch_id="mine")
    assert await bench.call("batch.add", of="b", subject=subject) == {"acked": True}
    assert await bench.call("batch.add", of="b", subject=subject) == {}
    assert await bench.call("batch.add", of="b", subject=subject, ack=True) == {"acked": True}
    ack = (await bench.call("batch.commit", of="b", subject=subject))["ack"]
    assert (ack["seq"], ack["batch"], ack["count"]) == (4, "mine", 4)
    assert headers(bench, "Nats-Batch-Id") == ["mine"] * 4
    assert headers(bench, "Nats-Batch-Sequence") == ["1", "2", "3", "4"]
    assert headers(bench, "Nats-Batch-Commit") == [None, None, None, "1"]
    replies = [frame.reply is not None for frame in bench.sent(subject)]
    assert replies == [True, False, True, True]
    error = await bench.refused("batch.add", of="b", subject=subject)
    assert error["type"] == "BatchOver"


@notices("batch-id-too-long")
async def batches_end_in_other_ways(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    whole = await bench.call("batch.publish", messages=[{"subject": subject}] * 3)
    assert whole["ack"]["count"] == 3
    await bench.call("batch.open", **{"as": "e"})
    await bench.call("batch.add", of="e", subject=subject)
    assert (await bench.call("batch.close", of="e"))["ack"]["count"] == 1
    await bench.call("batch.open", **{"as": "d"})
    await bench.call("batch.add", of="d", subject=subject)
    await bench.call("batch.discard", of="d")
    assert (await bench.refused("batch.add", of="d", subject=subject))["type"] == "BatchOver"


@notices("first-error-ignored batch-id-unchecked")
async def a_batch_that_is_not_allowed(bench: Bench) -> None:
    await bench.make_stream()
    await bench.call("batch.open", **{"as": "b"})
    error = await bench.refused("batch.add", of="b", subject=f"{bench.stream}.a")
    assert error["err_code"] == 10174
    long = await bench.refused("batch.open", **{"as": "l"}, batch_id="x" * 65)
    assert long["type"] == "InvalidOption"


@notices()
async def the_first_ack_need_not_be_awaited(bench: Bench) -> None:
    await bench.make_stream()
    subject = f"{bench.stream}.a"
    await bench.call("batch.open", **{"as": "b"}, ack_first=False)
    assert await bench.call("batch.add", of="b", subject=subject) == {}
    await bench.settled()
    assert (await bench.refused("batch.add", of="b", subject=subject))["err_code"] == 10174
    assert bench.sent(subject)[0].reply is not None


@notices("old-server-taken-for-new")
async def a_server_without_batches_is_noticed(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    stored = {"answer": {"json": {"stream": bench.stream, "seq": 1}}}
    bench.tap.add_rules([{"on": {"from": "client", "subject": subject}, "do": stored}])
    await bench.call("batch.open", **{"as": "b"})
    error = await bench.refused("batch.add", of="b", subject=subject)
    assert error["type"] == "BatchUnsupported"


@notices("commit-error-loses-its-code")
async def a_commit_that_is_rejected(bench: Bench) -> None:
    await bench.make_stream(1, allow_atomic=True)
    subject = f"{bench.stream}.a"
    await bench.call("batch.open", **{"as": "b"})
    await bench.call("batch.add", of="b", subject=subject, expect_last_seq=7)
    assert (await bench.refused("batch.commit", of="b", subject=subject))["err_code"] == 10071


@notices("batch-size-unguarded")
async def a_thousand_and_no_more(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    await bench.call("batch.open", **{"as": "b"})
    for _ in range(1000):
        await bench.call("batch.add", of="b", subject=subject)
    error = await bench.refused("batch.commit", of="b", subject=subject)
    assert error["type"] == "InvalidOption"


@notices()
async def headers_of_the_batch_are_its_own(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    await bench.call("batch.open", **{"as": "b"})
    commit = [["Nats-Batch-Commit", "1"]]
    error = await bench.refused("batch.add", of="b", subject=subject, headers=commit)
    assert error["type"] == "InvalidOption"
    assert not bench.sent(subject)


@notices("failed-commit-taken-for-one any-ack-taken-for-a-commit")
async def a_commit_that_the_server_did_not_acknowledge(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    subject = f"{bench.stream}.a"
    commits = {"from": "client", "headers": {"Nats-Batch-Commit": {"exists": True}}}
    answers = ({"status": 503}, {"json": {"stream": "x", "seq": 2}})
    for number, answer in enumerate(answers, 1):
        rule = {"id": f"a{number}", "on": {**commits, "nth": 1}, "do": {"answer": answer}}
        bench.tap.add_rules([rule])
        await bench.call("batch.open", **{"as": f"b{number}"})
        await bench.call("batch.add", of=f"b{number}", subject=subject)
    assert (await bench.refused("batch.commit", of="b1", subject=subject))["status"] == 503
    assert (await bench.refused("batch.commit", of="b2", subject=subject))["type"] == "BadAnswer"


@notices("members-kept-back headers-of-members-dropped headers-of-the-caller-dropped")
async def members_are_sent_with_their_headers(bench: Bench) -> None:
    await bench.make_stream(allow_atomic=True)
    await bench.call("batch.open", **{"as": "b"})
    for data in ("m1", "m2", "m3"):
        given = {"subject": f"{bench.stream}.a", "data": data, "headers": [["X-One", data]]}
        await bench.call("batch.commit" if data == "m3" else "batch.add", of="b", **given)
    assert headers(bench, "X-One") == ["m1", "m2", "m3"]
