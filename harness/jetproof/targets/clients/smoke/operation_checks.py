"""Every operation that an adapter says it has, in its normal course."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from jetproof.model.versions import Version
from jetproof.targets.clients.process import Answer
from jetproof.targets.clients.smoke.bench import Bench, error_text

_KINDS = ("ack", "double", "nak", "progress", "term")
_MESSAGES = 20
_ATOMIC, _INGEST, _DIRECT_BATCH = Version(2, 12, 0), Version(2, 14, 0), Version(2, 11, 0)


async def every_operation(bench: Bench) -> None:
    await _publishing(bench)
    await _batches(bench)
    await _ingest(bench)
    await _reading(bench)
    await _consumers(bench)
    await _fetching(bench)
    await _acks(bench)
    await _consuming(bench)
    await _ordered(bench)
    await _key_value(bench)
    await _objects(bench)
    tried = {finding.name for finding in bench.findings} | {"close", "connect"}
    for op in sorted(bench.adapter.hello.capabilities - tried):
        bench.add(op, "note", "not tried: what it needs is not there, or did not work")


async def _publishing(bench: Bench) -> None:
    stream = await bench.stage.stream("PUB")
    body = await bench.works("publish", subject=f"{stream}.a", data="hello")
    if body is not None:
        _acked(bench, "publish", body, 1)


def _acked(bench: Bench, op: str, body: Mapping[str, Any], seq: int) -> None:
    ack = body.get("ack")
    if ack is None and op == "batch.close":
        return
    right = isinstance(ack, Mapping) and ack.get("seq") in (seq, None)
    bench.expect(op, right, f"the pub ack says {ack}, and the message is stored as {seq}")


async def _batches(bench: Bench) -> None:
    operations = [f"batch.{part}" for part in ("open", "add", "commit", "close", "discard")]
    if not _newer(bench, _ATOMIC, [*operations, "batch.publish"]):
        return
    stream = await bench.stage.stream("BATCH", allow_atomic=True)
    subject, stored = f"{stream}.a", 0
    for ending in ("commit", "close", "discard"):
        op, batch = f"batch.{ending}", f"s-b-{ending}"
        if not bench.can("batch.open", op):
            continue
        await bench.works("batch.open", **{"as": batch})
        await bench.works("batch.add", of=batch, subject=subject, data="1")
        more = {"subject": subject, "data": "2"} if ending == "commit" else {}
        body = await bench.works(op, of=batch, **more)
        stored += {"commit": 2, "close": 1, "discard": 0}[ending]
        if body is not None and body.get("ack") is not None:
            _acked(bench, op, body, stored)
        elif ending == "close":
            stored -= 1  # without an ack, closing gave the batch up
    messages = [{"subject": subject, "data": str(number)} for number in range(3)]
    body = await bench.works("batch.publish", messages=messages)
    if body is not None:
        _acked(bench, "batch.publish", body, stored + 3)


async def _ingest(bench: Bench) -> None:
    operations = [f"ingest.{part}" for part in ("open", "add", "commit", "close")]
    if not _newer(bench, _INGEST, operations):
        return
    stream = await bench.stage.stream("FAST", allow_batched=True)
    stored = 0
    for ending in ("commit", "close"):
        op, batch = f"ingest.{ending}", f"s-f-{ending}"
        if not bench.can("ingest.open", op):
            continue
        await bench.works("ingest.open", **{"as": batch})
        for number in range(3):
            await bench.works("ingest.add", of=batch, subject=f"{stream}.a", data=str(number))
        more = {"subject": f"{stream}.a", "data": "end"} if ending == "commit" else {}
        body = await bench.works(op, of=batch, **more)
        stored += 4 if ending == "commit" else 3
        if body is not None:
            _acked(bench, op, body, stored)


def _newer(bench: Bench, release: Version, operations: list[str]) -> bool:
    if bench.stage.version.base >= release:
        return True
    for op in operations:
        if bench.can(op):
            bench.add(op, "n/a", f"needs a server from {release} on")
    return False


async def _reading(bench: Bench) -> None:
    stream = await bench.stage.stream("READ")
    plain = await bench.stage.stream("PLAIN", allow_direct=False)
    for number in range(1, 4):
        for place in (stream, plain):
            await bench.stage.publish(f"{place}.{number}", f"m{number}".encode())
    for op, place in (("direct.get", stream), ("message.get", plain)):
        body = await bench.works(op, stream=place, seq=2)
        if body is not None:
            _is_message(bench, op, body.get("message"), 2)
        body = await bench.works(op, stream=place, last_by_subject=f"{place}.3")
        if body is not None:
            _is_message(bench, op, body.get("message"), 3)
    if not _newer(bench, _DIRECT_BATCH, ["direct.batch", "direct.multi"]):
        return
    body = await bench.works("direct.batch", stream=stream, batch=2, seq=1)
    if body is not None:
        _are_messages(bench, "direct.batch", body, [1, 2])
    subjects = [f"{stream}.1", f"{stream}.3"]
    body = await bench.works("direct.multi", stream=stream, subjects=subjects)
    if body is not None:
        _are_messages(bench, "direct.multi", body, [1, 3])


def _is_message(bench: Bench, op: str, message: object, seq: int) -> None:
    right = isinstance(message, Mapping) and message.get("seq", seq) == seq
    right = right and isinstance(message, Mapping) and message.get("data") == f"m{seq}"
    bench.expect(op, right, f"message {seq} is stored, and it gave {message}")


def _are_messages(bench: Bench, op: str, body: Mapping[str, Any], seqs: list[int]) -> None:
    messages = body.get("messages", [])
    right = [message.get("data") for message in messages] == [f"m{seq}" for seq in seqs]
    bench.expect(op, right, f"messages {seqs} are stored, and it gave {len(messages)} others")
    ended = body.get("error")
    bench.expect(op, ended is None, f"ended with {error_text(ended)}", "note")


async def _consumers(bench: Bench) -> None:
    stream = await bench.stage.stream("CONS")
    await bench.stage.consumer(stream, "there")
    await bench.works("consumer.get", **{"as": "s-there"}, stream=stream, consumer="there")
    config = {"name": "made", "durable_name": "made", "ack_policy": "explicit"}
    made = await bench.works("consumer.create", **{"as": "s-made"}, stream=stream, config=config)
    if made is not None:
        names = (await bench.stage.api(f"CONSUMER.NAMES.{stream}")).get("consumers") or []
        bench.expect("consumer.create", "made" in names, "the server has no such consumer")
    known = "s-made" if made is not None else "s-there"
    if bench.can("consumer.get") or made is not None:
        body = await bench.works("consumer.info", of=known)
        name = "made" if made is not None else "there"
        if body is not None:
            got = body["info"].get("name")
            bench.expect("consumer.info", got == name, f"the name is {name}, and it says {got}")
        await bench.works("consumer.delete", of=known)


async def _fetching(bench: Bench) -> None:
    if not bench.can("consumer.get"):
        return
    stream = await bench.stage.stream("FETCH")
    await bench.stage.consumer(stream, "c")
    for number in range(1, 6):
        await bench.stage.publish(f"{stream}.a", f"m{number}".encode())
    await bench.works("consumer.get", **{"as": "s-fetch"}, stream=stream, consumer="c")
    body = await bench.works("fetch", of="s-fetch", max_messages=3, expires_ms=5000)
    first = 1
    if body is not None:
        got = [str(message.get("data")) for message in body["messages"]]
        bench.expect("fetch", got == ["m1", "m2", "m3"], f"m1 to m3 are due, and it gave {got}")
        named = all(message.get("msg") for message in body["messages"])
        bench.expect("fetch", named, "a message has no name (`msg`) by which to acknowledge it")
        first = 4
    body = await bench.works("next", of="s-fetch", expires_ms=5000)
    if body is not None:
        message = body.get("message") or {}
        given = str(message.get("data"))
        bench.expect("next", given == f"m{first}", f"m{first} is due, and it gave {given}")


async def _acks(bench: Bench) -> None:
    if not bench.can("ack", "consumer.get", "fetch"):
        return
    stream = await bench.stage.stream("ACK")
    await bench.stage.consumer(stream, "c", max_deliver=2)
    for kind in _KINDS:
        await bench.stage.publish(f"{stream}.{kind}", kind.encode())
    await bench.call("consumer.get", **{"as": "s-ack"}, stream=stream, consumer="c")
    answer = await bench.call("fetch", of="s-ack", max_messages=len(_KINDS), expires_ms=5000)
    body = answer.body if isinstance(answer.body, dict) else {}
    names = [message.get("msg") for message in body.get("messages", ())]
    if len(names) != len(_KINDS):
        bench.add("ack", "n/a", "fetch did not give what was to be acknowledged")
        return
    done, lacking = [], []
    for kind, name in zip(_KINDS, names, strict=True):
        answer = await _acked_as(bench, kind, name)
        if answer.kind == "ok":
            done.append(kind)
        elif answer.kind == "unsupported":
            lacking.append(kind)
        else:
            bench.add("ack", "broken", f"kind {kind}: {error_text(answer.body)}")
    unsupported = f"; unsupported: {', '.join(lacking)}" if lacking else ""
    bench.add("ack", "ok" if done else "broken", f"{', '.join(done)}{unsupported}")
    settled = len({"ack", "double", "term"} & set(done))
    left = await _ack_pending(bench, stream, "c", len(_KINDS) - settled)
    wrong = f"after {', '.join(done)} the server still waits for {left} acks"
    bench.expect("ack", left <= len(_KINDS) - settled, wrong)


async def _acked_as(bench: Bench, kind: str, name: str) -> Answer:
    """A library may demand how long to wait for the answer to a double ack, or not let one say."""
    call = {"messages": [name], "kind": kind}
    if kind == "double":
        answer = await bench.call("ack", **call, timeout_ms=int(5000 * bench.factor))
        if answer.kind != "unsupported":
            return answer
    return await bench.call("ack", **call)


async def _ack_pending(bench: Bench, stream: str, consumer: str, wanted: int) -> int:
    """What the server waits for: acks are messages, and take a moment."""
    left = 0
    for _ in range(40):
        info = await bench.stage.api(f"CONSUMER.INFO.{stream}.{consumer}")
        left = int(info["num_ack_pending"])
        if left <= wanted:
            break
        await asyncio.sleep(0.05 * bench.factor)
    return left


async def _consuming(bench: Bench) -> None:
    if not bench.can("consume", "consumer.get"):
        return
    stream = await bench.stage.stream("EAT")
    for ending in ("stop", "drain"):
        if not bench.can(f"consume.{ending}"):
            continue
        consumer, name = f"c-{ending}", f"s-k-{ending}"
        await bench.stage.consumer(stream, consumer)
        await bench.call("consumer.get", **{"as": consumer}, stream=stream, consumer=consumer)
        answer = await _consume(bench, consumer, name, ending)
        if answer.kind == "unsupported" and bench.can("ordered.get"):
            bench.add("consume", "ok", f"from ordered consumers only: {answer.body}")
            return
        if answer.kind != "ok":
            said = answer.body if answer.kind == "unsupported" else error_text(answer.body)
            bench.add("consume", "broken", f"in the normal course: {answer.kind}, {said}")
            return
        bench.add("consume", "ok")
        if not await _ate(bench, stream, name, ending):
            return


async def _consume(bench: Bench, consumer: str, name: str, ending: str) -> Answer:
    """A drain may last as long as the pull under way: a short one, where that can be asked for."""
    if ending == "drain":
        answer = await bench.call("consume", of=consumer, **{"as": name}, expires_ms=2000)
        if answer.kind != "unsupported":
            return answer
    return await bench.call("consume", of=consumer, **{"as": name})


async def _ordered(bench: Bench) -> None:
    if not bench.can("ordered.get"):
        return
    stream = await bench.stage.stream("ORDER")
    for ending in ("stop", "drain"):
        name, consume = f"s-order-{ending}", f"s-k-order-{ending}"
        if await bench.works("ordered.get", **{"as": name}, stream=stream) is None:
            return
        if not bench.can("consume", f"consume.{ending}"):
            continue
        answer = await _consume(bench, name, consume, ending)
        if answer.kind == "ok":
            if not await _ate(bench, stream, consume, ending):
                return
        else:
            bench.add("ordered.get", "note", f"consume from it: {error_text(answer.body)}")


async def _ate(bench: Bench, stream: str, name: str, ending: str) -> bool:
    """Messages come as events, in order, and the end comes after the last; whether they did."""
    wanted = [f"{name}-{number}" for number in range(_MESSAGES)]
    for text in wanted:
        await bench.stage.publish(f"{stream}.{name}", text.encode())

    def came() -> list[str]:
        found = [e for e in bench.events if e.name == "message" and e.of == name]
        return [text for e in found if (text := str(e.body.get("data"))).startswith(f"{name}-")]

    await bench.heard(lambda _: len(came()) >= _MESSAGES)
    wrong = f"{_MESSAGES} messages were sent, {len(came())} came"
    if bench.expect("events", set(came()) == set(wanted), wrong):
        bench.expect("events", came() == wanted, "the messages of a consume came out of order")
    bench.add("events", "ok", f"{_MESSAGES} messages in order, and the end after them")
    await bench.works(f"consume.{ending}", of=name)

    def ends() -> list[int]:
        mine = [event.name for event in bench.events if event.of == name]
        return [place for place, kind in enumerate(mine) if kind == "end"]

    if not await bench.heard(lambda _: bool(ends()), seconds=5.0):
        bench.add("events", "broken", f"after consume.{ending} there is no event `end`")
        return False
    last = len([event for event in bench.events if event.of == name]) - 1
    wrong = "`end` is not the last event of a consume, and only once"
    return bench.expect("events", ends() == [last], wrong)


async def _key_value(bench: Bench) -> None:
    if not bench.can("kv.open"):
        return
    bucket = f"B{bench.stage.token}"
    config = {"max_msgs_per_subject": 4, "allow_rollup_hdrs": True, "deny_delete": True}
    name = await bench.stage.stream("KV_B", subjects=[f"$KV.{bucket}.>"], **config)
    assert name == f"KV_{bucket}"
    if await bench.works("kv.open", **{"as": "s-kv"}, bucket=bucket) is None:
        return
    revision = 0
    for op, key, more in (
        ("kv.create", "a", {"data": "1"}),
        ("kv.put", "a", {"data": "2"}),
        ("kv.update", "a", {"data": "3"}),
        ("kv.put", "b", {"data": "m"}),
    ):
        given = {**more, **({"revision": revision} if op == "kv.update" else {})}
        body = await bench.works(op, of="s-kv", key=key, **given)
        if body is not None:
            revision += 1
            wrong = f"revision {revision} is stored, and it says {body.get('revision')}"
            bench.expect(op, body.get("revision") == revision, wrong)
    if revision != 4:
        return
    body = await bench.works("kv.get", of="s-kv", key="a")
    if body is not None:
        entry = body.get("entry") or {}
        bench.expect("kv.get", entry.get("data") == "3", f"a holds 3, and it gave {entry}")
    body = await bench.works("kv.list", of="s-kv")
    if body is not None:
        keys = sorted(body["keys"])
        bench.expect("kv.list", keys == ["a", "b"], f"the keys are a and b, and it gave {keys}")
    await bench.works("kv.delete", of="s-kv", key="a")
    await bench.works("kv.purge", of="s-kv", key="b")


async def _objects(bench: Bench) -> None:
    if not bench.can("object.open"):
        return
    bucket = f"O{bench.stage.token}"
    subjects = [f"$O.{bucket}.C.>", f"$O.{bucket}.M.>"]
    await bench.stage.stream("OBJ_O", subjects=subjects, allow_rollup_hdrs=True, discard="new")
    if await bench.works("object.open", **{"as": "s-obj"}, bucket=bucket) is None:
        return
    content = bytes(range(256)) * 1200
    if await bench.works("object.put", of="s-obj", name="thing", data=content) is None:
        return
    body = await bench.works("object.get", of="s-obj", name="thing")
    if body is not None:
        got = str(body.get("data", "")).encode("utf-8", "surrogateescape")
        bench.expect("object.get", got == content, "it is not what was put")
