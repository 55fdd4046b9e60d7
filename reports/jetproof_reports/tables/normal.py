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
    (r"jetproof-[0-9a-f]{6,}", "<cluster>"),
)  # fmt: skip
_JSON = (
    (r'"(_nats\.ver|ver|version|server_version)":"[^"]*"', '"$1":"<version>"'),
    (r'"_nats\.level":"[0-9]+"', '"_nats.level":"<level>"'),
    (r'"leader":"[^"]*"', '"leader":"<node>"'),
    (r'"replicas":\[[^\]]*\]', '"replicas":<replicas>'),
    (r'"raft_group":"[^"]*"', '"raft_group":"<group>"'),
    (r'"(active|last_active|elapsed|last)":[0-9]+', '"$1":<duration>'),
)
# Every release adds settings to what a stream's information repeats; no case asked for it there.
_CONFIG = r'"config":\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\}'
_INFO = r"api\.v1\.(stream|consumer)_info_response"
_NODE = (r"\bn[1-9]\b", "<node>")


def normalised(frames: DataFrame) -> DataFrame:
    """The frames with placeholders in every text that a run makes up."""
    payload = _payload()
    info = payload.rlike(_INFO)
    return frames.select(
        "run_id",
        "cell_no",
        "index",
        "step",
        F.col("direction").alias("dir"),
        "connection",
        "op",
        _plain(F.col("subject")).alias("subject"),
        _plain(F.col("reply")).alias("reply"),
        "status",
        _plain(F.col("description")).alias("description"),
        F.transform(
            "headers",
            lambda header: F.struct(
                _plain(header["name"]).alias("name"), _plain(header["value"]).alias("value")
            ),
        ).alias("headers"),
        F.when(info, F.regexp_replace(payload, _CONFIG, '"config":<config>'))
        .otherwise(payload)
        .alias("payload"),
        F.regexp_replace(_plain(F.col("note")), *_NODE).alias("note"),
        # Who asked: a reply belongs to the step of its request, whenever it comes.
        F.when(F.col("direction") == ">", F.nullif("reply", F.lit("")))
        .when(F.col("direction") == "<", F.col("subject"))
        .alias("inbox"),
    )


def shown(text: Column) -> Column:
    """A payload as a transcript shows it."""
    return F.when(
        F.length(text) > PAYLOAD_SHOWN,
        F.concat(F.substring(text, 1, PAYLOAD_SHOWN), F.lit("…")),
    ).otherwise(text)


def _payload() -> Column:
    """The payload as text; the header block that a stored message carries as base64 is opened."""
    text = F.coalesce("payload", F.concat(F.lit("base64:"), "payload_b64"), F.lit(""))
    for key in ("hdrs", "data"):
        coded = F.regexp_extract(text, rf'"{key}":"([A-Za-z0-9+/=]+)"', 1)
        opened = F.make_valid_utf8(F.try_to_binary(coded, F.lit("base64")).cast("string"))
        quoted = F.regexp_replace(F.regexp_replace(opened, '["\\\\]', "'"), "\r\n", "\\\\\\\\r\\\\\\\\n")
        text = F.when(
            coded != "",
            F.replace(
                text,
                F.concat(F.lit(f'"{key}":"'), coded, F.lit('"')),
                F.concat(F.lit(f'"{key}":"'), F.coalesce(quoted, coded), F.lit('"')),
            ),
        ).otherwise(text)
    text = _plain(text)
    replaced = text
    for pattern, instead in _JSON:
        replaced = F.regexp_replace(replaced, pattern, instead)
    return F.when(F.startswith(text, F.lit("{")), replaced).otherwise(text)


def _plain(text: Column) -> Column:
    for pattern, instead in _TEXT:
        text = F.regexp_replace(text, pattern, instead)
    return text
