"""Direct get, message get, buckets and objects on a real server."""

from __future__ import annotations

import json
from collections.abc import Callable

from .conftest import Bench

Play = Callable[..., None]


async def with_subjects(bench: Bench) -> None:
    await bench.make_stream(allow_direct=True)
    for name in "abcabc":
        await bench.raw.request(f"{bench.stream}.{name}", name.encode())


def bodies(bench: Bench) -> list[object]:
    return [
        json.loads(frame.payload) if frame.payload else None
        for frame in bench.sent("$JS.API.DIRECT.GET.")
    ]


def test_one_message(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await with_subjects(bench)
        stream = bench.stream
        by_seq = await bench.call("direct.get", stream=stream, seq=2)
        assert by_seq["message"]["subject"] == f"{stream}.b"
        last = await bench.call("direct.get", stream=stream, last_by_subject=f"{stream}.a")
        assert last["message"]["seq"] == 4
        following = await bench.call(
            "direct.get", stream=stream, seq=3, next_by_subject=f"{stream}.a"
        )
        assert following["message"]["seq"] == 4
        guarded = await bench.call(
            "direct.get", stream=stream, last_by_subject=f"{stream}.a", min_last_seq=4
        )
        assert guarded["message"]["seq"] == 4
        assert bodies(bench) == [
            {"seq": 2},
            None,
            {"seq": 3, "next_by_subj": f"{stream}.a"},
            {"min_last_seq": 4},
        ]
        missing = await bench.refused("direct.get", stream=stream, seq=99)
        assert missing["status"] == 404
        got = await bench.call("message.get", stream=stream, seq=2)
        assert got["message"]["data"] == "b"
        error = await bench.refused("message.get", stream=stream, seq=99)
        assert error["err_code"] == 10037

    play(test)


def test_batches(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await with_subjects(bench)
        stream = bench.stream
        batch = await bench.call("direct.batch", stream=stream, batch=4)
        assert [message["seq"] for message in batch["messages"]] == [1, 2, 3, 4]
        part = await bench.call(
            "direct.batch", stream=stream, batch=4, seq=2, next_by_subject=f"{stream}.b"
        )
        assert [message["seq"] for message in part["messages"]] == [2, 5]
        none = await bench.call(
            "direct.batch", stream=stream, batch=4, next_by_subject=f"{stream}.z"
        )
        assert none["messages"] == []
        assert none["error"]["status"] == 404
        assert (await bench.refused("direct.batch", stream=stream, batch=0))["type"]

    play(test)


def test_several_subjects_page_by_page(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await with_subjects(bench)
        stream = bench.stream
        whole = await bench.call("direct.multi", stream=stream, subjects=[f"{stream}.>"])
        assert [message["seq"] for message in whole["messages"]] == [4, 5, 6]
        one = await bench.call("direct.multi", stream=stream, subjects=[f"{stream}.>"], batch=2)
        assert [message["seq"] for message in one["messages"]] == [4, 5]
        paged = await bench.call(
            "direct.multi", stream=stream, subjects=[f"{stream}.>"], max_bytes=1
        )
        assert [message["seq"] for message in paged["messages"]] == [4, 5, 6]
        last = bodies(bench)[-1]
        assert isinstance(last, dict)
        assert (last["seq"], last["up_to_seq"]) == (6, 6)

    play(test)


def test_an_old_server_is_noticed(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await with_subjects(bench)
        change = {"change": {"headers": {"Nats-Num-Pending": {"remove": True}}}}
        old = {"from": "server", "headers": {"Nats-Num-Pending": {"exists": True}}}
        bench.tap.add_rules([{"on": old, "do": change}])
        batch = await bench.call("direct.batch", stream=bench.stream, batch=4)
        assert batch["error"]["type"] == "BatchUnsupported"

    play(test)


def test_no_direct_get(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bench.make_stream(messages=1)
        error = await bench.refused("direct.get", stream=bench.stream, seq=1)
        assert error["status"] == 503

    play(test)


async def bucket(bench: Bench) -> None:
    name = bench.stream
    config = {"name": f"KV_{name}", "subjects": [f"$KV.{name}.>"], "max_msgs_per_subject": 5}
    config |= {"allow_direct": True, "allow_rollup_hdrs": True, "storage": "memory"}
    await bench.api(f"$JS.API.STREAM.CREATE.KV_{name}", config)
    await bench.call("kv.open", **{"as": "b"}, bucket=name)


def test_a_bucket(play: Play) -> None:
    async def test(bench: Bench) -> None:
        await bucket(bench)
        assert await bench.call("kv.get", of="b", key="k") == {"entry": None}
        assert await bench.call("kv.list", of="b") == {"keys": []}
        assert await bench.call("kv.create", of="b", key="k", data="1") == {"revision": 1}
        assert await bench.call("kv.put", of="b", key="k", data="2") == {"revision": 2}
        assert await bench.call("kv.update", of="b", key="k", data="3", revision=2) == {
            "revision": 3
        }
        wrong = await bench.refused("kv.update", of="b", key="k", data="3", revision=2)
        assert wrong["err_code"] == 10071
        entry = (await bench.call("kv.get", of="b", key="k"))["entry"]
        assert (entry["data"], entry["revision"], entry["operation"]) == ("3", 3, "put")
        first = (await bench.call("kv.get", of="b", key="k", revision=1))["entry"]
        assert first["data"] == "1"
        exists = await bench.refused("kv.create", of="b", key="k", data="4")
        assert exists["type"] == "KeyExists"
        guarded = [body for body in bodies(bench) if body]
        assert {"min_last_seq": 3} in guarded
        await bench.call("kv.put", of="b", key="l", data="1")
        assert await bench.call("kv.list", of="b") == {"keys": ["k", "l"]}
        await bench.call("kv.delete", of="b", key="k")
        assert await bench.call("kv.get", of="b", key="k") == {"entry": None}
        assert await bench.call("kv.list", of="b") == {"keys": ["l"]}
        assert await bench.call("kv.create", of="b", key="k", data="5") == {"revision": 6}
        await bench.call("kv.purge", of="b", key="k")
        assert await bench.call("kv.create", of="b", key="k", data="6") == {"revision": 8}

    play(test)


def test_objects(play: Play) -> None:
    async def test(bench: Bench) -> None:
        name = bench.stream
        subjects = [f"$O.{name}.C.>", f"$O.{name}.M.>"]
        config = {"name": f"OBJ_{name}", "subjects": subjects, "allow_direct": True}
        config |= {"allow_rollup_hdrs": True, "storage": "memory"}
        await bench.api(f"$JS.API.STREAM.CREATE.OBJ_{name}", config)
        await bench.call("object.open", **{"as": "o"}, bucket=name)
        data = "0123456789abcdef" * 20_000
        info = (await bench.call("object.put", of="o", name="a file", data=data))["info"]
        assert (info["size"], info["seq"]) == (320_000, 4)
        assert (await bench.call("object.get", of="o", name="a file"))["data"] == data
        await bench.call("object.put", of="o", name="empty")
        assert (await bench.call("object.get", of="o", name="empty")).get("data", "") == ""
        assert (await bench.refused("object.get", of="o", name="none"))["status"] == 404

    play(test)
