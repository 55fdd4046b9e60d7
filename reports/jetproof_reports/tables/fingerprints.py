"""One hash a cell of all that was on the wire, so that any change of behaviour can be seen.

The transcript is put into an order that no race can change: a reply follows its request, in the
request's step; advisories and deliveries come last. What a client library sends, is sent and tells
its caller stays as it came; what it tells by itself is not hashed. Polls count once with their last
answer, heartbeats once. Set-up (`given`) is shown in the transcript and left out of the hash: what a
server says to a stream's creation changes with every release, in every case alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.tables.normal import ADAPTER, TAP, by_library, normalised, shown

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

GIVEN = "given"
EVENT = "event"
HEARTBEAT = 100
LINES_FIRST, LINES_LAST = 120, 40
HASH_LENGTH = 16

_POLL = (
    r"^\$JS\.API\.(INFO|STREAM\.(INFO|MSG\.GET|NAMES|LIST)|CONSUMER\.(INFO|NAMES|LIST)|DIRECT\.GET)"
)
_SETUP = (
    r"^\$JS\.EVENT\.ADVISORY\.(API|STREAM\.(CREATED|LEADER_ELECTED|QUORUM_LOST)"
    r"|CONSUMER\.(LEADER_ELECTED|QUORUM_LOST))(\.|$)"
)
_CELL = ("run_id", "cell_no")
LINE = (
    "step", "dir", "connection", "op", "subject", "reply", "status", "description", "headers",
    "payload", "note",
)  # fmt: skip


def transcripts_of(frames: DataFrame) -> DataFrame:
    """One row a cell that has frames: run_id, cell_no, fingerprint, transcript."""
    entry = F.struct(
        "phase",
        F.when(F.col("phase") == 1, F.lit(0)).otherwise(F.col("opened")).alias("opened"),
        "request",
        F.when(F.col("loud"), F.col("subject")).otherwise(F.lit("")).alias("topic"),
        F.when(F.col("loud"), F.col("hash")).otherwise(F.lit(0)).alias("text"),
        "index",
        "counted",
        "hash",
        by_library().alias("theirs"),
        F.struct(*(_shown(name) for name in LINE)).alias("line"),
    )
    cells = _lines(frames).groupBy(*_CELL).agg(F.array_sort(F.collect_list(entry)).alias("all"))
    counted = F.filter("all", lambda item: item["counted"])
    # By step name and not by time: steps that are played side by side begin in any order.
    ordered = F.array_sort(
        F.transform(
            counted,
            lambda item: F.struct(
                item["phase"].alias("phase"),
                F.when(item["theirs"], "").otherwise(item["line"]["step"]).alias("step"),
                # What a library sends and what it answers race each other.
                F.when(item["theirs"], item["line"]["connection"]).otherwise("").alias("lane"),
                item["request"].alias("request"),
                item["topic"].alias("topic"),
                item["text"].alias("text"),
                item["index"].alias("index"),
                item["hash"].alias("hash"),
            ),
        )
    )
    told = F.concat_ws(",", F.transform(ordered, lambda item: item["hash"].cast("string")))
    return cells.select(
        *_CELL,
        F.substring(F.sha2(told, 256), 1, HASH_LENGTH).alias("fingerprint"),
        F.transform(_abridged(F.col("all")), lambda item: item["line"]).alias("transcript"),
    )


def _lines(frames: DataFrame) -> DataFrame:
    """Normalised frames that count or are shown, with what decides on their place."""
    question = F.struct("index", "step", _hash().alias("line"), _is_poll().alias("poll"))
    asked = F.min(F.when(F.col("dir") == ">", question))
    answered = asked.over(Window.partitionBy(*_CELL, "inbox"))
    # What a library does is shown as it happened: its answers are no answers to the harness.
    own = (F.col("dir") != "<") | by_library()
    placed = (
        normalised(frames)
        .repartition(*_CELL)
        .withColumn("asked", F.when(F.col("inbox").isNotNull() & ~by_library(), answered))
    )
    loose = ~own & (F.col("asked").isNull() | (F.col("connection") == "observer"))
    placed = placed.withColumns(
        {
            "phase": F.when(loose, 1).otherwise(0),
            "loud": F.col("connection") == "observer",
            "request": F.when(own, F.col("index")).when(loose, 0).otherwise(F.col("asked.index")),
            "step": F.when(own, F.col("step"))
            .when(loose, F.lit(""))
            .otherwise(F.col("asked.step")),
            "poll": F.col("asked.poll") & ~loose,
        }
    ).withColumn("hash", _hash())
    step = Window.partitionBy(*_CELL, "step")
    same_question = Window.partitionBy(*_CELL, "step", "asked.line")
    same_line = Window.partitionBy(*_CELL, "step", "hash").orderBy("index")
    placed = placed.withColumns(
        {
            "opened": F.min("index").over(step),
            "last": F.max("asked.index").over(same_question),
            "again": F.row_number().over(same_line),
        }
    )
    superseded = F.coalesce(F.col("poll") & (F.col("request") != F.col("last")), F.lit(False))
    heartbeat = F.coalesce(F.col("status") == HEARTBEAT, F.lit(False)) & (F.col("again") > 1)
    counted = (F.col("step") != GIVEN) & not_setup("subject") & steady("connection", "op")
    return placed.where(~superseded & ~heartbeat).withColumn("counted", counted)


def steady(connection: str, op: str) -> Column:
    """Not what a library told its caller by itself, when it liked, nor what its tap was told to do."""
    told = (F.col(connection) == ADAPTER) & (F.col(op) == EVENT)
    return ~F.coalesce(told | (F.col(connection) == TAP), F.lit(False))


def not_setup(subject: str) -> Column:
    """Not an advisory about what the harness set up, or about who leads."""
    return ~F.col(subject).rlike(_SETUP)


def _abridged(lines: Column) -> Column:
    """The beginning and the end of a long transcript; a line between them says what is missing."""
    missing = F.size(lines) - LINES_FIRST - LINES_LAST
    first = F.slice(lines, 1, LINES_FIRST)
    gap = F.transform(
        F.slice(lines, LINES_FIRST + 1, 1),
        lambda item: item.withField("line", _gap(item["line"], missing)),
    )
    return F.when(
        missing > 1, F.concat(first, gap, F.slice(lines, -LINES_LAST, LINES_LAST))
    ).otherwise(lines)


def _gap(line: Column, missing: Column) -> Column:
    told = F.concat(missing.cast("string"), F.lit(" more frames"))
    for name in ("op", "subject", "reply", "description", "payload"):
        line = line.withField(name, F.lit(""))
    line = line.withField("status", F.lit(None).cast("int"))
    line = line.withField("headers", F.lit(None).cast("array<struct<name:string,value:string>>"))
    return line.withField("dir", F.lit("!")).withField("op", F.lit("gap")).withField("note", told)


def _is_poll() -> Column:
    return F.col("subject").rlike(_POLL)


def _hash() -> Column:
    """What a line says, as a number."""
    # A library sends when it likes: in which step it did so is chance.
    step = F.when(by_library(), F.lit("")).otherwise(F.col("step"))
    return F.xxhash64(*(step if name == "step" else F.col(name) for name in LINE))


def _shown(name: str) -> Column:
    return shown(F.col(name)).alias(name) if name == "payload" else F.col(name)
