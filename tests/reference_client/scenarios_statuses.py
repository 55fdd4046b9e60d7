"""Consume: statuses, heartbeats, and a connection that goes and comes."""

from __future__ import annotations

import asyncio

from jetproof.wire.frames import Sub
from jetproof.wire.headers import Headers

from .bench import Bench, Scenario, notices
from .scenarios_consume import begin

MUTE = {"id": "mute", "on": {"from": "server", "status": 100}, "do": "drop"}


async def _status(
    bench: Bench, status: int, description: str, told: bool, ends: bool, left: bool
) -> None:
    headers = {"Nats-Pending-Messages": "10", "Nats-Pending-Bytes": "0"} if left else {}
    await bench.make_stream()
    answer = {"status": status, "headers": headers}
    if description:
        answer["description"] = description
    subject = f"$JS.API.CONSUMER.MSG.NEXT.{bench.stream}.c"
    once = {"from": "client", "subject": subject, "nth": 1}
    bench.tap.add_rules([{"id": "s", "on": once, "do": {"answer": answer}}])
    await bench.make_consumer()
    await bench.call("consume", of="c", **{"as": "k"}, max_messages=10, expires_ms=9000)
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


def _statuses() -> list[Scenario]:
    rows: list[tuple[str, int, str, bool, bool, bool]] = [
        ("bad-request-untold no-pull-after-a-status", 400, "Bad Request - x", True, False, False),
        ("no-messages-told no-messages-ends-consume", 404, "No Messages", False, False, False),
        ("timeout-told timeout-ends-consume", 408, "Request Timeout", False, False, True),
        ("interest-expired-told", 408, "Interest Expired", False, False, True),
        ("interest-expired-uncounted", 408, "Interest Expired", False, False, True),
        ("", 409, "Leadership Change", True, False, False),
        ("warnings-end-consume", 409, "Exceeded MaxWaiting", True, False, False),
        ("too-big-told", 409, "Message Size Exceeds MaxBytes", False, False, True),
        ("batch-completed-uncounted", 409, "Batch Completed", False, False, True),
        ("unknown-pending-ignored", 409, "Something New", True, False, True),
        ("push-based-survived push-based-untold", 409, "Consumer is push based", True, True, False),
        ("wrong-pin-told wrong-pin-uncounted", 423, "Nats-Wrong-Pin-Id", False, False, True),
        ("", 503, "", True, False, False),
    ]
    made = [
        notices(knobs, given=tuple(given), name=f"{given[0]} {given[1]}")(_status)
        for knobs, *given in rows
    ]
    ends = (409, "Leadership Change", True, True, False)
    made.append(notices("errors-survived", revision="adr-37@0", given=ends, name="draft")(_status))
    counted = (409, "Server Shutdown", False, False, True)
    made.append(
        notices("counted-errors-told", revision="adr-37@0", given=counted, name="counted")(_status)
    )
    return made


STATUSES = _statuses()


@notices("deleted-survived deleted-untold")
async def a_deleted_consumer_ends_it(bench: Bench) -> None:
    await begin(bench, expires_ms=9000)
    await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
    await bench.until(lambda: bench.told("end"))
    (end,) = bench.told("end")
    assert end.body["error"]["description"] == "Consumer Deleted"


@notices("pending-headers-ignored")
async def expired_pulls_are_followed_by_others(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=1000)
    for number in (2, 3):
        await bench.until(lambda number=number: len(bench.pulls()) == number)
    assert [pull["batch"] for pull in bench.pulls()] == [10, 10, 10]
    assert not bench.told("notice")
    await bench.store(1)
    await bench.until(lambda: bench.told("message"))


@notices("a-status-forgets-the-counts")
async def a_status_ends_one_pull_and_not_all(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    await bench.store(5)
    await bench.until(lambda: len(bench.pulls()) == 2)
    left = [("Nats-Pending-Messages", "5"), ("Nats-Pending-Bytes", "0")]
    bench.inject(Headers(left, status=408, description="Request Timeout"))
    await bench.until(lambda: len(bench.pulls()) == 3)
    assert [pull["batch"] for pull in bench.pulls()] == [10, 5, 5]


@notices()
async def two_statuses_at_once_are_followed_by_one_pull(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=9000)
    left = [("Nats-Pending-Messages", "10"), ("Nats-Pending-Bytes", "0")]
    bench.inject(Headers(left, status=409, description="Server Shutdown"))
    bench.inject(Headers(status=409, description="Leadership Change"))
    await bench.until(lambda: len(bench.told("notice")) == 2)
    await bench.settled()
    assert [pull["batch"] for pull in bench.pulls()] == [10, 10]


@notices("silence-untold silence-told-late silence-ends-consume consume-reports-no-errors")
async def silence_is_told_and_survived(bench: Bench) -> None:
    bench.tap.add_rules([MUTE])
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    await bench.until(lambda: bench.told("notice"))
    assert bench.told("notice")[0].body["error"]["type"] == "MissedHeartbeat"
    assert bench.tap.fired["mute"]
    await bench.until(lambda: len(bench.pulls()) == 2)
    await bench.store(1)
    await bench.until(lambda: bench.told("message"))
    assert not bench.told("end")


@notices("silence-survived silence-untold", revision="adr-37@0")
async def silence_ends_a_consume_of_the_draft(bench: Bench) -> None:
    bench.tap.add_rules([MUTE])
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    await bench.until(lambda: bench.told("end"))
    assert bench.told("end")[0].body["error"]["type"] == "MissedHeartbeat"


@notices("heartbeats-unheard heartbeats-handed-over")
async def heartbeats_keep_it_quiet(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    await asyncio.sleep(1.6)
    assert not bench.told("notice")
    assert not bench.told("message")


@notices("messages-unheard")
async def messages_keep_it_quiet(bench: Bench) -> None:
    bench.tap.add_rules([MUTE])
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    for _ in range(4):
        await asyncio.sleep(0.4)
        await bench.store(1)
    assert not bench.told("notice")


@notices("statuses-unheard")
async def statuses_keep_it_quiet(bench: Bench) -> None:
    bench.tap.add_rules([MUTE])
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    for _ in range(4):
        await asyncio.sleep(0.4)
        bench.inject(Headers(status=404, description="No Messages"))
    assert not bench.told("notice")


@notices(
    "disconnect-untold reconnect-untold timer-runs-while-disconnected pulls-while-disconnected"
    " no-pull-after-reconnect info-after-reconnect reconnect-ends-consume"
)
async def an_outage_is_survived_with_one_pull(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=500)
    async with bench.tap.outage():
        await asyncio.sleep(1.5)
    await bench.until(lambda: len(bench.pulls()) == 2)
    await bench.store(1)
    await bench.until(lambda: bench.told("message"))
    assert [pull["batch"] for pull in bench.pulls()] == [10, 10]
    kinds = [event.body["kind"] for event in bench.told("connection")]
    assert kinds == ["disconnected", "reconnected"]
    inbox = bench.sent("$JS.API.CONSUMER.MSG.NEXT.")[0].reply
    assert [frame.subject for frame in bench.of(Sub)].count(str(inbox)) == 2
    assert len(bench.sent("$JS.API.CONSUMER.INFO.")) == 1  # the look-up at the start
    assert not bench.told("notice")
    assert not bench.told("end")


@notices("timer-not-reset-at-reconnect timer-stays-paused")
async def the_timer_starts_anew_after_a_reconnect(bench: Bench) -> None:
    bench.tap.add_rules([MUTE])
    await begin(bench, max_messages=10, expires_ms=20_000, heartbeat_ms=1000)
    await asyncio.sleep(0.6)
    bench.tap.cut()
    await bench.until(lambda: bench.told("notice"))
    back = bench.told("connection")[1]
    assert back.body["kind"] == "reconnected"
    assert bench.told("notice")[0].at - back.at >= 1.99


@notices()
async def a_consumer_that_is_gone_after_an_outage(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=20_000)
    async with bench.tap.outage():
        await bench.until(lambda: bench.told("connection"))
        await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
    await bench.until(lambda: len(bench.told("notice")) > 1)
    assert bench.told("notice")[0].body["error"]["status"] == 503
    assert not bench.told("end")
    assert len(bench.pulls()) < 20  # going on has a pace


@notices("no-info-after-reconnect missing-consumer-survived", revision="adr-37@0")
async def a_consumer_that_is_gone_ends_a_consume_of_the_draft(bench: Bench) -> None:
    await begin(bench, max_messages=10, expires_ms=20_000)
    async with bench.tap.outage():
        await bench.until(lambda: bench.told("connection"))
        await bench.api(f"$JS.API.CONSUMER.DELETE.{bench.stream}.c")
    await bench.until(lambda: bench.told("end"))
    assert bench.told("end")[0].body["error"]["err_code"] == 10014
    assert len(bench.sent("$JS.API.CONSUMER.INFO.")) == 2
