"""Frames without what differs from run to run: names, inboxes, times, who leads a cluster.

Each replacement is a regular expression on text, so that all of it runs inside Spark. What stays
is behaviour: a case's streams are fresh, so a stream sequence of 3 is the third message in every
run, and is kept. What varies nevertheless is found by comparing runs (`stability`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import functions as F

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PAYLOAD_SHOWN = 2_000
FILLER_SHOWN = 200

_TEXT = (
    (r"jp[0-9a-z]{12}", "<id>"),
    (r"_INBOX\.<id>(\.r[0-9]+)?", "<inbox>"),
    # The zero time is an answer, not a time.
    (r"(?!0001-)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9]{2}:[0-9]{2})", "<time>"),
    (r"(?<![0-9A-Za-z])N[A-Z2-7]{55}(?![0-9A-Za-z])", "<server>"),
    (r"(?<![0-9A-Za-z])(?=[0-9A-Za-z]*[0-9])(?=[0-9A-Za-z]*[A-Z])[0-9A-Za-z]{22}(?![0-9A-Za-z])",
     "<nuid>"),
    (r"(?<![0-9])1[0-9]{18}(?![0-9])", "<nanoseconds>"),
    # How much is pending when a message leaves depends on how fast it was asked for.
    (r"(\$JS\.ACK\.[^ ]+\.<nanoseconds>)\.[0-9]+", "$1.<pending>"),
)  # fmt: skip
# What to look for before a pattern is tried, the pattern, and what stands there instead.
_JSON = (
    ("ver", r'"(_nats\.ver|ver|version|server_version)":"[^"]*"', '"$1":"<version>"'),
    ("_nats.level", r'"_nats\.level":"[0-9]+"', '"_nats.level":"<level>"'),
    ('"leader":', r'"leader":"[^"]*"', '"leader":"<node>"'),
    ('"replicas":', r'"replicas":\[[^\]]*\]', '"replicas":<replicas>'),
    ('"raft_group":', r'"raft_group":"[^"]*"', '"raft_group":"<group>"'),
    ('"cluster":', r'("cluster":\{"name":)"[^"]*"', '$1"<cluster>"'),
    ("active", r'"(active|last_active)":[0-9]+', '"$1":<duration>'),
    # Every release adds settings to what a stream's information repeats; no case asked for it there.
    (
        "_info_response",
        r'"config":\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}',
        '"config":<config>',
    ),
)
_STORED = ("hdrs", "data")
# What a client library makes up: inboxes, ids, ports of its tap.
CLIENT, ADAPTER, TAP = "client", "adapter", "tap"
_OF_CLIENTS = (
    (r"_INBOX\.[^\s\"]+", "<inbox>"),
    (r"(?<![0-9A-Za-z])[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}(?![0-9A-Za-z])", "<uuid>"),
    (r"(?<![0-9A-Za-z])(?:[0-9a-f]{32}|[0-9a-f]{16})(?![0-9A-Za-z])", "<hex>"),
    (r"127\.0\.0\.1:[0-9]+", "<address>"),
    (r"\"msg\": \"m[0-9]+\"", '"msg": "<message>"'),
)
_NODE = (r"\bn[1-9]\b", "<node>")
_KEPT = (
    "run_id", "cell_no", "index", "step", "dir", "connection", "op", "subject", "reply", "status",
    "description", "headers", "payload", "note", "inbox",
)  # fmt: skip


def normalised(frames: DataFrame) -> DataFrame:
    """The frames with placeholders in every text that a run makes up.

    In steps that each name a column once: Spark would otherwise copy the text of an expression into
    every place that uses it, and plan for longer than it computes.
    """
    sent, received = F.col("direction") == ">", F.col("direction") == "<"
    named = frames.withColumns(
        {
            "dir": F.col("direction"),
            # Who asked: a reply belongs to the step of its request, whenever it comes.
            "inbox": F.when(sent, F.nullif("reply", F.lit(""))).when(received, F.col("subject")),
            "payload": F.coalesce(
                "payload", F.concat(F.lit("base64:"), F.col("payload_b64")), F.lit("")
            ),
        }
    ).withColumn("payload", _bounded(F.col("payload")))
    for key in _STORED:
        named = _opened(named, key)
    # First, as an inbox that a library made up may look like one of the harness.
    named = _of_clients(named)
    plain = named.withColumns(
        {
            **{
                name: _plain(F.col(name)) for name in ("subject", "reply", "description", "payload")
            },
            "headers": F.transform("headers", _plain_header),
            "note": F.regexp_replace(_plain(F.col("note")), *_NODE),
        }
    )
    for condition, pattern, instead in _JSON:
        replaced = F.regexp_replace("payload", pattern, instead)
        wanted = F.col("payload").contains(condition)
        plain = plain.withColumn("payload", F.when(wanted, replaced).otherwise(F.col("payload")))
    return plain.select(*_KEPT)


def by_library(connection: str = "connection") -> Column:
    """Whether a line is of a client library: its frames, its calls, and what its tap did."""
    return F.coalesce(F.col(connection).isin(CLIENT, ADAPTER, TAP), F.lit(False))


def _of_clients(frames: DataFrame) -> DataFrame:
    def named(text: Column) -> Column:
        for pattern, instead in _OF_CLIENTS:
            text = F.regexp_replace(text, pattern, instead)
        return text

    def header(one: Column) -> Column:
        return F.struct(one["name"].alias("name"), named(one["value"]).alias("value"))

    names = ("subject", "reply", "payload", "note")
    changed = {
        name: F.when(by_library(), named(F.col(name))).otherwise(F.col(name)) for name in names
    }
    headers = F.when(by_library(), F.transform("headers", header)).otherwise(F.col("headers"))
    return frames.withColumns({**changed, "headers": headers})


def _bounded(text: Column) -> Column:
    """A long payload that is no document as its beginning, its length and its hash.

    Cases send megabytes of filler to reach limits, and nothing that a run makes up is in it.
    """
    told = F.concat(
        F.substring(text, 1, FILLER_SHOWN),
        F.format_string("… %d bytes, %016x", F.octet_length(text), F.xxhash64(text)),
    )
    document = F.startswith(text, F.lit("{")) | F.startswith(text, F.lit("["))
    return F.when((F.octet_length(text) > FILLER_SHOWN) & ~document, told).otherwise(text)


def _opened(frames: DataFrame, key: str) -> DataFrame:
    """What a stored message carries as base64, readable: names that a run made up are in it."""
    coded = F.regexp_extract("payload", rf'"{key}":"([A-Za-z0-9+/=]+)"', 1)
    text = F.make_valid_utf8(F.try_to_binary(F.col("coded"), F.lit("base64")).cast("string"))
    quoted = F.regexp_replace(F.regexp_replace(text, '["\\\\]', "'"), "\r?\n", " ")
    mark = F.lit(f'"{key}":"')
    opened = F.replace(
        F.col("payload"),
        F.concat(mark, F.col("coded")),
        F.concat(mark, F.coalesce(quoted, "coded")),
    )
    found = frames.withColumn("coded", F.when(F.col("payload").contains(mark), coded))
    payload = F.when(F.col("coded") != "", opened).otherwise(F.col("payload"))
    return found.withColumn("payload", payload).drop("coded")


def shown(text: Column) -> Column:
    """A payload as a transcript shows it."""
    return F.when(
        F.length(text) > PAYLOAD_SHOWN,
        F.concat(F.substring(text, 1, PAYLOAD_SHOWN), F.lit("…")),
    ).otherwise(text)


def _plain_header(header: Column) -> Column:
    return F.struct(header["name"].alias("name"), _plain(header["value"]).alias("value"))


def _plain(text: Column) -> Column:
    for pattern, instead in _TEXT:
        text = F.regexp_replace(text, pattern, instead)
    return text
