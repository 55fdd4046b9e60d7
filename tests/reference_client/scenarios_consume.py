"""Consume: what it asks for, when, and how it counts."""

from __future__ import annotations

from jetproof.wire.frames import Msg, Sub
from jetproof.wire.headers import Headers

from .bench import Bench, notices

SECOND = 1_000_000_000


async def consume(bench: Bench, **options: object) -> None:
    await bench.call("consume", of="c", **{"as": "k"}, **options)


async def begin(bench: Bench, messages: int = 0, **options: object) -> None:
    await bench.make_stream(messages)
    await bench.make_consumer()
    await consume(bench, **options)
    await bench.until(bench.pulls)


@notices(
    "consume-creates-the-consumer get-changes-the-consumer default-ten-messages"
    " default-expires-ten-seconds default-heartbeat-one-second max-bytes-always-sent"
    " no-heartbeats-asked first-pull-late"
)
async def defaults(bench: Bench) -> None:
    await begin(bench)
    (pull,) = bench.pulls()
    assert pull == {"batch": 500, "expires": 30 * SECOND, "idle_heartbeat": 15 * SECOND}
    assert not bench.sent("$JS.API.CONSUMER.CREATE.")


@notices(revision="adr-37@0")
async def defaults_of_the_draft(bench: Bench) -> None:
    await begin(bench)
    (pull,) = bench.pulls()
    assert pull == {"batch": 1000, "expires": 60 * SECOND, "idle_heartbeat": 30 * SECOND}


@notices("consume-expires-ignored consume-heartbeat-ignored")
async def options_are_sent(bench: Bench) -> None:
    await begin(bench, max_messages=7, expires_ms=5000, heartbeat_ms=700)
    (pull,) = bench.pulls()
    assert pull == {"batch": 7, "expires": 5 * SECOND, "idle_heartbeat": 700_000_000}


@notices(
    "threshold-overlooked default-threshold-tenth refill-asks-for-one refill-overfills"
    " consume-never-refills message-not-counted pull-not-counted a-subscription-for-each-pull"
    " reply-subject-varies"
)
async def refills_at_half_of_it(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    await bench.store(4)
    await bench.until(lambda: len(bench.told("message")) == 4)
    await bench.settled()
    assert len(bench.pulls()) == 1
    await bench.store(1)
    await bench.until(lambda: len(bench.pulls()) == 2)
    await bench.store(1)
    await bench.until(lambda: len(bench.told("message")) == 6)
    await bench.settled()
    assert [pull["batch"] for pull in bench.pulls()] == [10, 5]
    assert [event.body["seq"] for event in bench.told("message")] == [1, 2, 3, 4, 5, 6]
    (reply,) = {frame.reply for frame in bench.sent("$JS.API.CONSUMER.MSG.NEXT.")}
    assert [frame.subject for frame in bench.of(Sub)].count(reply) == 1


@notices("default-threshold-tenth refill-overfills", revision="adr-37@0")
async def the_draft_refills_a_quarter(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    await bench.store(2)
    await bench.until(lambda: len(bench.told("message")) == 2)
    await bench.settled()
    assert len(bench.pulls()) == 1
    await bench.store(1)
    await bench.until(lambda: len(bench.pulls()) == 2)
    assert [pull["batch"] for pull in bench.pulls()] == [10, 3]


@notices("thresholds-ignored threshold-means-processed")
async def a_threshold_is_what_is_left(bench: Bench) -> None:
    await begin(bench, max_messages=10, threshold_messages=3, expires_ms=9000)
    await bench.store(6)
    await bench.until(lambda: len(bench.told("message")) == 6)
    await bench.settled()
    assert len(bench.pulls()) == 1
    await bench.store(1)
    await bench.until(lambda: len(bench.pulls()) == 2)
    assert bench.pulls()[1]["batch"] == 7


@notices("order-reversed")
async def many_messages_in_order(bench: Bench) -> None:
    await begin(bench, 40, max_messages=50, expires_ms=9000)
    await bench.until(lambda: len(bench.told("message")) == 40)
    assert [event.body["seq"] for event in bench.told("message")] == list(range(1, 41))


@notices("stuck-at-one")
async def one_message_at_a_time(bench: Bench) -> None:
    await begin(bench, 3, max_messages=1, expires_ms=9000)
    await bench.until(lambda: len(bench.told("message")) == 3)
    assert {pull["batch"] for pull in bench.pulls()} == {1}


async def _one_of(bench: Bench, data: bytes, headers: Headers | None) -> Msg:
    """Stores a message, and returns the frame that brought it to the client."""
    await bench.raw.request(f"{bench.stream}.a", data, headers)
    await bench.until(lambda: bench.told("message"))
    frames = [event.frame for event in bench.frames if event.sender == "server"]
    (found,) = [f for f in frames if isinstance(f, Msg) and f.subject == f"{bench.stream}.a"]
    return found


@notices(
    "header-size-misjudged only-payload-counted max-bytes-without-batch size-limit-ignored"
    " default-threshold-tenth"
)
async def bytes_are_counted_as_the_server_does(bench: Bench) -> None:
    await begin(bench, max_bytes=1000, expires_ms=9000)
    assert bench.pulls()[0]["max_bytes"] == 1000
    assert bench.pulls()[0]["batch"] == 1_000_000
    msg = await _one_of(bench, b"y" * 400, Headers([("Some", "header" * 10)]))
    assert msg.headers is not None
    size = 400 + len(msg.headers.encode()) + len(msg.subject) + len(msg.reply or "")
    await bench.until(lambda: len(bench.pulls()) == 2)
    assert bench.pulls()[1]["max_bytes"] == size


@notices("header-size-misjudged", revision="adr-37@0")
async def the_draft_leaves_headers_out(bench: Bench) -> None:
    options = {"max_bytes": 1000, "threshold_bytes": 400, "expires_ms": 9000}
    await begin(bench, **options)
    headers = Headers([("Some", "header" * 10)])
    await _one_of(bench, b"y" * 300, headers)
    await bench.settled()
    assert len(bench.pulls()) == 1


REFUSED = [
    notices(knobs, given=(options,), name=f"refused_{'_and_'.join(options)}")(act)
    for act in [lambda bench, options: _refused(bench, options)]
    for knobs, options in [
        ("both-limits-taken", {"max_messages": 10, "max_bytes": 1000}),
        ("high-threshold-taken", {"max_messages": 10, "threshold_messages": 11}),
        ("high-threshold-taken", {"max_bytes": 10, "threshold_bytes": 11}),
        ("", {"max_messages": 0}),
        ("odd-times-taken", {"expires_ms": 500}),
        ("odd-times-taken", {"heartbeat_ms": 100, "expires_ms": 2000}),
    ]
]


async def _refused(bench: Bench, options: dict[str, int]) -> None:
    await bench.make_stream()
    await bench.make_consumer()
    error = await bench.refused("consume", of="c", **{"as": "k"}, **options)
    assert error["type"] == "InvalidOption"
    assert not bench.pulls()


@notices("drain-drops-the-buffer drain-pulls-more")
async def a_drain_hands_over_what_comes(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    slow = {"from": "server", "op": "MSG", "subject": f"{bench.stream}.a"}
    bench.tap.add_rules([{"id": "slow", "on": slow, "do": {"delay": "300ms"}}])
    await bench.store(3)
    await bench.tap.wait_fired("slow")
    await bench.call("consume.drain", of="k")
    assert len(bench.told("message")) == 3
    assert bench.told("end")
    await bench.settled()
    assert len(bench.pulls()) == 1


@notices("drain-goes-on")
async def a_drain_ends_it(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    await bench.call("consume.drain", of="k")
    assert bench.told("end")
    await bench.settled()
    await bench.store(2)
    await bench.settled()
    assert not bench.told("message")


@notices("stop-goes-on")
async def a_stop_ends_it(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    await bench.call("consume.stop", of="k")
    assert bench.told("end")
    await bench.settled()
    await bench.store(2)
    await bench.settled()
    assert not bench.told("message")


@notices("third-message-dropped")
async def every_message_is_handed_over(bench: Bench) -> None:
    await bench.make_stream(5)
    await bench.make_consumer()
    await bench.call("consume", of="c", **{"as": "k"}, max_messages=10)
    await bench.until(lambda: len(bench.told("message")) == 5)


@notices("ordered-gap-unnoticed ordered-starts-over makes-a-push-consumer")
async def an_ordered_consumer_notices_a_gap(bench: Bench) -> None:
    await bench.make_stream(6)
    lost = {"from": "server", "op": "MSG", "subject": f"{bench.stream}.a", "nth": 3}
    bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
    await bench.call("ordered.get", **{"as": "o"}, stream=bench.stream)
    await bench.call("consume", of="o", **{"as": "k"}, max_messages=10, expires_ms=9000)
    await bench.until(lambda: len(bench.told("message")) == 6)
    assert bench.tap.fired["lose"] == 1
    assert [event.body["seq"] for event in bench.told("message")] == [1, 2, 3, 4, 5, 6]
    assert len(bench.sent("$JS.API.CONSUMER.CREATE.")) == 2


@notices("ordered-never-made-anew")
async def an_ordered_consumer_that_is_gone(bench: Bench) -> None:
    await bench.make_stream(1)
    await bench.call("ordered.get", **{"as": "o"}, stream=bench.stream)
    await bench.call("consume", of="o", **{"as": "k"}, max_messages=10, expires_ms=9000)
    await bench.until(lambda: bench.told("message"))
    name = bench.told("message")[0].body["consumer"]
    await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.{name}")
    await bench.store(1)
    await bench.until(lambda: len(bench.told("message")) == 2)
    assert not bench.told("end")


@notices("delete-does-nothing info-made-up next-pulls-early")
async def info_and_delete(bench: Bench) -> None:
    await bench.make_stream(3)
    await bench.make_consumer()
    await bench.settled()
    assert not bench.pulls()
    info = (await bench.call("consumer.info", of="c"))["info"]
    assert info["num_pending"] == 3
    await bench.call("consumer.delete", of="c")
    assert (await bench.refused("consumer.info", of="c"))["err_code"] == 10014


@notices("pin-kept")
async def a_pin_is_forgotten_with_423(bench: Bench) -> None:
    await bench.make_stream()
    await bench.make_consumer(priority_policy="pinned_client", priority_groups=["g"])
    await consume(bench, max_messages=2, expires_ms=9000, group="g")
    await bench.until(bench.pulls)
    await bench.store(1)
    await bench.until(lambda: len(bench.pulls()) == 2)
    first, second = bench.pulls()
    assert first["group"] == "g"
    assert "id" not in first
    assert second["id"]
    left = [("Nats-Pending-Messages", "1"), ("Nats-Pending-Bytes", "0")]
    bench.inject(Headers(left, status=423, description="Nats-Wrong-Pin-Id"))
    bench.inject(Headers(left, status=423, description="Nats-Wrong-Pin-Id"))
    await bench.until(lambda: len(bench.pulls()) == 3)
    assert "id" not in bench.pulls()[2]
    assert not bench.told("notice")
