"""Takes out of fingerprints what differs between runs of equal content.

The newest three runs of the same case on the same server are compared. If their transcripts differ,
they are taken apart into atoms (a header, a field of a JSON payload, a frame's head), and an atom
that is not the same in all of these runs is left out, on every server alike: otherwise a field that
happened to be steady on one release would look like a change. Cases that are steady cost nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pyspark.sql import Window
from pyspark.sql import functions as F

from jetproof_reports.schemas import CONTENT
from jetproof_reports.tables.common import decided, joined
from jetproof_reports.tables.fingerprints import GIVEN, HASH_LENGTH, not_setup

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RUNS = 3
_CASE = ("case", "case_hash", "topology", "client")
_TRANSCRIPT = ("run_id", "fingerprint")
_LEAF = (
    r'"((?:[^"\\]|\\.)+)":\s*("(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*|true|false|null|\[\]|\{\}|<[a-z]+>)'
)
_LEAF_KEY = r'^"((?:[^"\\]|\\.)+)":'


def compared(cells: DataFrame) -> DataFrame:
    """The cells whose transcripts are compared: last attempts of the newest runs of a content."""
    played = cells.where(decided() & F.col("fingerprint").isNotNull())
    attempt = Window.partitionBy(*CONTENT, "run_id").orderBy(F.desc("attempt"))
    age = Window.partitionBy(*CONTENT).orderBy(F.desc("run_at"), F.desc("run_id"))
    last = played.withColumn("again", F.row_number().over(attempt)).where("again = 1")
    recent = last.withColumn("age", F.row_number().over(age)).where(F.col("age") <= RUNS)
    return recent.drop("again", "age")


def steadiness(recent: DataFrame) -> DataFrame:
    """By content: over how many runs it was compared, and whether nothing differed."""
    counts = recent.groupBy(*CONTENT).agg(
        F.count("*").alias("runs"), F.count_distinct("fingerprint").alias("kinds")
    )
    return counts.withColumn("stable", F.when(F.col("runs") > 1, F.col("kinds") == 1))


def settled(cells: DataFrame, transcripts: DataFrame) -> DataFrame:
    """The cells, with `fingerprint` free of what is unsteady, `runs` and `stable`."""
    recent = compared(cells)
    steady = steadiness(recent)
    shaky = steady.where("kinds > 1").select(*_CASE).distinct()
    pairs = joined(cells.where(F.col("fingerprint").isNotNull()), shaky, _CASE, "left_semi")
    seen = pairs.select(*_CASE, *_TRANSCRIPT).distinct()
    atoms = _atoms(seen.join(transcripts, list(_TRANSCRIPT)))
    measured = joined(
        recent.select(*CONTENT, *_TRANSCRIPT), atoms, (*_CASE, *_TRANSCRIPT), "inner"
    )
    by_slot = measured.groupBy(*CONTENT, "slot").agg(
        F.count_distinct("run_id").alias("in_runs"), F.count_distinct("value").alias("values")
    )
    unsteady = (
        joined(by_slot, steady.where("runs > 1").select(*CONTENT, "runs"), CONTENT, "inner")
        .where("in_runs < runs or values > 1")
        .select(*_CASE, "slot")
        .distinct()
    )
    kept = joined(atoms, unsteady, (*_CASE, "slot"), "left_anti")
    told = F.concat_ws("\n", F.array_sort(F.collect_list(F.concat_ws("=", "slot", "value"))))
    renamed = seen.alias("seen")
    again = kept.groupBy(*_CASE, *_TRANSCRIPT).agg(
        F.substring(F.sha2(told, 256), 1, HASH_LENGTH).alias("settled")
    )
    again = joined(renamed, again, (*_CASE, *_TRANSCRIPT), "left").withColumn(
        "settled", F.coalesce("settled", F.substring(F.sha2(F.lit(""), 256), 1, HASH_LENGTH))
    )
    result = joined(cells, again, (*_CASE, *_TRANSCRIPT), "left")
    result = result.withColumns(
        {
            "wire": F.col("fingerprint"),
            "fingerprint": F.coalesce("settled", "fingerprint"),
        }
    ).drop("settled")
    return joined(result, steady.select(*CONTENT, "runs", "stable"), CONTENT, "left")


def _atoms(transcripts: DataFrame) -> DataFrame:
    """Slots and values of the lines that count; a slot is a place that a value can differ in."""
    lines = transcripts.select(
        *_CASE, *_TRANSCRIPT, F.posexplode("transcript").alias("place", "line")
    ).where((F.col("line.step") != GIVEN) & not_setup("line.subject"))
    head = ("step", "dir", "connection", "op", "subject")
    frame = Window.partitionBy(
        *_CASE, *_TRANSCRIPT, *(F.col(f"line.{name}") for name in head)
    ).orderBy("place")
    named = lines.withColumn("nth", F.row_number().over(frame).cast("string"))
    slot = F.concat_ws("|", *(F.col(f"line.{name}") for name in head), "nth")
    exploded = named.withColumn("slot", slot).withColumn("atom", F.explode(_parts()))
    nth = Window.partitionBy(*_CASE, *_TRANSCRIPT, "slot", "atom.name").orderBy("atom.place")
    numbered = exploded.withColumn("again", F.row_number().over(nth).cast("string"))
    return numbered.select(
        *_CASE,
        *_TRANSCRIPT,
        F.concat_ws("|", "slot", "atom.name", "again").alias("slot"),
        F.col("atom.value").alias("value"),
    )


def _parts() -> Column:
    """A line as its atoms."""
    payload = F.col("line.payload")
    document = F.startswith(payload, F.lit("{"))
    leaves = F.transform(
        F.regexp_extract_all(payload, F.lit(_LEAF), F.lit(0)),
        lambda leaf, place: _atom(F.regexp_extract(leaf, _LEAF_KEY, 1), leaf, place),
    )
    frame = F.regexp_replace(payload, _LEAF, "")
    headers = F.transform(
        F.coalesce("line.headers", F.array()),
        lambda header, place: _atom(F.concat(F.lit("h:"), header["name"]), header["value"], place),
    )
    told = ("reply", "status", "description", "note")
    head = F.concat_ws("|", *(F.coalesce(F.col(f"line.{n}").cast("string"), F.lit("")) for n in told))
    nowhere = F.lit(0)
    return F.when(
        document,
        F.concat(
            F.array(_atom(F.lit("head"), head, nowhere), _atom(F.lit("frame"), frame, nowhere)),
            headers,
            leaves,
        ),
    ).otherwise(
        F.concat(
            F.array(_atom(F.lit("head"), head, nowhere), _atom(F.lit("payload"), payload, nowhere)),
            headers,
        )
    )


def _atom(name: Column, value: Column, place: Column) -> Column:
    return F.struct(name.alias("name"), value.alias("value"), place.alias("place"))
