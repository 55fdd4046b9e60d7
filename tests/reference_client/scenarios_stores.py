"""Key-value buckets and object stores."""

from __future__ import annotations

import json

from .bench import Bench, notices
from .scenarios_reads import bodies


async def bucket(bench: Bench) -> None:
    name = bench.stream
    config = {"name": f"KV_{name}", "subjects": [f"$KV.{name}.>"], "max_msgs_per_subject": 5}
    config |= {"allow_direct": True, "allow_rollup_hdrs": True, "storage": "memory"}
    await bench.api(f"$JS.API.STREAM.CREATE.KV_{name}", config)
    await bench.call("kv.open", **{"as": "b"}, bucket=name)


@notices("create-overwrites")
async def values_come_and_go(bench: Bench) -> None:
    await bucket(bench)
    assert await bench.call("kv.get", of="b", key="k") == {"entry": None}
    assert await bench.call("kv.create", of="b", key="k", data="1") == {"revision": 1}
    assert await bench.call("kv.put", of="b", key="k", data="2") == {"revision": 2}
    updated = await bench.call("kv.update", of="b", key="k", data="3", revision=2)
    assert updated == {"revision": 3}
    wrong = await bench.refused("kv.update", of="b", key="k", data="3", revision=2)
    assert wrong["err_code"] == 10071
    entry = (await bench.call("kv.get", of="b", key="k"))["entry"]
    assert (entry["data"], entry["revision"], entry["operation"]) == ("3", 3, "put")
    first = (await bench.call("kv.get", of="b", key="k", revision=1))["entry"]
    assert first["data"] == "1"
    exists = await bench.refused("kv.create", of="b", key="k", data="4")
    assert exists["type"] == "KeyExists"


@notices()
async def keys_are_listed(bench: Bench) -> None:
    await bucket(bench)
    assert await bench.call("kv.list", of="b") == {"keys": []}
    for key in "klm":
        await bench.call("kv.put", of="b", key=key, data="1")
    await bench.call("kv.delete", of="b", key="l")
    assert await bench.call("kv.list", of="b") == {"keys": ["k", "m"]}


@notices(
    "delete-removes-the-message purge-without-rollup deleted-keys-shown rollups-taken-for-values"
)
async def deletes_are_messages(bench: Bench) -> None:
    await bucket(bench)
    await bench.call("kv.put", of="b", key="k", data="1")
    await bench.call("kv.delete", of="b", key="k")
    assert await bench.call("kv.get", of="b", key="k") == {"entry": None}
    await bench.call("kv.purge", of="b", key="k")
    assert await bench.call("kv.get", of="b", key="k") == {"entry": None}
    sent = bench.sent(f"$KV.{bench.stream}.k")[1:]
    headers = [list(frame.headers or []) for frame in sent]
    assert headers == [
        [("KV-Operation", "DEL")],
        [("KV-Operation", "PURGE"), ("Nats-Rollup", "sub")],
    ]


@notices("create-minds-deleted-keys create-reads-unguarded read-guard-dropped create-ends-in-a-put")
async def a_deleted_key_is_created_anew(bench: Bench) -> None:
    await bucket(bench)
    await bench.call("kv.put", of="b", key="k", data="1")
    await bench.call("kv.delete", of="b", key="k")
    assert await bench.call("kv.create", of="b", key="k", data="5") == {"revision": 3}
    assert bodies(bench) == [{"min_last_seq": 2}]
    last = bench.sent(f"$KV.{bench.stream}.k")[-1]
    assert last.headers is not None
    assert last.headers.get("Nats-Expected-Last-Subject-Sequence") == "2"


@notices("create-needs-the-number")
async def an_error_without_a_number(bench: Bench) -> None:
    await bucket(bench)
    await bench.call("kv.put", of="b", key="k", data="1")
    await bench.call("kv.delete", of="b", key="k")
    wrong = {"from": "server", "json": {"error.err_code": 10071}}
    change = {"change": {"json": {"error.description": "wrong last sequence"}}}
    bench.tap.add_rules([{"id": "bare", "on": wrong, "do": change}])
    assert await bench.call("kv.create", of="b", key="k", data="5") == {"revision": 3}
    assert bench.tap.fired["bare"] == 1


@notices("bucket-reads-unguarded list-unguarded")
async def reads_of_a_bucket_have_their_guard(bench: Bench) -> None:
    await bucket(bench)
    await bench.call("kv.put", of="b", key="k", data="1")
    await bench.call("kv.get", of="b", key="k", min_last_revision=1)
    await bench.call("kv.get", of="b", key="k", revision=1, min_last_revision=1)
    assert bodies(bench) == [{"min_last_seq": 1}, {"seq": 1, "min_last_seq": 1}]
    await bench.adapter.call("kv.list", {"of": "b", "min_last_revision": 1})
    (sent,) = bench.sent("$JS.API.CONSUMER.CREATE.")
    assert json.loads(sent.payload)["config"]["min_last_seq"] == 1


async def store(bench: Bench) -> None:
    name = bench.stream
    config = {"name": f"OBJ_{name}", "subjects": [f"$O.{name}.C.>", f"$O.{name}.M.>"]}
    config |= {"allow_direct": True, "allow_rollup_hdrs": True, "storage": "memory"}
    await bench.api(f"$JS.API.STREAM.CREATE.OBJ_{name}", config)
    await bench.call("object.open", **{"as": "o"}, bucket=name)


@notices("meta-sent-first meta-sent-once sequence-of-the-last-chunk")
async def objects(bench: Bench) -> None:
    await store(bench)
    data = "0123456789abcdef" * 20_000
    info = (await bench.call("object.put", of="o", name="a file", data=data))["info"]
    assert (info["size"], info["seq"]) == (320_000, 4)
    subjects = [frame.subject.split(".")[2] for frame in bench.sent("$O.")]
    assert subjects == ["C", "C", "C", "M"]
    assert (await bench.call("object.get", of="o", name="a file"))["data"] == data
    await bench.call("object.put", of="o", name="empty")
    assert (await bench.call("object.get", of="o", name="empty")).get("data", "") == ""
    assert (await bench.refused("object.get", of="o", name="none"))["status"] == 404
    await bench.call("object.put", of="o", name="a file", data="another")
    assert (await bench.call("object.get", of="o", name="a file"))["data"] == "another"


@notices("failed-put-takes-its-chunks-back failed-chunks-overlooked old-chunks-purged-first")
async def a_put_that_fails_destroys_nothing(bench: Bench) -> None:
    await store(bench)
    await bench.call("object.put", of="o", name="file", data="old")
    for kind, left in (("C", "old"), ("M", "new")):
        lost = {
            "id": kind,
            "on": {"answers": {"subject": f"$O.*.{kind}.>"}, "nth": 1},
            "do": "drop",
        }
        bench.tap.add_rules([lost])
        await bench.refused("object.put", of="o", name="file", data="new")
        assert (await bench.call("object.get", of="o", name="file"))["data"] == left


@notices("meta-unguarded chunks-unguarded")
async def reads_of_an_object_have_their_guard(bench: Bench) -> None:
    await store(bench)
    info = (await bench.call("object.put", of="o", name="f", data="x"))["info"]
    await bench.adapter.call("object.get", {"of": "o", "name": "f", "min_last_seq": info["seq"]})
    assert bodies(bench) == [{"min_last_seq": 2}]
    (sent,) = bench.sent("$JS.API.CONSUMER.CREATE.")
    assert json.loads(sent.payload)["config"]["min_last_seq"] == 2
