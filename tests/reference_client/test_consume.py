"""Consume, on the wire of a real server: what it asks, what it counts, what it tells."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from jetproof.wire.frames import Sub

from .conftest import Bench

Play = Callable[..., None]
SECOND = 1_000_000_000


async def consume(bench: Bench, **options: object) -> None:
    await bench.call("consume", of="c", **{"as": "k"}, **options)


def test_defaults(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench)
        await bench.until(bench.pulls)
        (pull,) = bench.pulls()
        assert pull == {"batch": 500, "expires": 30 * SECOND, "idle_heartbeat": 15 * SECOND}
        assert not bench.sent("$JS.API.CONSUMER.CREATE.")

    play(test)


def test_defaults_of_the_draft(play: Play) -> None:
    async def test(bench: Bench) -> None:
        assert bench.adapter.hello.claims["adr-37"] == 0
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench)
        await bench.until(bench.pulls)
        (pull,) = bench.pulls()
        assert pull == {"batch": 1000, "expires": 60 * SECOND, "idle_heartbeat": 30 * SECOND}

    play(test, "--revision", "adr-37@0")


def test_refills_at_half_of_it(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=12)
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=5000)
        await bench.until(lambda: len(bench.told("message")) == 12)
        assert [event.body["seq"] for event in bench.told("message")] == list(range(1, 13))
        batches = [pull["batch"] for pull in bench.pulls()]
        assert batches[0] == 10
        assert sum(batches) - 12 in range(6, 11), batches
        replies = {frame.reply for frame in bench.sent("$JS.API.CONSUMER.MSG.NEXT.")}
        assert len(replies) == 1
        assert [frame.subject for frame in bench.of(Sub)].count(replies.pop()) == 1

    play(test)


def test_one_message_at_a_time(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=3)
        await bench.make_consumer()
        await consume(bench, max_messages=1, expires_ms=5000)
        await bench.until(lambda: len(bench.told("message")) == 3)
        assert {pull["batch"] for pull in bench.pulls()} == {1}

    play(test)


def test_bytes_are_counted_as_the_server_does(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.store(20, b"y" * 100)
        await bench.make_consumer()
        await consume(bench, max_bytes=1000, expires_ms=5000)
        await bench.until(lambda: len(bench.told("message")) == 20)
        await bench.until(lambda: len(bench.pulls()) > 2)
        assert {pull["batch"] for pull in bench.pulls()} == {1_000_000}
        assert not bench.told("notice")
        assert not bench.told("end")

    play(test)


@pytest.mark.parametrize(
    "options",
    [
        {"max_messages": 10, "max_bytes": 1000},
        {"max_messages": 10, "threshold_messages": 11},
        {"max_bytes": 10, "threshold_bytes": 11},
        {"max_messages": 0},
        {"expires_ms": 500},
        {"heartbeat_ms": 100, "expires_ms": 2000},
    ],
)
def test_what_is_refused(play: Play, options: dict[str, int]) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        error = await bench.refused("consume", of="c", **{"as": "k"}, **options)
        assert error["type"] == "InvalidOption"
        assert not bench.pulls()

    play(test)


def test_a_deleted_consumer_ends_it(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench, expires_ms=5000)
        await bench.until(bench.pulls)
        await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
        await bench.until(lambda: bench.told("end"))
        (end,) = bench.told("end")
        assert end.body["error"]["description"] == "Consumer Deleted"

    play(test)


def test_expired_pulls_are_followed_by_others(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=1000)
        await bench.until(lambda: len(bench.pulls()) == 3)
        assert [pull["batch"] for pull in bench.pulls()] == [10, 10, 10]
        assert not bench.told("notice")
        await bench.store(1)
        await bench.until(lambda: bench.told("message"))

    play(test)


def test_silence_is_told_and_survived(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        bench.tap.add_rules([{"id": "mute", "on": {"from": "server", "status": 100}, "do": "drop"}])
        await consume(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
        await bench.until(lambda: bench.told("notice"))
        assert bench.told("notice")[0].body["error"]["type"] == "MissedHeartbeat"
        assert bench.tap.fired["mute"]
        assert len(bench.pulls()) == 2
        await bench.store(1)
        await bench.until(lambda: bench.told("message"))
        assert not bench.told("end")

    play(test)


def test_silence_ends_a_consume_of_the_draft(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        bench.tap.add_rules([{"on": {"from": "server", "status": 100}, "do": "drop"}])
        await consume(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
        await bench.until(lambda: bench.told("end"))
        assert bench.told("end")[0].body["error"]["type"] == "MissedHeartbeat"

    play(test, "--revision", "adr-37@0")


def test_an_outage_is_survived_with_one_pull(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
        await bench.until(bench.pulls)
        async with bench.tap.outage():
            await asyncio.sleep(1.5)
        await bench.until(lambda: len(bench.pulls()) == 2)
        assert [pull["batch"] for pull in bench.pulls()] == [10, 10]
        kinds = [event.body["kind"] for event in bench.told("connection")]
        assert kinds == ["disconnected", "reconnected"]
        inbox = bench.sent("$JS.API.CONSUMER.MSG.NEXT.")[0].reply
        assert [frame.subject for frame in bench.of(Sub)].count(inbox) == 2
        assert len(bench.sent("$JS.API.CONSUMER.INFO.")) == 1  # the look-up at the start
        await bench.store(1)
        await bench.until(lambda: bench.told("message"))
        assert not bench.told("notice")
        assert not bench.told("end")

    play(test)


def test_a_consumer_that_is_gone_after_an_outage(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=20_000)
        await bench.until(bench.pulls)
        async with bench.tap.outage():
            await bench.until(lambda: bench.told("connection"))
            await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
        await bench.until(lambda: len(bench.told("notice")) > 1)
        assert bench.told("notice")[0].body["error"]["status"] == 503
        assert not bench.told("end")
        assert len(bench.pulls()) < 20  # going on has a pace

    play(test)


def test_a_consumer_that_is_gone_ends_a_consume_of_the_draft(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=20_000)
        await bench.until(bench.pulls)
        async with bench.tap.outage():
            await bench.until(lambda: bench.told("connection"))
            await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
        await bench.until(lambda: bench.told("end"))
        assert bench.told("end")[0].body["error"]["err_code"] == 10014
        assert len(bench.sent("$JS.API.CONSUMER.INFO.")) == 2

    play(test, "--revision", "adr-37@0")


@pytest.mark.parametrize(
    ("status", "description", "told", "ends"),
    [
        (400, "Bad Request - x", True, False),
        (404, "No Messages", False, False),
        (408, "Request Timeout", False, False),
        (408, "Interest Expired", False, False),
        (409, "Leadership Change", True, False),
        (409, "Exceeded MaxWaiting", True, False),
        (409, "Message Size Exceeds MaxBytes", False, False),
        (409, "Consumer is push based", False, True),
        (423, "Nats-Wrong-Pin-Id", False, False),
        (503, "", True, False),
    ],
)
def test_statuses(play: Play, status: int, description: str, told: bool, ends: bool) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.make_consumer()
        subject = f"$JS.API.CONSUMER.MSG.NEXT.{bench.stream}.c"
        answer = {"status": status, **({"description": description} if description else {})}
        once = {
            "id": "s",
            "on": {"from": "client", "subject": subject, "nth": 1},
            "do": {"answer": answer},
        }
        bench.tap.add_rules([once])
        await consume(bench, max_messages=10, expires_ms=5000)
        if ends:
            await bench.until(lambda: bench.told("end"))
            assert bench.told("end")[0].body["error"]["status"] == status
            assert len(bench.pulls()) == 1
            return
        await bench.until(lambda: len(bench.pulls()) == 2)
        assert bench.pulls()[1]["batch"] == 10
        await bench.store(1)
        await bench.until(lambda: bench.told("message"))
        assert bool(bench.told("notice")) == told
        assert not bench.told("end")

    play(test)


def test_drain_and_stop(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=5)
        await bench.make_consumer()
        await consume(bench, max_messages=10, expires_ms=5000)
        await bench.until(lambda: len(bench.told("message")) == 5)
        pulled = len(bench.pulls())
        await bench.call("consume.drain", of="k")
        assert bench.told("end")
        assert len(bench.pulls()) == pulled
        await bench.call("consume", of="c", **{"as": "k2"}, max_messages=10, expires_ms=5000)
        await bench.call("consume.stop", of="k2")
        assert bench.told("end", "k2")
        await bench.store(2)
        await bench.call("consumer.info", of="c")
        assert len(bench.told("message")) == 5

    play(test)


def test_an_ordered_consumer_is_made_anew(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=6)
        lost = {"from": "server", "op": "MSG", "subject": f"{bench.stream}.a", "nth": 3}
        bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
        await bench.call("ordered.get", **{"as": "o"}, stream=bench.stream)
        await bench.call("consume", of="o", **{"as": "k"}, max_messages=10, expires_ms=5000)
        await bench.until(lambda: len(bench.told("message")) == 6)
        assert bench.tap.fired["lose"] == 1
        assert [event.body["seq"] for event in bench.told("message")] == [1, 2, 3, 4, 5, 6]
        assert len(bench.sent("$JS.API.CONSUMER.CREATE.")) == 2

    play(test)
