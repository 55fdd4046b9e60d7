"""Fetch, next and acknowledgements."""

from __future__ import annotations

import asyncio
import json

from jetproof.wire.frames import Sub, Unsub
from jetproof.wire.headers import Headers

from .bench import Bench, notices

SECOND = 1_000_000_000


async def ready(bench: Bench, messages: int) -> None:
    await bench.make_stream(messages)
    await bench.make_consumer()


@notices(
    "fetch-is-missing fetch-waits-for-expiry fetch-ends-too-early fetch-refills fetch-end-untold"
    " fetch-without-expires fetch-expires-in-milliseconds fetch-leaves-its-subscription"
)
async def it_ends_with_the_number_asked_for(bench: Bench) -> None:
    await ready(bench, 4)
    fetched = await bench.call("fetch", of="c", max_messages=2, expires_ms=20_000)
    assert [message["seq"] for message in fetched["messages"]] == [1, 2]
    assert bench.pulls() == [{"batch": 2, "expires": 20 * SECOND}]
    inbox = bench.sent("$JS.API.CONSUMER.MSG.NEXT.")[0].reply
    (sid,) = [frame.sid for frame in bench.of(Sub) if frame.subject == inbox]
    await bench.settled()
    assert sid in [frame.sid for frame in bench.of(Unsub)]


@notices("fetch-outlives-expiry")
async def it_ends_when_its_request_expires(bench: Bench) -> None:
    await ready(bench, 2)
    fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=500)
    assert len(fetched["messages"]) == 2
    assert "error" not in fetched


@notices("own-timer-before-expiry")
async def it_lasts_as_long_as_its_request(bench: Bench) -> None:
    await ready(bench, 0)
    later = asyncio.create_task(bench.call("fetch", of="c", max_messages=1, expires_ms=1500))
    await asyncio.sleep(1.0)
    await bench.store(1)
    assert len((await later)["messages"]) == 1


@notices("no-timer-of-its-own")
async def it_ends_by_its_own_timer(bench: Bench) -> None:
    await ready(bench, 0)
    bench.tap.add_rules([{"id": "end", "on": {"from": "server", "status": 408}, "do": "drop"}])
    fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=300)
    assert fetched == {"messages": []}
    assert bench.tap.fired["end"] == 1


@notices("fetch-heartbeat-dropped silence-untold")
async def missing_heartbeats_end_it(bench: Bench) -> None:
    await ready(bench, 0)
    bench.tap.add_rules([{"on": {"from": "server", "status": 100}, "do": "drop"}])
    fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=9000, heartbeat_ms=200)
    assert fetched["error"]["type"] == "MissedHeartbeat"


@notices("fetch-deaf-after-a-heartbeat heartbeats-handed-over fetch-drops-headers")
async def heartbeats_are_passed_over(bench: Bench) -> None:
    await ready(bench, 0)
    asked = {"max_messages": 2, "expires_ms": 1500, "heartbeat_ms": 500}
    later = asyncio.create_task(bench.call("fetch", of="c", **asked))
    await bench.until(lambda: any(getattr(e.frame, "status", None) == 100 for e in bench.frames))
    await bench.raw.request(f"{bench.stream}.a", b"x", Headers([("Kind", "a")]))
    (message,) = (await later)["messages"]
    assert message["headers"] == [["Kind", "a"]]


@notices("fetch-bytes-refused fetch-max-bytes-dropped max-bytes-without-batch")
async def messages_that_do_not_fit_end_it(bench: Bench) -> None:
    await bench.make_stream()
    await bench.store(9, b"z" * 200)
    await bench.make_consumer()
    fetched = await bench.call("fetch", of="c", max_bytes=1000, expires_ms=9000)
    assert 1 < len(fetched["messages"]) < 9
    assert "error" not in fetched
    (pull,) = bench.pulls()
    assert (pull["batch"], pull["max_bytes"]) == (1_000_000, 1000)


@notices("fetch-bytes-uncounted")
async def bytes_that_are_used_up_end_it(bench: Bench) -> None:
    await bench.make_stream()
    await bench.store(3, b"z" * 200)
    await bench.make_consumer()
    reply = len(f"$JS.ACK.{bench.stream}.c.1.1.1.{'9' * 19}.2")
    size = 200 + len(f"{bench.stream}.a") + reply
    fetched = await bench.call("fetch", of="c", max_bytes=2 * size, expires_ms=30_000)
    assert len(fetched["messages"]) == 2


@notices("long-fetch-without-heartbeats short-fetch-with-heartbeats next-asks-for-ten")
async def long_ones_have_heartbeats(bench: Bench) -> None:
    await ready(bench, 3)
    await bench.call("fetch", of="c", max_messages=1, expires_ms=31_000)
    await bench.call("next", of="c", expires_ms=40_000)
    await bench.call("fetch", of="c", max_messages=1, expires_ms=30_000)
    beats = [pull.get("idle_heartbeat") for pull in bench.pulls()]
    assert beats == [15.5 * SECOND, 20 * SECOND, None]
    assert {pull["batch"] for pull in bench.pulls()} == {1}


@notices("fetch-survives-status fetch-errors-untold get-makes-the-consumer")
async def a_consumer_that_is_gone_is_an_error(bench: Bench) -> None:
    await ready(bench, 0)
    await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
    fetched = await bench.call("fetch", of="c", max_messages=5, expires_ms=1000)
    assert fetched["error"]["status"] == 503
    assert (await bench.refused("next", of="c", expires_ms=1000))["status"] == 503
    missing = await bench.refused("consumer.get", **{"as": "d"}, stream=bench.stream, consumer="no")
    assert missing["err_code"] == 10014


@notices("fetch-survives-its-connection")
async def a_lost_connection_ends_it(bench: Bench) -> None:
    await ready(bench, 0)
    later = asyncio.create_task(bench.call("fetch", of="c", max_messages=1, expires_ms=30_000))
    await bench.until(bench.pulls)
    bench.tap.cut()
    assert (await later)["error"]["type"] == "ConnectionLost"


@notices("fetch-error-drops-messages")
async def what_came_before_a_lost_connection_is_returned(bench: Bench) -> None:
    await ready(bench, 1)
    later = asyncio.create_task(bench.call("fetch", of="c", max_messages=2, expires_ms=30_000))
    await bench.until(bench.pulls)
    await bench.settled()
    bench.tap.cut()
    fetched = await later
    assert fetched["error"]["type"] == "ConnectionLost"
    assert [message["seq"] for message in fetched["messages"]] == [1]


@notices("consumers-forgotten-at-reconnect")
async def a_consumer_outlives_a_reconnect(bench: Bench) -> None:
    await ready(bench, 1)
    bench.tap.cut()
    await bench.until(lambda: len(bench.told("connection")) > 1)
    fetched = await bench.call("fetch", of="c", max_messages=1, expires_ms=3000)
    assert [message["seq"] for message in fetched["messages"]] == [1]


@notices("numbers-rounded")
async def large_sequences_are_exact(bench: Bench) -> None:
    await bench.make_stream(first_seq=2**53 + 1)
    published = await bench.call("publish", subject=f"{bench.stream}.a")
    assert published["ack"]["seq"] == 2**53 + 1


@notices("fetch-below-zero-panics fetch-without-limits fetch-always-waits")
async def nothing_there(bench: Bench) -> None:
    await ready(bench, 0)
    assert await bench.call("next", of="c", expires_ms=300) == {"message": None}
    fetched = await bench.call("fetch", of="c", max_messages=5, no_wait=True)
    assert fetched == {"messages": []}
    assert bench.pulls()[-1] == {"batch": 5, "no_wait": True}
    assert (await bench.refused("fetch", of="c", expires_ms=300))["type"] == "InvalidOption"
    none = await bench.refused("fetch", of="c", max_messages=0, expires_ms=300)
    assert none["type"] == "InvalidOption"
    less = await bench.refused("fetch", of="c", max_messages=-1, expires_ms=300)
    assert less["type"] == "InvalidOption"


@notices(
    "ack-never-sent nak-sent-as-ack progress-sent-as-ack term-sent-as-ack double-ack-without-reply"
)
async def acknowledgements(bench: Bench) -> None:
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
    await bench.settled()
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


@notices("double-ack-does-not-wait")
async def a_double_ack_waits_for_its_answer(bench: Bench) -> None:
    await ready(bench, 1)
    message = (await bench.call("next", of="c", expires_ms=3000))["message"]
    confirmed = {"from": "server", "answers": {"subject": "$JS.ACK.>"}}
    bench.tap.add_rules([{"id": "lost", "on": confirmed, "do": "drop"}])
    error = await bench.refused("ack", messages=[message["msg"]], kind="double", timeout_ms=300)
    assert error["type"] == "Timeout"
    assert bench.tap.fired["lost"] == 1


@notices("ordered-gap-unnoticed")
async def a_fetch_from_an_ordered_consumer(bench: Bench) -> None:
    await bench.make_stream(6)
    lost = {"from": "server", "op": "MSG", "subject": f"{bench.stream}.a", "nth": 3}
    bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
    await bench.call("ordered.get", **{"as": "o"}, stream=bench.stream)
    fetched = await bench.call("fetch", of="o", max_messages=5, expires_ms=3000)
    assert bench.tap.fired["lose"] == 1
    assert [message["seq"] for message in fetched["messages"]] == [1, 2, 3, 4, 5]
    last = await bench.call("next", of="o", expires_ms=3000)
    assert last["message"]["seq"] == 6


@notices("double-ack-takes-any-answer")
async def a_double_ack_that_nobody_answers(bench: Bench) -> None:
    await ready(bench, 1)
    message = (await bench.call("next", of="c", expires_ms=3000))["message"]
    await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
    error = await bench.refused("ack", messages=[message["msg"]], kind="double")
    assert error["status"] == 503


@notices("second-ack-refused")
async def a_message_can_be_acknowledged_again(bench: Bench) -> None:
    await ready(bench, 1)
    message = (await bench.call("next", of="c", expires_ms=3000))["message"]
    for kind in ("progress", "ack", "ack"):
        await bench.call("ack", messages=[message["msg"]], kind=kind)
    await bench.settled()
    assert [frame.payload for frame in bench.sent("$JS.ACK.")] == [b"+WPI", b"+ACK", b"+ACK"]


@notices("ack-lost-while-disconnected")
async def an_ack_outlives_a_lost_connection(bench: Bench) -> None:
    await ready(bench, 1)
    message = (await bench.call("next", of="c", expires_ms=3000))["message"]
    bench.tap.refuse()
    bench.tap.cut()
    await bench.until(lambda: bench.told("connection"))
    later = asyncio.create_task(bench.call("ack", messages=[message["msg"]], kind="ack"))
    await asyncio.sleep(0)
    bench.tap.accept()
    await later
    await bench.settled()
    assert [frame.payload for frame in bench.sent("$JS.ACK.")] == [b"+ACK"]


@notices("look-up-asks-for-the-stream")
async def a_look_up_asks_for_the_consumer(bench: Bench) -> None:
    await ready(bench, 0)
    assert bench.sent("$JS.API.CONSUMER.INFO.")
    assert not bench.sent("$JS.API.STREAM.INFO.")


@notices("ordered-options-dropped ordered-acknowledges ordered-starts-over")
async def an_ordered_consumer_as_asked_for(bench: Bench) -> None:
    await bench.make_stream(4)
    await bench.call("ordered.get", **{"as": "o"}, stream=bench.stream, start_seq="2")
    (made,) = bench.sent("$JS.API.CONSUMER.CREATE.")
    config = json.loads(made.payload)["config"]
    assert (config["opt_start_seq"], config["ack_policy"]) == (2, "none")
    for seq in (2, 3, 4):
        next_one = await bench.call("next", of="o", expires_ms=3000)
        assert next_one["message"]["seq"] == seq
