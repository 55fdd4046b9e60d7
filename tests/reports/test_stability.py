"""Transcripts that differ between runs are taken apart, however long their texts are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("text", ["x" * 200_000, r"\"" * 100_000, "\\\\" * 100_000])
def test_a_field_with_a_long_text_is_one_atom(spark: SparkSession, text: str) -> None:
    from pyspark.sql import functions as F

    from jetproof_reports.tables.stability import _LEAF, _LEAF_KEY

    leaves = [f'"data":"{text}"', '"seq": 1']
    found = F.regexp_extract_all(F.lit("{" + ",".join(leaves) + "}"), F.lit(_LEAF), F.lit(0))
    keys = F.transform(found, lambda leaf: F.regexp_extract(leaf, _LEAF_KEY, 1))
    [row] = spark.range(1).select(found.alias("leaves"), keys.alias("keys")).collect()
    assert (row["leaves"], row["keys"]) == (leaves, ["data", "seq"])
