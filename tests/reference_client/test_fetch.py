"""Fetch, next and acknowledgements on a real server."""

from __future__ import annotations

from collections.abc import Callable

from jetproof.wire.frames import Sub, Unsub

from .conftest import Bench

Play = Callable[..., None]
SECOND = 1_000_000_000


async def ready(bench: Bench, messages: int, **config: object) -> None:
    await bench.make_stream(messages)
    await bench.make_consumer(**config)


def test_it_ends_with_the_number_asked_for(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 4)
        fetched = await bench.call("fetch", of="c", max_messages=2, expires_ms=20_000)
        assert [message["seq"] for message in fetched["messages"]] == [1, 2]
        assert bench.pulls() == [{"batch": 2, "expires": 20 * SECOND}]
        inbox = bench.sent("$JS.API.CONSUMER.MSG.NEXT.")[0].reply
        (sid,) = [frame.sid for frame in bench.of(Sub) if frame.subject == inbox]
        await bench.call("consumer.info", of="c")
        assert sid in [frame.sid for frame in bench.of(Unsub)]

    play(test)


def test_it_ends_when_its_request_expires(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 2)
        fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=500)
        assert len(fetched["messages"]) == 2
        assert "error" not in fetched

    play(test)


def test_it_ends_by_its_own_timer(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 0)
        bench.tap.add_rules([{"id": "end", "on": {"from": "server", "status": 408}, "do": "drop"}])
        fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=300)
        assert fetched == {"messages": []}
        assert bench.tap.fired["end"] == 1

    play(test)


def test_missing_heartbeats_end_it(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 0)
        bench.tap.add_rules([{"on": {"from": "server", "status": 100}, "do": "drop"}])
        fetched = await bench.call(
            "fetch", of="c", max_messages=5, expires_ms=20_000, heartbeat_ms=200
        )
        assert fetched["error"]["type"] == "MissedHeartbeat"

    play(test)


def test_bytes_end_it(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream()
        await bench.store(9, b"z" * 200)
        await bench.make_consumer()
        fetched = await bench.call("fetch", of="c", max_bytes=1000, expires_ms=20_000)
        assert 1 < len(fetched["messages"]) < 9
        assert "error" not in fetched
        assert bench.pulls()[0]["batch"] == 1_000_000

    play(test)


def test_long_ones_have_heartbeats(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 3)
        await bench.call("fetch", of="c", max_messages=1, expires_ms=31_000)
        await bench.call("next", of="c", expires_ms=40_000)
        await bench.call("fetch", of="c", max_messages=1, expires_ms=30_000)
        beats = [pull.get("idle_heartbeat") for pull in bench.pulls()]
        assert beats == [15.5 * SECOND, 20 * SECOND, None]

    play(test)


def test_a_deleted_consumer_is_an_error(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 0)
        await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
        fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=3000)
        assert fetched["error"]["status"] == 503
        assert (await bench.refused("next", of="c", expires_ms=3000))["status"] == 503
        missing = await bench.refused(
            "consumer.get", **{"as": "d"}, stream=bench.stream, consumer="no"
        )
        assert missing["err_code"] == 10014

    play(test)


def test_nothing_there(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 0)
        assert await bench.call("next", of="c", expires_ms=300) == {"message": None}
        fetched = await bench.call("fetch", of="c", max_messages=5, no_wait=True)
        assert fetched == {"messages": []}
        assert (await bench.refused("fetch", of="c", expires_ms=300))["type"] == "InvalidOption"

    play(test)


def test_acknowledgements(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 6)
        fetched = await bench.call("fetch", of="c", max_messages=6, expires_ms=3000)
        names = [message["msg"] for message in fetched["messages"]]
        kinds: list[dict[str, object]] = [
            {"kind": "ack"},
            {"kind": "nak"},
            {"kind": "nak", "delay_ms": 60_000},
            {"kind": "progress"},
            {"kind": "term", "reason": "bad"},
            {"kind": "double"},
        ]
        for name, kind in zip(names, kinds, strict=True):
            await bench.call("ack", messages=[name], **kind)
        sent = bench.sent("$JS.ACK.")
        assert [frame.payload for frame in sent] == [
            b"+ACK",
            b"-NAK",
            b'-NAK {"delay": 60000000000}',
            b"+WPI",
            b"+TERM bad",
            b"+ACK",
        ]
        assert [frame.reply is not None for frame in sent] == [False] * 5 + [True]
        again = await bench.call("next", of="c", expires_ms=2000)
        assert again["message"]["seq"] == 2
        assert again["message"]["delivered"] == 2

    play(test)


def test_a_double_ack_waits_for_its_answer(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await ready(bench, 1)
        message = (await bench.call("next", of="c", expires_ms=3000))["message"]
        confirm = {"on": {"from": "server", "answers": {"subject": "$JS.ACK.>"}}}
        bench.tap.add_rules([{"id": "lost", **confirm, "do": "drop"}])
        error = await bench.refused("ack", messages=[message["msg"]], kind="double", timeout_ms=300)
        assert error["type"] == "Timeout"
        assert bench.tap.fired["lost"] == 1

    play(test)
