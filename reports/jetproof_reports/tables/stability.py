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

from jetproof_reports.schemas import CELL_KEY, CONTENT
from jetproof_reports.tables.common import decided
from jetproof_reports.tables.fingerprints import GIVEN, HASH_LENGTH, not_setup, steady

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

RUNS = 3
_CASE = ("case", "case_hash", "topology", "client")
_HEAD = ("step", "dir", "connection", "op", "subject")
_REST = r'(?>[\s\S]*?(?<!\\)(?:\\\\)*+")'
"""A JSON string after its first quote. Java recurses for each turn of a loop over alternatives, and long
texts overflow its stack; this form has no such loop."""
_LEAF = rf'"(?!"){_REST}:\s*("{_REST}|-?[0-9][0-9.eE+-]*|true|false|null|\[\]|\{{\}}|<[a-z]+>)'
_LEAF_KEY = r'^"([\s\S]*?(?<!\\)(?:\\\\)*+)":'


def weighed(cells: DataFrame) -> DataFrame:
    """The cells, with `runs` (how many were compared), `stable`, `recent` and `shaky`.

    `shaky` marks every cell of a case that was unsteady on some server: its fingerprints have to be
    settled. The last attempts of the newest runs are what is compared.
    """
    attempt = Window.partitionBy(*CONTENT, "run_id").orderBy(F.desc("attempt"))
    newest = Window.partitionBy(*CONTENT).orderBy(F.desc("run_at"), F.desc("run_id"))
    content = Window.partitionBy(*CONTENT)
    told = decided() & F.col("fingerprint").isNotNull()
    counts = cells.withColumn("again", F.row_number().over(attempt)).withColumn(
        "counts", (told & (F.col("again") == 1)).cast("int")
    )
    aged = counts.withColumn("age", F.sum("counts").over(newest))
    recent = aged.withColumn("recent", (F.col("counts") == 1) & (F.col("age") <= RUNS))
    mark = F.when(F.col("recent"), F.col("fingerprint"))
    compared = recent.withColumns(
        {
            "runs": F.sum(F.col("recent").cast("bigint")).over(content),
            "steady": F.min(mark).over(content) == F.max(mark).over(content),
        }
    )
    return compared.withColumns(
        {
            "stable": F.when(F.col("runs") > 1, F.col("steady")),
            "shaky": F.max(~F.coalesce("steady", F.lit(True))).over(Window.partitionBy(*_CASE)),
        }
    ).drop("again", "counts", "age", "steady")


def settled(cells: DataFrame, transcripts: DataFrame) -> DataFrame:
    """Weighed cells whose `fingerprint` is free of what is unsteady; `wire` is what it was."""
    shaky = cells.where(F.col("shaky") & F.col("fingerprint").isNotNull())
    told = shaky.select(*CONTENT, *CELL_KEY, "fingerprint", "recent", "runs")
    atoms = _atoms(told.join(transcripts, ["run_id", "fingerprint"]))
    place, everywhere = Window.partitionBy(*CONTENT, "slot"), Window.partitionBy(*_CASE, "slot")
    value = F.when(F.col("recent"), F.col("value"))
    seen = F.sum(F.col("recent").cast("int")).over(place)
    differs = F.min(value).over(place) != F.max(value).over(place)
    missing = (seen > 0) & (seen < F.col("runs"))
    judged = atoms.withColumn("differs", missing | F.coalesce(differs, F.lit(False)))
    kept = judged.withColumn("unsteady", F.max("differs").over(everywhere))
    parts = F.collect_list(F.when(~F.col("unsteady"), F.concat_ws("=", "slot", "value")))
    mark = F.substring(F.sha2(F.concat_ws("\n", F.array_sort(parts)), 256), 1, HASH_LENGTH)
    again = kept.groupBy(*CELL_KEY).agg(mark.alias("settled"))
    return (
        cells.withColumn("wire", F.col("fingerprint"))
        .join(again, list(CELL_KEY), "left")
        .withColumn("fingerprint", F.coalesce("settled", "fingerprint"))
        .drop("settled", "recent", "shaky")
    )


def as_they_are(cells: DataFrame) -> DataFrame:
    """Weighed cells of which none is shaky."""
    return cells.withColumn("wire", F.col("fingerprint")).drop("recent", "shaky")


def _atoms(transcripts: DataFrame) -> DataFrame:
    """Slots and values of the lines that count; a slot is a place that a value can differ in."""
    kept = [name for name in transcripts.columns if name != "transcript"]
    lines = transcripts.select(*kept, F.posexplode("transcript").alias("place", "line")).where(
        (F.col("line.step") != GIVEN)
        & not_setup("line.subject")
        & steady("line.connection", "line.op")
    )
    head = F.concat_ws("|", *(f"line.{name}" for name in _HEAD))
    named = lines.withColumn("head", head)
    nth = F.row_number().over(Window.partitionBy(*CELL_KEY, "head").orderBy("place"))
    numbered = named.withColumn("slot", F.concat_ws("|", "head", nth.cast("string")))
    exploded = numbered.withColumn("atom", F.explode(_parts()))
    again = F.row_number().over(
        Window.partitionBy(*CELL_KEY, "slot", "atom.name").orderBy("atom.place")
    )
    apart = exploded.withColumn("again", again.cast("string"))
    slot = F.concat_ws("|", "slot", "atom.name", "again")
    return apart.select(*kept, slot.alias("slot"), F.col("atom.value").alias("value"))


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
    head = F.concat_ws(
        "|", *(F.coalesce(F.col(f"line.{n}").cast("string"), F.lit("")) for n in told)
    )
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
