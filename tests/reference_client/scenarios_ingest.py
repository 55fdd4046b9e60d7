"""Fast ingest: of revision 10 on a real server, of revision 7 on a peer that the scenario plays."""

from __future__ import annotations

import asyncio
import json

from jetproof.wire.frames import Msg, Sub, Unsub

from .bench import Bench, notices

ACKS = {"from": "server", "json": {"type": "ack"}}


async def begin(bench: Bench, **options: object) -> str:
    await bench.make_stream(allow_batched=True)
    await bench.call("ingest.open", **{"as": "f"}, **options)
    return f"{bench.stream}.a"


def pings(bench: Bench) -> list[str]:
    replies = [str(frame.reply) for frame in bench.sent(f"{bench.stream}.")]
    return [reply for reply in replies if reply.endswith(".4.$FI")]


@notices(
    "channel-closed-early replies-not-unique reply-outside-the-inbox waits-for-each-ack"
    " channel-shared keeps-interest-after-the-end reply-without-gap-mode channel-too-wide"
    " channel-for-each-message appends-as-start ingest-sequence-skips final-ack-unrecognised"
    " ack-sequence-untold"
)
async def many_messages(bench: Bench) -> None:
    subject = await begin(bench, batch_id="mine", flow=10, gap="fail", ack_timeout_ms=2000)
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
    await bench.settled()
    assert sid in [frame.sid for frame in bench.of(Unsub)]
    assert len([f for f in bench.of(Sub) if f.subject.startswith(prefix)]) == 1
    assert [event.body["ack_seq"] for event in bench.told("ingest")] == [10, 20, 30]
    assert not pings(bench)


@notices()
async def an_end_without_a_message(bench: Bench) -> None:
    subject = await begin(bench)
    await bench.call("ingest.add", of="f", subject=subject)
    assert (await bench.call("ingest.close", of="f"))["ack"]["seq"] == 1


@notices("pours-before-the-answer")
async def the_first_answer_is_awaited(bench: Bench) -> None:
    bench.tap.add_rules([{"on": ACKS, "do": {"delay": "300ms"}}])
    subject = await begin(bench)
    await asyncio.gather(
        *(bench.call("ingest.add", of="f", subject=subject, data=str(n)) for n in (1, 2))
    )
    await bench.settled()
    frames = [event.frame for event in bench.frames]
    second = frames.index(bench.sent(subject)[1])
    assert any(isinstance(f, Msg) and b'"ack"' in f.payload for f in frames[:second])


@notices("acks-counted-not-tracked")
async def later_acks_make_up_for_lost_ones(bench: Bench) -> None:
    lost = {"from": "server", "json": {"type": "ack", "seq": 10}}
    bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
    subject = await begin(bench, flow=10, max_outstanding=3)
    for _ in range(24):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.call("ingest.commit", of="f", subject=subject)
    assert bench.tap.fired["lose"]
    assert [event.body["ack_seq"] for event in bench.told("ingest")] == [20]


@notices("ping-takes-a-sequence ping-names-the-acknowledged never-pings outstanding-not-settable")
async def a_ping_asks_for_lost_acks(bench: Bench) -> None:
    lost = {"from": "server", "json": {"type": "ack", "seq": 5}, "nth": 1}
    bench.tap.add_rules([{"id": "lose", "on": lost, "do": "drop"}])
    subject = await begin(bench, flow=5, max_outstanding=1, ack_timeout_ms=800)
    for _ in range(6):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    assert [reply.split(".")[-3] for reply in pings(bench)] == ["5"]
    assert (await bench.call("ingest.commit", of="f", subject=subject))["ack"]["count"] == 7


@notices("never-waits ack-timeout-not-settable three-outstanding-by-default")
async def it_waits_for_acks_and_not_for_ever(bench: Bench) -> None:
    subject = await begin(bench, flow=10, ack_timeout_ms=600)
    await bench.call("ingest.add", of="f", subject=subject)
    bench.tap.add_rules([{"on": ACKS, "do": "drop"}])
    for _ in range(18):
        await bench.call("ingest.add", of="f", subject=subject)
    error = await bench.refused("ingest.add", of="f", subject=subject)
    assert error["type"] == "Timeout"


@notices("gap-taken-for-an-ack")
async def a_gap_is_no_ack(bench: Bench) -> None:
    subject = await begin(bench, flow=5, max_outstanding=1, gap="ok", ack_timeout_ms=600)
    await bench.call("ingest.add", of="f", subject=subject)
    third = {"from": "client", "subject": subject, "nth": 2}
    bench.tap.add_rules([{"on": ACKS, "do": "drop"}, {"id": "lose", "on": third, "do": "drop"}])
    for _ in range(3):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.until(lambda: bench.told("ingest"))
    error = await bench.refused("ingest.add", of="f", subject=subject)
    assert error["type"] == "Timeout"


@notices("flow-never-changes")
async def the_flow_is_followed(bench: Bench) -> None:
    subject = await begin(bench, flow=10)
    await bench.call("ingest.add", of="f", subject=subject)
    # A second publisher starts with an ack for each message, and is then allowed more.
    await bench.call("ingest.open", **{"as": "g"}, flow=50, max_outstanding=1, ack_timeout_ms=2000)
    for _ in range(40):
        await bench.call("ingest.add", of="g", subject=subject)
    await bench.call("ingest.commit", of="g", subject=subject)
    await bench.settled()
    assert not pings(bench)


@notices("outstanding-unbounded")
async def few_may_be_outstanding(bench: Bench) -> None:
    await bench.make_stream(allow_batched=True)
    error = await bench.refused("ingest.open", **{"as": "f"}, max_outstanding=50)
    assert error["type"] == "InvalidOption"


async def _with_a_gap(bench: Bench, gap: str) -> str:
    subject = await begin(bench, flow=100, gap=gap, ack_timeout_ms=2000)
    third = {"from": "client", "subject": subject, "nth": 3}
    bench.tap.add_rules([{"on": third, "do": "drop"}])
    for _ in range(4):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.until(lambda: bench.told("ingest"))
    assert bench.told("ingest")[0].body["kind"] == "gap"
    return subject


@notices("gaps-and-errors-untold a-gap-ends-every-batch")
async def a_gap_that_is_allowed(bench: Bench) -> None:
    subject = await _with_a_gap(bench, "ok")
    await bench.call("ingest.add", of="f", subject=subject)
    assert (await bench.call("ingest.commit", of="f", subject=subject))["ack"]["count"] == 6


@notices("sends-on-after-a-gap")
async def a_gap_that_is_not_allowed(bench: Bench) -> None:
    final = {"from": "server", "json": {"batch": {"exists": True}}}
    bench.tap.add_rules([{"id": "late", "on": final, "do": {"delay": "400ms"}}])
    subject = await _with_a_gap(bench, "fail")
    error = await bench.refused("ingest.add", of="f", subject=subject)
    assert error["type"] == "BatchGap"
    assert (await bench.call("ingest.close", of="f"))["ack"]["count"] == 2
    assert len(bench.sent(subject)) == 4


@notices("gaps-and-errors-untold")
async def an_error_of_one_message(bench: Bench) -> None:
    subject = await begin(bench, gap="ok")
    await bench.call("ingest.add", of="f", subject=subject)
    await bench.call("ingest.add", of="f", subject=subject, expect_last_seq=99)
    await bench.until(lambda: bench.told("ingest"))
    event = bench.told("ingest")[0]
    assert event.body["kind"] == "error"
    assert event.body["error"]["err_code"] == 10071
    await bench.call("ingest.commit", of="f", subject=subject)


@notices()
async def ingest_that_is_not_allowed(bench: Bench) -> None:
    await bench.make_stream()
    await bench.call("ingest.open", **{"as": "f"})
    error = await bench.refused("ingest.add", of="f", subject=f"{bench.stream}.a")
    assert error["err_code"] == 10205


class Peer:
    """What a server of revision 7 would say, as far as the scenario needs it."""

    def __init__(self, bench: Bench, subject: str, every: int, *, lose: int = 0) -> None:
        self.bench = bench
        self.every = every
        self.lose = lose
        self.heard: list[Msg] = []
        bench.raw.subscribe(subject, self._take)

    def header(self, name: str) -> list[str | None]:
        return [msg.headers.get(name) if msg.headers else None for msg in self.heard]

    def _take(self, msg: Msg, at: float) -> None:
        self.heard.append(msg)
        assert msg.headers is not None
        sequence = int(msg.headers.get("Nats-Batch-Sequence") or 0)
        if msg.headers.get("Nats-Batch-Commit"):
            self._say(msg, stream="S", seq=sequence, batch="mine", count=sequence)
        elif sequence == 1 or (sequence % self.every == 0 and sequence != self.lose):
            self._say(msg, seq=sequence, messages=self.every)

    def _say(self, msg: Msg, **document: object) -> None:
        self.bench.raw.publish(str(msg.reply), json.dumps(document).encode())


@notices(
    "starts-without-flow gap-mode-unsent later-expectations-sent reply-outside-the-inbox"
    " ingest-sequence-skips",
    revision="adr-50@7",
)
async def revision_7_says_it_in_headers(bench: Bench) -> None:
    subject = f"{bench.stream}.a"
    peer = Peer(bench, subject, 5, lose=5)
    await bench.raw.flush()
    await bench.call("ingest.open", **{"as": "f"}, batch_id="mine", flow=5, gap="ok")
    for _ in range(3):
        await bench.call("ingest.add", of="f", subject=subject)
    error = await bench.refused("ingest.add", of="f", subject=subject, expect_last_seq=1)
    assert error["type"] == "InvalidOption"
    for _ in range(9):
        told = await bench.call("ingest.add", of="f", subject=subject)
    assert told == {"batch_seq": 12, "ack_seq": 10}
    ack = (await bench.call("ingest.commit", of="f", subject=subject))["ack"]
    assert ack["count"] == 13
    assert peer.header("Nats-Batch-Sequence") == [str(number) for number in range(1, 14)]
    assert peer.header("Nats-Fast-Batch-Id") == ["mine"] * 13
    assert peer.header("Nats-Flow") == ["5"] + [None] * 12
    assert peer.header("Nats-Batch-Gap") == ["ok"] + [None] * 12
    assert peer.header("Nats-Batch-Commit") == [None] * 12 + ["1"]
    (inbox,) = {msg.reply for msg in peer.heard}
    assert [frame.subject for frame in bench.of(Sub)].count(str(inbox)) == 1


@notices("unknown-messages-taken-for-acks")
async def what_is_not_known_acknowledges_nothing(bench: Bench) -> None:
    subject = await begin(bench, flow=10, gap="fail", ack_timeout_ms=2000)
    second = {"from": "client", "reply": {"match": r"\.2\.1\.\$FI$"}}
    unknown = {"inject": {"json": {"type": "news", "seq": 2}}}
    bench.tap.add_rules([{"on": second, "do": unknown}])
    for _ in range(2):
        await bench.call("ingest.add", of="f", subject=subject)
    await bench.settled()
    told = await bench.call("ingest.add", of="f", subject=subject)
    assert (told["batch_seq"], told["ack_seq"]) == (3, 0)
