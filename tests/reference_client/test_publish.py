"""Publishing, atomic batches and fast ingest on a real server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jetproof.wire.frames import Sub, Unsub

from .conftest import Bench

Play = Callable[..., None]


def headers(bench: Bench, name: str) -> list[str | None]:
    frames = bench.sent(f"{bench.stream}.")
    return [None if frame.headers is None else frame.headers.get(name) for frame in frames]


def test_a_publish_is_a_request(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        subject = f"{bench.stream}.a"
        first = await bench.call("publish", subject=subject, data="m", msg_id="one")
        assert first["ack"] == {"stream": bench.stream, "seq": 1}
        second = await bench.call("publish", subject=subject, data="m", msg_id="one")
        assert second["ack"]["duplicate"] is True
        error = await bench.refused("publish", subject=subject, data="m", expect_last_seq=7)
        assert (error["code"], error["err_code"]) == (400, 10071)
        assert (await bench.refused("publish", subject="nobody.listens"))["status"] == 503

    play(test)


def test_a_lost_pub_ack_is_a_timeout(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        bench.tap.add_rules([{"on": {"answers": "publish"}, "do": "drop"}])
        error = await bench.refused("publish", subject=f"{bench.stream}.a", timeout_ms=300)
        assert error["type"] == "Timeout"

    play(test)


def test_an_atomic_batch(play: Play) -> None:
    async def test(bench: Bench) -> None:
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

    play(test)


def test_batches_end_in_other_ways(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_atomic=True)
        subject = f"{bench.stream}.a"
        messages = [{"subject": subject}] * 3
        whole = await bench.call("batch.publish", messages=messages)
        assert whole["ack"]["count"] == 3
        await bench.call("batch.open", **{"as": "e"})
        await bench.call("batch.add", of="e", subject=subject)
        assert (await bench.call("batch.close", of="e"))["ack"]["count"] == 1
        await bench.call("batch.open", **{"as": "d"})
        await bench.call("batch.add", of="d", subject=subject)
        await bench.call("batch.discard", of="d")
        assert (await bench.refused("batch.add", of="d", subject=subject))["type"] == "BatchOver"

    play(test)


def test_a_batch_that_the_stream_does_not_allow(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.call("batch.open", **{"as": "b"})
        error = await bench.refused("batch.add", of="b", subject=f"{bench.stream}.a")
        assert error["err_code"] == 10174
        long = await bench.refused("batch.open", **{"as": "l"}, batch_id="x" * 65)
        assert long["type"] == "InvalidOption"

    play(test)


def test_a_commit_that_is_rejected(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=1, allow_atomic=True)
        subject = f"{bench.stream}.a"
        await bench.call("batch.open", **{"as": "b"})
        await bench.call("batch.add", of="b", subject=subject, expect_last_seq=7)
        assert (await bench.refused("batch.commit", of="b", subject=subject))["err_code"] == 10071

    play(test)


def test_fast_ingest(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_batched=True)
        subject = f"{bench.stream}.a"
        await bench.call("ingest.open", **{"as": "f"}, batch_id="mine", flow=10, gap="fail")
        for number in range(1, 36):
            told = await bench.call("ingest.add", of="f", subject=subject, data=str(number))
            assert told["batch_seq"] == number
            assert number - told["ack_seq"] < 20
        ack = (await bench.call("ingest.commit", of="f", subject=subject))["ack"]
        assert (ack["batch"], ack["count"], ack["seq"]) == ("mine", 36, 36)
        replies = [str(frame.reply) for frame in bench.sent(subject)]
        prefix = replies[0].split(".mine.")[0]
        assert replies[0] == f"{prefix}.mine.10.fail.1.0.$FI"
        assert replies[1] == f"{prefix}.mine.10.fail.2.1.$FI"
        assert replies[-1] == f"{prefix}.mine.10.fail.36.2.$FI"
        (sid,) = [f.sid for f in bench.of(Sub) if f.subject == f"{prefix}.mine.>"]
        await bench.until(lambda: sid in [frame.sid for frame in bench.of(Unsub)])
        assert [event.body["ack_seq"] for event in bench.told("ingest")] == [10, 20, 30]

    play(test)


def test_fast_ingest_ends_without_a_message(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_batched=True)
        await bench.call("ingest.open", **{"as": "f"})
        await bench.call("ingest.add", of="f", subject=f"{bench.stream}.a")
        ack = (await bench.call("ingest.close", of="f"))["ack"]
        assert ack["seq"] == 1

    play(test)


def test_lost_acks_are_made_up_for_by_later_ones(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_batched=True)
        second = {"json": {"type": "ack", "seq": 10}, "from": "server"}
        bench.tap.add_rules([{"id": "lose", "on": second, "do": "drop"}])
        await bench.call("ingest.open", **{"as": "f"}, flow=10)
        for _ in range(24):
            await bench.call("ingest.add", of="f", subject=f"{bench.stream}.a")
        await bench.call("ingest.commit", of="f", subject=f"{bench.stream}.a")
        assert bench.tap.fired["lose"]
        assert [event.body["ack_seq"] for event in bench.told("ingest")] == [20]

    play(test)


def test_a_ping_asks_for_lost_acks(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_batched=True)
        lost = {"json": {"type": "ack", "seq": 5}, "from": "server", "nth": 1}
        bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
        await bench.call(
            "ingest.open", **{"as": "f"}, flow=5, max_outstanding=1, ack_timeout_ms=1000
        )
        for _ in range(6):
            await bench.call("ingest.add", of="f", subject=f"{bench.stream}.a")
        pings = [f.reply for f in bench.sent(bench.stream) if str(f.reply).endswith(".4.$FI")]
        assert [str(reply).split(".")[-3] for reply in pings] == ["5"]
        await bench.call("ingest.commit", of="f", subject=f"{bench.stream}.a")

    play(test)


@pytest.mark.parametrize("gap", ["ok", "fail"])
def test_gaps(play: Play, gap: str) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(allow_batched=True)
        subject = f"{bench.stream}.a"
        bench.tap.add_rules(
            [{"on": {"from": "client", "subject": subject, "nth": 3}, "do": "drop"}]
        )
        await bench.call("ingest.open", **{"as": "f"}, flow=100, gap=gap)
        for _ in range(5):
            await bench.adapter.call("ingest.add", {"of": "f", "subject": subject})
            await asyncio.sleep(0.05)
        assert [e.body["kind"] for e in bench.told("ingest")] == ["gap"]
        if gap == "ok":
            ack = (await bench.call("ingest.commit", of="f", subject=subject))["ack"]
            assert ack["count"] == 6
        else:
            error = await bench.refused("ingest.commit", of="f", subject=subject)
            assert error["type"] in ("BatchGap", "BatchOver")
            assert (await bench.call("ingest.close", of="f"))["ack"]["count"] == 2

    play(test)


def test_ingest_that_the_stream_does_not_allow(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.call("ingest.open", **{"as": "f"})
        error = await bench.refused("ingest.add", of="f", subject=f"{bench.stream}.a")
        assert error["err_code"] == 10205

    play(test)
